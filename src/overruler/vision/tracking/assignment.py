"""Which of the pieces that are missing is which of those that were found: by size, place and look."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array

DISTANCE_SCALE_MM = 150.0
"""A piece put down so far from where it was last seen is another as likely as not."""
DISSIMILARITY_COST = 6.0
"""What a look that does not agree at all costs, in units of that distance."""
MAX_SIZE_LOG_RATIO = 0.09
"""Bases whose sizes differ by a larger share are different."""
RETURN_COST = 2.0
"""What it costs to come back to the table."""
MAX_PAIR_COST = 8.0
"""Pairs that cost more are none."""
HOME_DISTANCE_MM = 1.5
"""What stands so near to where one of the missing stood, and is as large, is that one, wherever it seemed to go with
the hand that hid it: nobody puts a piece down just where another one was."""


@dataclass(frozen=True, slots=True, eq=False)
class MissingPiece:
    """A piece that does not stand where it stood."""

    base: Base
    last_mm: Array
    """(2,): where it was last seen."""
    gone: bool = False
    """Whether it has been off the table for long."""
    home_mm: Array | None = None
    """(2,): where it stood, if it may stand there still."""


def assign_pieces(
    missing: Sequence[MissingPiece], found: Sequence[tuple[Base, Array]], looks: Array
) -> list[tuple[int, int]]:
    """Pairs of indexes into `missing` and `found`, at least cost in all; `looks` (M, F): how alike, 0 to 1."""
    if not missing or not found:
        return []
    from scipy.optimize import linear_sum_assignment  # slow to load, and of no use to a photo

    apart = np.array([[np.hypot(*(one.last_mm - xy)) for _, xy in found] for one in missing])
    cost = (
        np.log1p(apart / DISTANCE_SCALE_MM)
        + apart / DISTANCE_SCALE_MM
        + DISSIMILARITY_COST * (1 - looks) ** 2
    )
    cost += RETURN_COST * np.array([[one.gone] for one in missing])
    sizes = np.array([[_same_size(one.base, base) for base, _ in found] for one in missing])
    at_home = sizes & np.array([[_is_home(one.home_mm, xy) for _, xy in found] for one in missing])
    cost = np.where(sizes & (at_home | ~at_home.any(0)), cost, 1e6)
    cost[at_home] = 0.0
    return [
        (i, j)
        for i, j in zip(*map(np.ndarray.tolist, linear_sum_assignment(cost)), strict=True)
        if cost[i, j] < MAX_PAIR_COST
    ]


def _is_home(home_mm: Array | None, xy_mm: Array) -> bool:
    return home_mm is not None and bool(np.hypot(*(home_mm - xy_mm)) < HOME_DISTANCE_MM)


def _same_size(one: Base, other: Base) -> bool:
    return (
        one.shape == other.shape and abs(np.log(one.width_mm / other.width_mm)) < MAX_SIZE_LOG_RATIO
    )

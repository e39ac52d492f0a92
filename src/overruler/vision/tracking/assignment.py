"""Which missing piece is which found base: by size, place and look."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.batched.vectors import distance
from overruler.geometry.pose import Array
from overruler.vision.pairing.least_cost import assign_at_least_cost

DISTANCE_SCALE_MM = 150.0
"""Distance between where a piece was last seen and where it is found that costs about 1.7, in mm."""
DISSIMILARITY_COST = 6.0
"""Cost of a look that does not agree at all."""
MAX_SIZE_LOG_RATIO = 0.09
"""Largest logarithm of the ratio of two bases' widths at which they may be the same."""
RETURN_COST = 2.0
"""Cost of coming back to the table."""
MAX_PAIR_COST = 8.0
"""Pairs that cost more are not made."""
MIN_DOUBT = 0.01
"""Least probability of another name that is told."""
FORBIDDEN_COST = 1e6
"""Cost of a pair that is impossible."""
HOME_DISTANCE_MM = 1.5
"""A base this near to where a missing piece of its size stood is that piece, in mm.

That holds wherever the hand that hid it seemed to carry it: nobody puts a piece just where another
one was."""


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

    def stood_at(self, xy_mm: Array) -> bool:
        return self.home_mm is not None and distance(self.home_mm, xy_mm) < HOME_DISTANCE_MM

    def has_size_of(self, base: Base) -> bool:
        if self.base.shape != base.shape:
            return False
        return bool(abs(np.log(self.base.width_mm / base.width_mm)) < MAX_SIZE_LOG_RATIO)


class NameDoubt(NamedTuple):
    """Which other missing piece a found base may be."""

    other: int
    """The likeliest other piece, as an index."""
    probability: float
    """Probability that the base is any other piece than its own."""


def assign_pieces(
    missing: Sequence[MissingPiece], found: Sequence[tuple[Base, Array]], looks: Array
) -> list[tuple[int, int]]:
    """Pairs of indices into `missing` and `found` at the least cost; `looks` (M, F) are 0 to 1."""
    if not missing or not found:
        return []
    cost = _costs(missing, found, looks)
    rows, columns = assign_at_least_cost(cost)
    chosen = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(i, j) for i, j in chosen if cost[i, j] < MAX_PAIR_COST]


def name_doubts(
    missing: Sequence[MissingPiece],
    found: Sequence[tuple[Base, Array]],
    looks: Array,
    pairs: Sequence[tuple[int, int]],
) -> dict[int, NameDoubt]:
    """Which other piece each found base of the `pairs` may be, by its index.

    Costs count as negative logarithms of likelihoods. Another piece takes the base, and its own base
    goes to the piece that the first one was.
    """
    doubts: dict[int, NameDoubt] = {}
    if len(missing) < 2 or not pairs:
        return doubts
    cost, base_of = _costs(missing, found, looks), dict(pairs)
    for i, j in pairs:
        more = np.full(len(missing), np.inf)
        for k in set(range(len(missing))) - {i}:
            own = base_of.get(k)
            swapped = cost[k, j] + (0.0 if own is None else cost[i, own] - cost[k, own])
            more[k] = swapped - cost[i, j]
        odds = np.exp(-np.minimum(more, FORBIDDEN_COST))
        probability = float(odds.sum() / (1 + odds.sum()))
        if probability >= MIN_DOUBT:
            doubts[j] = NameDoubt(int(np.argmax(odds)), probability)
    return doubts


def _costs(
    missing: Sequence[MissingPiece], found: Sequence[tuple[Base, Array]], looks: Array
) -> Array:
    """(M, F): the cost of each pair."""
    apart_mm = np.array([[distance(one.last_mm, xy) for _, xy in found] for one in missing])
    same_size = _same_size(missing, found)
    at_home = _at_home(missing, found) & same_size
    relative = apart_mm / DISTANCE_SCALE_MM
    cost = np.log1p(relative) + relative + DISSIMILARITY_COST * (1 - looks) ** 2
    cost += RETURN_COST * np.array([[piece.gone] for piece in missing])
    possible = same_size & (at_home | ~at_home.any(0))
    cost = np.where(possible, cost, FORBIDDEN_COST)
    cost[at_home] = 0.0
    return np.asarray(cost)


def pairs_at_home(
    missing: Sequence[MissingPiece], found: Sequence[tuple[Base, Array]]
) -> list[tuple[int, int]]:
    """Pairs of indices into `missing` and `found` of pieces that stand where they stood."""
    if not missing or not found:
        return []
    pairs = np.argwhere(_at_home(missing, found) & _same_size(missing, found))
    return [(int(i), int(j)) for i, j in pairs]


def _same_size(
    missing: Sequence[MissingPiece], found: Sequence[tuple[Base, Array]]
) -> NDArray[np.bool_]:
    """(M, F): whether each found base may be that of each piece."""
    return np.array([[one.has_size_of(base) for base, _ in found] for one in missing])


def _at_home(
    missing: Sequence[MissingPiece], found: Sequence[tuple[Base, Array]]
) -> NDArray[np.bool_]:
    """(M, F): whether each found base stands where each piece stood."""
    return np.array([[one.stood_at(xy) for _, xy in found] for one in missing])

"""Which of the pieces that are missing is which of those that were found: by size, place and look."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array

FAR_MM = 150.0
"""A piece put down so far from where it was last seen is another as likely as not."""
UNLIKE = 6.0
"""What a look that does not agree at all costs, in units of that distance."""
SIZES = 0.09
"""Bases whose sizes differ by a larger share are different."""
MOST = 8.0
"""Pairs that cost more are none."""


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """A piece that does not stand where it stood."""

    base: Base
    last_mm: Array
    """(2,): where it was last seen."""


def assigned(missing: Sequence[Missing], found: Sequence[tuple[Base, Array]], looks: Array) -> list[tuple[int, int]]:
    """Pairs of indexes into `missing` and `found`, at least cost in all; `looks` (M, F): how alike, 0 to 1."""
    if not missing or not found:
        return []
    apart = np.array([[np.hypot(*(one.last_mm - xy)) for _, xy in found] for one in missing])
    cost = np.log1p(apart / FAR_MM) + apart / FAR_MM + UNLIKE * (1 - looks) ** 2
    sizes = np.array([[_alike(one.base, base) for base, _ in found] for one in missing])
    cost = np.where(sizes, cost, 1e6)
    pairs = cheapest(cost) if len(missing) <= len(found) else [(i, j) for j, i in cheapest(cost.T)]
    return sorted((i, j) for i, j in pairs if cost[i, j] < MOST)


def cheapest(cost: Array) -> list[tuple[int, int]]:
    """The pairs that cost least in all: each row (M,) with a column of its own (N,), no fewer of them than rows.

    The Hungarian method: row by row, along the shortest way to a free column (Jonker and Volgenant, 1987).
    """
    rows, columns = cost.shape
    of_row, of_column = np.zeros(rows), np.zeros(columns)
    taken = np.full(columns, -1)
    for row in range(rows):
        least, before = np.full(columns, np.inf), np.full(columns, -1)
        done, at, here = np.zeros(columns, bool), row, -1
        while here < 0 or taken[here] >= 0:
            reach = cost[at] - of_row[at] - of_column + (least[here] if here >= 0 else 0.0)
            nearer = ~done & (reach < least)
            least[nearer], before[nearer] = reach[nearer], here
            here = int(np.argmin(np.where(done, np.inf, least)))
            done[here], at = True, taken[here]
        total = least[here]
        of_row[row] += total
        settled = done & (least < total)
        of_row[taken[settled]] += total - least[settled]
        of_column[settled] -= total - least[settled]
        while here >= 0:
            last, here = here, int(before[here])
            taken[last] = taken[here] if here >= 0 else row
    return [(int(row), column) for column, row in enumerate(taken) if row >= 0]


def _alike(one: Base, other: Base) -> bool:
    return one.shape == other.shape and abs(np.log(one.width_mm / other.width_mm)) < SIZES

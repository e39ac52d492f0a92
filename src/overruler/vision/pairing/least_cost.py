"""The assignment of least cost: which row of a matrix goes with which column.

SciPy has it too, but loading that takes longer than all else that joins photos.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Numbers = NDArray[np.intp]


def assign_at_least_cost(cost: Array) -> tuple[Numbers, Numbers]:
    """Return rows and columns (K,) of the pairs with the least sum of a finite `cost` (N, M).

    Each of the K = min(N, M) rows, or columns, is in one pair. This is the Hungarian method with
    shortest augmenting paths (Jonker and Volgenant 1987), row by row.
    """
    if len(cost) > cost.shape[1]:
        columns, rows = assign_at_least_cost(cost.T)
        order = np.argsort(rows)
        return rows[order], columns[order]
    row_of, column_of = np.full(cost.shape[1], -1), np.full(len(cost), -1)
    prices = np.zeros(len(cost)), np.zeros(cost.shape[1])
    for new in range(len(cost)):
        column, came_from = _find_path(new, cost, row_of, prices)
        row = -1
        while row != new:
            row = int(came_from[column])
            row_of[column] = row
            column_of[row], column = column, int(column_of[row])
    return np.arange(len(cost)), column_of


def _find_path(
    new: int, cost: Array, row_of: Numbers, prices: tuple[Array, Array]
) -> tuple[int, Numbers]:
    """Find the cheapest path from a `new` row to a free column; the prices of its rows and columns change.

    Returns the column, and the row (M,) from which the path comes to each column.
    """
    row_prices, column_prices = prices
    length, came_from = np.full(len(row_of), np.inf), np.full(len(row_of), -1)
    passed: list[int] = []
    row, so_far = new, 0.0
    while True:
        through = so_far + cost[row] - row_prices[row] - column_prices
        through[passed] = np.inf
        is_shorter = through < length
        length[is_shorter], came_from[is_shorter] = through[is_shorter], row
        open_length = length.copy()
        open_length[passed] = np.inf
        column = int(np.argmin(open_length))
        row, so_far = int(row_of[column]), float(length[column])
        if row < 0:
            break
        passed.append(column)
    row_prices[new] += so_far
    row_prices[row_of[passed]] += so_far - length[passed]
    column_prices[passed] -= so_far - length[passed]
    return column, came_from

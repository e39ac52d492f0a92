"""Where the black-to-white edges of a printed marker are, on the marker itself."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

END_TRIM_CELLS = 0.25
"""An edge's end is left out by so much where the edge does not go on: corners are round in a photo."""
PROFILE_SPACING_PX = 2.0
"""Spacing of the profiles along an edge: closer ones say the same."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeStations:
    """Places to measure on a marker's edges, several on each edge of a cell."""

    place: Array
    """(S, 2): in sides from the printed top left, u right and v down."""
    across: Array
    """(S, 2): the direction from dark to bright."""
    edge: NDArray[np.intp]
    """(S,): which edge of a cell."""
    line: NDArray[np.intp]
    """(E,): for each edge of a cell, which straight line of the print it lies on."""
    outer: NDArray[np.bool_]
    """(E,): whether it is one of the marker's four sides."""


def place_stations(cells: NDArray[np.bool_], cell_px: float) -> EdgeStations:
    """Where to measure a marker with cells (N, N), black frame included and True where white, seen `cell_px` a cell."""
    start, end, across = _cell_edges(cells)
    count = int(np.clip(round(cell_px / PROFILE_SPACING_PX), 3, 10))
    share = (np.arange(count) + 0.5) / count
    place = start[:, None] + share[:, None] * (end - start)[:, None]
    upright = across[:, 0] != 0
    at = np.where(upright, start[:, 0], start[:, 1])
    edge = np.repeat(np.arange(len(start)), count)
    line = np.round(at * len(cells)).astype(int) * 2 + upright
    return EdgeStations(
        place.reshape(-1, 2), across[edge], edge, line, (at < 1e-9) | (at > 1 - 1e-9)
    )


def _cell_edges(cells: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Start, end and bright direction (E, 2) of each edge between two cells, the outer sides against white included."""
    padded = np.pad(cells, 1, constant_values=True)
    both = np.concatenate([_vertical_edges(padded), _vertical_edges(padded.T)[:, :, ::-1]])
    return (both[:, 0] - 1) / len(cells), (both[:, 1] - 1) / len(cells), both[:, 2]


def _vertical_edges(cells: NDArray[np.bool_]) -> Array:
    """Upright edges (E, 3, 2): start, end and bright direction, (u, v) in cells."""
    step = np.pad(cells[:, 1:].astype(int) - cells[:, :-1], ((1, 1), (0, 0)))
    row, column = np.nonzero(step)
    sign = step[row, column]
    before = np.where(step[row - 1, column] == sign, 0.0, END_TRIM_CELLS)
    after = np.where(step[row + 1, column] == sign, 0.0, END_TRIM_CELLS)
    ends = [(column + 1.0, row - 1 + before), (column + 1.0, row - after), (sign, 0 * sign)]
    return np.stack([np.stack(end, -1) for end in ends], 1).astype(float)

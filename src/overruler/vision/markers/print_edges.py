"""The black-to-white edges of a printed marker, in the marker's own frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

END_TRIM_CELLS = 0.25
"""Length left out at an edge's end where the edge stops, in cells: a photo rounds corners."""
PROFILE_SPACING_PX = 2.0
"""Spacing of the profiles along an edge, in px. Closer ones add no information."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeStations:
    """S places to measure on a marker's E cell edges, several on each."""

    place: Array
    """(S, 2): in sides from the printed top left, u right and v down."""
    across: Array
    """(S, 2): the direction from dark to bright."""
    edge: NDArray[np.intp]
    """(S,): the index of the cell edge."""
    line: NDArray[np.intp]
    """(E,): a number for the straight line of the print on which a cell edge lies."""
    outer: NDArray[np.bool_]
    """(E,): whether it is on one of the marker's four sides."""


def place_stations(cells: NDArray[np.bool_], cell_px: float) -> EdgeStations:
    """Place stations on a marker with cells (N, N), frame included, True for white.

    `cell_px` is the side of a cell in the photo.
    """
    start, end, across = _cell_edges(cells)
    count = int(np.clip(round(cell_px / PROFILE_SPACING_PX), 3, 10))
    share = (np.arange(count) + 0.5) / count
    offset = share[:, None] * (end - start)[:, None]
    place = start[:, None] + offset
    vertical = across[:, 0] != 0
    position = np.where(vertical, start[:, 0], start[:, 1])
    edge = np.repeat(np.arange(len(start)), count)
    line = np.round(position * len(cells)).astype(int) * 2 + vertical
    outer = (position < 1e-9) | (position > 1 - 1e-9)
    return EdgeStations(place.reshape(-1, 2), across[edge], edge, line, outer)


def _cell_edges(cells: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Return start, end and bright direction (E, 2) of each cell edge, outer sides included."""
    padded = np.pad(cells, 1, constant_values=True)
    vertical = _vertical_edges(padded)
    horizontal = _vertical_edges(padded.T)[:, :, ::-1]
    edges = np.concatenate([vertical, horizontal])
    start = (edges[:, 0] - 1) / len(cells)
    end = (edges[:, 1] - 1) / len(cells)
    return start, end, edges[:, 2]


def _vertical_edges(cells: NDArray[np.bool_]) -> Array:
    """Return vertical edges (E, 3, 2): start, end and bright direction, (u, v) in cells."""
    change = cells[:, 1:].astype(int) - cells[:, :-1]
    step = np.pad(change, ((1, 1), (0, 0)))
    row, column = np.nonzero(step)
    sign = step[row, column]
    before = np.where(step[row - 1, column] == sign, 0.0, END_TRIM_CELLS)
    after = np.where(step[row + 1, column] == sign, 0.0, END_TRIM_CELLS)
    start = np.stack([column + 1.0, row - 1 + before], -1)
    end = np.stack([column + 1.0, row - after], -1)
    direction = np.stack([sign, 0 * sign], -1)
    return np.stack([start, end, direction], 1).astype(float)

"""The sheet that a lens is measured by: a chessboard whose white squares carry markers, or a plain one."""

from dataclasses import dataclass

import numpy as np

from overruler.errors import BadInput
from overruler.geometry.pose import Array

MIN_SQUARES_PER_SIDE = 3
"""Squares along a side: fewer leave no line of corners."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chessboard sheet in its own frame: mm, x right, y up as printed, z out of the paper, origin at its upper left.

    The upper left square is black, as OpenCV's ChArUco boards have it since 4.6; a sheet with fewer rows is the upper
    part of one with more.
    """

    columns: int = 7
    rows: int = 10
    """Squares across and along the page."""
    square_mm: float = 25.0
    marker_mm: float | None = 18.0
    """Side of the markers' black squares; None for a plain chessboard."""
    dictionary: str = "DICT_5X5_100"
    """Not the family that lies on tables, so that a sheet left there is no marker of the board."""

    def __post_init__(self) -> None:
        if min(self.columns, self.rows) < MIN_SQUARES_PER_SIDE:
            raise BadInput(
                f"a chart of {self.columns} × {self.rows} squares: {MIN_SQUARES_PER_SIDE} a side are needed"
            )
        if not 0 < self.square_mm < np.inf:
            raise BadInput(f"a chart's squares measure more than 0 mm, not {self.square_mm:g}")
        if self.marker_mm is not None and not 0 < self.marker_mm < self.square_mm:
            raise BadInput(
                f"markers of {self.marker_mm:g} mm do not lie within squares of {self.square_mm:g} mm"
            )

    @property
    def size_mm(self) -> tuple[float, float]:
        """Across and along the page."""
        return self.columns * self.square_mm, self.rows * self.square_mm

    @property
    def corners_mm(self) -> Array:
        """(N, 3): where four squares meet, row by row from the upper left."""
        row, column = np.mgrid[1 : self.rows, 1 : self.columns].reshape(2, -1)
        return np.stack([column, -row, 0.0 * row], 1) * self.square_mm

    @property
    def markers_mm(self) -> dict[int, Array]:
        """Each marker's corners (4, 3), the printed top left first and clockwise; none on a plain chessboard."""
        if self.marker_mm is None:
            return {}
        white = [
            (column, row)
            for row in range(self.rows)
            for column in range(self.columns)
            if (column + row) % 2
        ]
        around = np.array([(-1, 1, 0), (1, 1, 0), (1, -1, 0), (-1, -1, 0)]) * self.marker_mm / 2
        middles = [
            np.array([column + 0.5, -row - 0.5, 0.0]) * self.square_mm for column, row in white
        ]
        return {number: middle + around for number, middle in enumerate(middles)}

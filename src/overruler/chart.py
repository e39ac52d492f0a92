"""The sheet for lens calibration: a ChArUco board, or a plain chessboard."""

from dataclasses import dataclass

import numpy as np

from overruler.errors import BadInput
from overruler.geometry.pose import Array

MIN_SQUARES_PER_SIDE = 3
"""With fewer squares along a side, there is no line of corners."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chessboard sheet.

    Its frame is in mm: x right and y up as printed, z out of the paper, origin at the upper left
    corner. The upper left square is black, as in OpenCV's ChArUco boards since 4.6. A sheet with
    fewer rows is the upper part of one with more.
    """

    columns: int = 7
    """Squares across the page."""
    rows: int = 10
    """Squares along the page."""
    square_mm: float = 25.0
    """Side of a square."""
    marker_mm: float | None = 18.0
    """Side of a marker's black square; None for a plain chessboard."""
    dictionary: str = "DICT_5X5_100"
    """The default differs from the dictionary of table markers.

    A sheet left on the table is then not taken for a marker of the board."""

    def __post_init__(self) -> None:
        if min(self.columns, self.rows) < MIN_SQUARES_PER_SIDE:
            size = f"{self.columns} × {self.rows}"
            raise BadInput(f"a chart of {size} squares: {MIN_SQUARES_PER_SIDE} a side are needed")
        if not 0 < self.square_mm < np.inf:
            raise BadInput(f"a chart's squares measure more than 0 mm, not {self.square_mm:g}")
        if self.marker_mm is not None and not 0 < self.marker_mm < self.square_mm:
            raise BadInput(
                f"markers of {self.marker_mm:g} mm do not lie within squares of {self.square_mm:g} mm"
            )

    @property
    def size_mm(self) -> tuple[float, float]:
        """Size across and along the page."""
        return self.columns * self.square_mm, self.rows * self.square_mm

    @property
    def corners_mm(self) -> Array:
        """Inner corners (N, 3), row by row from the upper left."""
        row, column = np.mgrid[1 : self.rows, 1 : self.columns].reshape(2, -1)
        return np.stack([column, -row, 0.0 * row], 1) * self.square_mm

    @property
    def markers_mm(self) -> dict[int, Array]:
        """Corners (4, 3) of each marker by its id, the printed top left first and clockwise.

        Empty for a plain chessboard.
        """
        if self.marker_mm is None:
            return {}
        offsets = np.array([(-1, 1, 0), (1, 1, 0), (1, -1, 0), (-1, -1, 0)]) * self.marker_mm / 2
        centers = [
            np.array([column + 0.5, -row - 0.5, 0.0]) * self.square_mm
            for row in range(self.rows)
            for column in range(self.columns)
            if (column + row) % 2
        ]
        return {number: center + offsets for number, center in enumerate(centers)}

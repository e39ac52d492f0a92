"""A marker as it was found: its number and its corners, with their covariance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.markers.dictionaries import load_dictionary
from overruler.vision.markers.square_fit import Square, side_px


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """One marker as seen."""

    id: int
    dictionary: str
    score: float
    """How well its cells match its code: 1 is perfect, 0 is chance."""
    blur_px: float
    """1 σ of the Gaussian that would blur a sharp edge as much."""
    square: Square

    @property
    def corners_px(self) -> Array:
        """(4, 2): the printed top left first, clockwise as printed; without the shift of edges."""
        return self.square.corners_px

    @property
    def side_px(self) -> float:
        """The mean of its four sides."""
        return side_px(self.corners_px)

    @property
    def cell_px(self) -> float:
        """The side of one of its cells."""
        return self.side_px / len(_marker_cells(self.dictionary, self.id))

    @property
    def center_px(self) -> Array:
        """(2,): where its diagonals cross."""
        a, b, c, d = np.column_stack([self.corners_px, np.ones(4)])
        crossing = np.cross(np.cross(a, c), np.cross(b, d))
        return np.asarray(crossing[:2] / crossing[2])


def _marker_cells(name: str, number: int) -> NDArray[np.bool_]:
    """The marker's cells (N, N) with its black frame, True where white."""
    family = load_dictionary(name)
    bits = family.generateImageMarker(number, family.markerSize + 2)
    return np.asarray(bits > 127)

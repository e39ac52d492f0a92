"""A detected marker: its id, and its corners with their covariance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.markers.dictionaries import load_dictionary
from overruler.vision.markers.square_fit import Square, side_px


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """One marker as seen in a photo."""

    id: int
    """Its number in the dictionary."""
    dictionary: str
    """OpenCV's name of the dictionary."""
    score: float
    """Correlation of its cells with its code: 1 is perfect, 0 is chance."""
    blur_px: float
    """1 σ of the Gaussian that blurs its edges."""
    square: Square
    """The fit of its corners and edges."""

    @property
    def corners_px(self) -> Array:
        """Its corners (4, 2), clockwise from the printed top left, edge shift removed."""
        return self.square.corners_px

    @property
    def side_px(self) -> float:
        """The mean length of its four sides."""
        return side_px(self.corners_px)

    @property
    def cell_px(self) -> float:
        """The side of one of its cells."""
        return self.side_px / len(marker_cells(self.dictionary, self.id))

    @property
    def center_px(self) -> Array:
        """The point (2,) where its diagonals cross."""
        a, b, c, d = np.column_stack([self.corners_px, np.ones(4)])
        crossing = np.cross(np.cross(a, c), np.cross(b, d))
        return np.asarray(crossing[:2] / crossing[2])


def marker_cells(name: str, number: int) -> NDArray[np.bool_]:
    """Return a marker's cells (N, N) with its black frame, True for white."""
    family = load_dictionary(name)
    bits = family.generateImageMarker(number, family.markerSize + 2)
    return np.asarray(bits > 127)

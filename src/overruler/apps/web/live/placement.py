"""Room on the picture: where words may stand without hiding what they are about, or each other."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.banner import SAFE_SHARE
from overruler.picture.view import View

LABEL_GAP = 3.0
"""What stays free between two labels, in units of the view."""


class LabelPlacement:
    """What of a picture is taken: lines that must be seen, and labels."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._places = np.empty((0, 2))
        self._boxes: list[tuple[Array, Array]] = []

    def protect_lines(self, places: Iterable[Array]) -> None:
        """Lines (N, 2) that no words may hide."""
        self._places = np.concatenate([self._places, *places])

    def occupy_box(self, middle: Array, size: Array) -> None:
        self._boxes.append((middle, size))

    def is_free(self, middle: Array, size: Array) -> bool:
        """Whether a box lies in the safe part of the picture, on nothing that is taken."""
        reach = size / 2 + LABEL_GAP * self._view.unit
        if not self._view.contains_all(
            np.stack([middle - size / 2, middle + size / 2]), self.border - 1e-6
        ):
            return False
        if (np.abs(self._places - middle) < reach).all(1).any():
            return False
        return all(
            (np.abs(middle - other) >= reach + wide / 2).any() for other, wide in self._boxes
        )

    @property
    def border(self) -> float:
        """What stays free at the edges; the longer side's share, for cameras are shown in many shapes."""
        return SAFE_SHARE * max(self._view.size_px)

    def find_corner(self, size: Array) -> Array:
        """The upper left corner of a box of a size: the first corner of the picture where it hides nothing."""
        low, high = self._opposite_corners(size)
        for foot, right in product((True, False), (False, True)):
            corner = np.array([(low, high)[right][0], (low, high)[foot][1]])
            if (
                not (
                    np.abs(self._places - corner - size / 2)
                    < size / 2 + LABEL_GAP * self._view.unit
                )
                .all(1)
                .any()
            ):
                return corner
        return np.array([low[0], high[1]])

    def _opposite_corners(self, size: Array) -> tuple[Array, Array]:
        """The upper left corner of a box that lies at the upper left, and of one at the lower right."""
        whole = np.array(self._view.size_px, float)
        return SAFE_SHARE * whole, (1 - SAFE_SHARE) * whole - size

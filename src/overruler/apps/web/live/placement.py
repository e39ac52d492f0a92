"""Placement of labels on a picture, where they hide neither lines nor each other."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.banner import SAFE_SHARE
from overruler.picture.view import View

LABEL_GAP = 3.0
"""Gap round a label, in units of the view."""


class LabelPlacement:
    """The occupied parts of a picture: points of lines, and boxes of labels."""

    __slots__ = ("_boxes", "_points", "_view")

    def __init__(self, view: View) -> None:
        self._view = view
        self._points = np.empty((0, 2))
        self._boxes: list[tuple[Array, Array]] = []

    def protect_lines(self, lines: Iterable[Array]) -> None:
        """Keep labels off lines, each (N, 2) in pixels."""
        self._points = np.concatenate([self._points, *lines])

    def occupy_box(self, center: Array, size: Array) -> None:
        """Keep further labels off a box."""
        self._boxes.append((center, size))

    def is_free(self, center: Array, size: Array) -> bool:
        """Whether a box lies in the safe part of the picture and on nothing that is occupied."""
        corners = np.stack([center - size / 2, center + size / 2])
        if not self._view.contains_all(corners, self.border - 1e-6):
            return False
        reach = size / 2 + LABEL_GAP * self._view.unit
        if (np.abs(self._points - center) < reach).all(1).any():
            return False
        return all(
            (np.abs(center - other) >= reach + other_size / 2).any()
            for other, other_size in self._boxes
        )

    @property
    def border(self) -> float:
        """Border that stays free, in pixels; a share of the longer side, as pictures have many shapes."""
        return SAFE_SHARE * max(self._view.size_px)

    def find_corner(self, size: Array) -> Array:
        """Upper left corner (2,) of a box in the first corner of the picture where it hides no line."""
        low, high = self._opposite_corners(size)
        reach = size / 2 + LABEL_GAP * self._view.unit
        for at_bottom, at_right in product((True, False), (False, True)):
            x = high[0] if at_right else low[0]
            corner = np.array([x, high[1] if at_bottom else low[1]])
            if not (np.abs(self._points - corner - size / 2) < reach).all(1).any():
                return corner
        return np.array([low[0], high[1]])

    def _opposite_corners(self, size: Array) -> tuple[Array, Array]:
        """Upper left corners of a box at the picture's upper left, and at its lower right."""
        picture = np.array(self._view.size_px, float)
        return SAFE_SHARE * picture, (1 - SAFE_SHARE) * picture - size

"""Placement of labels on a picture, where they hide neither lines nor each other."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.banner import SAFE_SHARE
from overruler.picture.label_placement import centres_beside
from overruler.picture.view import View

LABEL_GAP = 3.0
"""Gap round a label, in units of the view."""


class LabelPlacement:
    """The occupied parts of a picture: points of lines, and boxes of labels."""

    __slots__ = ("_boxes", "_bystanders", "_points", "_view")

    def __init__(self, view: View) -> None:
        self._view = view
        self._points = np.empty((0, 2))
        self._bystanders = np.empty((0, 2))
        self._boxes: list[tuple[Array, Array]] = []

    def protect_lines(self, lines: Iterable[Array]) -> None:
        """Keep labels off lines, each (N, 2) in pixels."""
        self._points = np.concatenate([self._points, *lines])

    def add_bystanders(self, places: Array) -> None:
        """Keep the ruling off places (N, 2) if it can be."""
        self._bystanders = np.concatenate([self._bystanders, places])

    def occupy_box(self, center: Array, size: Array) -> None:
        """Keep further labels off a box."""
        self._boxes.append((center, size))

    def is_free(self, center: Array, size: Array) -> bool:
        """Whether a box lies in the safe part of the picture and on nothing that is occupied."""
        corners = np.stack([center - size / 2, center + size / 2])
        return self._view.contains_all(corners, self.border - 1e-6) and not self.hides(center, size)

    def hides(self, center: Array, size: Array) -> bool:
        """Whether a box lies on something that is occupied."""
        reach = size / 2 + LABEL_GAP * self._view.unit
        if (np.abs(self._points - center) < reach).all(1).any():
            return True
        return self.hides_box(center, size)

    def hides_box(self, center: Array, size: Array) -> bool:
        """Whether a box lies on one that is occupied."""
        reach = size / 2 + LABEL_GAP * self._view.unit
        return any(
            (np.abs(center - other) < reach + other_size / 2).all()
            for other, other_size in self._boxes
        )

    def find_beside(self, outline: Array, size: Array) -> Array | None:
        """The centre (2,) of a free box beside an outline (N, 2); None without room.

        It hides as few bystanders as possible, and then is the nearest.
        """
        around = np.concatenate([outline.min(0), outline.max(0)])
        free = [c for c in centres_beside(size, around) if self.is_free(c, size)]
        return min(free, key=lambda center: self._cost(center, size), default=None)

    @property
    def border(self) -> float:
        """Border that stays free, in pixels; a share of the longer side, as pictures have many shapes."""
        return SAFE_SHARE * max(self._view.size_px)

    def find_corner(self, size: Array) -> Array:
        """Upper left corner (2,) of a box in the corner of the picture where it hides least.

        It hides no line and no label if it can, and then as few bystanders as possible.
        """
        low, high = self._opposite_corners(size)
        corners = [
            np.array([high[0] if at_right else low[0], high[1] if at_bottom else low[1]])
            for at_bottom, at_right in product((True, False), (False, True))
        ]
        return min(corners, key=lambda corner: self._cost(corner + size / 2, size))

    def _cost(self, center: Array, size: Array) -> tuple[bool, int]:
        """Whether a box hides what is occupied, and the number of bystanders under it."""
        hidden = (np.abs(self._bystanders - center) < size / 2).all(1)
        return self.hides(center, size), int(hidden.sum())

    def _opposite_corners(self, size: Array) -> tuple[Array, Array]:
        """Upper left corners of a box at the picture's upper left, and at its lower right."""
        picture = np.array(self._view.size_px, float)
        return SAFE_SHARE * picture, (1 - SAFE_SHARE) * picture - size

"""Room for words: where a label covers as little as possible of what is already there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

LABEL_ANGLES_RAD = np.radians(np.array([0, 180, 90, 270, 45, 135, 315, 225, 20, 160, 340, 200]))
LABEL_DISTANCES = (1.0, 1.8, 3.0)
"""How much farther off a label may go, in steps of its own height."""


@dataclass(slots=True)
class LabelLayout:
    """What is taken of a drawing; boxes are (left, top, right, bottom)."""

    size_px: tuple[float, float]
    border_px: float = 0.0
    boxes: list[Array] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    """How bad it is to cover each box."""

    def reserve_box(self, box: Sequence[float] | Array, weight: float = 1.0) -> None:
        """Mark a box as taken."""
        self.boxes.append(np.asarray(box, float))
        self.weights.append(weight)

    def reserve_points(self, points: Array, spread_px: float = 0.0, weight: float = 1.0) -> None:
        """Mark the box round points (N, 2) as taken; points that are NaN take nothing."""
        good = points[np.isfinite(points).all(-1)]
        if len(good):
            self.reserve_box([*(good.min(0) - spread_px), *(good.max(0) + spread_px)], weight)

    def overlap_costs(self, boxes: Array) -> Array:
        """How much each of `boxes` (N, 4) covers (N,): the weights of what is taken, or a share of them."""
        if not self.boxes:
            return np.zeros(len(boxes))
        taken = np.stack(self.boxes)
        over = np.minimum(boxes[:, None, 2:], taken[:, 2:]) - np.maximum(
            boxes[:, None, :2], taken[:, :2]
        )
        smaller = np.minimum(_box_areas(boxes)[:, None], _box_areas(taken))
        return np.asarray(
            (np.prod(np.clip(over, 0, None), axis=-1) / np.maximum(smaller, 1e-9)) @ self.weights
        )

    def leaves_canvas(self, boxes: Array) -> NDArray[np.bool_]:
        """Whether each of `boxes` (N, 4) leaves the drawing or its border (N,)."""
        low, high = self.border_px, np.array(self.size_px) - self.border_px
        return np.asarray((boxes[:, :2] < low).any(1) | (boxes[:, 2:] > high).any(1))

    def place_beside(
        self, size: tuple[float, float], around: Sequence[float] | Array
    ) -> tuple[float, float]:
        """The middle of the best box of a size beside the box `around`, which is then taken."""
        middles = _centres_beside(np.array(size), np.asarray(around, float))
        x, y = middles[self.reserve_best(size, middles)]
        return float(x), float(y)

    def reserve_best(self, size: tuple[float, float], middles: Array, weight: float = 1.0) -> int:
        """Which of some middles (N, 2) is best for a box of a size, earlier ones first; its box is then taken."""
        boxes = _boxes_around(size, middles)
        cost = (
            self.overlap_costs(boxes)
            + 10.0 * self.leaves_canvas(boxes)
            + np.linspace(0, 0.25, len(boxes))
        )
        chosen = int(np.argmin(cost))
        self.reserve_box(boxes[chosen], weight)
        return chosen

    def reserve_uncovered(self, size: tuple[float, float], middles: Array, most: float) -> Array:
        """Those middles (N, 2) at which a box of a size covers `most` at most, else the best one; they are taken."""
        cost = self.overlap_costs(_boxes_around(size, middles))
        kept = middles[cost <= most] if (cost <= most).any() else middles[[np.argmin(cost)]]
        for box in _boxes_around(size, kept):
            self.reserve_box(box)
        return np.asarray(kept)

    def least_overlap_cost(self, size: tuple[float, float], middles: Array) -> float:
        """How much a box of a size covers in the best of some middles (N, 2)."""
        return float(self.overlap_costs(_boxes_around(size, middles)).min())


def _boxes_around(size: tuple[float, float], middles: Array) -> Array:
    half = np.array(size) / 2
    return np.concatenate([middles - half, middles + half], 1)


def _box_areas(boxes: Array) -> Array:
    return np.asarray(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))


def _centres_beside(size: Array, around: Array) -> Array:
    """Middles (N, 2) of boxes of a size round another box, the nearest first."""
    centre, half = (around[:2] + around[2:]) / 2, (around[2:] - around[:2]) / 2
    ways = np.stack([np.cos(LABEL_ANGLES_RAD), -np.sin(LABEL_ANGLES_RAD)], -1)
    rings = []
    for step in LABEL_DISTANCES:
        reach = half + size / 2 + (step - 0.85) * size[1]
        # To the edge of the box of that reach: beside it, not only touching its corners.
        rings.append(centre + ways / np.abs(ways / reach).max(1, keepdims=True))
    return np.concatenate(rings)

"""Placement of labels where they cover as little as possible of what is already drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

LABEL_ANGLES_RAD = np.radians(np.array([0, 180, 90, 270, 45, 135, 315, 225, 20, 160, 340, 200]))
"""Directions in which a label may stand beside something, the best first."""
LABEL_DISTANCES = (1.0, 1.8, 3.0, 4.5)
"""Distances of a label from what it stands beside, in its own heights."""
FREE_DISTANCES = (1.0, 1.5, 2.2, 3.0)
"""Distances of a label that covers nothing, in its own heights."""
OFF_CANVAS_COST = 10.0
"""Cost of a box that leaves the drawing; to cover a box costs its weight."""
TOUCH_COST = 2.0
"""Cost of touching words or a marker at all: of two names over each other neither can be read."""
CROSSING_COST = 4.0
"""Cost of a leader line that crosses a measured line: it looks like a part of what is measured."""
LEADER_START = 0.1
"""Share of a leader line at its foot that may lie on a measured line: a base or a number stands on its own."""
FREE_COST = 1e-9
"""A place that costs no more covers nothing."""
LATER_PLACE_COST = 0.25
"""Cost of the last of several candidates, which rises evenly from the first."""


@dataclass(slots=True)
class LabelLayout:
    """The occupied parts of a drawing."""

    size_px: tuple[float, float]
    border_px: float = 0.0
    """Width of the border that labels avoid."""
    boxes: list[Array] = field(default_factory=list)
    """The occupied boxes: (left, top, right, bottom) each."""
    weights: list[float] = field(default_factory=list)
    """The cost of covering each box."""
    kept: list[bool] = field(default_factory=list)
    """Whether a label that touches each box costs `TOUCH_COST` more."""
    lines: list[Array] = field(default_factory=list)
    """The two ends (2, 2) of each line that leader lines keep off."""

    def reserve_box(
        self, box: Sequence[float] | Array, weight: float = 1.0, kept: bool = False
    ) -> None:
        """Mark a box as occupied; `kept` says that labels keep off all of it."""
        self.boxes.append(np.asarray(box, float))
        self.weights.append(weight)
        self.kept.append(kept)

    def reserve_points(
        self, points: Array, spread_px: float = 0.0, weight: float = 1.0, kept: bool = False
    ) -> None:
        """Mark the box round points (N, 2) as occupied, without those that are NaN."""
        finite = points[np.isfinite(points).all(-1)]
        if len(finite):
            low = finite.min(0) - spread_px
            high = finite.max(0) + spread_px
            self.reserve_box([*low, *high], weight, kept)

    def reserve_line(self, ends: Array) -> None:
        """Keep leader lines off the line between two ends (2, 2); one out of sight (NaN) keeps off none."""
        if np.isfinite(ends).all():
            self.lines.append(np.asarray(ends, float))

    def crossing_costs(self, feet: Array, tips: Array) -> Array:
        """Return the cost (N,) of leader lines from feet (2,) or (N, 2) to tips (N, 2) that cross reserved lines."""
        starts = feet + LEADER_START * (tips - feet)
        cost = np.zeros(len(tips))
        for one, other in self.lines:
            apart = _side_of(starts, one, other) * _side_of(tips, one, other) < 0
            astride = _side_of(one, starts, tips) * _side_of(other, starts, tips) < 0
            cost += CROSSING_COST * (apart & astride)
        return cost

    def without(self, place: Array) -> "LabelLayout":
        """Return the occupied boxes that a place (2,) does not lie in."""
        away = [bool((box[:2] > place).any() or (box[2:] < place).any()) for box in self.boxes]
        weights = [weight for weight, far in zip(self.weights, away, strict=True) if far]
        boxes = [box for box, far in zip(self.boxes, away, strict=True) if far]
        return LabelLayout(self.size_px, self.border_px, boxes, weights)

    def overlap_costs(self, boxes: Array) -> Array:
        """Return the cost (N,) of what `boxes` (N, 4) cover: weights times shares of the area."""
        if not self.boxes:
            return np.zeros(len(boxes))
        taken = np.stack(self.boxes)
        high = np.minimum(boxes[:, None, 2:], taken[:, 2:])
        overlap = high - np.maximum(boxes[:, None, :2], taken[:, :2])
        areas = np.prod(np.clip(overlap, 0, None), axis=-1)
        smaller = np.minimum(_box_areas(boxes)[:, None], _box_areas(taken))
        return np.asarray((areas / np.maximum(smaller, 1e-9)) @ self.weights)

    def touches_kept(self, boxes: Array) -> NDArray[np.bool_]:
        """Return the mask (N,) of `boxes` (N, 4) that touch words or a marker."""
        if not any(self.kept):
            return np.zeros(len(boxes), bool)
        taken = np.stack(self.boxes)[self.kept]
        high = np.minimum(boxes[:, None, 2:], taken[:, 2:])
        low = np.maximum(boxes[:, None, :2], taken[:, :2])
        touched = np.prod(np.clip(high - low, 0, None), axis=-1) > 0
        return np.asarray(touched.any(1))

    def leaves_canvas(self, boxes: Array) -> NDArray[np.bool_]:
        """Return the mask (N,) of `boxes` (N, 4) that leave the drawing or enter its border."""
        low = self.border_px
        high = np.array(self.size_px) - self.border_px
        starts_before = (boxes[:, :2] < low).any(1)
        return np.asarray(starts_before | (boxes[:, 2:] > high).any(1))

    def place_beside(
        self, size: tuple[float, float], around: Sequence[float] | Array
    ) -> tuple[float, float]:
        """Reserve the best box of a size beside the box `around`, and return its centre."""
        box = np.asarray(around, float)
        middles = centres_beside(np.array(size), box)
        crossings = self.crossing_costs((box[:2] + box[2:]) / 2, middles)
        x, y = middles[self.reserve_best(size, middles, more=crossings)]
        return float(x), float(y)

    def place_free_beside(
        self, size: tuple[float, float], outline: Array
    ) -> tuple[float, float] | None:
        """Reserve the first box of a size beside an outline (N, 2) that covers nothing; return its centre.

        None where there is no such box within `FREE_DISTANCES`, or the outline is not all in sight.
        """
        if not np.isfinite(outline).all():
            return None
        around = np.concatenate([outline.min(0), outline.max(0)])
        middles = centres_beside(np.array(size), around, FREE_DISTANCES)
        boxes = boxes_around(size, middles)
        is_free = ~self.leaves_canvas(boxes) & (self.overlap_costs(boxes) <= 0)
        if not is_free.any():
            return None
        chosen = int(np.argmax(is_free))
        self.reserve_box(boxes[chosen], kept=True)
        x, y = middles[chosen].tolist()
        return x, y

    def place_at_corner(
        self, size: tuple[float, float], corners: Array, weight: float
    ) -> tuple[float, float] | None:
        """Reserve the first box of a size that covers nothing, of those with their upper left corners
        at places (N, 2), and return that corner; None where there is none."""
        middles = corners + np.array(size) / 2
        boxes = boxes_around(size, middles)
        is_free = (self.overlap_costs(boxes) <= FREE_COST) & (boxes[:, :2] >= 0).all(1)
        if not is_free.any():
            return None
        chosen = int(np.argmax(is_free))
        self.reserve_box(boxes[chosen], weight, kept=True)
        left, top = corners[chosen].tolist()
        return left, top

    def reserve_best(
        self,
        size: tuple[float, float],
        middles: Array,
        weight: float = 1.0,
        more: Array | float = 0.0,
    ) -> int:
        """Reserve the best box of a size, preferably an early one; return its centre's index.

        `more` (N,) is what each of the boxes costs beside what it covers.
        """
        boxes = boxes_around(size, middles)
        cost = self.overlap_costs(boxes) + OFF_CANVAS_COST * self.leaves_canvas(boxes) + more
        cost = cost + TOUCH_COST * self.touches_kept(boxes)
        cost = cost + np.linspace(0, LATER_PLACE_COST, len(boxes))
        chosen = int(np.argmin(cost))
        self.reserve_box(boxes[chosen], weight, kept=True)
        return chosen

    def reserve_uncovered(self, size: tuple[float, float], middles: Array, most: float) -> Array:
        """Reserve and return all centres (N, 2) whose box costs at most `most`, or else the best."""
        cost = self.overlap_costs(boxes_around(size, middles))
        kept = middles[cost <= most]
        if not len(kept):
            kept = middles[[np.argmin(cost)]]
        for box in boxes_around(size, kept):
            self.reserve_box(box, kept=True)
        return np.asarray(kept)


def boxes_around(size: tuple[float, float], middles: Array) -> Array:
    """Return the boxes (N, 4) of a size round centres (N, 2)."""
    half = np.array(size) / 2
    return np.concatenate([middles - half, middles + half], 1)


def _side_of(points: Array, start: Array, end: Array) -> Array:
    """On which side of the way from start to end, (2,) or (N, 2) each, points lie: twice a triangle's area (N,)."""
    way, offset = end - start, points - start
    return np.asarray(way[..., 0] * offset[..., 1] - way[..., 1] * offset[..., 0])


def _box_areas(boxes: Array) -> Array:
    sides = boxes[:, 2:] - boxes[:, :2]
    return np.asarray(np.prod(sides, axis=1))


def centres_beside(
    size: Array, around: Array, distances: Sequence[float] = LABEL_DISTANCES
) -> Array:
    """Return the centres (N, 2) of boxes of a size round another box, the nearest first."""
    low, high = around[:2], around[2:]
    centre = (low + high) / 2
    half = (high - low) / 2
    directions = np.stack([np.cos(LABEL_ANGLES_RAD), -np.sin(LABEL_ANGLES_RAD)], -1)
    rings = []
    for distance in distances:
        reach = half + size / 2 + (distance - 0.85) * size[1]
        # Up to the edge of the box of that reach, so labels do not only touch its corners.
        rings.append(centre + directions / np.abs(directions / reach).max(1, keepdims=True))
    return np.concatenate(rings)

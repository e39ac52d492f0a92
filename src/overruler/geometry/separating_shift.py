"""The shortest shift that takes shapes out of reach of others: how little would change an answer.

A shape shifted by d stays within reach of another while d lies in a convex set: the difference of
the two shapes (see `geometry.sweep`), grown by the reach. The shortest shift out of one such set is
the reach minus the separation of the two, along the direction that separates them best. Several
shapes that move together must leave the union of the sets of all pairs. The nearest point outside
that union may be where the rims of two sets cross.

Lengths are in mm, directions are unit vectors. Pure Python.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from overruler.geometry.shapes import Disc, Point, Polygon, Shape, gap, translate_shape
from overruler.geometry.tangents import Hull, widest_separation

ShapePair = tuple[Shape, Shape | Hull]
"""A shape that is shifted and one that stays."""
DISTANCE_TOLERANCE_MM = 1e-9
"""Accuracy of a distance, in mm."""
SEARCH_DIRECTION_COUNT = 180
"""Evenly spaced search directions; an exit narrower than the angle between two may be missed."""
GOLDEN_SECTION = (math.sqrt(5) - 1) / 2
"""The golden ratio's inverse, by which a bracket shrinks at each step."""
GOLDEN_SECTION_STEPS = 40
"""Golden-section steps on either side of the best direction."""
NEWTON_STEPS = 60
"""Most Newton steps along a direction."""


def shortest_separating_shift(pairs: Sequence[ShapePair], reach_mm: float) -> Point:
    """Return the shortest common shift of the first shapes that takes every pair out of reach.

    The result is exact to 1e-9 mm for one pair and for discs. For other shapes it is the shortest
    along the search directions, the best direction of each pair, and the surroundings of the best
    of them. It is (0, 0) if no pair is within reach.
    """
    shifts = [pair_separating_shift(a, b, reach_mm) for a, b in pairs]
    farthest = max(shifts, key=shift_length_mm)
    # No shift is shorter than the one that leaves the deepest set.
    if is_separated(pairs, farthest, reach_mm):
        return farthest
    if all(isinstance(shape, Disc) for pair in pairs for shape in pair):
        exits = _circle_exit_candidates(pairs, reach_mm)
        separating = (shift for shift in exits if is_separated(pairs, shift, reach_mm))
        return min(separating, key=shift_length_mm)
    return _search_directions(pairs, reach_mm, shifts)


def shift_length_mm(shift: Point) -> float:
    return math.hypot(*shift)


def pair_separating_shift(a: Shape, b: Shape | Hull, reach_mm: float) -> Point:
    """Return the shortest shift that takes `a` to `reach_mm` from `b`; (0, 0) if it is farther."""
    separation, angle = widest_separation(a, b)
    missing = max(reach_mm - separation, 0.0)
    return -missing * math.cos(angle), -missing * math.sin(angle)


def is_separated(pairs: Sequence[ShapePair], shift: Point, reach_mm: float) -> bool:
    """Tell whether a shift takes every pair out of reach."""
    least = reach_mm - DISTANCE_TOLERANCE_MM
    return all(gap(translate_shape(a, *shift), b).distance_mm >= least for a, b in pairs)


# --- discs: the sets are circles ---


def _circle_exit_candidates(pairs: Sequence[ShapePair], reach_mm: float) -> Iterator[Point]:
    """Yield where the shortest shift may end: each circle's point nearest to 0, and the crossings."""
    circles = [_reach_circle(a, b, reach_mm) for a, b in pairs]
    for (x, y), radius in circles:
        distance = math.hypot(x, y)
        ux, uy = (x / distance, y / distance) if distance else (1.0, 0.0)
        yield x - radius * ux, y - radius * uy
    for first, second in combinations(circles, 2):
        yield from _circle_intersections(*first, *second)


def _reach_circle(a: Shape, b: Shape | Hull, reach_mm: float) -> tuple[Point, float]:
    ax, ay = a.center
    bx, by = b.center
    radius = a.bounding_radius_mm + b.bounding_radius_mm + reach_mm
    return (bx - ax, by - ay), radius


def _circle_intersections(p: Point, r: float, q: Point, s: float) -> Iterator[Point]:
    """Yield the crossings of the circles round p and q with radii r and s."""
    distance = math.dist(p, q)
    if not abs(r - s) < distance < r + s:
        return
    (px, py), (qx, qy) = p, q
    ux = (qx - px) / distance
    uy = (qy - py) / distance
    along = (distance * distance + r * r - s * s) / (2 * distance)
    aside = math.sqrt(max(r * r - along * along, 0.0))
    for side in (aside, -aside):
        yield px + along * ux - side * uy, py + along * uy + side * ux


# --- any shapes ---


class _BoundedPair(NamedTuple):
    """A pair, and two circles about the shift that brings their centres together."""

    a: Shape
    b: Shape | Hull
    center: Point
    """The shift, in mm, that brings the centres together."""
    inner_mm: float
    """Radius within which every shift leaves the pair within reach."""
    outer_mm: float
    """Radius beyond which no shift does."""

    @classmethod
    def of(cls, a: Shape, b: Shape | Hull, reach_mm: float) -> "_BoundedPair":
        ax, ay = a.center
        bx, by = b.center
        inscribed = _inscribed_radius_mm(a) + _inscribed_radius_mm(b)
        inner = inscribed + reach_mm - DISTANCE_TOLERANCE_MM
        outer = a.bounding_radius_mm + b.bounding_radius_mm + reach_mm
        return cls(a, b, (bx - ax, by - ay), inner, outer)

    def is_within_reach(self, x: float, y: float, reach_mm: float) -> bool:
        """Tell whether a shift leaves the pair within reach."""
        center_x, center_y = self.center
        distance = math.hypot(center_x - x, center_y - y)
        if not self.inner_mm <= distance < self.outer_mm:
            return distance < self.inner_mm
        nearest = gap(translate_shape(self.a, x, y), self.b)
        return nearest.distance_mm < reach_mm - DISTANCE_TOLERANCE_MM


def _inscribed_radius_mm(shape: Shape | Hull) -> float:
    """Return the radius of a circle about the centre that lies in the shape."""
    if isinstance(shape, Disc):
        return shape.radius_mm
    if isinstance(shape, Hull):
        return min(_inscribed_radius_mm(shape.a), _inscribed_radius_mm(shape.b))
    if not isinstance(shape, Polygon):
        return min(shape.length_mm, shape.width_mm) / 2
    x, y = shape.center
    heights = []
    for kink in shape.edge_normal_angles:
        ux, uy = math.cos(kink), math.sin(kink)
        px, py = shape.support_point(ux, uy)
        heights.append((px - x) * ux + (py - y) * uy)
    return min(heights)


def _search_directions(
    pairs: Sequence[ShapePair], reach_mm: float, shifts: Sequence[Point]
) -> Point:
    """Return the shortest shift along many directions, given the `shifts` of the single pairs."""
    deepest = sorted(zip(shifts, pairs, strict=True), key=lambda item: -shift_length_mm(item[0]))
    bounded = [_BoundedPair.of(a, b, reach_mm) for _, (a, b) in deepest]
    step = math.tau / SEARCH_DIRECTION_COUNT
    angles = [math.atan2(y, x) for (x, y), _ in deepest]
    angles += [math.tau * k / SEARCH_DIRECTION_COUNT for k in range(SEARCH_DIRECTION_COUNT)]
    best = (math.inf, 0.0)
    for angle in angles:
        best = min(best, (_exit_distance_mm(bounded, reach_mm, angle, best[0]), angle))
    for low, high in ((best[1] - step, best[1]), (best[1], best[1] + step)):
        best = min(best, _golden_section_search(bounded, reach_mm, low, high))
    length, angle = best
    return length * math.cos(angle), length * math.sin(angle)


def _golden_section_search(
    bounded: Sequence[_BoundedPair], reach_mm: float, low: float, high: float
) -> tuple[float, float]:
    """Return the shortest exit found between two directions, and its angle."""

    def exit_at(share: float) -> tuple[float, float]:
        angle = low + share * (high - low)
        return _exit_distance_mm(bounded, reach_mm, angle), angle

    first, second = exit_at(1 - GOLDEN_SECTION), exit_at(GOLDEN_SECTION)
    best = min(first, second)
    for _ in range(GOLDEN_SECTION_STEPS):
        if first[0] <= second[0]:
            high, second = second[1], first
            first = exit_at(1 - GOLDEN_SECTION)
        else:
            low, first = first[1], second
            second = exit_at(GOLDEN_SECTION)
        best = min(best, first, second)
    return best


def _exit_distance_mm(
    bounded: Sequence[_BoundedPair], reach_mm: float, angle: float, limit: float = math.inf
) -> float:
    """Return how far it is out of all sets along a direction; inf if not less than `limit`."""
    ux, uy = math.cos(angle), math.sin(angle)
    distance = 0.0
    remaining = list(bounded)
    while True:
        x, y = distance * ux, distance * uy
        pair = next((pair for pair in remaining if pair.is_within_reach(x, y, reach_mm)), None)
        if pair is None:
            return distance
        distance = _pair_exit_distance_mm(pair.a, pair.b, ux, uy, reach_mm)
        if distance >= limit:
            return math.inf
        remaining.remove(pair)


def _pair_exit_distance_mm(
    a: Shape, b: Shape | Hull, ux: float, uy: float, reach_mm: float
) -> float:
    """Return how far `a` moves along (ux, uy) until it is `reach_mm` away from `b`.

    The gap is a convex function of the path length. Newton's steps from far out approach the root
    and never pass it.
    """
    ax, ay = a.center
    bx, by = b.center
    along = (bx - ax) * ux + (by - ay) * uy
    path = along + a.bounding_radius_mm + b.bounding_radius_mm + reach_mm
    for _ in range(NEWTON_STEPS):
        distance, (px, py), (qx, qy) = gap(translate_shape(a, path * ux, path * uy), b)
        slope = ((px - qx) * ux + (py - qy) * uy) / distance if distance > 0 else 0.0
        excess = distance - reach_mm
        if excess <= DISTANCE_TOLERANCE_MM / 10 or slope <= DISTANCE_TOLERANCE_MM:
            break
        path -= excess / slope
    return path

"""The shortest shift that takes shapes out of reach of others: how little would change an answer.

A shape shifted by d stays within a reach of another while d lies in a convex set: the difference of the two (see
`geometry.sweep`), grown by the reach. Out of one such set the shortest way is as long as the reach less the separation
of the two, along the direction that parts them best. Several shapes that move as one must leave the union of as many
sets as there are pairs, and the nearest point outside it may lie where the rims of two of them cross.

All lengths in mm, directions are unit vectors. Pure Python.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from overruler.geometry.shapes import Disc, Point, Polygon, Shape, gap, translate_shape
from overruler.geometry.visibility import widest_separation

ShapePair = tuple[Shape, Shape]
"""A shape that is shifted and one that stays."""
DISTANCE_TOLERANCE_MM = 1e-9
SEARCH_DIRECTION_COUNT = 180
"""Directions looked in, evenly; a way out that is narrower than the angle between two of them may be missed."""
GOLDEN_SECTION = (math.sqrt(5) - 1) / 2
GOLDEN_SECTION_STEPS = 40
"""Cuts of the angle on either side of the best of them."""


def shortest_separating_shift(pairs: Sequence[ShapePair], reach_mm: float) -> Point:
    """The shortest shift of all the first shapes together to where none is nearer than `reach_mm` to its second.

    Exact to 1e-9 mm for one pair and for discs; for others the shortest along `SEARCH_DIRECTION_COUNT` directions, those that part a
    pair best and the best one's surroundings. (0, 0) where none is nearer as they stand.
    """
    straight = [pair_separating_shift(a, b, reach_mm) for a, b in pairs]
    farthest = max(straight, key=shift_length_mm)
    if is_separated(pairs, farthest, reach_mm):
        return farthest  # every way out leaves the deepest of the sets, and none is shorter than the shortest out of it
    if all(isinstance(shape, Disc) for pair in pairs for shape in pair):
        return min(
            (
                d
                for d in _circle_exit_candidates(pairs, reach_mm)
                if is_separated(pairs, d, reach_mm)
            ),
            key=shift_length_mm,
        )
    return _search_directions(pairs, reach_mm, straight)


def shift_length_mm(shift: Point) -> float:
    return math.hypot(*shift)


def pair_separating_shift(a: Shape, b: Shape, reach_mm: float) -> Point:
    """The shortest shift of `a` to where it is `reach_mm` away from `b`; (0, 0) where it is farther as it stands."""
    apart, angle = widest_separation(a, b)
    short = max(reach_mm - apart, 0.0)
    return -short * math.cos(angle), -short * math.sin(angle)


def is_separated(pairs: Sequence[ShapePair], shift: Point, reach_mm: float) -> bool:
    return all(
        gap(translate_shape(a, *shift), b).distance_mm >= reach_mm - DISTANCE_TOLERANCE_MM
        for a, b in pairs
    )


# --- discs: the sets are circles ---


def _circle_exit_candidates(pairs: Sequence[ShapePair], reach_mm: float) -> Iterator[Point]:
    """The points at which the nearest way out may end: of each circle the point nearest to 0, and the crossings."""
    circles = [_reach_circle(a, b, reach_mm) for a, b in pairs]
    for (x, y), radius in circles:
        apart = math.hypot(x, y)
        ux, uy = (x / apart, y / apart) if apart else (1.0, 0.0)
        yield x - radius * ux, y - radius * uy
    for one, other in combinations(circles, 2):
        yield from _circle_intersections(*one, *other)


def _reach_circle(a: Shape, b: Shape, reach_mm: float) -> tuple[Point, float]:
    (ax, ay), (bx, by) = a.center, b.center
    return (bx - ax, by - ay), a.bounding_radius_mm + b.bounding_radius_mm + reach_mm


def _circle_intersections(p: Point, r: float, q: Point, s: float) -> Iterator[Point]:
    apart = math.dist(p, q)
    if not abs(r - s) < apart < r + s:
        return
    ux, uy = (q[0] - p[0]) / apart, (q[1] - p[1]) / apart
    along = (apart * apart + r * r - s * s) / (2 * apart)
    aside = math.sqrt(max(r * r - along * along, 0.0))
    for side in (aside, -aside):
        yield p[0] + along * ux - side * uy, p[1] + along * uy + side * ux


# --- any shapes ---


class _BoundedPair(NamedTuple):
    """A pair, and two circles about the shift that brings their centres together."""

    a: Shape
    b: Shape
    center: Point
    inner_mm: float
    """A shift inside this circle is within reach for sure."""
    outer_mm: float
    """A shift outside this one is not."""

    @classmethod
    def of(cls, a: Shape, b: Shape, reach_mm: float) -> "_BoundedPair":
        (ax, ay), (bx, by) = a.center, b.center
        inner, outer = (
            _inscribed_radius_mm(a) + _inscribed_radius_mm(b),
            a.bounding_radius_mm + b.bounding_radius_mm,
        )
        return cls(
            a, b, (bx - ax, by - ay), inner + reach_mm - DISTANCE_TOLERANCE_MM, outer + reach_mm
        )

    def is_within_reach(self, x: float, y: float, reach_mm: float) -> bool:
        """Whether a shift leaves the pair within reach."""
        apart = math.hypot(self.center[0] - x, self.center[1] - y)
        if not self.inner_mm <= apart < self.outer_mm:
            return apart < self.inner_mm
        return (
            gap(translate_shape(self.a, x, y), self.b).distance_mm
            < reach_mm - DISTANCE_TOLERANCE_MM
        )


def _inscribed_radius_mm(shape: Shape) -> float:
    """The radius of a circle about the centre that lies in the shape."""
    if isinstance(shape, Polygon):
        normals = ((math.cos(kink), math.sin(kink)) for kink in shape.edge_normal_angles)
        x, y = shape.center
        return min(
            (px - x) * ux + (py - y) * uy
            for ux, uy in normals
            for px, py in [shape.support_point(ux, uy)]
        )
    return shape.radius_mm if isinstance(shape, Disc) else min(shape.length_mm, shape.width_mm) / 2


def _search_directions(
    pairs: Sequence[ShapePair], reach_mm: float, straight: Sequence[Point]
) -> Point:
    """The shortest way along one of many directions, made shorter by turning it a little."""
    deepest = sorted(zip(straight, pairs, strict=True), key=lambda each: -shift_length_mm(each[0]))
    near = [_BoundedPair.of(a, b, reach_mm) for _, (a, b) in deepest]
    best = (math.inf, 0.0)
    for angle in [math.atan2(y, x) for (x, y), _ in deepest] + [
        math.tau * k / SEARCH_DIRECTION_COUNT for k in range(SEARCH_DIRECTION_COUNT)
    ]:
        best = min(best, (_exit_distance_mm(near, reach_mm, angle, best[0]), angle))
    step = math.tau / SEARCH_DIRECTION_COUNT
    for low, high in ((best[1] - step, best[1]), (best[1], best[1] + step)):
        best = min(best, _golden_section_search(near, reach_mm, low, high))
    length, angle = best
    return length * math.cos(angle), length * math.sin(angle)


def _golden_section_search(
    near: Sequence[_BoundedPair], reach_mm: float, low: float, high: float
) -> tuple[float, float]:
    """The shortest way that is found between two directions, cut by the golden section, and its angle."""

    def at(share: float) -> tuple[float, float]:
        angle = low + share * (high - low)
        return _exit_distance_mm(near, reach_mm, angle), angle

    first, second = at(1 - GOLDEN_SECTION), at(GOLDEN_SECTION)
    best = min(first, second)
    for _ in range(GOLDEN_SECTION_STEPS):
        if first[0] <= second[0]:
            high, second = second[1], first
            first = at(1 - GOLDEN_SECTION)
        else:
            low, first = first[1], second
            second = at(GOLDEN_SECTION)
        best = min(best, first, second)
    return best


def _exit_distance_mm(
    near: Sequence[_BoundedPair], reach_mm: float, angle: float, enough: float = math.inf
) -> float:
    """How far it is out of all the sets in one direction: out of one, and of those that the way then stands in.

    Infinite where it is not less than `enough`.
    """
    ux, uy = math.cos(angle), math.sin(angle)
    at, left = 0.0, list(near)
    while held := next(
        (one for one in left if one.is_within_reach(at * ux, at * uy, reach_mm)), None
    ):
        at = _pair_exit_distance_mm(held.a, held.b, ux, uy, reach_mm)
        if at >= enough:
            return math.inf
        left.remove(held)
    return at


def _pair_exit_distance_mm(a: Shape, b: Shape, ux: float, uy: float, reach_mm: float) -> float:
    """Where on its way `a` gets `reach_mm` away from `b`.

    The distance is a convex function of the way: from far out, Newton's steps close in and never pass the place.
    """
    (ax, ay), (bx, by) = a.center, b.center
    at = (bx - ax) * ux + (by - ay) * uy + a.bounding_radius_mm + b.bounding_radius_mm + reach_mm
    for _ in range(60):
        distance, (px, py), (qx, qy) = gap(translate_shape(a, at * ux, at * uy), b)
        slope = ((px - qx) * ux + (py - qy) * uy) / distance if distance > 0 else 0.0
        if distance - reach_mm <= DISTANCE_TOLERANCE_MM / 10 or slope <= DISTANCE_TOLERANCE_MM:
            break
        at -= (distance - reach_mm) / slope
    return at

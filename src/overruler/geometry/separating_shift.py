"""The shortest shift that takes shapes out of reach of others: how little would change an answer.

A shape shifted by d stays within reach of another while d lies in a convex set: the difference of
the two shapes (see `geometry.sweep`), grown by the reach. The shortest shift out of one such set is
the reach minus the separation of the two, along the direction that separates them best. Several
shapes that move together must leave the union of the sets of all pairs. The nearest point outside
that union may be where the rims of two sets cross.

Lengths are in mm, directions are unit vectors. Pure Python.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from overruler.geometry.shapes import Disc, Point, Shape, gap, translate_shape
from overruler.geometry.tangents import Hull, widest_separation

ShapePair = tuple[Shape, Shape | Hull]
"""A shape that is shifted and one that stays."""
DISTANCE_TOLERANCE_MM = 1e-9
"""Accuracy of a distance, in mm."""
SEARCH_DIRECTION_COUNT = 180
"""Evenly spaced search directions; an exit narrower than the angle between two may be missed."""
BOUND_DIRECTION_COUNT = 128
"""Evenly spaced directions in which the rim of a pair's set is known; the kinks of the rim are too."""
MIN_COSINE = 1e-3
"""Least cosine between a path and the normal of a line of support that may bound it."""
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
    """A pair, and a polygon inside the set of shifts that leave the two within reach.

    Its corners are as good as on the set's rim, where the set has lines of support. Between the
    polygon and these lines only a measured gap tells whether a shift leaves the pair within reach.
    """

    a: Shape
    b: Shape | Hull
    reach_mm: float
    center: Point
    """The shift, in mm, that brings the centres together."""
    turns: tuple[float, ...]
    """The directions of the corners from `center`, in radians, ascending."""
    corners: tuple[Point, ...]
    """One for each of `turns`; the last is followed by the first."""
    normals: tuple[Point, ...]
    """The unit direction in which each corner is the polygon's farthest point."""

    @classmethod
    def of(cls, a: Shape, b: Shape | Hull, reach_mm: float) -> "_BoundedPair":
        center = b.center[0] - a.center[0], b.center[1] - a.center[1]
        angles = {math.tau * k / BOUND_DIRECTION_COUNT for k in range(BOUND_DIRECTION_COUNT)}
        angles |= {(kink + math.pi) % math.tau for kink in a.edge_normal_angles}
        grown_mm = reach_mm - 2 * DISTANCE_TOLERANCE_MM
        rows = []
        for angle in angles:
            ux, uy = math.cos(angle), math.sin(angle)
            (px, py), (qx, qy) = b.support_point(ux, uy), a.support_point(-ux, -uy)
            corner = px - qx + grown_mm * ux, py - qy + grown_mm * uy
            turn = math.atan2(corner[1] - center[1], corner[0] - center[0])
            rows.append((turn, angle, corner, (ux, uy)))
        turns, _, corners, normals = zip(*sorted(rows), strict=True)
        return cls(a, b, reach_mm, center, turns, corners, normals)

    def is_within_reach(self, x: float, y: float) -> bool:
        """Tell whether a shift leaves the pair within reach."""
        before, after = self._corners_about(x, y)
        if self._is_past(x, y, before) or self._is_past(x, y, after):
            return False
        if self._is_inside(x, y, before, after):
            return True
        distance = gap(translate_shape(self.a, x, y), self.b).distance_mm
        return distance < self.reach_mm - DISTANCE_TOLERANCE_MM

    def holds(self, x: float, y: float) -> bool:
        """Tell whether a shift lies in the polygon; then it leaves the two within reach."""
        return self._is_inside(x, y, *self._corners_about(x, y))

    def surely_until_mm(self, ux: float, uy: float) -> float:
        """Return how far a path along (ux, uy) from within the polygon stays in it."""
        until_mm = math.inf
        px, py = self.corners[-1]
        for qx, qy in self.corners:
            nx, ny = qy - py, px - qx
            ahead = nx * ux + ny * uy
            if ahead > 0:
                until_mm = min(until_mm, (px * nx + py * ny) / ahead)
            px, py = qx, qy
        return until_mm

    def exit_limit_mm(self, ux: float, uy: float) -> float:
        """Return a path length along (ux, uy) from which on the pair is out of reach."""
        limit_mm = math.inf
        for (px, py), (nx, ny) in zip(self.corners, self.normals, strict=True):
            ahead = nx * ux + ny * uy
            if ahead > MIN_COSINE:
                out_mm = px * nx + py * ny + 2 * DISTANCE_TOLERANCE_MM
                limit_mm = min(limit_mm, out_mm / ahead)
        return limit_mm

    def _corners_about(self, x: float, y: float) -> tuple[int, int]:
        """The corners before and after a shift, as seen from the centre."""
        turn = math.atan2(y - self.center[1], x - self.center[0])
        after = bisect_left(self.turns, turn)
        return after - 1, after % len(self.turns)

    def _is_past(self, x: float, y: float, corner: int) -> bool:
        """Tell whether a shift is past a corner's line of support."""
        (px, py), (ux, uy) = self.corners[corner], self.normals[corner]
        return (x - px) * ux + (y - py) * uy >= DISTANCE_TOLERANCE_MM

    def _is_inside(self, x: float, y: float, before: int, after: int) -> bool:
        """Tell whether a shift lies inside of the side between two corners."""
        (px, py), (qx, qy) = self.corners[before], self.corners[after]
        return (qx - px) * (y - py) - (qy - py) * (x - px) > 0


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
        best = min(best, (_exit_distance_mm(bounded, angle, best[0]), angle))
    for low, high in ((best[1] - step, best[1]), (best[1], best[1] + step)):
        best = min(best, _golden_section_search(bounded, low, high))
    length, angle = best
    return length * math.cos(angle), length * math.sin(angle)


def _golden_section_search(
    bounded: Sequence[_BoundedPair], low: float, high: float
) -> tuple[float, float]:
    """Return the shortest exit found between two directions, and its angle."""

    def exit_at(share: float) -> tuple[float, float]:
        angle = low + share * (high - low)
        return _exit_distance_mm(bounded, angle), angle

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
    bounded: Sequence[_BoundedPair], angle: float, limit: float = math.inf
) -> float:
    """Return how far it is out of all sets along a direction; inf if not less than `limit`."""
    ux, uy = math.cos(angle), math.sin(angle)
    remaining = list(bounded)
    distance = _surely_until_mm(remaining, ux, uy)
    if distance >= limit:
        return math.inf
    while True:
        x, y = distance * ux, distance * uy
        pair = next((pair for pair in remaining if pair.is_within_reach(x, y)), None)
        if pair is None:
            return distance
        distance = _pair_exit_distance_mm(pair, ux, uy)
        if distance >= limit:
            return math.inf
        remaining.remove(pair)


def _surely_until_mm(pairs: Sequence[_BoundedPair], ux: float, uy: float) -> float:
    """Return how far along a direction every shift surely leaves some pair within reach."""
    distance = 0.0
    remaining = list(pairs)
    while True:
        x, y = distance * ux, distance * uy
        pair = next((pair for pair in remaining if pair.holds(x, y)), None)
        if pair is None:
            return distance
        distance = max(distance, pair.surely_until_mm(ux, uy))
        remaining.remove(pair)


def _pair_exit_distance_mm(pair: _BoundedPair, ux: float, uy: float) -> float:
    """Return how far `a` moves along (ux, uy) until it is out of reach of `b`.

    The gap is a convex function of the path length. Newton's steps from beyond the root approach it
    and never pass it.
    """
    path = pair.exit_limit_mm(ux, uy)
    for _ in range(NEWTON_STEPS):
        moved = translate_shape(pair.a, path * ux, path * uy)
        distance, (px, py), (qx, qy) = gap(moved, pair.b)
        slope = ((px - qx) * ux + (py - qy) * uy) / distance if distance > 0 else 0.0
        excess = distance - pair.reach_mm
        if excess <= DISTANCE_TOLERANCE_MM / 10 or slope <= DISTANCE_TOLERANCE_MM:
            break
        path -= excess / slope
    return path

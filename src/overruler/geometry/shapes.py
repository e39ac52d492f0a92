"""Exact convex shapes and their distances: no circle is ever a polygon.

A shape is known by its support point, its point farthest in a direction. Everything here follows
from two facts about the support points of two shapes, with u a unit vector:

* their **gap** is the largest u · (support of B in -u - support of A in u), the widest strip between
  them;
* the **farthest part** of B from A is the largest u · (support of B in u - support of A in u) away;
  see `geometry.farthest`.

(Boyd & Vandenberghe, Convex Optimization, 2004, section 8.2: the distance of convex sets is their
largest separation.) Lengths are millimetres in the board frame; angles inside are radians. Pure
Python: one gap takes microseconds, and a ruling on an exact scene never waits for numpy.
`geometry.batched.distances` does the same for many displacements at once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Point = tuple[float, float]

SIDES_PER_ROUNDED_CORNER = 4
"""Number of sides that stand for a rounded corner."""
CONVERGED_MM = 1e-11
"""Accuracy at which the search for a distance stops; the accumulated rounding is larger."""
MAX_BRACKET_STEPS = 108
"""Most steps of the search for a gap, which halve half a turn to the last bit."""


@dataclass(frozen=True, slots=True)
class Disc:
    """All points within `radius_mm` of a centre; a radius of 0 is a single point."""

    center: Point
    radius_mm: float = 0.0

    @property
    def bounding_radius_mm(self) -> float:
        """The radius of a circle about the centre that holds the shape."""
        return self.radius_mm

    @property
    def edge_normal_angles(self) -> tuple[float, ...]:
        """The directions in which the support point jumps."""
        return ()

    def support_point(self, ux: float, uy: float) -> Point:
        """Return the point farthest in the unit direction (ux, uy)."""
        return self.center[0] + self.radius_mm * ux, self.center[1] + self.radius_mm * uy

    def support_points(self, directions: "Array") -> "Array":
        """Return the points (..., 2) farthest in unit directions (..., 2)."""
        return directions * self.radius_mm + self.center


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse: `length_mm` along its heading, `width_mm` across it."""

    center: Point
    length_mm: float
    width_mm: float
    heading_deg: float = 0.0
    matrix: tuple[float, float, float] = field(init=False, repr=False, compare=False)
    """xx, xy, yy of Q = R diag(a², b²) Rᵀ; the support point in u is centre + Q u / √(uᵀ Q u)."""

    def __post_init__(self) -> None:
        turn = math.radians(self.heading_deg)
        c, s = math.cos(turn), math.sin(turn)
        a2 = (self.length_mm / 2) ** 2
        b2 = (self.width_mm / 2) ** 2
        xx = a2 * c * c + b2 * s * s
        yy = a2 * s * s + b2 * c * c
        object.__setattr__(self, "matrix", (xx, (a2 - b2) * c * s, yy))

    @property
    def bounding_radius_mm(self) -> float:
        return max(self.length_mm, self.width_mm) / 2

    @property
    def edge_normal_angles(self) -> tuple[float, ...]:
        return ()

    def support_point(self, ux: float, uy: float) -> Point:
        xx, xy, yy = self.matrix
        x, y = xx * ux + xy * uy, xy * ux + yy * uy
        size = math.sqrt(x * ux + y * uy)
        return self.center[0] + x / size, self.center[1] + y / size

    def support_points(self, directions: "Array") -> "Array":
        xx, xy, yy = self.matrix
        points = directions @ [[xx, xy], [xy, yy]]
        points /= (points * directions).sum(-1, keepdims=True) ** 0.5
        return points + self.center


@dataclass(frozen=True, slots=True)
class Polygon:
    """A convex polygon."""

    corners: tuple[Point, ...]
    """Counter-clockwise."""
    center: Point = field(init=False, compare=False)
    """The mean of its corners, a point inside."""

    def __post_init__(self) -> None:
        xs, ys = zip(*self.corners, strict=True)
        object.__setattr__(self, "center", (sum(xs) / len(xs), sum(ys) / len(ys)))

    @property
    def bounding_radius_mm(self) -> float:
        return max(math.dist(self.center, corner) for corner in self.corners)

    @property
    def edge_normal_angles(self) -> tuple[float, ...]:
        sides = zip(self.corners, self.corners[1:] + self.corners[:1], strict=True)
        return tuple(math.atan2(ax - bx, by - ay) for (ax, ay), (bx, by) in sides)

    def support_point(self, ux: float, uy: float) -> Point:
        return max(self.corners, key=lambda corner: corner[0] * ux + corner[1] * uy)

    def support_points(self, directions: "Array") -> "Array":
        import numpy as np

        corners = np.array(self.corners)
        return np.asarray(corners[(directions @ corners.T).argmax(-1)])


Shape = Disc | Ellipse | Polygon


def rectangle(
    center: Point,
    length_mm: float,
    width_mm: float,
    heading_deg: float = 0.0,
    corner_radius_mm: float = 0.0,
) -> Polygon:
    """Return a rectangle with its length along the heading.

    A rounded corner becomes `SIDES_PER_ROUNDED_CORNER` sides that touch its arc. They reach at most
    2 % of its radius beyond it.
    """
    turn = math.radians(heading_deg)
    c, s = math.cos(turn), math.sin(turn)
    x_mm = length_mm / 2 - corner_radius_mm
    y_mm = width_mm / 2 - corner_radius_mm
    points = [(x_mm * i, y_mm * j) for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    if corner_radius_mm:
        points = _round_corners(points, corner_radius_mm)
    x_center, y_center = center
    corners = ((x_center + c * x - s * y, y_center + s * x + c * y) for x, y in points)
    return Polygon(tuple(corners))


def _round_corners(points: Sequence[Point], radius_mm: float) -> list[Point]:
    """Return the corners of an upright rectangle, from the corner arcs' centres (4)."""
    out = radius_mm / math.cos(math.pi / 4 / SIDES_PER_ROUNDED_CORNER)
    corners = []
    for quarter, (x, y) in enumerate(points):
        for k in range(SIDES_PER_ROUNDED_CORNER):
            turn = math.pi / 2 * (quarter + (k + 0.5) / SIDES_PER_ROUNDED_CORNER)
            corners.append((x + out * math.cos(turn), y + out * math.sin(turn)))
    return corners


def translate_shape(shape: Shape, x_mm: float, y_mm: float) -> Shape:
    if isinstance(shape, Polygon):
        return Polygon(tuple((x + x_mm, y + y_mm) for x, y in shape.corners))
    return replace(shape, center=(shape.center[0] + x_mm, shape.center[1] + y_mm))


class Gap(NamedTuple):
    """A distance between two shapes, and the points on each that it lies between."""

    distance_mm: float
    from_point: Point
    to_point: Point


class SupportDifference(NamedTuple):
    """The vector w between two support points, one of each shape."""

    a: Point
    b: Point
    along: float
    """Its component along the direction of the support points, in mm."""
    across: float
    """Its component a quarter turn to the left of that, in mm."""

    @property
    def vector(self) -> Point:
        return self.b[0] - self.a[0], self.b[1] - self.a[1]


def gap(a: Shape, b: Shape) -> Gap:
    """Return the distance of two shapes, to 1e-9 mm, and their closest points.

    If they overlap, the distance is 0 and both points are a common point.
    """
    if isinstance(a, Disc) and isinstance(b, Disc):
        return _gap_of_discs(a, b)
    if a.center == b.center:
        return Gap(0.0, a.center, b.center)
    return _gap_by_bracketing(a, b)


def _gap_of_discs(a: Disc, b: Disc) -> Gap:
    (ax, ay), (bx, by) = a.center, b.center
    between = math.hypot(bx - ax, by - ay)
    ux, uy = ((bx - ax) / between, (by - ay) / between) if between else (1.0, 0.0)
    distance = between - a.radius_mm - b.radius_mm
    if distance > 0:
        return Gap(distance, a.support_point(ux, uy), b.support_point(-ux, -uy))
    first = max(-a.radius_mm, between - b.radius_mm)
    last = min(a.radius_mm, between + b.radius_mm)
    middle = (first + last) / 2
    shared = ax + ux * middle, ay + uy * middle
    return Gap(0.0, shared, shared)


def support_difference(a: Shape, b: Shape, angle: float, sign: float) -> SupportDifference:
    """Return the vector from a's support point in a direction to b's.

    b's is taken in the same direction (`sign` 1) or in the opposite one (-1).
    """
    ux, uy = math.cos(angle), math.sin(angle)
    ax, ay = a.support_point(ux, uy)
    bx, by = b.support_point(sign * ux, sign * uy)
    x, y = bx - ax, by - ay
    return SupportDifference((ax, ay), (bx, by), x * ux + y * uy, y * ux - x * uy)


def _gap_by_bracketing(a: Shape, b: Shape) -> Gap:
    """Close a bracket of directions round the widest separation.

    Let w be the vector from the support point of A in u to that of B in -u. No part of B less A lies
    farther in -u, so u · w is the separation in u. A direction that separates more makes a smaller
    angle with w. It lies on the side to which w leans. If u does not separate, it lies within a
    right angle of w. That shrinks the bracket, and empties it if the shapes overlap. All this holds
    within a quarter turn of u, so the search starts from the direction between the centres.

    The next direction points towards c, the point nearest to 0 between the two w at the bracket's
    ends. Every second step takes the bracket's middle instead, so the search ends at the last bit of
    an angle: six steps for polygons, twenty for ovals, 108 at most. |c| is never below the gap and
    u · w never above it; where the two meet, both are the gap.
    """
    (ax, ay), (bx, by) = a.center, b.center
    middle = math.atan2(by - ay, bx - ax)
    low, high = middle - math.pi / 2, middle + math.pi / 2
    below, above = support_difference(a, b, low, -1), support_difference(a, b, high, -1)
    spans = [SupportDifference(a.center, b.center, 0, 0), below, above]
    lower = 0.0
    for step in range(MAX_BRACKET_STEPS):
        share, upper, towards = _nearest_to_origin(below, above)
        if upper - lower < CONVERGED_MM:
            break
        aim = middle + math.remainder(towards - middle, math.tau)
        angle = aim if step % 2 and low < aim < high else (low + high) / 2
        span = support_difference(a, b, angle, -1)
        lower = max(lower, span.along)
        beyond = math.atan2(max(-span.along, 0.0), abs(span.across))
        if span.across > 0:
            low, below = angle + beyond, span
        else:
            high, above = angle - beyond, span
        spans.append(span)
        if low >= high and lower == 0:
            return _common_point(spans)
    from_point = _interpolate_points(below.a, above.a, share)
    return Gap(lower, from_point, _interpolate_points(below.b, above.b, share))


def _nearest_to_origin(p: SupportDifference, q: SupportDifference) -> tuple[float, float, float]:
    """Return the vector nearest to 0 between two w: its share of the way, length and direction."""
    (px, py), (qx, qy) = p.vector, q.vector
    dx, dy = qx - px, qy - py
    size = dx * dx + dy * dy
    share = min(max(-(px * dx + py * dy) / size, 0.0), 1.0) if size else 0.0
    x, y = px + share * dx, py + share * dy
    return share, math.hypot(x, y), math.atan2(y, x)


def _interpolate_points(p: Point, q: Point, share: float) -> Point:
    return p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])


def _common_point(spans: Sequence[SupportDifference]) -> Gap:
    """Return a common point of two shapes, from three w whose triangle contains 0."""
    weighted = ((_barycentric_weights_of_origin(trio), trio) for trio in combinations(spans, 3))
    weights, trio = max(weighted, key=lambda item: min(item[0]))
    x = sum(weight * span.a[0] for weight, span in zip(weights, trio, strict=True))
    y = sum(weight * span.a[1] for weight, span in zip(weights, trio, strict=True))
    return Gap(0.0, (x, y), (x, y))


def _barycentric_weights_of_origin(trio: Sequence[SupportDifference]) -> tuple[float, ...]:
    """Return the barycentric weights of 0 among three w, all positive if it is in their triangle."""
    (px, py), (qx, qy), (rx, ry) = (span.vector for span in trio)
    areas = (qx * ry - qy * rx, rx * py - ry * px, px * qy - py * qx)
    total = sum(areas)
    if not total:
        return -1.0, -1.0, -1.0
    return tuple(area / total for area in areas)

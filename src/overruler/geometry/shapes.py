"""Exact convex shapes, and how far apart they are: no circle is ever a polygon.

A shape is known by its support point: the point of it that lies farthest in a direction. Everything here follows from
two facts about the support points of two shapes, with u a unit vector:

* their **gap** is the largest u · (support of B in -u - support of A in u), the widest strip that parts them;
* the **farthest part** of B from A lies the largest u · (support of B in u - support of A in u) away; see
  `geometry.farthest`.

(Boyd & Vandenberghe, Convex Optimization, 2004, section 8.2: the distance of convex sets is their largest separation.)
Lengths are millimetres in the board frame; angles inside are radians. Pure Python: one gap takes microseconds, and a
ruling on an exact scene never waits for numpy. `geometry.many` has the same for many displacements at once.
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
"""So many sides a rounded corner has."""
CONVERGED_MM = 1e-11
"""A distance is found when it is known to this; the sum of the roundings on the way is larger."""


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
        """The point farthest in the unit direction (ux, uy)."""
        return self.center[0] + self.radius_mm * ux, self.center[1] + self.radius_mm * uy

    def support_points(self, directions: "Array") -> "Array":
        """The points (..., 2) farthest in unit directions (..., 2)."""
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
        c, s = math.cos(math.radians(self.heading_deg)), math.sin(math.radians(self.heading_deg))
        a2, b2 = (self.length_mm / 2) ** 2, (self.width_mm / 2) ** 2
        matrix = (a2 * c * c + b2 * s * s, (a2 - b2) * c * s, a2 * s * s + b2 * c * c)
        object.__setattr__(self, "matrix", matrix)

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
    """A convex polygon, its corners counter-clockwise."""

    corners: tuple[Point, ...]
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
    """A rectangle with its length along the heading.

    Rounded corners are `SIDES_PER_ROUNDED_CORNER` sides more each, which touch the arc: nowhere farther out than by 2 % of its radius.
    """
    c, s = math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))
    halves = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    x_mm, y_mm = length_mm / 2 - corner_radius_mm, width_mm / 2 - corner_radius_mm
    points = [(x_mm * forward, y_mm * left) for forward, left in halves]
    if corner_radius_mm:
        out = corner_radius_mm / math.cos(math.pi / 4 / SIDES_PER_ROUNDED_CORNER)
        turns = [
            [
                math.pi / 2 * (corner + (k + 0.5) / SIDES_PER_ROUNDED_CORNER)
                for k in range(SIDES_PER_ROUNDED_CORNER)
            ]
            for corner in range(4)
        ]
        corners = zip(points, turns, strict=True)
        points = [
            (x + out * math.cos(turn), y + out * math.sin(turn))
            for (x, y), some in corners
            for turn in some
        ]
    return Polygon(tuple((center[0] + c * x - s * y, center[1] + s * x + c * y) for x, y in points))


def translate_shape(shape: Shape, x_mm: float, y_mm: float) -> Shape:
    """The shape, moved."""
    if isinstance(shape, Polygon):
        return Polygon(tuple((x + x_mm, y + y_mm) for x, y in shape.corners))
    return replace(shape, center=(shape.center[0] + x_mm, shape.center[1] + y_mm))


class Gap(NamedTuple):
    """A distance between two shapes, and a point on each that it lies between."""

    distance_mm: float
    from_point: Point
    to_point: Point


class SupportDifference(NamedTuple):
    """The vector w between two support points: along the direction that they were taken in, and across it."""

    a: Point
    b: Point
    along: float
    across: float


def gap(a: Shape, b: Shape) -> Gap:
    """How far apart two shapes are, to 1e-9 mm, and their closest points; 0 and a common point where they overlap."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        return _gap_of_discs(a, b)
    return Gap(0.0, a.center, b.center) if a.center == b.center else _gap_by_bracketing(a, b)


def _gap_of_discs(a: Disc, b: Disc) -> Gap:
    (ax, ay), (bx, by) = a.center, b.center
    apart = math.hypot(bx - ax, by - ay)
    ux, uy = ((bx - ax) / apart, (by - ay) / apart) if apart else (1.0, 0.0)
    distance = apart - a.radius_mm - b.radius_mm
    if distance > 0:
        return Gap(distance, a.support_point(ux, uy), b.support_point(-ux, -uy))
    middle = (max(-a.radius_mm, apart - b.radius_mm) + min(a.radius_mm, apart + b.radius_mm)) / 2
    shared = ax + ux * middle, ay + uy * middle
    return Gap(0.0, shared, shared)


def support_difference(a: Shape, b: Shape, angle: float, sign: float) -> SupportDifference:
    """From the support point of `a` in a direction to that of `b` in the same (`sign` 1) or the opposite one (-1)."""
    ux, uy = math.cos(angle), math.sin(angle)
    ax, ay = a.support_point(ux, uy)
    bx, by = b.support_point(sign * ux, sign * uy)
    x, y = bx - ax, by - ay
    return SupportDifference((ax, ay), (bx, by), x * ux + y * uy, y * ux - x * uy)


def _gap_by_bracketing(a: Shape, b: Shape) -> Gap:
    """A bracket of directions that closes round the widest separation.

    Let w be the vector from the support point of A in u to that of B in -u. No part of B less A lies farther in -u, so
    u · w is the separation in u, and a direction that separates more makes a smaller angle with w. It lies on the side
    to which w leans and, where u does not separate, at less than a right angle from w: that cuts the bracket, for
    overlapping shapes to nothing. (All of this within a quarter turn of u: the first u is the middle of the half turn
    in which the centres lie apart.) The next direction is towards c, the point nearest to 0 between the two w at the
    bracket's ends, and every second time the bracket's middle, so that the search ends at the last bit of an angle
    after 108 steps at most (six for polygons, twenty for ovals). |c| is never below the gap and u · w never above it:
    where they meet, both are it.
    """
    middle = math.atan2(b.center[1] - a.center[1], b.center[0] - a.center[0])
    low, high = middle - math.pi / 2, middle + math.pi / 2
    below, above = support_difference(a, b, low, -1), support_difference(a, b, high, -1)
    seen = [SupportDifference(a.center, b.center, 0, 0), below, above]
    lower = 0.0
    for step in range(108):
        share, upper, towards = _nearest_to_origin(below, above)
        if upper - lower < CONVERGED_MM:
            break
        aim = middle + math.remainder(towards - middle, math.tau)
        angle = aim if step % 2 and low < aim < high else (low + high) / 2
        here = support_difference(a, b, angle, -1)
        lower = max(lower, here.along)
        beyond = math.atan2(max(-here.along, 0.0), abs(here.across))
        if here.across > 0:
            low, below = angle + beyond, here
        else:
            high, above = angle - beyond, here
        seen.append(here)
        if low >= high and lower == 0:
            return _common_point(seen)
    return Gap(
        lower,
        _interpolate_points(below.a, above.a, share),
        _interpolate_points(below.b, above.b, share),
    )


def _nearest_to_origin(p: SupportDifference, q: SupportDifference) -> tuple[float, float, float]:
    """Between two vectors w the one nearest to 0: its share of the way from `p`, its length and its direction."""
    (px, py), (qx, qy) = _difference_vector(p), _difference_vector(q)
    dx, dy = qx - px, qy - py
    size = dx * dx + dy * dy
    share = min(max(-(px * dx + py * dy) / size, 0.0), 1.0) if size else 0.0
    x, y = px + share * dx, py + share * dy
    return share, math.hypot(x, y), math.atan2(y, x)


def _difference_vector(span: SupportDifference) -> Point:
    return span.b[0] - span.a[0], span.b[1] - span.a[1]


def _interpolate_points(p: Point, q: Point, share: float) -> Point:
    return p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])


def _common_point(spans: Sequence[SupportDifference]) -> Gap:
    """A common point of two shapes: 0 lies in the triangle of three of the w; the points, by its weights there."""
    weights, trio = max(
        ((_barycentric_weights_of_origin(trio), trio) for trio in combinations(spans, 3)),
        key=lambda found: min(found[0]),
    )
    x, y = (
        sum(weight * span.a[axis] for weight, span in zip(weights, trio, strict=True))
        for axis in (0, 1)
    )
    return Gap(0.0, (x, y), (x, y))


def _barycentric_weights_of_origin(trio: Sequence[SupportDifference]) -> tuple[float, ...]:
    """The barycentric weights of 0 among three w; all positive where it lies inside their triangle."""
    (px, py), (qx, qy), (rx, ry) = (_difference_vector(span) for span in trio)
    areas = (qx * ry - qy * rx, rx * py - ry * px, px * qy - py * qx)
    return tuple(area / total for area in areas) if (total := sum(areas)) else (-1.0, -1.0, -1.0)

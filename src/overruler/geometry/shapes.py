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
from itertools import combinations
from typing import NamedTuple

from overruler.geometry.convex_shapes import (
    ConvexShape,
    Disc,
    Ellipse,
    Point,
    Polygon,
    Shape,
    hexagon,
    rectangle,
    shape_of_kind,
    stadium,
    translate_shape,
)

__all__ = [
    "ConvexShape",
    "Disc",
    "Ellipse",
    "Gap",
    "Point",
    "Polygon",
    "Shape",
    "gap",
    "hexagon",
    "rectangle",
    "shape_of_kind",
    "stadium",
    "support_difference",
    "translate_shape",
]

CONVERGED_MM = 1e-11
"""Accuracy at which the search for a distance stops; the accumulated rounding is larger."""
MAX_BRACKET_STEPS = 108
"""Most steps of the search for a gap, which halve half a turn to the last bit."""


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


def gap(a: ConvexShape, b: ConvexShape) -> Gap:
    """Return the distance of two shapes, to 1e-9 mm, and their closest points, or a common one."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        return _gap_of_discs(a, b)
    if a.center == b.center:
        return Gap(0.0, a.center, b.center)
    return _gap_by_bracketing(a, b)


def _gap_of_discs(a: Disc, b: Disc) -> Gap:
    ax, ay = a.center
    bx, by = b.center
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


def support_difference(
    a: ConvexShape, b: ConvexShape, angle: float, sign: float
) -> SupportDifference:
    """Return the vector from a's support point to b's, in the same direction (1) or opposite (-1)."""
    ux, uy = math.cos(angle), math.sin(angle)
    ax, ay = a.support_point(ux, uy)
    bx, by = b.support_point(sign * ux, sign * uy)
    x, y = bx - ax, by - ay
    return SupportDifference((ax, ay), (bx, by), x * ux + y * uy, y * ux - x * uy)


def _gap_by_bracketing(a: ConvexShape, b: ConvexShape) -> Gap:
    """Close a bracket of directions round the widest separation.

    Let w be the vector from the support point of A in u to that of B in -u. No part of B less A lies
    farther in -u, so u · w is the separation in u. A direction that separates more makes a smaller
    angle with w and lies on the side to which w leans. If u does not separate, it lies within a right
    angle of w. That shrinks the bracket, and empties it if the shapes overlap. All this holds within
    a quarter turn of u, so the search starts from the direction between the centres.

    The next direction points to c, the point nearest to 0 between the two w at the bracket's ends.
    Every second step halves the bracket instead, so six steps suffice for polygons, twenty for ovals
    and 108 always. |c| is never below the gap and u · w never above it; once equal, both are the gap.
    """
    ax, ay = a.center
    bx, by = b.center
    middle = math.atan2(by - ay, bx - ax)
    low = middle - math.pi / 2
    high = middle + math.pi / 2
    below = support_difference(a, b, low, -1)
    above = support_difference(a, b, high, -1)
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
    px, py = p.vector
    qx, qy = q.vector
    dx, dy = qx - px, qy - py
    size = dx * dx + dy * dy
    share = min(max(-(px * dx + py * dy) / size, 0.0), 1.0) if size else 0.0
    x = px + share * dx
    y = py + share * dy
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

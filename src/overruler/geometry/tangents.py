"""How two convex shapes stand to each other: separation, common tangents and convex hull.

Lengths are millimetres in the board frame, angles radians. Pure Python.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

from overruler.geometry.shapes import Disc, Point, Shape, gap
from overruler.units import CONTACT_TOLERANCE_MM

QUARTER_TURN = math.pi / 2
COARSE_DIRECTIONS = 48
"""Number of directions sampled before the maxima between them are refined."""
BISECTIONS = 44
"""Halvings of the bracket round a maximum."""


class ConvexShape(Protocol):
    """A shape known by its support points; see `geometry.shapes`."""

    @property
    def center(self) -> Point: ...
    @property
    def edge_normal_angles(self) -> tuple[float, ...]: ...
    def support_point(self, ux: float, uy: float) -> Point: ...


class Separation(NamedTuple):
    """How far two shapes are apart, and in which direction."""

    signed_gap_mm: float
    """The gap; for shapes that overlap, minus the shortest distance that parts them."""
    angle: float
    """The direction from the first shape to the second that separates them best."""


def _support_offset(
    a: ConvexShape, b: ConvexShape, angle: float, sign: float
) -> tuple[float, float]:
    """Return how far b's support point lies past a's in a direction, and its slope by the angle.

    b's support point is taken in the same direction (`sign` 1) or the opposite one (-1).
    """
    ux, uy = math.cos(angle), math.sin(angle)
    ax, ay = a.support_point(ux, uy)
    bx, by = b.support_point(sign * ux, sign * uy)
    x, y = bx - ax, by - ay
    return x * ux + y * uy, y * ux - x * uy


def widest_separation(a: ConvexShape, b: ConvexShape) -> Separation:
    """Return the largest separation of two shapes over all directions, to 1e-9 mm."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        x = b.center[0] - a.center[0]
        y = b.center[1] - a.center[1]
        return Separation(math.hypot(x, y) - a.radius_mm - b.radius_mm, math.atan2(y, x))
    nearest = gap(a, b)  # type: ignore[arg-type]  # it only needs support points
    if nearest.distance_mm > CONTACT_TOLERANCE_MM:
        (ax, ay), (bx, by) = nearest.from_point, nearest.to_point
        return Separation(nearest.distance_mm, math.atan2(by - ay, bx - ax))
    return max(_separation_maxima(a, b))


def _separation_maxima(a: ConvexShape, b: ConvexShape) -> Iterator[Separation]:
    """Yield the separation in each coarse direction, and at each maximum between two of them."""
    turns = {math.tau * k / COARSE_DIRECTIONS for k in range(COARSE_DIRECTIONS)}
    kinks = [*a.edge_normal_angles, *(kink + math.pi for kink in b.edge_normal_angles)]
    angles = sorted(turns | {kink % math.tau for kink in kinks})
    for low, high in pairwise([*angles, angles[0] + math.tau]):
        yield Separation(_support_offset(a, b, low, -1)[0], low)
        inside = 1e-9 * (high - low)  # to one side of a jump
        _, first_slope = _support_offset(a, b, low + inside, -1)
        if first_slope > 0 and _support_offset(a, b, high - inside, -1)[1] < 0:
            yield _refine_maximum(a, b, low, high)


def _refine_maximum(a: ConvexShape, b: ConvexShape, low: float, high: float) -> Separation:
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if _support_offset(a, b, middle, -1)[1] > 0:
            low = middle
        else:
            high = middle
    return Separation(_support_offset(a, b, low, -1)[0], low)


def outer_tangents(a: ConvexShape, b: ConvexShape, towards: float) -> tuple[float, float]:
    """Return the normals of the two common tangents that have both shapes on one side.

    `towards` is a direction that separates the shapes.
    """
    first = _find_tangent_angle(a, b, 1, towards - math.pi, towards)
    return first, _find_tangent_angle(a, b, 1, towards + math.pi, towards)


def inner_tangents(a: ConvexShape, b: ConvexShape, towards: float) -> tuple[float, float]:
    """Return the normals of the two common tangents between the shapes: right, left of `towards`."""
    right = _find_tangent_angle(a, b, -1, towards - QUARTER_TURN, towards)
    return right, _find_tangent_angle(a, b, -1, towards + QUARTER_TURN, towards)


def _find_tangent_angle(
    a: ConvexShape, b: ConvexShape, sign: float, below: float, above: float
) -> float:
    """Return the angle at which `_support_offset` is 0.

    The offset is at most 0 at `below` and positive at `above`. Newton's iteration is kept inside
    the shrinking bracket.
    """
    angle = (below + above) / 2
    last = math.inf
    for _ in range(100):
        value, slope = _support_offset(a, b, angle, sign)
        if abs(value) < 1e-12 or abs(above - below) < 1e-15:
            break
        if value > 0:
            above = angle
        else:
            below = angle
        step = angle - value / slope if slope else math.nan
        is_inside = min(below, above) < step < max(below, above)
        angle = step if is_inside and abs(value) < last / 2 else (below + above) / 2
        last = abs(value)
    return angle


@dataclass(frozen=True)
class Hull:
    """The convex hull of two shapes that do not touch, which all lines between them fill."""

    a: Shape
    b: Shape

    @property
    def center(self) -> Point:
        (ax, ay), (bx, by) = self.a.center, self.b.center
        return (ax + bx) / 2, (ay + by) / 2

    @cached_property
    def edge_normal_angles(self) -> tuple[float, ...]:
        towards = widest_separation(self.a, self.b).angle
        tangents = outer_tangents(self.a, self.b, towards)
        return (*self.a.edge_normal_angles, *self.b.edge_normal_angles, *tangents)

    def support_point(self, ux: float, uy: float) -> Point:
        p, q = self.a.support_point(ux, uy), self.b.support_point(ux, uy)
        return p if (p[0] - q[0]) * ux + (p[1] - q[1]) * uy > 0 else q

"""How two convex shapes stand to each other: separation, common tangents and convex hull.

Lengths are millimetres in the board frame, angles radians. Pure Python.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from overruler.geometry.direction_search import candidate_maxima, sample_turn
from overruler.geometry.shapes import ConvexShape, Disc, Point, Shape, gap, support_difference
from overruler.units import CONTACT_TOLERANCE_MM

QUARTER_TURN = math.pi / 2
COARSE_DIRECTIONS = 96
"""Number of directions sampled before the maxima between them are refined."""
BISECTIONS = 44
"""Halvings of the bracket round a maximum."""


class Separation(NamedTuple):
    """How far two shapes are apart, and in which direction."""

    signed_gap_mm: float
    """The gap; for shapes that overlap, minus the shortest distance that parts them."""
    angle: float
    """The direction from the first shape to the second that separates them best."""


def widest_separation(a: ConvexShape, b: ConvexShape) -> Separation:
    """Return the largest separation of two shapes over all directions, to 1e-9 mm."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        x = b.center[0] - a.center[0]
        y = b.center[1] - a.center[1]
        return Separation(math.hypot(x, y) - a.radius_mm - b.radius_mm, math.atan2(y, x))
    nearest = gap(a, b)
    if nearest.distance_mm > CONTACT_TOLERANCE_MM:
        ax, ay = nearest.from_point
        bx, by = nearest.to_point
        direction = math.atan2(by - ay, bx - ax)
        return Separation(nearest.distance_mm, direction)
    return _widest_of_maxima(a, b)


def _widest_of_maxima(a: ConvexShape, b: ConvexShape) -> Separation:
    angles = separation_sample_angles(a, b)
    angles.append(angles[0] + math.tau)

    def slope(angle: float) -> float:
        return support_difference(a, b, angle, -1).across

    maxima = candidate_maxima(slope, angles, BISECTIONS)
    spans = ((support_difference(a, b, angle, -1), angle) for angle in maxima)
    return max(Separation(span.along, angle) for span, angle in spans)


def separation_sample_angles(a: ConvexShape, b: ConvexShape) -> list[float]:
    """Return ascending angles from 0 round the turn, with each at which the separation has a kink."""
    opposite = (kink + math.pi for kink in b.edge_normal_angles)
    return sample_turn(COARSE_DIRECTIONS, (*a.edge_normal_angles, *opposite))


def signed_gap_mm(a: ConvexShape, b: ConvexShape) -> float:
    """Return the gap of two shapes; if they overlap, minus the shortest distance that parts them."""
    return widest_separation(a, b).signed_gap_mm


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
    """Return the angle at which b's support point, in `sign` times the direction, reaches a's.

    It lies past a's at `above` and not at `below`. Newton's iteration is kept inside the shrinking
    bracket.
    """
    angle = (below + above) / 2
    last = math.inf
    for _ in range(100):
        _, _, value, slope = support_difference(a, b, angle, sign)
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
        ax, ay = self.a.center
        bx, by = self.b.center
        return (ax + bx) / 2, (ay + by) / 2

    @property
    def bounding_radius_mm(self) -> float:
        """The radius of a circle about the centre that holds the hull."""
        radius_mm = max(self.a.bounding_radius_mm, self.b.bounding_radius_mm)
        return math.dist(self.a.center, self.b.center) / 2 + radius_mm

    @cached_property
    def edge_normal_angles(self) -> tuple[float, ...]:
        towards = widest_separation(self.a, self.b).angle
        tangents = outer_tangents(self.a, self.b, towards)
        return (*self.a.edge_normal_angles, *self.b.edge_normal_angles, *tangents)

    def support_point(self, ux: float, uy: float) -> Point:
        p = self.a.support_point(ux, uy)
        q = self.b.support_point(ux, uy)
        return p if (p[0] - q[0]) * ux + (p[1] - q[1]) * uy > 0 else q

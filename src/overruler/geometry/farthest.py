"""The distance of the farthest part of one exact shape from another, to 1e-9 mm.

See `geometry.shapes` for the principle.
"""

import math

from overruler.geometry.direction_search import candidate_maxima, sample_turn
from overruler.geometry.shapes import (
    CONVERGED_MM,
    Disc,
    Gap,
    Polygon,
    Shape,
    gap,
    support_difference,
)

SAMPLE_DIRECTIONS = 96
"""Number of directions sampled before the maxima between them are refined."""
BISECTIONS = 48
"""Halvings of the bracket round a maximum."""


def farthest_gap(a: Shape, b: Shape) -> Gap:
    """Return the largest distance from any point of `b` to `a`, to 1e-9 mm; 0 if `b` is inside `a`.

    The gap's points are that point of `b` and the point of `a` nearest to it.
    """
    if isinstance(a, Disc) and isinstance(b, Disc):
        return _farthest_of_discs(a, b)
    if isinstance(b, Polygon):
        # The distance to a convex shape is convex, so a corner has its maximum.
        gaps = (gap(a, Disc(corner)) for corner in b.corners)
        return max(gaps, key=lambda found: found.distance_mm)
    if isinstance(b, Disc):
        center = gap(a, Disc(b.center))
        if center.distance_mm > CONVERGED_MM:
            return _farthest_beyond_center(center, b)
    return _farthest_of_maxima(a, b)


def _farthest_beyond_center(center: Gap, b: Disc) -> Gap:
    """Return the farthest gap of a disc whose centre lies outside: a radius beyond the centre."""
    ax, ay = center.from_point
    bx, by = b.center
    distance = center.distance_mm
    point = b.support_point((bx - ax) / distance, (by - ay) / distance)
    return Gap(distance + b.radius_mm, center.from_point, point)


def _farthest_of_discs(a: Disc, b: Disc) -> Gap:
    ax, ay = a.center
    bx, by = b.center
    between = math.hypot(bx - ax, by - ay)
    ux, uy = ((bx - ax) / between, (by - ay) / between) if between else (1.0, 0.0)
    distance = between + b.radius_mm - a.radius_mm
    point = b.support_point(ux, uy)
    if distance > 0:
        return Gap(distance, a.support_point(ux, uy), point)
    return Gap(0.0, point, point)


def sample_angles(a: Shape, b: Shape) -> list[float]:
    """Return ascending angles round the whole turn, with each at which a support point jumps."""
    return sample_turn(SAMPLE_DIRECTIONS, (*a.edge_normal_angles, *b.edge_normal_angles))


def _farthest_of_maxima(a: Shape, b: Shape) -> Gap:
    """Find the direction in which `b` reaches farthest past `a`."""
    angles = sample_angles(a, b)
    angles.append(angles[0] + math.tau)

    def slope(angle: float) -> float:
        return support_difference(a, b, angle, 1).across

    maxima = candidate_maxima(slope, angles, BISECTIONS)
    spans = (support_difference(a, b, angle, 1) for angle in maxima)
    best = max(spans, key=lambda span: span.along)
    nearest = gap(a, Disc(best.b))
    return Gap(max(best.along, 0.0), nearest.from_point, best.b)

"""The distance of the farthest part of one exact shape from another, to 1e-9 mm.

See `geometry.shapes` for the principle.
"""

import math
from collections.abc import Iterator

from overruler.geometry.shapes import (
    CONVERGED_MM,
    Disc,
    Gap,
    Polygon,
    Shape,
    SupportDifference,
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
    best = max(_reach_maxima(a, b), key=lambda span: span.along)
    nearest = gap(a, Disc(best.b))
    return Gap(max(best.along, 0.0), nearest.from_point, best.b)


def _farthest_beyond_center(center: Gap, b: Disc) -> Gap:
    """Return the farthest gap of a disc whose centre lies outside: a radius beyond the centre."""
    (ax, ay), (bx, by) = center.from_point, b.center
    distance = center.distance_mm
    point = b.support_point((bx - ax) / distance, (by - ay) / distance)
    return Gap(distance + b.radius_mm, center.from_point, point)


def _farthest_of_discs(a: Disc, b: Disc) -> Gap:
    (ax, ay), (bx, by) = a.center, b.center
    between = math.hypot(bx - ax, by - ay)
    ux, uy = ((bx - ax) / between, (by - ay) / between) if between else (1.0, 0.0)
    distance = between + b.radius_mm - a.radius_mm
    point = b.support_point(ux, uy)
    if distance > 0:
        return Gap(distance, a.support_point(ux, uy), point)
    return Gap(0.0, point, point)


def sample_angles(a: Shape, b: Shape) -> list[float]:
    """Return ascending angles round the whole turn, with each at which a support point jumps."""
    turn = 2 * math.pi
    samples = {turn * k / SAMPLE_DIRECTIONS for k in range(SAMPLE_DIRECTIONS)}
    kinks = {kink % turn for kink in (*a.edge_normal_angles, *b.edge_normal_angles)}
    return sorted(samples | kinks)


def _reach_maxima(a: Shape, b: Shape) -> Iterator[SupportDifference]:
    """Yield how far `b` reaches past `a` at each sample angle, and at each maximum between two."""
    angles = sample_angles(a, b)
    for low, high in zip(angles, [*angles[1:], angles[0] + 2 * math.pi], strict=True):
        yield support_difference(a, b, low, 1)
        inside = 1e-9 * (high - low)  # to one side of a jump
        first = support_difference(a, b, low + inside, 1)
        if first.across > 0 and support_difference(a, b, high - inside, 1).across < 0:
            yield _refine_maximum(a, b, low, high)


def _refine_maximum(a: Shape, b: Shape, low: float, high: float) -> SupportDifference:
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if support_difference(a, b, middle, 1).across > 0:
            low = middle
        else:
            high = middle
    return support_difference(a, b, low, 1)

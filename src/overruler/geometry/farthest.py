"""How far the farthest part of one exact shape is from another, to 1e-9 mm; see `geometry.shapes` for the principle."""

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


def farthest_gap(a: Shape, b: Shape) -> Gap:
    """The largest distance from any point of `b` to `a`, to 1e-9 mm; 0 where `b` lies inside `a`.

    With it that point of `b`, and the point of `a` nearest to it.
    """
    if isinstance(a, Disc) and isinstance(b, Disc):
        return _farthest_of_discs(a, b)
    if isinstance(
        b, Polygon
    ):  # the distance to a convex shape is a convex function: a corner has the most of it
        return max(
            (gap(a, Disc(corner)) for corner in b.corners), key=lambda found: found.distance_mm
        )
    if isinstance(b, Disc) and (center := gap(a, Disc(b.center))).distance_mm > CONVERGED_MM:
        return _farthest_beyond_center(center, b)
    best = max(_reach_maxima(a, b), key=lambda span: span.along)
    nearest = gap(a, Disc(best.b))
    return Gap(max(best.along, 0.0), nearest.from_point, best.b)


def _farthest_beyond_center(center: Gap, b: Disc) -> Gap:
    """From a disc's centre outside a convex shape its farthest part lies a radius on, straight away."""
    (ax, ay), (bx, by), distance = center.from_point, b.center, center.distance_mm
    point = b.support_point((bx - ax) / distance, (by - ay) / distance)
    return Gap(distance + b.radius_mm, center.from_point, point)


def _farthest_of_discs(a: Disc, b: Disc) -> Gap:
    (ax, ay), (bx, by) = a.center, b.center
    apart = math.hypot(bx - ax, by - ay)
    ux, uy = ((bx - ax) / apart, (by - ay) / apart) if apart else (1.0, 0.0)
    distance, point = apart + b.radius_mm - a.radius_mm, b.support_point(ux, uy)
    return Gap(distance, a.support_point(ux, uy), point) if distance > 0 else Gap(0.0, point, point)


SAMPLE_DIRECTIONS = 96
"""Directions looked at before the peaks between them are made exact."""


def sample_angles(a: Shape, b: Shape) -> list[float]:
    """Angles round the whole turn, ascending, with every direction in which a support point jumps."""
    turn = 2 * math.pi
    return sorted(
        {turn * k / SAMPLE_DIRECTIONS for k in range(SAMPLE_DIRECTIONS)}
        | {kink % turn for kink in (*a.edge_normal_angles, *b.edge_normal_angles)}
    )


def _reach_maxima(a: Shape, b: Shape) -> Iterator[SupportDifference]:
    """How far `b` reaches past `a` in every node, and at every peak between two nodes."""
    angles = sample_angles(a, b)
    for low, high in zip(angles, [*angles[1:], angles[0] + 2 * math.pi], strict=True):
        yield support_difference(a, b, low, 1)
        inside = 1e-9 * (high - low)  # to one side of a jump
        if (
            support_difference(a, b, low + inside, 1).across
            > 0
            > support_difference(a, b, high - inside, 1).across
        ):
            yield _refine_maximum(a, b, low, high)


def _refine_maximum(a: Shape, b: Shape, low: float, high: float) -> SupportDifference:
    for _ in range(48):
        middle = (low + high) / 2
        if support_difference(a, b, middle, 1).across > 0:
            low = middle
        else:
            high = middle
    return support_difference(a, b, low, 1)

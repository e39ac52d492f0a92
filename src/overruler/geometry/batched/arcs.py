"""The distances of `geometry.arcs` for many displacements at once: n of them, all lengths in mm.

What of `geometry.arcs` is exact is here to a millionth of a millimetre, which draws ask for.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.arcs import Edge, Region, Wedge, rim_quadratic_form
from overruler.geometry.batched.distances import point_distances
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape, gap, translate_shape
from overruler.units import CONTACT_TOLERANCE_MM

Mask = NDArray[np.bool_]

BISECTIONS = 26
"""Halvings of a bracket of directions, to 2e-8 rad."""


def distances_inside_region(
    region: Region, a: Shape, b: Shape, shifts_mm: Array, free: bool = True
) -> Array:
    """How far `a` is from that part of `b`, moved by each of `shifts_mm` (n, 2), which lies in a region (n,).

    Infinite where no part does. `free` false: the closest part of all is known to lie outside.
    """
    best = np.full(len(shifts_mm), np.inf)
    if free:
        best = _unconstrained_distances(region, a, b, shifts_mm)
    for edge in region.edges:
        np.minimum(best, _distances_on_edge(edge, a, b, shifts_mm), out=best)
    return best


def _unconstrained_distances(region: Region, a: Shape, b: Shape, shifts: Array) -> Array:
    """How far `a` is from the closest point of all of `b` moved by each of `shifts` (n,); infinite where outside."""
    away, points = gaps_and_closest_points(a, b, shifts)
    over = np.flatnonzero(away == 0)
    for row in over[
        point_distances(a, points[over]) > CONTACT_TOLERANCE_MM
    ].tolist():  # one deep in the other
        points[row] = gap(a, translate_shape(b, *shifts[row].tolist())).to_point
    return np.where(region_contains(region, points), away, np.inf)


def gaps_and_closest_points(a: Shape, b: Shape, shifts_mm: Array) -> tuple[Array, Array]:
    """The gap (n,) of `a` and of `b` moved by each of `shifts_mm` (n, 2), and the point (n, 2) of `b` closest to `a`.

    Where the two overlap, a point of `b` that lies deep in `a`.
    """
    if isinstance(a, Polygon) and isinstance(b, Polygon):
        return _polygon_closest_points(a, b, shifts_mm)
    return _closest_points_by_bisection(a, b, shifts_mm)


def _polygon_closest_points(a: Polygon, b: Polygon, shifts: Array) -> tuple[Array, Array]:
    """How near 0 comes to the convex set of all vectors from a point of `a` to one of `b`.

    The set's sides are those of `b` and those of `a` turned round, in the order of their directions: along the first
    the point of `b` runs along its side, along the second it stays. (de Berg and others, Computational Geometry, 2008,
    theorem 13.5.)
    """
    outlines = np.array(b.corners), -np.array(a.corners)
    lowest = [outline[np.lexsort((outline[:, 0], outline[:, 1]))[0]] for outline in outlines]
    sides = np.concatenate([np.roll(outline, -1, 0) - outline for outline in outlines])
    order = np.argsort(np.arctan2(sides[:, 1], sides[:, 0]) % (2 * np.pi), kind="stable")
    sides, runs = sides[order], np.where((order < len(b.corners))[:, None], sides[order], 0.0)
    starts, points = (
        low + np.cumsum(way, 0) - way
        for low, way in ((lowest[0] + lowest[1], sides), (lowest[0], runs))
    )
    x, y = (-shifts[:, [axis]] - starts[:, axis] for axis in (0, 1))  # (n, sides)
    dx, dy = sides.T
    share = np.clip((x * dx + y * dy) / (dx * dx + dy * dy), 0, 1)
    away = np.hypot(x - share * dx, y - share * dy)
    every, nearest = np.arange(len(shifts)), away.argmin(1)
    overlap = (dx * y >= dy * x).all(1)
    point = points[nearest] + share[every, nearest, None] * runs[nearest] + shifts
    return np.where(overlap, 0.0, away[every, nearest]), point


def _closest_points_by_bisection(a: Shape, b: Shape, shifts: Array) -> tuple[Array, Array]:
    """As `shapes.gap`, by halving the bracket of directions."""
    apart = shifts + b.center - a.center
    middle, half = np.arctan2(apart[:, 1], apart[:, 0]), np.pi / 2
    (_, *below), (_, *above) = (
        _support_difference(a, b, shifts, middle + side * half) for side in (-1, 1)
    )
    parted = np.zeros(len(apart), bool)
    for _ in range(BISECTIONS):
        along, w, point = _support_difference(a, b, shifts, middle)
        rises = w[:, 1] * np.cos(middle) > w[:, 0] * np.sin(middle)
        parted |= along > 0
        below = [
            np.where(rises[:, None], new, old) for new, old in zip((w, point), below, strict=True)
        ]
        above = [
            np.where(rises[:, None], old, new) for new, old in zip((w, point), above, strict=True)
        ]
        half /= 2
        middle = middle + np.where(rises, half, -half)
    share = _nearest_to_origin(below[0], above[0])
    w, point = (low + share * (high - low) for low, high in zip(below, above, strict=True))
    return np.where(parted, np.hypot(w[:, 0], w[:, 1]), 0.0), point


def _support_difference(
    a: Shape, b: Shape, shifts: Array, angles: Array
) -> tuple[Array, Array, Array]:
    """The vector w (n, 2) between the support points that face each other along each angle: its part along that, w
    itself, and the support point (n, 2) of `b`."""
    u = np.stack([np.cos(angles), np.sin(angles)], 1)
    point = b.support_points(-u) + shifts
    w = point - a.support_points(u)
    return w[:, 0] * u[:, 0] + w[:, 1] * u[:, 1], w, point


def _nearest_to_origin(p: Array, q: Array) -> Array:
    """The share (n, 1) of the way from p to q (n, 2) at which it comes nearest to 0."""
    way = q - p
    size = (way * way).sum(1)
    share = np.divide(-(p * way).sum(1), size, out=np.zeros(len(p)), where=size > 0)
    return np.asarray(np.clip(share, 0, 1)[:, None])


def region_contains(region: Region, points_mm: Array) -> Mask:
    """Whether each of some points (n, 2) lies in a region or on its outline (n,)."""
    if not region.edges:
        return np.ones(len(points_mm), bool)
    offsets = [_left_offset(edge, points_mm) for edge in region.edges]
    if not isinstance(region, Wedge):
        return np.asarray(
            (offsets[0] <= CONTACT_TOLERANCE_MM)
            & (offsets[1] >= -CONTACT_TOLERANCE_MM)
            & (offsets[2] <= CONTACT_TOLERANCE_MM)
        )
    first, last = offsets[0] >= -CONTACT_TOLERANCE_MM, offsets[1] <= CONTACT_TOLERANCE_MM
    return np.asarray(first & last if region.sweep_deg <= 180 else first | last)


def _left_offset(edge: Edge, points: Array) -> Array:
    """How far to the left of an edge's line each of some points lies (n,)."""
    (ux, uy), (x, y) = edge.direction, (points - edge.start).T
    return np.asarray(y * ux - x * uy)


def _distances_on_edge(edge: Edge, a: Shape, b: Shape, shifts: Array) -> Array:
    """How far `a` is from what of an edge runs through `b` moved by each of `shifts` (n,).

    The distance from `a` is a convex function along the edge: the closest place on a chord is the one nearest to the
    closest on all of the edge.
    """
    starts = np.asarray(edge.start) - shifts
    low, high = _line_intervals(b, edge, starts)
    low, high = np.maximum(low, 0.0), np.minimum(high, edge.length_mm)
    closest, _ = edge.along_and_left_mm(gap(edge.segment_near(a), a).from_point)
    hit = low <= high
    places = (
        np.clip(closest, low[hit], high[hit])[:, None] * np.asarray(edge.direction) + edge.start
    )
    found = np.full(len(shifts), np.inf)
    found[hit] = point_distances(a, places)
    return found


def _line_intervals(shape: Shape, edge: Edge, starts: Array) -> tuple[Array, Array]:
    """From where to where an edge's line, started at each of `starts` (n, 2), runs through a shape (n,), touched or
    not; backwards where it does not."""
    return (
        _line_polygon_intervals(shape, edge, starts)
        if isinstance(shape, Polygon)
        else _line_ellipse_intervals(shape, edge, starts)
    )


def _line_polygon_intervals(shape: Polygon, edge: Edge, starts: Array) -> tuple[Array, Array]:
    corners = np.array(shape.corners)
    sides = np.roll(corners, -1, 0) - corners
    sides /= np.hypot(sides[:, 0], sides[:, 1])[:, None]
    grows = sides[:, 0] * edge.direction[1] - sides[:, 1] * edge.direction[0]
    low, high = np.full(len(starts), -np.inf), np.full(len(starts), np.inf)
    for (x, y), (sx, sy), rate in zip(corners, sides, grows.tolist(), strict=True):
        within = sx * (starts[:, 1] - y) - sy * (starts[:, 0] - x) + CONTACT_TOLERANCE_MM
        if rate > 0:
            np.maximum(low, -within / rate, out=low)
        elif rate < 0:
            np.minimum(high, -within / rate, out=high)
        else:
            high[within < 0] = -np.inf
    return low, high


def _line_ellipse_intervals(
    shape: Disc | Ellipse, edge: Edge, starts: Array
) -> tuple[Array, Array]:
    xx, xy, yy = rim_quadratic_form(shape)
    matrix, along = np.array([[xx, xy], [xy, yy]]), np.array(edge.direction)
    size, from_center = float(along @ matrix @ along), starts - shape.center
    middle = -(from_center @ matrix @ along) / size
    nearest = from_center + middle[:, None] * along
    left = (
        1
        + 2 * CONTACT_TOLERANCE_MM / shape.bounding_radius_mm
        - ((nearest @ matrix) * nearest).sum(1)
    )
    half = np.sqrt(np.maximum(left, 0) / size)
    return np.where(left >= 0, middle - half, np.inf), np.where(left >= 0, middle + half, -np.inf)

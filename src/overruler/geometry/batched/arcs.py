"""The distances of `geometry.arcs` for many displacements at once.

Alphabet: n displacements. Lengths are in mm. What `geometry.arcs` computes exactly is here accurate to
a millionth of a millimetre, which is enough for draws.
"""

import numpy as np

from overruler.geometry.arcs import Edge, Region, Wedge, rim_quadratic_form
from overruler.geometry.batched.point_distances import point_distances
from overruler.geometry.batched.polygon_difference import PolygonDifference
from overruler.geometry.batched.vectors import (
    Mask,
    dot_product,
    left_component,
    unit_vectors,
    vector_lengths,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape, gap, translate_shape
from overruler.units import CONTACT_TOLERANCE_MM

BISECTIONS = 26
"""Halvings of a bracket of directions, to 2e-8 rad."""


def distances_inside_region(
    region: Region, a: Shape, b: Shape, shifts_mm: Array, free: bool = True
) -> Array:
    """Return the distances (n,) from `a` to the part of `b` inside a region.

    `b` is moved by each of `shifts_mm` (n, 2). The distance is infinite if no part is inside. `free`
    false means that the closest part of all is known to lie outside.
    """
    best = np.full(len(shifts_mm), np.inf)
    if free:
        best = _unconstrained_distances(region, a, b, shifts_mm)
    for edge in region.edges:
        np.minimum(best, _distances_on_edge(edge, a, b, shifts_mm), out=best)
    return best


def _unconstrained_distances(region: Region, a: Shape, b: Shape, shifts: Array) -> Array:
    """Return the gaps (n,) whose closest point of `b` is inside the region; infinite otherwise."""
    gaps, points = gaps_and_closest_points(a, b, shifts)
    overlapping = np.flatnonzero(gaps == 0)
    is_deep = point_distances(a, points[overlapping]) > CONTACT_TOLERANCE_MM
    for row in overlapping[is_deep].tolist():  # one contains the other
        points[row] = gap(a, translate_shape(b, *shifts[row].tolist())).to_point
    return np.where(region_contains(region, points), gaps, np.inf)


def gaps_and_closest_points(a: Shape, b: Shape, shifts_mm: Array) -> tuple[Array, Array]:
    """Return the gaps (n,) of `a` and moved `b`, and the point (n, 2) of `b` closest to `a`.

    `b` is moved by each of `shifts_mm` (n, 2). If the two overlap, the point lies deep in `a`.
    """
    if isinstance(a, Polygon) and isinstance(b, Polygon):
        return _polygon_closest_points(a, b, shifts_mm)
    return _closest_points_by_bisection(a, b, shifts_mm)


def _polygon_closest_points(a: Polygon, b: Polygon, shifts: Array) -> tuple[Array, Array]:
    """Find the point of the polygons' difference that is nearest to 0."""
    difference = PolygonDifference.of(a, b)
    x = -shifts[:, [0]] - difference.corners[:, 0]  # (n, sides)
    y = -shifts[:, [1]] - difference.corners[:, 1]
    dx, dy = difference.sides.T
    share = np.clip((x * dx + y * dy) / (dx * dx + dy * dy), 0, 1)
    distances = np.hypot(x - share * dx, y - share * dy)
    rows = np.arange(len(shifts))
    nearest = distances.argmin(1)
    overlap = (dx * y >= dy * x).all(1)
    steps = share[rows, nearest, None] * difference.b_steps[nearest]
    points = difference.b_points[nearest] + steps + shifts
    return np.where(overlap, 0.0, distances[rows, nearest]), points


def _closest_points_by_bisection(a: Shape, b: Shape, shifts: Array) -> tuple[Array, Array]:
    """Do what `shapes.gap` does, by halving the bracket of directions."""
    offsets = shifts + b.center - a.center
    middle = np.arctan2(offsets[:, 1], offsets[:, 0])
    half = np.pi / 2
    _, w_below, point_below = _support_difference(a, b, shifts, middle - half)
    _, w_above, point_above = _support_difference(a, b, shifts, middle + half)
    separated = np.zeros(len(offsets), bool)
    for _ in range(BISECTIONS):
        along, w, point = _support_difference(a, b, shifts, middle)
        wx, wy = w.T
        rises = wy * np.cos(middle) > wx * np.sin(middle)
        separated |= along > 0
        is_below = rises[:, None]
        w_below = np.where(is_below, w, w_below)
        point_below = np.where(is_below, point, point_below)
        w_above = np.where(is_below, w_above, w)
        point_above = np.where(is_below, point_above, point)
        half /= 2
        middle = middle + np.where(rises, half, -half)
    share = _nearest_to_origin(w_below, w_above)
    w = w_below + share * (w_above - w_below)
    point = point_below + share * (point_above - point_below)
    return np.where(separated, vector_lengths(w), 0.0), point


def _support_difference(
    a: Shape, b: Shape, shifts: Array, angles: Array
) -> tuple[Array, Array, Array]:
    """Return the vector w (n, 2) between the support points that face each other along each angle.

    Its component along the angle comes first, and the support point (n, 2) of `b` last.
    """
    u = unit_vectors(angles)
    point = b.support_points(-u) + shifts
    w = point - a.support_points(u)
    return dot_product(w, u), w, point


def _nearest_to_origin(p: Array, q: Array) -> Array:
    """Return the share (n, 1) of the way from p to q (n, 2) at which it comes nearest to 0."""
    step = q - p
    size = (step * step).sum(1)
    share = np.divide(-(p * step).sum(1), size, out=np.zeros(len(p)), where=size > 0)
    return np.asarray(np.clip(share, 0, 1)[:, None])


def region_contains(region: Region, points_mm: Array) -> Mask:
    """Return the mask (n,) of points (n, 2) inside a region or on its outline."""
    if not region.edges:
        return np.ones(len(points_mm), bool)
    offsets = [_left_offset(edge, points_mm) for edge in region.edges]
    is_left = offsets[0] >= -CONTACT_TOLERANCE_MM
    is_right = offsets[1] <= CONTACT_TOLERANCE_MM
    if isinstance(region, Wedge):
        inside = is_left & is_right if region.sweep_deg <= 180 else is_left | is_right
        return np.asarray(inside)
    is_between = (offsets[0] <= CONTACT_TOLERANCE_MM) & (offsets[1] >= -CONTACT_TOLERANCE_MM)
    return np.asarray(is_between & (offsets[2] <= CONTACT_TOLERANCE_MM))


def _left_offset(edge: Edge, points: Array) -> Array:
    """Return how far (n,) points lie to the left of an edge's line."""
    return left_component(points - edge.start, np.array(edge.direction))


def _distances_on_edge(edge: Edge, a: Shape, b: Shape, shifts: Array) -> Array:
    """Return the distances (n,) from `a` to the part of an edge inside moved `b`.

    The distance from `a` is a convex function along the edge. The closest place on a chord is
    therefore the one nearest to the closest place on the whole edge.
    """
    starts = np.asarray(edge.start) - shifts
    low, high = _line_intervals(b, edge, starts)
    low = np.maximum(low, 0.0)
    high = np.minimum(high, edge.length_mm)
    closest, _ = edge.along_and_left_mm(gap(edge.segment_near(a), a).from_point)
    crosses = low <= high
    along = np.clip(closest, low[crosses], high[crosses])
    distances = np.full(len(shifts), np.inf)
    places = along[:, None] * np.asarray(edge.direction) + edge.start
    distances[crosses] = point_distances(a, places)
    return distances


def _line_intervals(shape: Shape, edge: Edge, starts: Array) -> tuple[Array, Array]:
    """Return where (n,) lines from `starts` (n, 2) along an edge enter and leave a shape."""
    if isinstance(shape, Polygon):
        return _line_polygon_intervals(shape, edge, starts)
    return _line_ellipse_intervals(shape, edge, starts)


def _line_polygon_intervals(shape: Polygon, edge: Edge, starts: Array) -> tuple[Array, Array]:
    corners = np.array(shape.corners)
    sides = np.roll(corners, -1, 0) - corners
    sides /= vector_lengths(sides)[:, None]
    slopes = left_component(np.array(edge.direction), sides).tolist()
    low = np.full(len(starts), -np.inf)
    high = np.full(len(starts), np.inf)
    for (x, y), (sx, sy), slope in zip(corners, sides, slopes, strict=True):
        height = sx * (starts[:, 1] - y) - sy * (starts[:, 0] - x) + CONTACT_TOLERANCE_MM
        if slope > 0:
            np.maximum(low, -height / slope, out=low)
        elif slope < 0:
            np.minimum(high, -height / slope, out=high)
        else:
            high[height < 0] = -np.inf
    return low, high


def _line_ellipse_intervals(
    shape: Disc | Ellipse, edge: Edge, starts: Array
) -> tuple[Array, Array]:
    direction = np.array(edge.direction)
    offsets = starts - shape.center
    if not shape.bounding_radius_mm:
        return _line_point_intervals(offsets, direction)
    xx, xy, yy = rim_quadratic_form(shape)
    matrix = np.array([[xx, xy], [xy, yy]])
    size = float(direction @ matrix @ direction)
    middle = -(offsets @ matrix @ direction) / size
    nearest = offsets + middle[:, None] * direction
    tolerance = 2 * CONTACT_TOLERANCE_MM / shape.bounding_radius_mm
    rest = 1 + tolerance - ((nearest @ matrix) * nearest).sum(1)
    half = np.sqrt(np.maximum(rest, 0) / size)
    low = np.where(rest >= 0, middle - half, np.inf)
    return low, np.where(rest >= 0, middle + half, -np.inf)


def _line_point_intervals(offsets: Array, direction: Array) -> tuple[Array, Array]:
    """Return where lines meet a point, from their starts relative to it (n, 2)."""
    along = -(offsets @ direction)
    aside = left_component(offsets, direction)
    touches = np.abs(aside) <= CONTACT_TOLERANCE_MM
    return np.where(touches, along, np.inf), np.where(touches, along, -np.inf)

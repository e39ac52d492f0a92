"""The distances of many points from exact shapes."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.batched import ellipse_distances
from overruler.geometry.batched.vectors import left_component, vector_lengths
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape


def distance_matrix(shapes: Sequence[Shape], points_mm: Array) -> Array:
    """Return the distance (m, n) of each point (n, 2) from each of m shapes; 0 inside."""
    return np.array([point_distances(shape, points_mm) for shape in shapes])


def point_distances(shape: Shape, points_mm: Array) -> Array:
    """Return the distances (n,) of points (n, 2) from a shape; 0 inside."""
    if isinstance(shape, Disc):
        return np.maximum(vector_lengths(points_mm - shape.center) - shape.radius_mm, 0)
    if isinstance(shape, Polygon):
        return polygon_point_distances(np.array(shape.corners), points_mm)
    return _ellipse_point_distances(shape, points_mm)


def polygon_point_distances(corners: Array, points: Array) -> Array:
    """Return the distances (n,) of points (n, 2) from a convex polygon's corners (k, 2)."""
    sides = np.roll(corners, -1, 0) - corners
    offsets = points[:, None] - corners  # (n, k, 2)
    share = np.clip((offsets * sides).sum(-1) / (sides * sides).sum(-1), 0, 1)
    left = left_component(offsets, sides)
    feet = offsets - share[..., None] * sides
    nearest = vector_lengths(feet).min(1)
    is_inside = (left >= 0).all(1)
    return np.asarray(np.where(is_inside, 0.0, nearest))


def _ellipse_point_distances(shape: Ellipse, points: Array) -> Array:
    turn = np.radians(shape.heading_deg)
    c, s = np.cos(turn), np.sin(turn)
    dx, dy = (points - shape.center).T
    half_length = np.array(shape.length_mm / 2)
    half_width = np.array(shape.width_mm / 2)
    x = c * dx + s * dy
    y = c * dy - s * dx
    distances, _, _ = ellipse_distances.ellipse_point_distances(half_length, half_width, x, y)
    return distances

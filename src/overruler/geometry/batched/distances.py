"""The distances of `geometry.shapes` and `geometry.farthest` for many displacements at once.

Alphabet: n displacements. Lengths are in mm.
"""

import numpy as np

from overruler.geometry.batched import ellipse_distances
from overruler.geometry.batched.ellipse_distances import EllipseColumns
from overruler.geometry.batched.farthest_of_union import (
    farthest_from_all,
    farthest_from_points,
    rim_farthest_from_all,
)
from overruler.geometry.batched.point_distances import point_distances, polygon_point_distances
from overruler.geometry.batched.polygon_difference import PolygonDifference
from overruler.geometry.batched.vectors import left_component, unit_vectors, vector_lengths
from overruler.geometry.farthest import sample_angles
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape

__all__ = [
    "farthest_distances",
    "farthest_from_all",
    "farthest_from_points",
    "gaps_at_shifts",
    "rim_farthest_from_all",
    "vector_lengths",
]

BISECTIONS = 44
"""Halvings of a bracket of directions: half a turn over 2**44 is 2e-13 rad, 0 mm over a table."""


def gaps_at_shifts(a: Shape, b: Shape, shifts_mm: Array) -> Array:
    """Return the gaps (n,) of `a` and of `b` moved by each of `shifts_mm` (n, 2)."""
    shifts = np.asarray(shifts_mm, float)
    if isinstance(b, Disc):
        return np.maximum(point_distances(a, shifts + b.center) - b.radius_mm, 0)
    if isinstance(a, Disc):
        return np.maximum(point_distances(b, a.center - shifts) - a.radius_mm, 0)
    if isinstance(a, Polygon) and isinstance(b, Polygon):
        return polygon_point_distances(PolygonDifference.of(a, b).corners, -shifts)
    if isinstance(a, Ellipse) and isinstance(b, Ellipse):
        a_columns = _ellipse_columns(a, np.zeros_like(shifts))
        return ellipse_distances.ellipse_gaps(a_columns, _ellipse_columns(b, shifts))
    return _gaps_by_bisection(a, b, shifts)


def _ellipse_columns(shape: Ellipse, shifts: Array) -> EllipseColumns:
    x, y = (shifts + shape.center).T
    return EllipseColumns(x, y, *(np.full(len(x), value) for value in shape.matrix))


def _gaps_by_bisection(a: Shape, b: Shape, shifts: Array) -> Array:
    """Do what `shapes.gap` does, by halving the bracket of directions alone."""
    offsets = shifts + b.center - a.center
    middle = np.arctan2(offsets[:, 1], offsets[:, 0])
    half = np.pi / 2
    widest = np.zeros(len(shifts))
    for _ in range(BISECTIONS):
        along, across = _support_differences(a, b, shifts, middle, -1)
        half /= 2
        middle = middle + np.where(across > 0, half, -half)
        np.maximum(widest, along, out=widest)
    return widest


def farthest_distances(a: Shape, b: Shape, shifts_mm: Array) -> Array:
    """Return the largest distances (n,) to `a` of `b` moved by `shifts_mm` (n, 2); 0 inside `a`."""
    shifts = np.asarray(shifts_mm, float)
    if isinstance(a, Disc) and isinstance(b, Disc):
        between = vector_lengths(shifts + b.center - a.center)
        return np.maximum(between + b.radius_mm - a.radius_mm, 0)
    if isinstance(b, Polygon):
        return np.asarray(np.max([point_distances(a, shifts + corner) for corner in b.corners], 0))
    return _farthest_peaks(a, b, shifts)


def _farthest_peaks(a: Shape, b: Shape, shifts: Array) -> Array:
    angles = np.array(sample_angles(a, b))
    low = angles
    high = np.append(angles[1:], angles[0] + 2 * np.pi)
    inside = 1e-9 * (high - low)  # to one side of a jump
    every = shifts[:, None]
    along, _ = _support_differences(a, b, every, low[None], 1)
    _, first_slope = _support_differences(a, b, every, (low + inside)[None], 1)
    _, last_slope = _support_differences(a, b, every, (high - inside)[None], 1)
    best = along.max(1)
    row, cell = np.nonzero((first_slope > 0) & (last_slope < 0))
    middle = (low + high)[cell] / 2
    half = (high - low)[cell] / 2
    for _ in range(BISECTIONS):
        half /= 2
        _, across = _support_differences(a, b, shifts[row], middle, 1)
        middle = middle + np.where(across > 0, half, -half)
    peaks, _ = _support_differences(a, b, shifts[row], middle, 1)
    np.maximum.at(best, row, peaks)
    return np.asarray(np.maximum(best, 0))


def _support_differences(
    a: Shape, b: Shape, shifts: Array, angles: Array, sign: float
) -> tuple[Array, Array]:
    """Return the components of `shapes.support_difference` along and across each direction."""
    u = unit_vectors(angles)
    w = b.support_points(sign * u) + shifts - a.support_points(u)
    along = np.asarray((w * u).sum(-1))
    return along, left_component(w, u)

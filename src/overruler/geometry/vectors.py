"""Lengths and directions of arrays of plane vectors (..., 2)."""

import numpy as np

from overruler.geometry.pose import Array


def distance(one: Array, other: Array) -> float:
    """The distance of two points (2,)."""
    return float(np.hypot(*(one - other)))


def lengths(vectors: Array) -> Array:
    """The lengths (N,) of vectors (N, 2)."""
    return np.asarray(np.hypot(*vectors.T))


def step_lengths(points: Array) -> Array:
    """The distances (N - 1,) from each point of a path (N, 2) to the next."""
    return lengths(np.diff(points, axis=0))


def directions(angle: Array) -> Array:
    """Unit vectors (..., 2) at angles (...) in radians."""
    return np.stack([np.cos(angle), np.sin(angle)], -1)


def left_normals(along: Array) -> Array:
    """Vectors (..., 2) turned by 90° to the left."""
    return np.stack([-along[..., 1], along[..., 0]], -1)

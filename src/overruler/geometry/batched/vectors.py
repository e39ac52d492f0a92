"""Arrays of plane vectors (..., 2)."""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Mask = NDArray[np.bool_]

SMALLEST_DIVISOR = 1e-300
"""Stands in for a divisor of 0, where the quotient is not used or its dividend is 0."""


def vector_lengths(vectors: Array) -> Array:
    """Return the lengths (...) of vectors (..., 2)."""
    return np.hypot(vectors[..., 0], vectors[..., 1])


def dot_product(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1])


def left_component(a: Array, b: Array) -> Array:
    """Return the component of `a` a quarter turn to the left of `b`, times the length of `b`."""
    return np.asarray(a[..., 1] * b[..., 0] - a[..., 0] * b[..., 1])


def unit_vectors(angles: Array) -> Array:
    """Return the unit vectors (..., 2) at angles (...)."""
    return np.stack([np.cos(angles), np.sin(angles)], -1)


def left_normals(directions: Array) -> Array:
    """Return directions (..., 2) turned a quarter turn to the left."""
    return np.stack([-directions[..., 1], directions[..., 0]], -1)


def right_normals(directions: Array) -> Array:
    """Return directions (..., 2) turned a quarter turn to the right."""
    return np.stack([directions[..., 1], -directions[..., 0]], -1)


def distance(one: Array, other: Array) -> float:
    """Return the distance of two points (2,)."""
    return float(np.hypot(*(one - other)))


def step_lengths(points: Array) -> Array:
    """Return the distances (N - 1,) from each point of a path (N, 2) to the next."""
    return vector_lengths(np.diff(points, axis=0))

"""Rigid transforms, and turns."""

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

SMALL_ANGLE_RAD = 1e-8
"""Below this angle, in radians, a rotation is computed by its series."""


@overload
def wrapped_turn(turn: float, modulo: float) -> float: ...
@overload
def wrapped_turn(turn: Array, modulo: Array | float) -> Array: ...
def wrapped_turn(turn: Array | float, modulo: Array | float) -> Array | float:
    """Return the smallest turn that looks like `turn` where turns by `modulo` look the same.

    Both are in one unit, rad or degrees, and of shapes that broadcast. The result is at least
    -modulo / 2 and less than modulo / 2.
    """
    return (turn + modulo / 2) % modulo - modulo / 2


def skew(v: ArrayLike) -> Array:
    """Return the matrix (3, 3) of the cross product with `v` (3,)."""
    x, y, z = np.asarray(v, float)
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation_from_vector(vector: ArrayLike) -> Array:
    """Return the rotation (3, 3) by |vector| radians about vector (Rodrigues' formula)."""
    v = np.asarray(vector, float)
    angle = float(np.linalg.norm(v))
    k = skew(v)
    kk = k @ k
    if angle < SMALL_ANGLE_RAD:
        return np.asarray(np.eye(3) + k + kk / 2)
    linear = np.sin(angle) / angle
    quadratic = (1 - np.cos(angle)) / angle**2
    return np.asarray(np.eye(3) + linear * k + quadratic * kk)


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """A rigid transform `T_a_b`, which takes points of frame b to frame a."""

    rotation: Array
    """(3, 3), orthonormal, determinant 1."""
    translation_mm: Array
    """(3,): b's origin in a."""

    def apply(self, xyz_mm: ArrayLike) -> Array:
        """Transform points (..., 3) of b to a."""
        points = np.asarray(xyz_mm, float)
        return np.asarray(points @ self.rotation.T + self.translation_mm)

    def __matmul__(self, other: "Pose") -> "Pose":
        """Compose transforms: `T_a_b @ T_b_c` is `T_a_c`."""
        return Pose(self.rotation @ other.rotation, self.apply(other.translation_mm))

    def inverse(self) -> "Pose":
        """Return `T_b_a`."""
        return Pose(self.rotation.T.copy(), -self.rotation.T @ self.translation_mm)

    def moved(self, step: ArrayLike) -> "Pose":
        """Rotate by `step[:3]` radians about b's origin, then translate by `step[3:]` mm, both in a."""
        step = np.asarray(step, float)
        rotation = rotation_from_vector(step[:3]) @ self.rotation
        return Pose(rotation, self.translation_mm + step[3:])

"""Rigid transforms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def skew(v: ArrayLike) -> Array:
    """The matrix (3, 3) of the cross product with `v` (3,)."""
    x, y, z = np.asarray(v, float)
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation_from_vector(vector: ArrayLike) -> Array:
    """The rotation (3, 3) by |vector| radians about vector (Rodrigues' formula)."""
    v = np.asarray(vector, float)
    angle = float(np.linalg.norm(v))
    k = skew(v)
    if angle < 1e-8:
        return np.asarray(np.eye(3) + k + k @ k / 2)
    return np.asarray(
        np.eye(3) + np.sin(angle) / angle * k + (1 - np.cos(angle)) / angle**2 * (k @ k)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """A rigid transform `T_a_b`: points of frame b to frame a."""

    rotation: Array
    """(3, 3), orthonormal, determinant 1."""
    translation_mm: Array
    """(3,): where b's origin lies in a."""

    def apply(self, xyz_mm: ArrayLike) -> Array:
        """Points (..., 3) of b in a."""
        return np.asarray(np.asarray(xyz_mm, float) @ self.rotation.T + self.translation_mm)

    def __matmul__(self, other: "Pose") -> "Pose":
        """`T_a_b @ T_b_c` is `T_a_c`."""
        return Pose(self.rotation @ other.rotation, self.apply(other.translation_mm))

    def inverse(self) -> "Pose":
        return Pose(self.rotation.T.copy(), -self.rotation.T @ self.translation_mm)

    def moved(self, step: ArrayLike) -> "Pose":
        """Rotated by `step[:3]` radians in frame a about b's origin, then shifted by `step[3:]` mm in frame a."""
        step = np.asarray(step, float)
        return Pose(rotation_from_vector(step[:3]) @ self.rotation, self.translation_mm + step[3:])

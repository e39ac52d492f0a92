"""Convex solids: what figures, dice, trees and walls are made of."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A convex body."""

    points_mm: Array
    """(n, 3)"""
    faces: NDArray[np.int64]
    """(m, 3): triangles, counter-clockwise seen from outside."""
    colour: Floats
    """(3,): reflectance, blue green red."""


@cache
def _ball() -> tuple[Array, NDArray[np.int64]]:
    """A unit ball of five rings of eight points; the third is the equator twice, so that it stretches to a capsule."""
    heights = np.array([-1.0, -0.7, -1e-6, 1e-6, 0.7, 1.0])
    return _lathe(np.sqrt(1 - heights**2).clip(1e-3), heights, 8)


@cache
def _drum() -> tuple[Array, NDArray[np.int64]]:
    """A unit cylinder from z = 0 to 1."""
    return _lathe(np.array([1e-3, 1, 1, 1e-3]), np.array([0, 0, 1, 1.0]), 10)


@cache
def _cube() -> tuple[Array, NDArray[np.int64]]:
    """A cube of side 2 about the origin."""
    points, faces = _lathe(np.array([1e-3, 2**0.5, 2**0.5, 1e-3]), np.array([-1, -1, 1, 1.0]), 4)
    turn = np.array([[1, 1], [-1, 1]]) / 2**0.5
    points = points.copy()
    points[:, :2] = points[:, :2] @ turn
    return points, faces


def _lathe(radii: Array, heights: Array, count: int) -> tuple[Array, NDArray[np.int64]]:
    """A body of rotation about z: points and triangles."""
    turn = np.arange(count) * 2 * np.pi / count
    ring = np.stack([np.cos(turn), np.sin(turn)], -1)
    points = np.concatenate(
        [
            np.column_stack([r * ring, np.full(count, z)])
            for r, z in zip(radii, heights, strict=True)
        ]
    )
    here = np.arange(count)
    after = (here + 1) % count
    faces = []
    for level in range(len(radii) - 1):
        low, high = level * count, (level + 1) * count
        faces += [
            np.stack([low + here, low + after, high + after], -1),
            np.stack([low + here, high + after, high + here], -1),
        ]
    return points, np.concatenate(faces)


def frame_along(axis: ArrayLike) -> Array:
    """A rotation (3, 3) that takes z to `axis`."""
    z = np.asarray(axis, float) / np.linalg.norm(axis)
    helper = np.array([1.0, 0, 0]) if abs(z[0]) < 0.9 else np.array([0, 1.0, 0])
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], 1)


def ball(center: ArrayLike, radii: ArrayLike, colour: Floats, turn: Array | None = None) -> Solid:
    """An ellipsoid."""
    points, faces = _ball()
    turn = np.eye(3) if turn is None else turn
    return Solid((points * np.asarray(radii, float)) @ turn.T + center, faces, colour)


def capsule(start: ArrayLike, end: ArrayLike, radius: float, colour: Floats) -> Solid:
    points, faces = _ball()
    start, end = np.asarray(start, float), np.asarray(end, float)
    turn = frame_along(end - start + [0, 0, 1e-6])
    far = points[:, 2:] > 0
    return Solid(radius * points @ turn.T + np.where(far, end, start), faces, colour)


def box(center: ArrayLike, half: ArrayLike, turn: Array, colour: Floats) -> Solid:
    points, faces = _cube()
    return Solid((points * np.asarray(half, float)) @ turn.T + center, faces, colour)


def cone(start: ArrayLike, end: ArrayLike, radius: float, tip: float, colour: Floats) -> Solid:
    """A round body from `start` to `end` whose radius goes from `radius` to `tip`."""
    points, faces = _drum()
    start, end = np.asarray(start, float), np.asarray(end, float)
    turn = frame_along(end - start)
    t = points[:, 2:]
    flat = points * [1, 1, 0] * (radius + (tip - radius) * t)
    return Solid(flat @ turn.T + start + t * (end - start), faces, colour)


def turned(angle: float) -> Array:
    """The rotation by `angle` radians about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def leaning(rng: Rng, most: float) -> Array:
    """A direction near the vertical: up to `most` radians off."""
    off, around = rng.uniform(0, most), rng.uniform(0, 2 * np.pi)
    return np.array([np.sin(off) * np.cos(around), np.sin(off) * np.sin(around), np.cos(off)])

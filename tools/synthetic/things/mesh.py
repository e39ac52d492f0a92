"""Triangles, and the few shapes that everything on a table is built of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from synthetic.arrays import Array, Rng


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles with a normal and a place on the printed picture at each corner."""

    points_mm: Array
    """(T, 3, 3)."""
    normals: Array
    """(T, 3, 3), of any length."""
    uv: Array
    """(T, 3, 2): 0 to 1 over a printed picture, v up; 0 where there is none."""

    def moved(
        self, x_mm: float = 0, y_mm: float = 0, z_mm: float = 0, turn_deg: float = 0
    ) -> "Mesh":
        """Turned counter-clockwise about z, then shifted."""
        return self.mapped(about_z(turn_deg), (x_mm, y_mm, z_mm))

    def shifted(self, by_mm: ArrayLike) -> "Mesh":
        """Shifted by (3,), or by (2,) along the table."""
        x, y, *z = np.asarray(by_mm, float).tolist()
        return self.moved(x, y, *z)

    def mapped(self, matrix: ArrayLike, shift_mm: ArrayLike = (0, 0, 0)) -> "Mesh":
        """Under a linear map (3, 3) and a shift (3,)."""
        m = np.asarray(matrix, float)
        points, normals = (
            self.points_mm @ m.T + np.asarray(shift_mm),
            self.normals @ np.linalg.inv(m),
        )
        way = -1 if np.linalg.det(m) < 0 else 1  # what is mirrored runs around the other way
        return Mesh(points[:, ::way], normals[:, ::way], self.uv[:, ::way])

    def scaled(self, x: float, y: float, z: float) -> "Mesh":
        return self.mapped(np.diag([x, y, z]))


def about_z(turn_deg: float) -> Array:
    """The rotation (3, 3) counter-clockwise about z."""
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def join(meshes: Sequence[Mesh]) -> Mesh:
    """All of them as one."""
    return Mesh(
        np.concatenate([m.points_mm for m in meshes]),
        np.concatenate([m.normals for m in meshes]),
        np.concatenate([m.uv for m in meshes]),
    )


def circle(radius_mm: float, points: int = 48) -> Array:
    """A circle's polygon (points, 2); its radius is set so that the polygon's mean radius is the circle's."""
    angles = np.arange(points) * 2 * np.pi / points
    swell = 1 + (np.pi / points) ** 2 / 6
    return np.asarray(radius_mm * swell * np.stack([np.cos(angles), np.sin(angles)], 1))


def rounded(width_mm: float, length_mm: float, corner_mm: float, points: int = 8) -> Array:
    """A rectangle with rounded corners (4 × points, 2), counter-clockwise; length along x."""
    angles = np.linspace(0, np.pi / 2, points)
    arc = corner_mm * np.stack([np.cos(angles), np.sin(angles)], 1)
    half = np.array([length_mm, width_mm]) / 2 - corner_mm
    return np.concatenate(
        [
            arc @ about_z(90 * k)[:2, :2].T + half * sign
            for k, sign in enumerate(([1, 1], [-1, 1], [-1, -1], [1, -1]))
        ]
    )


def stack(
    rings_mm: ArrayLike, smooth: bool = False, facets: bool = False, cap: bool = True
) -> Mesh:
    """Rings (K, N, 3), each counter-clockwise seen from above, lowest first, sewn into a surface.

    `smooth` rounds it off from ring to ring, `facets` leaves it edged around; `cap` closes the last ring.
    """
    rings = np.asarray(rings_mm, float)
    ahead = np.roll(rings, -1, axis=1)
    flat = np.cross(
        ahead[:-1] - rings[:-1] + ahead[1:] - rings[1:],
        rings[1:] - rings[:-1] + ahead[1:] - ahead[:-1],
    )
    flat /= np.linalg.norm(flat, axis=-1, keepdims=True) + 1e-12
    left, right = (
        (flat, flat)
        if facets
        else (flat + np.roll(flat, 1, axis=1), flat + np.roll(flat, -1, axis=1))
    )
    low, high = (_blend(left), _blend(right)) if smooth else ((left, left), (right, right))
    a, b, c, d = rings[:-1], ahead[:-1], ahead[1:], rings[1:]
    points = np.stack([np.stack([a, b, c], -2), np.stack([a, c, d], -2)]).reshape(-1, 3, 3)
    normals = [np.stack([low[0], high[0], high[1]], -2), np.stack([low[0], high[1], low[1]], -2)]
    sides = Mesh(points, np.stack(normals).reshape(-1, 3, 3), np.zeros((len(points), 3, 2)))
    return join([sides, fan(rings[-1])]) if cap else sides


def _blend(normals: Array) -> tuple[Array, Array]:
    """Normals of K - 1 bands at their lower and their upper ring, mixed with the neighbouring band's."""
    below, above = (
        np.concatenate([normals[:1], normals[:-1]]),
        np.concatenate([normals[1:], normals[-1:]]),
    )
    return normals + below, normals + above


def fan(ring_mm: ArrayLike, uv: ArrayLike | None = None) -> Mesh:
    """A flat ring (N, 3), star-shaped about its mean, filled."""
    ring = np.asarray(ring_mm, float)
    marks = np.zeros((len(ring), 2)) if uv is None else np.asarray(uv, float)
    around = np.stack([ring, np.roll(ring, -1, 0), np.broadcast_to(ring.mean(0), ring.shape)], 1)
    prints = np.stack(
        [marks, np.roll(marks, -1, 0), np.broadcast_to(marks.mean(0), marks.shape)], 1
    )
    normal = np.cross(around[:, 1] - around[:, 0], around[:, 2] - around[:, 0]).sum(0)
    return Mesh(around, np.broadcast_to(normal, around.shape).copy(), prints)


def lathe(profile_mm: ArrayLike, points: int = 48, smooth: bool = False, cap: bool = True) -> Mesh:
    """A profile (K, 2) of radius and height, lowest first, turned about z."""
    ring = circle(1, points)
    return stack(
        [
            np.column_stack([ring * radius, np.full(points, height)])
            for radius, height in np.asarray(profile_mm, float)
        ],
        smooth=smooth,
        cap=cap,
    )


def prism(
    outline_mm: ArrayLike, low_mm: float, high_mm: float, shrink: float = 1, facets: bool = True
) -> Mesh:
    """An outline (N, 2) raised from one height to another; the top is `shrink` times the bottom about its mean."""
    low = np.asarray(outline_mm, float)
    high = low.mean(0) + (low - low.mean(0)) * shrink
    return stack(
        [
            np.column_stack([low, np.full(len(low), low_mm)]),
            np.column_stack([high, np.full(len(low), high_mm)]),
        ],
        facets=facets,
    )


def box(length_mm: float, width_mm: float, height_mm: float, shrink: float = 1) -> Mesh:
    """A box on z = 0, centred over the origin, length along x; its top is `shrink` times its bottom."""
    return prism(rectangle(length_mm, width_mm), 0, height_mm, shrink)


def rectangle(length_mm: float, width_mm: float) -> Array:
    """A rectangle's corners (4, 2) about the origin, counter-clockwise, length along x."""
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [length_mm / 2, width_mm / 2]


def sheet(corners_mm: ArrayLike) -> Mesh:
    """A printed quadrilateral (4, 3), from the picture's lower left corner counter-clockwise."""
    a, b, c, d = np.asarray(corners_mm, float)
    points = np.array([[a, b, c], [a, c, d]])
    normal = np.cross(b - a, d - a)
    return Mesh(
        points,
        np.broadcast_to(normal, points.shape).copy(),
        np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]], float),
    )


def ball(radius_mm: float, points: int = 14) -> Mesh:
    """A sphere about the origin."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, points // 2 + 2)
    return lathe(
        radius_mm * np.stack([np.cos(angles).clip(1e-4), np.sin(angles)], 1),
        points,
        smooth=True,
        cap=False,
    )


def limb(
    start_mm: ArrayLike,
    end_mm: ArrayLike,
    radius_mm: float,
    end_radius_mm: float | None = None,
    points: int = 10,
) -> Mesh:
    """A rounded stick from one point to another."""
    a, b = np.asarray(start_mm, float), np.asarray(end_mm, float)
    length, tip = (
        float(np.linalg.norm(b - a)),
        radius_mm if end_radius_mm is None else end_radius_mm,
    )
    profile = [(1e-3, -radius_mm), (0.8 * radius_mm, -0.6 * radius_mm), (radius_mm, 0)]
    profile += [(tip, length), (0.8 * tip, length + 0.6 * tip), (1e-3, length + tip)]
    return lathe(profile, points, smooth=True, cap=False).mapped(frame_along(b - a), a)


def frame_along(direction: Array) -> Array:
    """A rotation (3, 3) that takes z to a direction."""
    z = direction / (np.linalg.norm(direction) + 1e-12)
    x = np.cross([0, 1, 0] if abs(z[1]) < 0.9 else [1, 0, 0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], 1)


def blob(radius_mm: float, roughness: float, rng: Rng, points: int = 20) -> Mesh:
    """A lumpy ball: a rock, a crown of leaves."""
    mesh = ball(radius_mm, points)
    waves = rng.normal(size=(10, 3)) * rng.uniform(1.5, 5, (10, 1)) / radius_mm
    phases, sizes = rng.uniform(0, 2 * np.pi, 10), rng.uniform(0.3, 1, 10) * roughness / 3
    swell = 1 + (np.sin(mesh.points_mm @ waves.T + phases) * sizes).sum(-1, keepdims=True)
    return edged(Mesh(mesh.points_mm * swell, mesh.normals, mesh.uv))


def edged(mesh: Mesh) -> Mesh:
    """With the triangles' own normals mixed in: what was moved looks moved."""
    p = mesh.points_mm
    flat = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    flat /= np.linalg.norm(flat, axis=-1, keepdims=True) + 1e-12
    soft = mesh.normals / (np.linalg.norm(mesh.normals, axis=-1, keepdims=True) + 1e-12)
    return Mesh(p, 0.7 * flat[:, None] + 0.3 * soft, mesh.uv)

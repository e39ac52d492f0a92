"""Outlines of bases that are not round; and of ovals the silhouette, their lower edge and the upper one behind it."""

from dataclasses import dataclass

import cv2
import numpy as np

from overruler.bases import Base
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.silhouette import Profile

CIRCLE_POINTS = 144
CORNER_RADIUS_MM = 1.0
"""Corners of rectangles are between sharp and rounded by 1.5 mm: nothing is measured on them."""


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """Places along an outline on the plane z, evenly apart."""

    at_mm: Array
    """(K, 2)."""
    normals: Array
    """(K, 2): outwards."""


def base_outline(base: Base, inset_mm: float = 0.0, points: int = CIRCLE_POINTS) -> Array:
    """Its outline (N, 2) about the origin, counter-clockwise, its length along x; `inset_mm` further in all round.

    `points` are those of a round one.
    """
    half = np.array([base.length_mm, base.width_mm]) / 2 - inset_mm
    if base.shape != "rectangle":
        angles = np.arange(points) * (2 * np.pi / points)
        return np.asarray(half * np.stack([np.cos(angles), np.sin(angles)], -1))
    bend = np.linspace(0, np.pi / 2, 5)
    quarters = [bend + k * np.pi / 2 for k in range(4)]
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    arcs = [CORNER_RADIUS_MM * np.stack([np.cos(a), np.sin(a)], -1) for a in quarters]
    return np.concatenate(
        [arc + sign * (half - CORNER_RADIUS_MM) for arc, sign in zip(arcs, signs, strict=True)]
    )


def placed_outline(base: Base, xy_mm: Array, turn_rad: float, points: int = CIRCLE_POINTS) -> Array:
    """The lower edge (N, 2) of a base that stands there; `points` are those of a round one."""
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    return np.asarray(base_outline(base, points=points) @ np.array([[c, s], [-s, c]]) + xy_mm)


def project_silhouette(
    camera: Camera,
    base: Base,
    xy_mm: Array,
    turn_rad: float,
    z_mm: float,
    profile: Profile,
    upper: bool,
    step_mm: float,
) -> Contour:
    """An oval's outline as cast on to the plane z of its lower edge, or its upper edge alone.

    The upper edge, cast from the camera, is larger by D / (D - h) and leans away from the camera's foot point, D being
    the camera's height over the plane and h the base's; the outline is the convex hull of both edges.
    """
    turn = np.array([[np.cos(turn_rad), np.sin(turn_rad)], [-np.sin(turn_rad), np.cos(turn_rad)]])
    eye = camera.center_mm
    height = eye[2] - z_mm
    top = base_outline(base, profile.taper_mm) @ turn + xy_mm
    cast = eye[:2] + (top - eye[:2]) * height / (height - profile.height_mm)
    if upper:
        return _resample_evenly(cast, step_mm)
    both = np.concatenate([base_outline(base) @ turn + xy_mm, cast])
    hull = cv2.convexHull((both - xy_mm).astype(np.float32), clockwise=False).reshape(-1, 2) + xy_mm
    return _resample_evenly(np.asarray(hull, float), step_mm)


def _resample_evenly(ring: Array, step_mm: float) -> Contour:
    """Places evenly along a closed counter-clockwise polygon (N, 2)."""
    side = np.roll(ring, -1, 0) - ring
    length = np.linalg.norm(side, axis=1)
    ends = np.cumsum(length)
    count = int(np.clip(ends[-1] / step_mm, 40, 240))
    along = (np.arange(count) + 0.5) / count * ends[-1]
    which = np.minimum(np.searchsorted(ends, along), len(ring) - 1)
    share = 1 - (ends[which] - along) / np.maximum(length[which], 1e-9)
    at = ring[which] + share[:, None] * side[which]
    normals = (
        np.stack([side[:, 1], -side[:, 0]], -1)[which] / np.maximum(length[which], 1e-9)[:, None]
    )
    return Contour(at, normals)


def penetration_depth_mm(one_mm: Array, other_mm: Array) -> float:
    """How far two convex outlines (K, 2) and (L, 2) would have to move to lie apart; below 0, how far they lie apart.

    Along the normals of their sides only: exact where they overlap (the separating axis theorem).
    """
    sides = np.concatenate([np.roll(outline, -1, 0) - outline for outline in (one_mm, other_mm)])
    normals = np.stack([sides[:, 1], -sides[:, 0]], -1) / np.linalg.norm(
        sides, axis=1, keepdims=True
    )
    one, other = one_mm @ normals.T, other_mm @ normals.T
    return float(np.minimum(one.max(0) - other.min(0), other.max(0) - one.min(0)).min())

"""Outlines of bases of any shape, and the silhouettes of ovals."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.batched.vectors import right_normals, unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.shapes import hexagon, stadium
from overruler.vision.contours.silhouette import Profile

CIRCLE_POINTS = 144
"""Default number of points of a round or oval outline."""
CORNER_POINTS = 5
"""Points of a rectangle's corner."""
CORNER_RADIUS_MM = 1.0
"""Radius of a rectangle's corners. Real ones are 0 to 1.5 mm; no measurement uses them."""


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """K evenly spaced points along an outline on the plane z."""

    at_mm: Array
    """(K, 2): the points."""
    normals: Array
    """(K, 2): outward unit normals."""


def base_outline(base: Base, inset_mm: float = 0.0, points: int = CIRCLE_POINTS) -> Array:
    """Return a base's outline (N, 2) about the origin, counter-clockwise, its length along x.

    It is moved inwards by `inset_mm`. `points` is the number of points of a round or oval one.
    """
    half = np.array([base.length_mm, base.width_mm]) / 2 - inset_mm
    if base.shape == "stadium":
        return np.array(stadium((0.0, 0.0), *(2 * half)).corners)
    if base.shape == "hexagon":
        return np.array(hexagon((0.0, 0.0), 2 * half[1]).corners)
    if base.shape != "rectangle":
        angles = np.arange(points, dtype=float) * (2 * np.pi / points)
        return np.asarray(half * unit_vectors(angles))
    bend = np.linspace(0, np.pi / 2, CORNER_POINTS)
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    corners = []
    for k, sign in enumerate(signs):
        angles = bend + k * np.pi / 2
        arc = CORNER_RADIUS_MM * unit_vectors(angles)
        corners.append(arc + sign * (half - CORNER_RADIUS_MM))
    return np.concatenate(corners)


def placed_outline(base: Base, xy_mm: Array, turn_rad: float, points: int = CIRCLE_POINTS) -> Array:
    """Return the lower edge (N, 2) of a base at a place, with `points` as in `base_outline`."""
    return np.asarray(base_outline(base, points=points) @ _rotation(turn_rad) + xy_mm)


def in_half_sizes(base: Base, offsets_mm: Array, turn_rad: float) -> Array:
    """Return offsets (..., 2) from a base's middle along and across it, in its half length and half width."""
    along_and_across = offsets_mm @ _rotation(turn_rad).T
    return np.asarray(along_and_across / [base.length_mm / 2, base.width_mm / 2])


def is_in_outline(
    base: Base, offsets_mm: Array, turn_rad: float, share: float = 1.0
) -> NDArray[np.bool_]:
    """Tell which offsets (..., 2) from a base's middle lie in its outline, scaled by `share`.

    Rectangles have four sides; all other bases count as ellipses.
    """
    inside = in_half_sizes(base, offsets_mm, turn_rad)
    if base.shape == "rectangle":
        return np.asarray(np.abs(inside).max(-1) < share)
    return np.asarray(np.linalg.norm(inside, axis=-1) < share)


def depth_inside_mm(outline_mm: Array, xy_mm: Array) -> float:
    """Return how far a place (2,) lies inside an outline (K, 2); negative outside."""
    ring = np.asarray(outline_mm, np.float32).reshape(-1, 1, 2)
    return float(cv2.pointPolygonTest(ring, (float(xy_mm[0]), float(xy_mm[1])), True))


def _rotation(turn_rad: float) -> Array:
    """Return the matrix (2, 2) that rotates row vectors counter-clockwise."""
    cosine, sine = np.cos(turn_rad), np.sin(turn_rad)
    return np.array([[cosine, sine], [-sine, cosine]])


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
    """Cast an oval's outline, or only its upper edge, onto the plane z of its lower edge.

    With D the camera's height over the plane and h the base's, the upper edge is cast larger by
    D / (D - h) and leans away from the camera's foot point. The outline is the convex hull of both
    edges. Points are `step_mm` apart.
    """
    turn = _rotation(turn_rad)
    eye = camera.center_mm
    height = eye[2] - z_mm
    top = base_outline(base, profile.taper_mm) @ turn + xy_mm
    away = top - eye[:2]
    cast = eye[:2] + away * height / (height - profile.height_mm)
    if upper:
        return _resample_evenly(cast, step_mm)
    points = np.concatenate([base_outline(base) @ turn + xy_mm, cast])
    centred = (points - xy_mm).astype(np.float32)
    hull = cv2.convexHull(centred, clockwise=False).reshape(-1, 2) + xy_mm
    return _resample_evenly(np.asarray(hull, float), step_mm)


def _resample_evenly(ring: Array, step_mm: float) -> Contour:
    """Place points evenly along a closed counter-clockwise polygon (N, 2)."""
    side = np.roll(ring, -1, 0) - ring
    length = np.linalg.norm(side, axis=1)
    ends = np.cumsum(length)
    count = int(np.clip(ends[-1] / step_mm, 40, 240))
    along = (np.arange(count) + 0.5) / count * ends[-1]
    which = np.minimum(np.searchsorted(ends, along), len(ring) - 1)
    side_length = np.maximum(length[which], 1e-9)
    share = 1 - (ends[which] - along) / side_length
    at = ring[which] + share[:, None] * side[which]
    outwards = right_normals(side)
    normals = outwards[which] / side_length[:, None]
    return Contour(at, normals)


def penetration_depth_mm(one_mm: Array, other_mm: Array) -> float:
    """Return the least move that separates two convex outlines (K, 2) and (L, 2).

    It is negative where they are apart. Only moves along the normals of their sides are tried,
    which is exact where they overlap (separating axis theorem).
    """
    one_sides = np.roll(one_mm, -1, 0) - one_mm
    other_sides = np.roll(other_mm, -1, 0) - other_mm
    sides = np.concatenate([one_sides, other_sides])
    length = np.linalg.norm(sides, axis=1, keepdims=True)
    normals = right_normals(sides) / length
    one, other = one_mm @ normals.T, other_mm @ normals.T
    forwards = one.max(0) - other.min(0)
    backwards = other.max(0) - one.min(0)
    return float(np.minimum(forwards, backwards).min())

"""The silhouette of a round base: its lower rim, and the upper one that may stick out behind it."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True)
class Profile:
    """A base seen from the side."""

    name: str
    taper_mm: float
    """How much smaller the upper rim's radius is."""
    height_mm: float


PROFILES = (Profile("cone", 1.6, 3.9), Profile("straight", 0.0, 3.6))
"""The two kinds there are; real ones lie within half a millimetre of them."""


@dataclass(frozen=True, slots=True, eq=False)
class RimContours:
    """Outline and upper rim of a base as cast on to the plane of its lower rim, seen from the lower rim's centre."""

    outline_mm: Array
    """(K,): how far the outline lies towards each angle."""
    upper_mm: Array
    """(K,): how far the upper rim lies."""
    outline_normals: Array
    """(K, 2): the outline's outward normals there."""
    upper_normals: Array
    """(K, 2)."""

    def contour(self, upper: bool) -> tuple[Array, Array]:
        """The reach (K,) and the normals (K, 2) of the upper rim or of the outline."""
        return (
            (self.upper_mm, self.upper_normals)
            if upper
            else (self.outline_mm, self.outline_normals)
        )


def project_rims(
    camera: Camera, xy_mm: Array, radius_mm: float, z_mm: float, profile: Profile, directions: Array
) -> RimContours:
    """Where the two rims of a base are seen towards `directions` (K, 2), unit vectors on the plane z.

    The upper rim, cast from the camera on to the plane, is a circle again: larger by D / (D - h) and shifted away from
    the camera's foot point by h / (D - h) of the distance to it, with D the camera's height over the plane and h the
    base's. The outline is the convex hull of the two circles: an arc of each and their common tangents.
    """
    lean = upper_rim_shift_mm(camera, xy_mm, z_mm, profile)
    height = camera.center_mm[2] - z_mm
    upper = (radius_mm - profile.taper_mm) * height / (height - profile.height_mm)
    along, across = directions @ lean, directions @ np.array([-lean[1], lean[0]])
    upper_mm = along + np.sqrt(np.maximum(upper**2 - across**2, 0.0))
    upper_normals = (directions * upper_mm[:, None] - lean) / upper
    outline_mm, outline_normals = np.full(len(directions), radius_mm), directions.copy()
    shift = float(np.hypot(*lean))
    if (
        radius_mm - upper < shift
    ):  # the upper circle sticks out: up to here it is the outline, from there the tangent
        touch = np.arccos(max((radius_mm - upper) / shift, -1.0))
        angle = np.arctan2(across, along)
        end = np.arctan2(upper * np.sin(touch), shift + upper * np.cos(touch))
        on_upper, on_tangent = np.abs(angle) <= end, (np.abs(angle) > end) & (np.abs(angle) < touch)
        outline_mm[on_upper], outline_normals[on_upper] = (
            upper_mm[on_upper],
            upper_normals[on_upper],
        )
        outline_mm[on_tangent] = radius_mm / np.cos(touch - np.abs(angle[on_tangent]))
        away, side = lean / shift, np.array([-lean[1], lean[0]]) / shift
        turn = np.sign(angle[on_tangent])[:, None]
        outline_normals[on_tangent] = np.cos(touch) * away + np.sin(touch) * turn * side
    return RimContours(outline_mm, upper_mm, outline_normals, upper_normals)


def upper_rim_shift_mm(camera: Camera, xy_mm: Array, z_mm: float, profile: Profile) -> Array:
    """How far (2,) the upper rim appears shifted against the lower one on the plane z."""
    eye = camera.center_mm
    return np.asarray(
        (np.asarray(xy_mm) - eye[:2]) * profile.height_mm / (eye[2] - z_mm - profile.height_mm)
    )

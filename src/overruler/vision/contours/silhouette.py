"""The silhouette of a round base: its lower rim, and the upper rim that may stick out behind it."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True)
class Profile:
    """A base's shape seen from the side."""

    name: str
    """What it is called."""
    taper_mm: float
    """Lower minus upper radius."""
    height_mm: float
    """Height of the upper rim over the lower one."""


PROFILES = (Profile("cone", 1.6, 3.9), Profile("straight", 0.0, 3.6))
"""The two common profiles. Real bases lie within half a millimetre of one of them."""
USUAL_PROFILE = PROFILES[0]
"""The usual one."""


@dataclass(frozen=True, slots=True, eq=False)
class RimContours:
    """A base's outline and upper rim, cast onto the plane of its lower rim, about its centre."""

    outline_mm: Array
    """(K,): distance of the outline at each angle."""
    upper_mm: Array
    """(K,): distance of the upper rim."""
    outline_normals: Array
    """(K, 2): outward normals of the outline."""
    upper_normals: Array
    """(K, 2): outward normals of the upper rim."""

    def contour(self, upper: bool) -> tuple[Array, Array]:
        """Return distances (K,) and normals (K, 2) of the upper rim or of the outline."""
        if upper:
            return self.upper_mm, self.upper_normals
        return self.outline_mm, self.outline_normals


def project_rims(
    camera: Camera, xy_mm: Array, radius_mm: float, z_mm: float, profile: Profile, directions: Array
) -> RimContours:
    """Cast both rims of a base onto the plane z, along `directions` (K, 2), unit vectors.

    With D the camera's height over the plane and h the base's, the upper rim is cast to a circle
    that is larger by D / (D - h). It is shifted away from the camera's foot point by h / (D - h) of
    the distance to it. The outline is the convex hull of both circles: an arc of each and their
    common tangents.
    """
    lean = upper_rim_shift_mm(camera, xy_mm, z_mm, profile)
    height = camera.center_mm[2] - z_mm
    upper = (radius_mm - profile.taper_mm) * height / (height - profile.height_mm)
    sideways = np.array([-lean[1], lean[0]])
    along, across = directions @ lean, directions @ sideways
    square = np.maximum(upper**2 - across**2, 0.0)
    upper_mm = along + np.sqrt(square)
    upper_normals = (directions * upper_mm[:, None] - lean) / upper
    outline_mm, outline_normals = np.full(len(directions), radius_mm), directions.copy()
    shift = float(np.hypot(*lean))
    if radius_mm - upper < shift:  # the upper circle sticks out
        touch = np.arccos(max((radius_mm - upper) / shift, -1.0))
        angle = np.arctan2(across, along)
        touch_across, touch_along = upper * np.sin(touch), shift + upper * np.cos(touch)
        end = np.arctan2(touch_across, touch_along)
        distance = np.abs(angle)
        on_upper = distance <= end
        on_tangent = (distance > end) & (distance < touch)
        outline_mm[on_upper] = upper_mm[on_upper]
        outline_normals[on_upper] = upper_normals[on_upper]
        outline_mm[on_tangent] = radius_mm / np.cos(touch - distance[on_tangent])
        turn = np.sign(angle[on_tangent])[:, None]
        forwards = np.cos(touch) * (lean / shift)
        across_normals = np.sin(touch) * turn * (sideways / shift)
        outline_normals[on_tangent] = forwards + across_normals
    return RimContours(outline_mm, upper_mm, outline_normals, upper_normals)


def upper_rim_shift_mm(camera: Camera, xy_mm: Array, z_mm: float, profile: Profile) -> Array:
    """Return the apparent shift (2,) of the upper rim against the lower one on the plane z."""
    eye = camera.center_mm
    away = np.asarray(xy_mm) - eye[:2]
    return np.asarray(away * profile.height_mm / (eye[2] - z_mm - profile.height_mm))

"""How points at another height seem to stand on the board: relief displacement."""

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array


def reproject_to_height(
    camera: Camera, xy_mm: Array, z_mm: float | Array, new_z_mm: float | Array
) -> Array:
    """The points (..., 2) at `new_z_mm` that are seen where the points (..., 2) at `z_mm` are."""
    eye = camera.center_mm
    return np.asarray(eye[:2] + (xy_mm - eye[:2]) * (eye[2] - new_z_mm) / (eye[2] - z_mm))


def relief_displacement_per_mm(camera: Camera, xy_mm: Array, z_mm: float) -> Array:
    """How far (..., 2) a point that stays where it is in the photo moves for a millimetre of height."""
    eye = camera.center_mm
    return np.asarray((eye[:2] - xy_mm) / (eye[2] - z_mm))

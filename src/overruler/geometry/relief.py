"""Relief displacement: where points at another height seem to lie on the board."""

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array


def reproject_to_height(
    camera: Camera, xy_mm: Array, z_mm: float | Array, new_z_mm: float | Array
) -> Array:
    """Return the points (..., 2) at `new_z_mm` that share their pixels with points at `z_mm`."""
    eye = camera.center_mm
    offset = xy_mm - eye[:2]
    return np.asarray(eye[:2] + offset * (eye[2] - new_z_mm) / (eye[2] - z_mm))


def relief_displacement_per_mm(camera: Camera, xy_mm: Array, z_mm: float) -> Array:
    """Return how far (..., 2) a point moves for a millimetre of height while its pixel stays."""
    eye = camera.center_mm
    return np.asarray((eye[:2] - xy_mm) / (eye[2] - z_mm))

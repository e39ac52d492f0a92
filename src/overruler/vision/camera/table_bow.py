"""Corrections of places for the table's bow, and their Jacobian by it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm


def correct_for_bow_mm(calibration: Calibration, xy_mm: Array, z_mm: float = 0.0) -> Array:
    """Places (..., 2) on the bowed table of places measured at `z_mm` over a flat one."""
    if calibration.bow is None:
        return xy_mm
    per_mm = relief_displacement_per_mm(calibration.camera, xy_mm, z_mm)
    return np.asarray(xy_mm + per_mm * calibration.bow.z_mm(xy_mm)[..., None])


def place_jacobian_bow(calibration: Calibration, xy_mm: Array, z_mm: float = 0.0) -> Array:
    """Jacobian (..., 2, 2) of places (..., 2) at `z_mm`, fixed in the photo, by the bow's heights."""
    if calibration.bow is None:
        return np.zeros((*np.shape(xy_mm), 2))
    weights = calibration.bow.height_weights(xy_mm)
    per_mm = relief_displacement_per_mm(calibration.camera, xy_mm, z_mm)
    return np.asarray(per_mm[..., :, None] * weights[..., None, :])


def correct_detections_for_bow(
    calibration: Calibration, detections: Sequence[Detection]
) -> tuple[Detection, ...]:
    """Correct the places of all detections for the table's bow."""
    return tuple(
        replace(d, xy_mm=correct_for_bow_mm(calibration, d.xy_mm, d.z_mm)) for d in detections
    )

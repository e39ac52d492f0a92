"""Places on a bowed table: where they are once its height there is known, and how unsure they are by it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm


def correct_for_bow_mm(calibration: Calibration, xy_mm: Array, z_mm: float = 0.0) -> Array:
    """Where places (..., 2) are that were measured at `z_mm` over a flat table."""
    if calibration.bow is None:
        return xy_mm
    return np.asarray(
        xy_mm
        + relief_displacement_per_mm(calibration.camera, xy_mm, z_mm)
        * calibration.bow.z_mm(xy_mm)[..., None]
    )


def place_jacobian_bow(calibration: Calibration, xy_mm: Array, z_mm: float = 0.0) -> Array:
    """How places (..., 2) measured at `z_mm`, fixed in the photo, move with the bow's two heights (..., 2, 2)."""
    if calibration.bow is None:
        return np.zeros((*np.shape(xy_mm), 2))
    shares = calibration.bow.height_weights(xy_mm)
    return np.asarray(
        relief_displacement_per_mm(calibration.camera, xy_mm, z_mm)[..., :, None]
        * shares[..., None, :]
    )


def correct_detections_for_bow(
    calibration: Calibration, detections: Sequence[Detection]
) -> tuple[Detection, ...]:
    """What stands on a bowed table, where it stands."""
    return tuple(
        replace(d, xy_mm=correct_for_bow_mm(calibration, d.xy_mm, d.z_mm)) for d in detections
    )

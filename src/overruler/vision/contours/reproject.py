"""Where a base that stands somewhere shows in the photo, and where one stands that a fit found there."""

from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.vision.contours.cone_fit import BaseFit
from overruler.vision.contours.outlines import placed_outline

OUTLINE_POINTS = 72
"""Of a round one."""


def apply_fit(camera: Camera, detection: Detection, fit: BaseFit) -> Detection:
    """The detection where a fit puts it, as surely as this is: the doubt that no fit knows stays."""
    doubt = fit.covariance_mm2 + detection.unmodelled_mm2
    found = replace(
        detection, xy_mm=fit.xy_mm, covariance_mm2=doubt, d_xy_d_camera=fit.d_xy_d_camera
    )
    return reproject_outline(camera, found)


def reproject_outline(camera: Camera, detection: Detection) -> Detection:
    """The detection with its middle and its outline as they lie in the photo."""
    edge = placed_outline(detection.base, detection.xy_mm, detection.turn_rad, OUTLINE_POINTS)
    ring = np.vstack([detection.xy_mm, edge])
    pixels = camera.project(np.column_stack([ring, np.full(len(ring), detection.z_mm)]))
    return replace(detection, center_px=pixels[0], outline_px=pixels[1:])

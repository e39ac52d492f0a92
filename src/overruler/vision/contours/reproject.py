"""Project a base's outline into the photo, and update a detection by a fit."""

from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.vision.contours.cone_fit import BaseFit
from overruler.vision.contours.outlines import placed_outline

OUTLINE_POINTS = 72
"""Points of a round base's outline."""


def apply_fit(camera: Camera, detection: Detection, fit: BaseFit) -> Detection:
    """Move a detection to a fit, with the fit's covariance plus the detection's unmodelled part."""
    covariance = fit.covariance_mm2 + detection.unmodelled_mm2
    moved = replace(
        detection, xy_mm=fit.xy_mm, covariance_mm2=covariance, d_xy_d_camera=fit.d_xy_d_camera
    )
    return reproject_outline(camera, moved)


def reproject_outline(camera: Camera, detection: Detection) -> Detection:
    """Set a detection's centre and outline in the photo by its place."""
    edge = placed_outline(detection.base, detection.xy_mm, detection.turn_rad, OUTLINE_POINTS)
    points = np.vstack([detection.xy_mm, edge])
    height = np.full(len(points), detection.z_mm)
    pixels = camera.project(np.column_stack([points, height]))
    return replace(detection, center_px=pixels[0], outline_px=pixels[1:])

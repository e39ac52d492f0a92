"""Where a base that stands somewhere shows in the photo."""

from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.pieces import Piece

OUTLINE_POINTS = 72


def drawn(camera: Camera, detection: Detection) -> Detection:
    """The detection with its middle and its outline as they lie in the photo."""
    x, y = map(float, detection.xy_mm)
    angle = np.arange(OUTLINE_POINTS) * (2 * np.pi / OUTLINE_POINTS)
    shape = Piece("", detection.base, x, y, heading_deg=detection.heading_deg).shape
    ring = np.vstack([[x, y], shape.supports(np.stack([np.cos(angle), np.sin(angle)], -1))])
    pixels = camera.project(np.column_stack([ring, np.full(len(ring), detection.z_mm)]))
    return replace(detection, center_px=pixels[0], outline_px=pixels[1:])

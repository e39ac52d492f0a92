"""Where a base that stands somewhere shows in the photo."""

from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.vision.outlined import outline_at

OUTLINE_POINTS = 72
"""Of a round one."""


def drawn(camera: Camera, detection: Detection) -> Detection:
    """The detection with its middle and its outline as they lie in the photo."""
    edge = outline_at(detection.base, detection.xy_mm, np.radians(detection.heading_deg), OUTLINE_POINTS)
    ring = np.vstack([detection.xy_mm, edge])
    pixels = camera.project(np.column_stack([ring, np.full(len(ring), detection.z_mm)]))
    return replace(detection, center_px=pixels[0], outline_px=pixels[1:])

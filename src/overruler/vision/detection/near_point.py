"""Measure a base at which a person points, or else place it by hand.

The base is detected as any other, with its size and height known. Where the photo shows none, no
fit is made: a fit from the pointed place would measure whatever lies there, and overstate its
precision.
"""

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.detection.detect import detect
from overruler.vision.detection.raised_plane import RaisedPlane

SEARCH_RADIUS_SIGMA = 3.5
"""Largest distance of a base from where a person points, in σ of pointing."""
SEARCH_RADIUS_SHARE = 0.12
"""The same as a share of the width: people point roughly at large bases. The larger counts."""


def find_near_point(
    frame: Frame, calibration: Calibration, base: Base, xy_mm: Array, z_mm: float, sigma_px: float
) -> Detection | None:
    """Find the base of this size nearest to where a person points; None where the photo shows none.

    `xy_mm` (2,) is the place at height `z_mm`, and `sigma_px` the 1 σ of pointing in the photo.
    """
    scale = float(calibration.camera.mm_per_px(np.array([*xy_mm, z_mm])))
    reach = max(SEARCH_RADIUS_SIGMA * sigma_px * scale, SEARCH_RADIUS_SHARE * base.width_mm)
    corner_mm = np.array([*(xy_mm - reach), z_mm])
    plane = RaisedPlane.of(calibration, corner_mm, (2 * reach, 2 * reach))
    detections = detect(frame, plane.calibration, [base], (), base.length_mm)
    found = [plane.to_board_frame(detection) for detection in detections]

    def distance_mm(detection: Detection) -> float:
        return float(np.hypot(*(detection.xy_mm - xy_mm)))

    nearest = min(found, key=distance_mm, default=None)
    if nearest is None or distance_mm(nearest) >= reach:
        return None
    return nearest


def place_by_hand(
    camera: Camera, base: Base, xy_mm: Array, z_mm: float, sigma_px: float, heading_deg: float
) -> Detection:
    """Place a base where a person says it stands, with the covariance of pointing in the photo."""
    _, by_point, by_camera = camera.project_with_jacobians(np.array([*xy_mm, z_mm]))
    mm_per_px = np.linalg.inv(by_point[:, :2])
    placed = Detection(
        base=base,
        xy_mm=np.asarray(xy_mm, float),
        z_mm=z_mm,
        heading_deg=heading_deg % 360,
        covariance_mm2=sigma_px**2 * mm_per_px @ mm_per_px.T,
        d_xy_d_camera=-mm_per_px @ by_camera,
        score=1.0,
        visible=0.0,
        is_confirmed=True,
        is_seen=False,
    )
    return reproject_outline(camera, placed)

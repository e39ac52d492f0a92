"""A base that a person points at: found near there and measured by the photo, or else taken at the person's word.

What is pointed at is looked for as everything else is, the size and the height being known. Where that shows nothing,
a fit from the place pointed at would see what lies there instead, and be surer of it than it may: none is made.
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
"""A base that is found farther from where a person points, in σ of pointing, is another one, ..."""
SEARCH_RADIUS_SHARE = 0.12
"""... but for this share of its width: people point roughly at what is large."""


def find_near_point(
    frame: Frame, calibration: Calibration, base: Base, xy_mm: Array, z_mm: float, sigma_px: float
) -> Detection | None:
    """The base of this size that stands where a person points, as the photo shows it; None where it shows none.

    `xy_mm` (2,) is the place at the height `z_mm`, `sigma_px` how surely it was pointed at, in the photo.
    """
    scale = float(calibration.camera.mm_per_px(np.array([*xy_mm, z_mm])))
    reach = max(SEARCH_RADIUS_SIGMA * sigma_px * scale, SEARCH_RADIUS_SHARE * base.width_mm)
    level = RaisedPlane.of(calibration, np.array([*(xy_mm - reach), z_mm]), (2 * reach, 2 * reach))
    there = map(level.to_board_frame, detect(frame, level.calibration, [base], (), base.length_mm))
    away = {float(np.hypot(*(one.xy_mm - xy_mm))): one for one in there}
    return away[min(away)] if away and min(away) < reach else None


def place_by_hand(
    camera: Camera, base: Base, xy_mm: Array, z_mm: float, sigma_px: float, heading_deg: float
) -> Detection:
    """A base where a person says that it stands, with the doubt of pointing at it in the photo."""
    _, by_point, by_camera = camera.project_with_jacobians(np.array([*xy_mm, z_mm]))
    by_pixel = np.linalg.inv(by_point[:, :2])
    return reproject_outline(
        camera,
        Detection(
            base=base,
            xy_mm=np.asarray(xy_mm, float),
            z_mm=z_mm,
            heading_deg=heading_deg % 360,
            covariance_mm2=sigma_px**2 * by_pixel @ by_pixel.T,
            d_xy_d_camera=-by_pixel @ by_camera,
            score=1.0,
            visible=0.0,
        ),
    )

"""A close-up of two bases that is not there yet: its camera, and how sure that would be.

It is imagined to hang on a photo of the table by the ground that both show. So it errs as that photo's
camera does, and by what its own fit to the ground adds.
"""

from dataclasses import replace

import numpy as np

from overruler.calibration import JOINT_SIZE, Calibration, Covariances
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.lens import LENS_SIZE
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.hanging.ground_fit import CORRELATION_FACTOR, LEAST_SIGMA_PX

VIEW_LENGTHS = 2.0
"""Shorter side of what it shows, against the distance of the bases."""
LEAST_VIEW_MM = 250.0
"""Least shorter side of what it shows: a hand holds the camera no closer."""
LARGEST_SHARE = 0.7
"""It is nearer than this share of the first photo's distance, else it is none."""
TILTS_DEG = (20.0, 40.0)
"""Least and largest tilt of its camera from straight down."""
GROUND_STEPS = 9
"""Places along and across the picture at which it shows ground that the first photo shows too."""
MIN_GROUND_PLACES = 20
"""Fewest of them that lie on the board."""
GROUND_SIGMA_PX = 0.4
"""1 σ at which such a place is told along an axis, in px of the coarser photo: 0.31 to 0.55 in ten
rendered close-ups."""


def imagine_close_up(calibration: Calibration, frame: Frame, ends_mm: Array) -> Calibration | None:
    """The calibration of a close-up of two places (2, 3) by the camera of a photo, from its side.

    Its covariance has what the fit to the ground adds, and not what the photo's camera errs. None
    where the photo is one already, or where the close-up would show too little of the board.
    """
    camera = _aimed_close(calibration, ends_mm)
    if camera is None:
        return None
    ground = _ground_in_sight(camera, calibration)
    if len(ground) < MIN_GROUND_PLACES:
        return None
    middle = ends_mm.mean(0)
    ratio = float(calibration.camera.mm_per_px(middle) / camera.mm_per_px(middle))
    sigma_px = CORRELATION_FACTOR * max(LEAST_SIGMA_PX, GROUND_SIGMA_PX * ratio)
    _, _, by_camera = camera.project_with_jacobians(ground)
    rows = by_camera.reshape(-1, by_camera.shape[-1])
    information = rows.T @ rows / sigma_px**2
    information[:LENS_SIZE, :LENS_SIZE] += np.linalg.inv(lens_prior(frame, None).covariance)
    covariance = np.zeros((JOINT_SIZE, JOINT_SIZE))
    covariance[: len(information), : len(information)] = np.linalg.inv(information)
    return replace(calibration, camera=camera, covariances=Covariances.same(covariance))


def aim_camera(camera: Camera, eye_mm: Array, at_mm: Array) -> Camera:
    """The same camera at a place (3,), looking at another (3,) with the horizon level."""
    forward = (at_mm - eye_mm) / np.linalg.norm(at_mm - eye_mm)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right = right / np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward])
    return Camera(camera.matrix, camera.distortion, Pose(rotation, -rotation @ eye_mm))


def _aimed_close(calibration: Calibration, ends_mm: Array) -> Camera | None:
    """The camera so near that the bases fill half of the picture; None where it is as near already."""
    camera, middle = calibration.camera, ends_mm.mean(0)
    arm = camera.center_mm - middle
    view_mm = max(LEAST_VIEW_MM, VIEW_LENGTHS * float(np.linalg.norm(ends_mm[1] - ends_mm[0])))
    away_mm = float(camera.matrix[0, 0]) * view_mm / min(calibration.size_px)
    if away_mm > LARGEST_SHARE * np.linalg.norm(arm):
        return None
    tilt = np.arctan2(np.hypot(arm[0], arm[1]), arm[2])
    tilt = np.clip(tilt, *np.radians(TILTS_DEG))
    azimuth = np.arctan2(arm[1], arm[0])
    out = np.array([np.sin(tilt) * np.cos(azimuth), np.sin(tilt) * np.sin(azimuth), np.cos(tilt)])
    return aim_camera(camera, middle + away_mm * out, middle)


def _ground_in_sight(camera: Camera, calibration: Calibration) -> Array:
    """Places (N, 3) of the board all over the close-up that the first photo shows too."""
    width, height = calibration.size_px
    shares = (np.arange(GROUND_STEPS) + 0.5) / GROUND_STEPS
    u, v = np.meshgrid(shares * width, shares * height)
    places = camera.unproject(np.column_stack([u.ravel(), v.ravel()]))
    on_board = (places >= 0).all(1) & (places <= calibration.board_mm).all(1)
    ground = np.column_stack([places, np.zeros(len(places))])[on_board]
    seen = calibration.camera.project(ground)
    return ground[((seen >= 0) & (seen < calibration.size_px)).all(1)]

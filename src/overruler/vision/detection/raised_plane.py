"""A plane above the board, or a part of it, looked at as if it were the board."""

from dataclasses import dataclass, replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, skew


@dataclass(frozen=True, slots=True, eq=False)
class RaisedPlane:
    """A rectangle parallel to the board's, with a frame of its own."""

    origin_mm: Array
    """(3,): where its own origin lies."""
    calibration: Calibration
    """In its own frame."""
    camera_jacobian: Array
    """(15, 15): how the camera's parameters there move with those in the board's frame; the table's bow is the same."""

    @classmethod
    def of(
        cls, calibration: Calibration, origin_mm: Array, size_mm: tuple[float, float]
    ) -> "RaisedPlane":
        """The level through `origin_mm` (3,), `size_mm` wide and high from there."""
        camera = calibration.camera
        pose = camera.T_camera_board @ Pose(np.eye(3), np.asarray(origin_mm, float))
        slopes = np.eye(15)
        # a turn ω about the board's origin carries the level's along by ω × arm
        slopes[12:15, 9:12] = -skew(pose.translation_mm - camera.T_camera_board.translation_mm)
        both, bow = np.eye(17), calibration.bow
        both[:15, :15] = slopes
        there = replace(
            calibration.map_covariances(lambda covariance: both @ covariance @ both.T),
            camera=Camera(camera.matrix, camera.distortion, pose),
            board_mm=size_mm,
            bow=bow and replace(bow, middle_mm=bow.middle_mm - np.asarray(origin_mm, float)[:2]),
        )
        return cls(np.asarray(origin_mm, float), there, slopes)

    def to_board_frame(self, detection: Detection) -> Detection:
        """What was found on the level, in the board's frame."""
        return replace(
            detection,
            xy_mm=detection.xy_mm + self.origin_mm[:2],
            z_mm=detection.z_mm + float(self.origin_mm[2]),
            d_xy_d_camera=detection.d_xy_d_camera @ self.camera_jacobian,
        )

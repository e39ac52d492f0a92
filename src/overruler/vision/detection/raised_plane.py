"""A plane above the board, or a part of it, treated as a board of its own."""

from dataclasses import dataclass, replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, skew


@dataclass(frozen=True, slots=True, eq=False)
class RaisedPlane:
    """A rectangle parallel to the board, with a frame of its own."""

    origin_mm: Array
    """(3,): its origin in the board's frame."""
    calibration: Calibration
    """The calibration in its own frame."""
    camera_jacobian: Array
    """(15, 15): d camera parameters in its frame / d those in the board's frame."""

    @classmethod
    def of(
        cls, calibration: Calibration, origin_mm: Array, size_mm: tuple[float, float]
    ) -> "RaisedPlane":
        """Return the plane through `origin_mm` (3,), `size_mm` wide and high from there."""
        origin = np.asarray(origin_mm, float)
        camera, bow = calibration.camera, calibration.bow
        pose = camera.T_camera_board @ Pose(np.eye(3), origin)
        arm_mm = pose.translation_mm - camera.T_camera_board.translation_mm
        jacobian = np.eye(15)
        # a rotation ω about the board's origin moves this plane's origin by ω × arm
        jacobian[12:15, 9:12] = -skew(arm_mm)
        with_bow = np.eye(17)  # the table's bow is the same in both frames
        with_bow[:15, :15] = jacobian
        moved = replace(
            calibration.map_covariances(lambda covariance: with_bow @ covariance @ with_bow.T),
            camera=Camera(camera.matrix, camera.distortion, pose),
            board_mm=size_mm,
            bow=bow and replace(bow, middle_mm=bow.middle_mm - origin[:2]),
        )
        return cls(origin, moved, jacobian)

    def to_board_frame(self, detection: Detection) -> Detection:
        """Convert a detection on this plane to the board's frame."""
        return replace(
            detection,
            xy_mm=detection.xy_mm + self.origin_mm[:2],
            z_mm=detection.z_mm + float(self.origin_mm[2]),
            d_xy_d_camera=detection.d_xy_d_camera @ self.camera_jacobian,
        )

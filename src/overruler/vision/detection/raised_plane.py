"""A plane above the board, or a part of it, looked at as if it were the board."""

from dataclasses import dataclass, replace

import numpy as np

from overruler.calibration import Calibration, move_board_origin
from overruler.detections import Detection
from overruler.geometry.pose import Array


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
        origin = np.asarray(origin_mm, float)
        _, jacobian = move_board_origin(calibration.camera, origin)
        raised = replace(calibration.with_origin_at(origin), board_mm=size_mm)
        return cls(origin, raised, jacobian)

    def to_board_frame(self, detection: Detection) -> Detection:
        """What was found on the level, in the board's frame."""
        return replace(
            detection,
            xy_mm=detection.xy_mm + self.origin_mm[:2],
            z_mm=detection.z_mm + float(self.origin_mm[2]),
            d_xy_d_camera=detection.d_xy_d_camera @ self.camera_jacobian,
        )

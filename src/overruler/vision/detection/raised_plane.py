"""A plane above the board, or a part of it, treated as a board of its own."""

from dataclasses import dataclass, replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.geometry.pose import Array


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
        _, jacobian = calibration.camera.with_origin_at(origin)
        raised = replace(calibration.with_origin_at(origin), board_mm=size_mm)
        return cls(origin, raised, jacobian)

    def to_board_frame(self, detection: Detection) -> Detection:
        """Convert a detection on this plane to the board's frame."""
        return replace(
            detection,
            xy_mm=detection.xy_mm + self.origin_mm[:2],
            z_mm=detection.z_mm + float(self.origin_mm[2]),
            d_xy_d_camera=detection.d_xy_d_camera @ self.camera_jacobian,
        )

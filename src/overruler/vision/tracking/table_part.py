"""Shots averaged into one frame, of all of the picture or of a part of the table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import CAMERA_SIZE
from overruler.detections import Detection
from overruler.frame import Frame, PixelBox, Shot
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.vision.imaging.veil import clear_part

PART_MARGIN_PX = 24
"""Margin of a part round the box on the table, in pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class TablePart:
    """A part of the picture as a frame with a camera of its own."""

    frame: Frame
    whole: Report
    """The report of the whole picture."""
    corner_px: Array
    """(2,): the part's upper left pixel in the whole picture."""

    @classmethod
    def of(cls, whole: Report, shots: Sequence[Shot], box_mm: Array) -> "TablePart":
        """Average shots over a box (2, 2) on the table."""
        (left, bottom), (right, top) = box_mm
        grid_x = (left, (left + right) / 2, right)
        grid_y = (bottom, (bottom + top) / 2, top)
        points = np.array([(x, y, 0.0) for x in grid_x for y in grid_y])
        pixels = whole.calibration.camera.project(points)
        low = np.floor(np.nanmin(pixels, axis=0)) - PART_MARGIN_PX
        high = np.ceil(np.nanmax(pixels, axis=0)) + PART_MARGIN_PX
        u0, v0 = np.clip(low, 0, None).astype(int).tolist()
        u1, v1 = np.clip(high, None, shots[-1].size_px).astype(int).tolist()
        corner = np.array([u0, v0], float)
        frame = average_shots(shots, (u0, v0, max(u1, u0 + 1), max(v1, v0 + 1)))
        return cls(clear_part(frame, whole.frame, corner), whole, corner)

    @property
    def report(self) -> Report:
        """The report, for the part's pixels."""
        calibration = self.whole.calibration
        step = np.zeros(CAMERA_SIZE)
        step[2:4] = -self.corner_px
        camera = calibration.camera.moved(step)
        calibration = replace(calibration, camera=camera, size_px=self.frame.size_px)
        return replace(self.whole, calibration=calibration)

    def to_whole_picture(self, detection: Detection) -> Detection:
        """The detection in pixels of the whole picture."""
        center = detection.center_px + self.corner_px
        outline = detection.outline_px + self.corner_px
        return replace(detection, center_px=center, outline_px=outline)


def average_shots(shots: Sequence[Shot], box: PixelBox | None = None) -> Frame:
    """Average shots into one frame, with the time of the last."""
    total: NDArray[np.uint16] | None = None
    for shot in shots:
        pixels = shot.colours(box)
        total = pixels.astype(np.uint16) if total is None else total + pixels
    assert total is not None
    mean = ((total + len(shots) // 2) // len(shots)).astype(np.uint8)
    mean.setflags(write=False)
    last = shots[-1]
    return Frame(mean, last.name, orientation=last.orientation, time_s=last.time_s)

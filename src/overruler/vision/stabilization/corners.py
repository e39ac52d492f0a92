"""Corners of the picture by which a camera is followed where a table has no markers."""

from collections.abc import Sequence

import cv2
import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.stabilization.light_bands import GreyImage

MAX_CORNERS = 24
"""The most corners."""
MIN_CORNERS = 6
"""With fewer, a hand could hide half of them."""
MIN_QUALITY = 0.03
"""Least quality of a corner, as a share of the best one's (Shi and Tomasi)."""
SIDE_SHARE = 0.016
"""Side of the square about a corner, in widths of the picture."""
SEPARATION_SHARE = 0.06
"""Least distance of two corners, in widths of the picture."""
MARGIN_MM = 60.0
"""Margin round the board in which corners are sought: farther off, people walk."""
BASE_SCALE = 2.0
"""How many times as wide as a base the ground is on which none are sought: bases are moved."""


def find_corners(
    grey: GreyImage, calibration: Calibration, bases: Sequence[Detection] = ()
) -> list[Array]:
    """Squares (4, 2) in pixels about the clearest corners on the table that lie apart and off the bases."""
    width = grey.shape[1]
    quiet = cv2.GaussianBlur(grey, (0, 0), 1.0)
    mask = _table_without(bases, calibration, grey)
    found = cv2.goodFeaturesToTrack(
        quiet, MAX_CORNERS, MIN_QUALITY, SEPARATION_SHARE * width, mask=mask, blockSize=7
    )
    if found is None or len(found) < MIN_CORNERS:
        return []
    half = SIDE_SHARE * width / 2
    square = half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1.0)])
    return [at.reshape(2) + square for at in found]


def _table_without(
    bases: Sequence[Detection], calibration: Calibration, grey: GreyImage
) -> GreyImage:
    """255 where the picture shows the table, and no base."""
    width_mm, height_mm = calibration.board_mm
    x, y = (np.array([-MARGIN_MM, size + MARGIN_MM]) for size in (width_mm, height_mm))
    outline = np.array([(x[0], y[0], 0), (x[1], y[0], 0), (x[1], y[1], 0), (x[0], y[1], 0)])
    mask = np.zeros(grey.shape, np.uint8)
    pixels = calibration.camera.project(outline)
    if not np.isfinite(pixels).all():
        mask[:] = 255
    else:
        cv2.fillPoly(mask, [np.rint(pixels).astype(np.int32)], (255,))
    for base in bases:
        center = base.outline_px.mean(0)
        grown = center + BASE_SCALE * (base.outline_px - center)
        cv2.fillPoly(mask, [np.rint(grown).astype(np.int32)], (0,))
    return mask

"""What is only printed on the mat: the inside of a painted ring looks as the mat around it does.

On a base something stands, and its top is made otherwise than the mat. By the measure used here 474 bases on 17
rendered tables differ from what lies around them by 0.38 or more, a ring painted on a plain mat by 0.08.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import log_colours
from overruler.vision.imaging.orthophoto import rectify_photo

REACH_RADII = 1.65
"""How far around a ring's middle is looked, in radii."""
INSIDE_RADII, SURROUND_FROM_RADII = 0.72, 1.2
"""What lies further in than the first is inside; what lies between the second and the reach is around."""
GRID_CELLS = 32
"""Colours are averaged over so many parts of the width."""
INSIDE_QUANTILE = 0.8
"""The share of the inside that looks as what is around."""
MIN_LOG_CONTRAST = 0.15
"""A base differs by more: the logarithm of a ratio of brightnesses, in any colour."""


def is_printed(pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float) -> bool:
    """Whether nothing tells the inside of a ring on the board from what lies around it; `pixels` is the photo."""
    return inside_contrast(pixels, camera, xy_mm, radius_mm) < MIN_LOG_CONTRAST


def inside_contrast(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float
) -> float:
    """By how much most of a ring's inside differs at most from the usual colour around it (see `MIN_LOG_CONTRAST`)."""
    colours = log_colours(_sample_square(pixels, camera, xy_mm, radius_mm))
    x, y = np.meshgrid(*[np.linspace(-REACH_RADII, REACH_RADII, GRID_CELLS)] * 2)
    away = np.hypot(x, y)
    around = np.median(colours[(away > SURROUND_FROM_RADII) & (away < REACH_RADII)], axis=0)
    off = np.abs(colours[away < INSIDE_RADII] - around).max(-1)
    return float(np.quantile(off, INSIDE_QUANTILE))


def _sample_square(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float
) -> NDArray[np.uint8]:
    """A square piece of the board (32, 32, 3) about a place, averaged."""
    left, bottom, right, top = (
        *(xy_mm - REACH_RADII * radius_mm),
        *(xy_mm + REACH_RADII * radius_mm),
    )
    cell_px = (right - left) / GRID_CELLS / float(camera.mm_per_px(np.array([*xy_mm, 0.0])))
    mm_per_px = (right - left) / (GRID_CELLS * max(1, round(cell_px)))
    view = rectify_photo(pixels, camera, (left, bottom, right, top), mm_per_px)
    return np.asarray(
        cv2.resize(view.pixels, (GRID_CELLS, GRID_CELLS), interpolation=cv2.INTER_AREA), np.uint8
    )

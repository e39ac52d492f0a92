"""Rings printed on the mat: the inside of a painted ring looks like the mat around it.

A base bears something, and its top is made otherwise than the mat. By `inside_contrast` 474 bases
on 17 rendered tables differ from their surroundings by 0.38 or more, a ring painted on a plain mat
by 0.08.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import log_colours
from overruler.vision.imaging.orthophoto import rectify_photo

REACH_RADII = 1.65
"""Half the side of the sampled square, in radii."""
INSIDE_RADII = 0.72
"""Radius of the inside, in radii."""
SURROUND_FROM_RADII = 1.2
"""Inner radius of the surroundings, in radii; they reach to `REACH_RADII`."""
GRID_CELLS = 32
"""Cells along the square's side; colours are averaged over each."""
INSIDE_QUANTILE = 0.8
"""Share of the inside that has to look like the surroundings."""
MIN_LOG_CONTRAST = 0.15
"""Smallest contrast of a base: logarithm of a ratio of brightnesses, in any colour."""


def is_printed(pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float) -> bool:
    """Return whether a ring on the board looks inside as it does around; `pixels` is the photo."""
    return inside_contrast(pixels, camera, xy_mm, radius_mm) < MIN_LOG_CONTRAST


def inside_contrast(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float
) -> float:
    """Return the contrast of most of a ring's inside with the median colour around it."""
    colours = log_colours(_sample_square(pixels, camera, xy_mm, radius_mm))
    x, y = np.meshgrid(*[np.linspace(-REACH_RADII, REACH_RADII, GRID_CELLS)] * 2)
    distance = np.hypot(x, y)
    is_around = (distance > SURROUND_FROM_RADII) & (distance < REACH_RADII)
    surround = np.median(colours[is_around], axis=0)
    contrast = np.abs(colours[distance < INSIDE_RADII] - surround).max(-1)
    return float(np.quantile(contrast, INSIDE_QUANTILE))


def _sample_square(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float
) -> NDArray[np.uint8]:
    """Return the averaged colours (32, 32, 3) of a square of the board around a place."""
    left, bottom = xy_mm - REACH_RADII * radius_mm
    right, top = xy_mm + REACH_RADII * radius_mm
    mm_per_photo_px = float(camera.mm_per_px(np.array([*xy_mm, 0.0])))
    cell_px = (right - left) / GRID_CELLS / mm_per_photo_px
    mm_per_px = (right - left) / (GRID_CELLS * max(1, round(cell_px)))
    view = rectify_photo(pixels, camera, (left, bottom, right, top), mm_per_px)
    cells = cv2.resize(view.pixels, (GRID_CELLS, GRID_CELLS), interpolation=cv2.INTER_AREA)
    return np.asarray(cells, np.uint8)

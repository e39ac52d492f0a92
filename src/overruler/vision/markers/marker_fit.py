"""Fit one marker in a patch of the picture, and compare its cells with its code."""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.subpixel_edges import SLOPE_WINDOW_SIGMA_PX, Floats
from overruler.vision.markers.dictionaries import GreyPicture
from overruler.vision.markers.marker import Marker, marker_cells
from overruler.vision.markers.square_fit import (
    Square,
    fit_square,
    side_px,
    square_as_read,
)
from overruler.vision.markers.square_model import square_to_quad

FLIPPED_CELL_TOLERANCE = 0.2
"""A cell this near to the other colour, as a share of the contrast, contradicts its code."""
MIN_VISIBLE_CELL_SHARE = 0.4
"""Least share of the cells that must lie in the picture."""
MAX_CORNER_SIGMA_SHARE = 0.02
"""Largest σ of a corner, as a share of the side. With a larger one too few sides are seen."""
MIN_READ_SCORE = 0.75
"""Least correlation of a marker with its code where its edges do not fit a square."""
PATCH_MARGIN_PX = 16
"""Margin of the patch around a marker, in px."""
SMOOTHING_SIGMA_PX = 0.4
"""1 σ of the Gaussian that suppresses sensor noise, in px."""
CELL_SAMPLES = 8
"""Samples along a cell's side; the middle half of them gives its brightness."""


def fit_marker(
    grey: GreyPicture,
    name: str,
    number: int,
    corners: Array,
    least_score: float,
    was_read: bool = False,
) -> Marker | None:
    """Fit a marker near `corners` (4, 2); None if too little is seen or it is not this marker.

    Where its id `was_read` there, and no square fits its edges, the corners are those read.
    """
    height, width = grey.shape
    low = np.floor(corners.min(0) - PATCH_MARGIN_PX).astype(int).clip(0)
    high = np.ceil(corners.max(0) + PATCH_MARGIN_PX).astype(int) + 1
    crop = grey[low[1] : high[1], low[0] : high[0]].astype(np.float32)
    patch = np.asarray(cv2.GaussianBlur(crop, (0, 0), SMOOTHING_SIGMA_PX), np.float32)
    cells, size_px = marker_cells(name, number), (width, height)
    square = fit_square(patch, corners, cells, size_px, low.astype(float))
    if square is None or not _is_valid_square(square):
        if not was_read:
            return None
        square, least_score = square_as_read(corners, cells, size_px), MIN_READ_SCORE
    inside = _cells_in_picture(square.corners_px, len(cells), size_px)
    code = cells[inside]
    if inside.mean() < MIN_VISIBLE_CELL_SHARE or code.all() or not code.any():
        return None
    means = _cell_means(patch, square.corners_px - low, len(cells))[inside]
    if means.std() == 0:
        return None
    score = max(0.0, float(np.corrcoef(means, code)[0, 1]))
    if score < least_score or _contradicts_code(means, code):
        return None
    contrast = means[code].mean() - means[~code].mean()
    return Marker(number, name, score, _blur_px(contrast, square.steepness), square)


def _contradicts_code(means: Array, cells: NDArray[np.bool_]) -> bool:
    """Tell whether cells (K,) contradict a code both ways: black for white and white for black.

    An object on a marker either darkens or brightens its cells. Another marker does both.
    """
    dark, bright = np.percentile(means, (10, 90))
    share = (means - dark) / max(bright - dark, 1e-9)
    white_is_dark = (share[cells] < FLIPPED_CELL_TOLERANCE).any()
    black_is_bright = (share[~cells] > 1 - FLIPPED_CELL_TOLERANCE).any()
    return bool(white_is_dark and black_is_bright)


def _is_valid_square(square: Square) -> bool:
    """Tell whether a fit is a square's view: convex, clockwise as printed, all corners sure."""
    sides = np.roll(square.corners_px, -1, 0) - square.corners_px
    following = np.roll(sides, -1, 0)
    (x, y), (next_x, next_y) = sides.T, following.T
    turns = x * next_y - y * next_x
    largest_sigma_px = np.sqrt(np.diag(square.covariance_px2).max())
    sure = largest_sigma_px < MAX_CORNER_SIGMA_SHARE * side_px(square.corners_px)
    return bool((turns > 0).all() and sure)


def _cells_in_picture(corners: Array, count: int, size_px: tuple[int, int]) -> NDArray[np.bool_]:
    """Tell which cells (count, count) of a marker have their centre in the picture."""
    centres = (np.arange(count) + 0.5) / count
    place = np.stack(np.meshgrid(centres, centres), -1).reshape(-1, 2)
    points = np.column_stack([place, np.ones(len(place))])
    xyw = points @ square_to_quad(corners).T
    at = xyw[:, :2] / xyw[:, 2:]
    inside = (at > 1) & (at < np.array(size_px) - 2)
    return np.asarray(inside.all(1).reshape(count, count))


def _cell_means(patch: Floats, corners: Array, count: int) -> Array:
    """Return the mean brightness (count, count) of the middles of a marker's cells."""
    corner_cells = (0, 0), (count, 0), (count, count), (0, count)
    square = np.array(corner_cells, np.float32)
    target = square * CELL_SAMPLES - 0.5
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), target.astype(np.float32))
    size = (CELL_SAMPLES * count,) * 2
    flat = cv2.warpPerspective(patch, warp, size, borderMode=cv2.BORDER_REPLICATE)
    cells = flat.reshape(count, CELL_SAMPLES, count, CELL_SAMPLES)
    middles = cells[:, 2:6, :, 2:6]
    return np.asarray(middles.mean((1, 3)), float)


def _blur_px(contrast: float, steepness: float) -> float:
    """Return the blur of an edge, 1 σ in px, without that of our own smoothing.

    A step blurred by σ climbs by at most contrast / (σ √2π) per px. It is 0 for an unknown slope.
    """
    if steepness <= 0:
        return 0.0
    total = contrast / (steepness * np.sqrt(2 * np.pi))
    variance = total**2 - SMOOTHING_SIGMA_PX**2 - SLOPE_WINDOW_SIGMA_PX**2
    return float(np.sqrt(max(variance, 0.0)))

"""Locate edges to a fraction of a pixel, at the steepest rise of brightness along profiles."""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Floats = NDArray[np.float32]

SAMPLE_STEP_PX = 0.5
"""Spacing of the samples along a profile, in px."""
SLOPE_WINDOW_SIGMA_PX = 1.2
"""1 σ of the Gaussian window that weights the slope around an edge, in px."""
MEAN_SHIFT_ITERATIONS = 12
"""Iterations to the fixed point of the weighted mean."""


def sample_profiles(
    grey: Floats, xy_px: Array, normals: Array, reach_px: float
) -> tuple[Array, Array]:
    """Sample brightness (K, n) along `normals` (K, 2) through `xy_px` (K, 2).

    Also returns the n sample positions along the normal, in px. Sampling is bilinear, because
    bicubic sampling shifts an edge by up to 0.05 px with its phase.
    """
    count = 2 * int(np.ceil(reach_px / SAMPLE_STEP_PX)) + 1
    along_px = (np.arange(count) - count // 2) * SAMPLE_STEP_PX
    offsets = normals[:, None, :] * along_px[:, None]
    at = (xy_px[:, None, :] + offsets).astype(np.float32)
    u, v = at[..., 0], at[..., 1]
    values = cv2.remap(grey, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    brightness = np.asarray(values, float).reshape(len(xy_px), count)
    return brightness, np.asarray(along_px)


def edge_offsets(
    grey: Floats, xy_px: Array, normals: Array, reach_px: float
) -> tuple[Array, Array]:
    """Locate each edge along its normal (K,), in px, and measure its slope (K,), per px.

    An edge rises from dark to bright along its normal. Its position is the maximum of the slope
    smoothed by a Gaussian window: the fixed point of the window's weighted mean. The offset is NaN
    where no edge lies within `reach_px`.
    """
    values, along_px = sample_profiles(grey, xy_px, normals, reach_px + 3 * SLOPE_WINDOW_SIGMA_PX)
    slope = np.diff(values, axis=1) / SAMPLE_STEP_PX
    centres = (along_px[1:] + along_px[:-1]) / 2
    offset, steepness = _steepest_slope(slope, centres, reach_px)
    rise = np.maximum(slope, 0)
    for _ in range(MEAN_SHIFT_ITERATIONS):
        z = (centres - offset[:, None]) / SLOPE_WINDOW_SIGMA_PX
        weight = rise * np.exp(-0.5 * z**2)
        offset = weight @ centres / np.maximum(weight.sum(1), 1e-9)
    found = (steepness > 0) & (np.abs(offset) <= reach_px)
    return np.asarray(np.where(found, offset, np.nan)), np.asarray(steepness)


def _steepest_slope(slope: Array, centres: Array, reach_px: float) -> tuple[Array, Array]:
    """Find the position (K,) and the value (K,) of the greatest smoothed slope within reach."""
    z = np.arange(-4, 5) * SAMPLE_STEP_PX / SLOPE_WINDOW_SIGMA_PX
    kernel = np.exp(-0.5 * z**2)
    kernel_row = kernel[None] / kernel.sum()
    smooth = cv2.filter2D(slope, -1, kernel_row, borderType=cv2.BORDER_REPLICATE)
    smooth = np.where(np.abs(centres) <= reach_px, smooth, -np.inf)
    best = smooth.argmax(1)
    steepest = np.take_along_axis(smooth, best[:, None], 1)[:, 0]
    return np.asarray(centres[best]), np.asarray(steepest, float)

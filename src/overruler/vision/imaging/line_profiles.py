"""Sample a picture across an expected line and find where its colours change."""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Floats = NDArray[np.float32]

LOG_OFFSET = 8.0
"""Grey levels added before taking logarithms, so that the noise of dark pixels stays small."""

_LOG_TABLE: Floats = np.log(np.arange(256) + LOG_OFFSET).astype(np.float32)


def sample_picture(pixels: NDArray[np.uint8], places_px: Floats) -> NDArray[np.uint8]:
    """Sample a picture (H, W[, 3]) bilinearly at (S, A, 2) pixels; 0 outside of it."""
    u, v = places_px[..., 0], places_px[..., 1]
    samples = cv2.remap(pixels, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return np.asarray(samples, np.uint8)


def log_colours(colours: NDArray[np.uint8]) -> Floats:
    """Return the logarithms of colours.

    Light multiplies colours, so differences of logarithms do not depend on it.
    """
    return np.take(_LOG_TABLE, colours)


def steps_across(colours: Floats, wide: int) -> Array:
    """Measure the colour step (S, A, 3) at each position of profiles (S, A, 3).

    The step is the mean of the `wide` samples from the position on, minus the mean of the `wide`
    samples before it. It is 0 near the ends, where one of the two windows does not fit.
    """
    zero = np.zeros_like(colours[:, :1])
    total = np.concatenate([zero, np.cumsum(colours, axis=1)], 1)
    means = (total[:, wide:] - total[:, :-wide]) / wide
    before, after = means[:, :-wide], means[:, wide:]
    steps = np.zeros(colours.shape)
    steps[:, wide : 1 - wide] = after - before
    return steps

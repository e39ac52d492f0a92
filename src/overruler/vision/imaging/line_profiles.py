"""Across a line that is thought to run somewhere: what a picture shows there, and where its colours change."""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Floats = NDArray[np.float32]

LOG_OFFSET = 8.0
"""Added to colours before their logarithms are taken: so dark all is alike."""

_LOG_TABLE: Floats = np.log(np.arange(256) + LOG_OFFSET).astype(np.float32)


def sample_picture(pixels: NDArray[np.uint8], places_px: Floats) -> NDArray[np.uint8]:
    """What a picture (H, W[, 3]) shows at places (S, A, 2); 0 beside it."""
    there = cv2.remap(
        pixels,
        places_px[..., 0],
        places_px[..., 1],
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
    )
    return np.asarray(there, np.uint8)


def log_colours(colours: NDArray[np.uint8]) -> Floats:
    """Of colours: light multiplies them, so that their differences are those of what is lit."""
    return np.take(_LOG_TABLE, colours)


def steps_across(colours: Floats, wide: int) -> Array:
    """By how much colours (S, A, 3) change at each place across (S, A, 3): stripes so many samples wide, before it and
    from it on, are compared; 0 where there is no room for both."""
    total = np.concatenate([np.zeros_like(colours[:, :1]), np.cumsum(colours, axis=1)], 1)
    stripe = (total[:, wide:] - total[:, :-wide]) / wide
    steps = np.zeros(colours.shape)
    steps[:, wide : 1 - wide] = stripe[:, wide:] - stripe[:, :-wide]
    return steps

"""A shot from what a web camera gives."""

from typing import Any

import cv2
import numpy as np

from overruler.frame import PixelBox, Shot, crop_box


def shot_from_pixels(pixels: np.ndarray[Any, np.dtype[np.uint8]], time_s: float, name: str) -> Shot:
    """Pixels (H, W, 3), blue green red, as a shot."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)

    def colours(box: PixelBox | None) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return crop_box(pixels, box)

    return Shot(time_s, grey, colours, name)

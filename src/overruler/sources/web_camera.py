"""A shot from a web camera's pixels."""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import PixelBox, Shot, crop_box


def shot_from_pixels(pixels: NDArray[np.uint8], time_s: float, name: str) -> Shot:
    """Return pixels (H, W, 3), blue green red, as a shot."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)

    def colours(box: PixelBox | None) -> NDArray[np.uint8]:
        return crop_box(pixels, box)

    return Shot(time_s, grey, colours, name)

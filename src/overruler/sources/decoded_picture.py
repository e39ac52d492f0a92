"""A shot from a picture that PyAV has decoded."""

from fractions import Fraction
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import PixelBox, Shot, crop_box
from overruler.sources.display_transform import DisplayTransform

LUMA_FIRST_FORMATS = (
    "yuv420p",
    "yuvj420p",
    "nv12",
    "yuv422p",
    "yuvj422p",
    "yuv444p",
    "yuvj444p",
    "gray",
)
"""Pixel formats whose first plane is the brightness, a byte a pixel."""
SQUARE_PIXELS = Fraction(1)
"""Width over height of the pixels of nearly all films."""
FULL_RANGE = 2
"""FFmpeg's number for brightness that uses all values of a byte."""


def shot_from_picture(picture: Any, time_s: float, name: str, pixel_aspect: Fraction) -> Shot:
    """Return a decoded picture as a shot, as a player shows it."""
    transform = DisplayTransform.of(picture, pixel_aspect)
    grey = _luma_plane(picture)
    if not transform.is_identity:
        grey = transform.apply(grey)
    is_limited_yuv420 = picture.format.name == "yuv420p" and picture.color_range != FULL_RANGE

    def colours(box: PixelBox | None) -> NDArray[np.uint8]:
        if box is not None and transform.is_identity and is_limited_yuv420:
            return _crop_yuv420(picture, box)
        return crop_box(transform.apply(picture.to_ndarray(format="bgr24")), box)

    name = f"{name} at {time_s:.2f} s"
    return Shot(time_s, grey, colours, name, transform.orientation)


def _luma_plane(picture: Any) -> NDArray[np.uint8]:
    """Return the brightness (H, W), without a copy if it is the first plane."""
    if picture.format.name in LUMA_FIRST_FORMATS:
        return _plane_pixels(picture, 0)
    return np.asarray(picture.to_ndarray(format="gray"))


def _plane_pixels(picture: Any, number: int) -> NDArray[np.uint8]:
    plane = picture.planes[number]
    rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : plane.width]


def _crop_yuv420(picture: Any, box: PixelBox) -> NDArray[np.uint8]:
    """Return a box of a picture in colour, without converting the rest."""
    x0, y0, x1, y1 = box
    left, top = x0 & ~1, y0 & ~1
    right = min(x1 + x1 % 2, picture.width & ~1)
    bottom = min(y1 + y1 % 2, picture.height & ~1)
    planes = [_plane_pixels(picture, 0)[top:bottom, left:right]]
    half_rows = slice(top // 2, bottom // 2)
    half_columns = slice(left // 2, right // 2)
    planes += [_plane_pixels(picture, k)[half_rows, half_columns] for k in (1, 2)]
    packed = np.concatenate([plane.ravel() for plane in planes])
    packed = packed.reshape(-1, right - left)
    pixels = np.asarray(cv2.cvtColor(packed, cv2.COLOR_YUV2BGR_I420), np.uint8)
    return crop_box(pixels, (x0 - left, y0 - top, x1 - left, y1 - top))

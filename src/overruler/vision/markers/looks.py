"""Pictures of a photo on which markers are read: the photo reduced, and what is left of a spoiled one."""

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
from cv2.typing import MatLike

from overruler.vision.markers.dictionaries import GreyPicture

DETECTION_SIDE_PX = 2000
"""Longer side of the reduced picture on which ids are read first, in px."""
WHITE_BORDER_PX = 8
"""White border added to a picture on which markers are read, in px."""
DARK_WHITE = 100.0
"""Grey level of what is brightest in a dark picture, at most."""
WHITE_PERCENTILE = 99.5
"""Share of a dark picture's pixels, in per cent, that stay below white when it is made brighter."""
NOISE_SIGMA_PX = 1.0
"""1 σ of the Gaussian that takes the noise of dark pictures away before markers are read."""
SHARPENING_SIGMA_PX, SHARPENING = 3.0, 3.0
"""1 σ in px, and strength, of the sharpening of the picture twice as large as the reduced one. The reduced one
sharpened would show markers of shaken photos, too, whose corners err by more than they say."""
THICKENING_SIDES = (3, 5)
"""Sides of the squares whose darkest pixel counts, in the picture twice as large as the reduced one: white that is
too bright spreads over black and joins white cells."""


class Look(NamedTuple):
    """A picture of the photo on which markers are read."""

    picture: GreyPicture
    """With a white border, so that the markers of cut-off cards are whole."""
    scale: float
    """Pixels of the photo in one of its pixels."""


def plain_looks(grey: GreyPicture) -> Iterator[Look]:
    """Yield the reduced picture, and one twice as large."""
    factor = _reduction_factor(grey)
    for one in dict.fromkeys((factor, max(1, factor // 2))):
        yield Look(_with_border(_reduced(grey, one)), one)


def changed_looks(grey: GreyPicture) -> Iterator[Look]:
    """Yield the same made brighter, and then smoothed, sharper or with thicker black, as spoiled photos need it."""
    factor = _reduction_factor(grey)
    small = _brightened(_reduced(grey, factor))
    height, width = small.shape
    large = cv2.resize(small, (2 * width, 2 * height), interpolation=cv2.INTER_CUBIC)
    smooth = cv2.GaussianBlur(small, (0, 0), NOISE_SIGMA_PX)
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    of_small, of_large = [smooth, cv2.erode(small, cross)], [_sharpened(large)]
    of_large += [cv2.erode(large, np.ones((side, side))) for side in THICKENING_SIDES]
    for pictures, scale in ((of_small, factor), (of_large, factor / 2)):
        for picture in pictures:
            yield Look(_with_border(np.asarray(picture, np.uint8)), scale)


def _brightened(picture: GreyPicture) -> GreyPicture:
    """A dark picture so bright that what is brightest in it is white: OpenCV wants contrast of its squares."""
    white = max(float(np.percentile(picture[::4, ::4], WHITE_PERCENTILE)), 1.0)
    if white > DARK_WHITE:
        return picture
    return np.asarray(cv2.convertScaleAbs(picture, alpha=255 / white), np.uint8)


def _sharpened(picture: MatLike) -> MatLike:
    """Add the difference from a blurred copy (unsharp masking): cells of 3 px grow apart."""
    blurred = cv2.GaussianBlur(picture, (0, 0), SHARPENING_SIGMA_PX)
    return cv2.addWeighted(picture, 1 + SHARPENING, blurred, -SHARPENING, 0)


def _reduction_factor(grey: GreyPicture) -> int:
    """Return the factor by which the picture is reduced at first."""
    return int(max(1, round(max(grey.shape) / DETECTION_SIDE_PX)))


def _reduced(grey: GreyPicture, factor: int) -> GreyPicture:
    if factor == 1:
        return grey
    height, width = (side // factor * factor for side in grey.shape)
    size = width // factor, height // factor
    small = cv2.resize(grey[:height, :width], size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def _with_border(picture: GreyPicture) -> GreyPicture:
    border = (WHITE_BORDER_PX,) * 4
    white = cv2.copyMakeBorder(picture, *border, cv2.BORDER_CONSTANT, value=255)
    return np.asarray(white, np.uint8)

"""How a film's stored pictures are turned, mirrored and stretched before they are shown."""

import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.errors import CannotMeasure

Pixels = NDArray[np.uint8]

MATRIX_FORMAT = "<9i"
"""Nine 32-bit numbers: the display matrix by rows (ISO/IEC 14496-12, 6.2.2)."""
MATRIX_NAME = "DISPLAYMATRIX"
"""PyAV's name of the side data that hold it."""
MAX_PIXEL_ASPECT = 4
"""Largest ratio of a pixel's sides. Anamorphic films have 2 at most; more is a broken header."""
_ORIENTATIONS = {
    (False, False, False): 1,
    (False, True, False): 2,
    (False, True, True): 3,
    (False, False, True): 4,
    (True, False, False): 5,
    (True, True, False): 6,
    (True, True, True): 7,
    (True, False, True): 8,
}
"""EXIF's orientations by what is done in turn: transposed, mirrored, turned upside down."""
_QUARTER_TURNS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Cosine and sine of 0, 90, 180 and 270 degrees."""


@dataclass(frozen=True, slots=True)
class DisplayTransform:
    """The steps from a stored picture to the one that a player shows, in this order."""

    transposed: bool = False
    mirrored: bool = False
    """Whether left and right are exchanged."""
    upside_down: bool = False
    """Whether top and bottom are exchanged."""
    pixel_aspect: Fraction = Fraction(1)
    """Width of a stored pixel over its height."""

    @classmethod
    def of(cls, picture: Any, pixel_aspect: Fraction) -> "DisplayTransform":
        """The transform of a decoded picture; the nearest quarter turn for odd angles."""
        matrix = _display_matrix(picture)
        if matrix is None:
            return cls(pixel_aspect=pixel_aspect)
        (x_by_x, y_by_x), (x_by_y, y_by_y) = matrix
        if abs(y_by_x) + abs(x_by_y) > abs(x_by_x) + abs(y_by_y):
            return cls(True, x_by_y < 0, y_by_x < 0, pixel_aspect)
        return cls(False, x_by_x < 0, y_by_y < 0, pixel_aspect)

    @property
    def orientation(self) -> int:
        """The EXIF orientation (1 to 8) that does the same."""
        return _ORIENTATIONS[self.transposed, self.mirrored, self.upside_down]

    @property
    def is_identity(self) -> bool:
        return self == DisplayTransform()

    def apply(self, pixels: Pixels) -> Pixels:
        """Turn and stretch stored pixels (H, W) or (H, W, 3)."""
        shown = self._stretch(pixels)
        if self.transposed:
            shown = shown.swapaxes(0, 1)
        if self.mirrored:
            shown = shown[:, ::-1]
        if self.upside_down:
            shown = shown[::-1]
        return np.ascontiguousarray(shown)

    def _stretch(self, pixels: Pixels) -> Pixels:
        """Stretch the shorter side of the pixels, so that no detail is lost."""
        if self.pixel_aspect == 1:
            return pixels
        height, width = pixels.shape[:2]
        if self.pixel_aspect > 1:
            size = (round(width * self.pixel_aspect), height)
        else:
            size = (width, round(height / self.pixel_aspect))
        return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC), np.uint8)


def _display_matrix(picture: Any) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """How x and y of the shown picture depend on the stored x, then on the stored y."""
    try:
        data = picture.side_data.get(MATRIX_NAME)
    except ValueError:  # PyAV 18 and older stop at any kind of side data that they do not know
        return _rotation_matrix(picture.rotation)
    if data is None:
        return None
    a, b, _, c, d, *_ = struct.unpack(MATRIX_FORMAT, bytes(data)[:36])
    return (a, b), (c, d)


def _rotation_matrix(angle_deg: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The display matrix of a turn to the left; the nearest quarter turn for odd angles."""
    cos, sin = _QUARTER_TURNS[round(angle_deg / 90) % 4]
    return (cos, -sin), (sin, cos)


def read_pixel_aspect(stream: Any, name: str) -> Fraction:
    """The aspect of a stream's pixels, 1 where it states none.

    Raises `CannotMeasure` for one that no camera has.
    """
    stated = stream.sample_aspect_ratio or stream.codec_context.sample_aspect_ratio
    aspect = Fraction(stated) if stated else Fraction(1)
    if not Fraction(1, MAX_PIXEL_ASPECT) <= aspect <= MAX_PIXEL_ASPECT:
        shape = f"its header states pixels of {aspect.numerator}:{aspect.denominator}"
        raise CannotMeasure(f"{name}: {shape}, which no camera has; export the film again")
    return aspect

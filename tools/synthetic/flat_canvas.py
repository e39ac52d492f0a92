"""A canvas of flat colours, finer than the photo: it keeps the number of each sample's colour, not its light."""

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Array, Floats

OVERSAMPLE = 4
"""Samples of the canvas along a side of a pixel; four numbers of a byte are compared as one word."""
MAX_COLOURS = 256
SAME_IN_ALL = np.uint32(0x01010101)
"""What a byte is multiplied with for a word of four of it."""
Colour = tuple[float, float, float]
"""Blue, green, red: linear light, 0 to 1."""


class FlatCanvas:
    """Samples (H, W) of a photo (H / 4, W / 4), and the colours whose numbers they are."""

    def __init__(self, size_px: tuple[int, int], background: Colour) -> None:
        width, height = size_px
        self._samples = np.zeros((height * OVERSAMPLE, width * OVERSAMPLE), np.uint8)
        self._numbers: dict[Colour, int] = {background: 0}

    def fill_roughly(self, outline_px: Array, colour: Colour) -> None:
        """Fill a polygon (K, 2) whose edge nobody measures: its border with it."""
        fine = np.rint((outline_px + 0.5) * OVERSAMPLE).astype(np.int32)
        cv2.fillPoly(self._samples, [fine], self._number(colour))

    def fill(self, outline_px: Array, colour: Colour) -> None:
        """Fill a polygon (K, 2) given in the photo's pixels: those samples whose centre lies inside.

        OpenCV's fill takes the samples on the border too, which would move every edge by an eighth of a pixel.
        """
        x, y = ((outline_px + 0.5) * OVERSAMPLE - 0.5).T
        low = np.ceil([x.min(), y.min()]).astype(int).clip(0)
        high = np.floor([x.max(), y.max()]).astype(int) + 1
        left, top = (int(value) for value in low)
        right, bottom = np.minimum(high, self._samples.shape[::-1]).tolist()
        if left < right and top < bottom:
            inside = samples_inside(x - left, y - top, (bottom - top, right - left))
            self._samples[top:bottom, left:right][inside] = self._number(colour)

    def light(self) -> Floats:
        """The mean (H / 4, W / 4, 3) of the light over each pixel."""
        colours = np.array(list(self._numbers), np.float32)
        height = len(self._samples) // OVERSAMPLE
        rows = self._samples.view(np.uint32).reshape(height, OVERSAMPLE, -1)
        first = rows[:, 0] & 0xFF
        mixed = rows[:, 0] != first * SAME_IN_ALL
        for row in range(1, OVERSAMPLE):
            mixed |= rows[:, row] != rows[:, 0]
        # Where a pixel has one colour the mean is that of any such pixel.
        plain = np.repeat(np.arange(len(colours), dtype=np.uint8), OVERSAMPLE**2)
        light: Floats = _averaged(colours[plain.reshape(-1, OVERSAMPLE)])[first]
        blocks = np.ascontiguousarray(rows.swapaxes(1, 2)[mixed]).view(np.uint8)
        if len(blocks):
            light[mixed] = _averaged(colours[blocks.reshape(-1, OVERSAMPLE)])
        return light

    def _number(self, colour: Colour) -> int:
        number = self._numbers.setdefault(colour, len(self._numbers))
        assert number < MAX_COLOURS
        return number


def samples_inside(x: Array, y: Array, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Which samples (H, W), at whole x and y, lie inside the polygon with corners x and y (K,)."""
    height, width = shape
    next_x, next_y = np.roll(x, -1), np.roll(y, -1)
    lines = np.arange(height)[:, None]
    row, side = np.nonzero((y > lines) != (next_y > lines))
    share = (row - y[side]) / (next_y - y)[side]
    cut = np.ceil(x[side] + share * (next_x - x)[side]).astype(int)
    # From each cut on, what was outside is inside, and the other way round.
    flips = np.zeros((height, width + 1), np.int8)
    np.add.at(flips, (row, cut.clip(0, width)), 1)
    return np.asarray(np.cumsum(flips[:, :-1], axis=1, dtype=np.int8) & 1, bool)


def _averaged(samples: Floats) -> Floats:
    """The mean light (N, 3) of pixels whose samples (4 N, 4, 3) lie below each other."""
    share = 1 / OVERSAMPLE
    mean = cv2.resize(samples, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return np.asarray(mean, np.float32).reshape(-1, 3)

"""How much of a rim lies round every place of a picture from above, for rims of any shape.

By the field of doubled gradient angles (`candidates.orientation`): along a rim the gradients run square to it. The
response is the mean over places along the rim, a sum of shifted pictures: far fewer of them than a kernel has pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Image = NDArray[np.float32]
Whole = NDArray[np.intp]
WIDTH_PX = 1.2
"""1 σ of a rim's width."""
SPACING_PX = 2.0
"""Between the places along a rim that are looked at."""
DIRECTIONS = 16
"""So many directions, half a turn round, are told apart."""
STRIDE = 2
"""Every so many-th row and column is looked at."""
NEAR_PX = np.stack(np.meshgrid(np.arange(-2, 3), np.arange(-2, 3)), -1)
"""Where a closer look is taken (5, 5, 2)."""


@dataclass(frozen=True, slots=True, eq=False)
class Rim:
    """Places along an oval's outline, evenly apart."""

    at_px: Whole
    """(P, 2): from its middle."""
    direction: Whole
    """(P,): which of the directions lies square to it."""

    @classmethod
    def of(cls, half_px: tuple[float, float], turn_rad: float = 0.0) -> "Rim":
        """By its half axes; the first one is turned so far counter-clockwise, as seen: a picture's y runs down."""
        half = np.array(half_px)
        fine = np.linspace(0, 2 * np.pi, 721)
        steps = np.diff(half * np.stack([np.cos(fine), np.sin(fine)], -1), axis=0)
        way = np.concatenate([[0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])
        count = int(np.ceil(way[-1] / SPACING_PX))
        angle = np.interp((np.arange(count) + 0.5) / count * way[-1], way, fine)
        c, s = np.cos(turn_rad), np.sin(turn_rad)
        unit = np.stack([np.cos(angle), np.sin(angle)], -1)
        at, normal = (part @ np.array([[c, -s], [s, c]]) for part in (unit * half, unit / half))
        direction = np.rint(np.arctan2(normal[:, 1], normal[:, 0]) * DIRECTIONS / np.pi)
        return cls(np.rint(at).astype(int), direction.astype(int) % DIRECTIONS)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """How far gradients run along each of the directions, at every place.

    The pixels are dealt out by their remainders: what lies under every `STRIDE`-th middle is one array.
    """

    along: Image
    """(DIRECTIONS, STRIDE, STRIDE, h, w): by direction, and by row and column modulo the stride; mirrored outside."""
    margin: int
    """How many of these rows and columns lie outside the picture on either side."""
    shape: tuple[int, int]
    """Of the picture, in every `STRIDE`-th pixel."""

    @classmethod
    def of(cls, cosine_sine: tuple[Image, Image], reach_px: float) -> "Field":
        """For rims that reach so far from their middles."""
        height, width = cosine_sine[0].shape
        margin, shape = int(np.ceil(reach_px / STRIDE)) + 2, (-(-height // STRIDE), -(-width // STRIDE))
        low, high, right = (STRIDE * n for n in (margin, shape[0] + margin, shape[1] + margin))
        sides = low, high - height, low, right - width
        wide = np.stack(
            [
                cv2.copyMakeBorder(cv2.GaussianBlur(part, (0, 0), WIDTH_PX), *sides, cv2.BORDER_REFLECT_101)
                for part in cosine_sine
            ]
        )
        dealt = wide.reshape(2, shape[0] + 2 * margin, STRIDE, -1, STRIDE).transpose(0, 2, 4, 1, 3)
        doubled = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        weights = np.stack([np.cos(doubled), np.sin(doubled)], -1).astype(np.float32)
        return cls(np.tensordot(weights, np.ascontiguousarray(dealt), 1), margin, shape)

    def response(self, rim: Rim) -> Image:
        """The share of a rim that is there, its middle on every `STRIDE`-th pixel."""
        total, (height, width) = np.zeros(self.shape, np.float32), self.shape
        for direction, (i, j), (row, column) in zip(rim.direction, *self._dealt(rim.at_px), strict=True):
            total += self.along[direction, i, j, row : row + height, column : column + width]
        return total / np.float32(len(rim.direction))

    def closer(self, middles_px: Whole, rims: Sequence[Rim]) -> tuple[Array, Array]:
        """The best places (K, 2) next to some (K, 2), and the shares of the rims, one each, that are there (K,)."""
        best, share = np.empty((len(rims), 2)), np.empty(len(rims))
        for k, (middle, rim) in enumerate(zip(middles_px, rims, strict=True)):
            remainder, place = self._dealt((middle + NEAR_PX)[:, :, None] + rim.at_px)
            near = self.along[(rim.direction, *np.moveaxis(remainder, -1, 0), *np.moveaxis(place, -1, 0))].mean(-1)
            row, column = np.unravel_index(near[1:4, 1:4].argmax(), (3, 3))
            share[k] = near[row + 1, column + 1]
            aside = _top(near[row + 1, column : column + 3]), _top(near[row : row + 3, column + 1])
            best[k] = middle + np.array(aside) + (column - 1, row - 1)
        return best, share

    def _dealt(self, at_px: Whole) -> tuple[Whole, Whole]:
        """Where pixels (..., 2) lie in `along`: their remainders and places, row and column (..., 2) each."""
        place, remainder = np.divmod(at_px[..., ::-1] + self.margin * STRIDE, STRIDE)
        return remainder, place


def _top(three: Image) -> float:
    """Where, against the middle one, the parabola through three values is highest: half a step off at most."""
    before, here, after = three.tolist()
    bend = before - 2 * here + after
    return float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) if bend < 0 else 0.0

"""A picture out of rays: few where it is smooth, many on its edges and in half shadows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from synthetic.arrays import Floats, Ints
from synthetic.camera import View
from synthetic.traced.rays import Rays
from synthetic.traced.tracer import Tracer

Where = NDArray[np.bool_]

BAND_PX = 60_000
"""Pixels worked on at once."""
TILE = 128
"""Side of the noise that decides where rays go, in pixels."""
NEAR_PX = 7
"""A half shadow is where two places this near are not in the same light."""
R2 = np.array([0.7548776662466927, 0.5698402909980532])
"""Multiples of it, modulo 1, fill the unit square evenly (Roberts, 2018)."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Rays a pixel after the first."""

    smooth: int
    shadow: int
    edge: int = 4
    """On an edge: this many by this many in place of the first, one in each cell."""


EFFORT = {"phone": Effort(1, 5), "hd": Effort(3, 10), "4k": Effort(1, 7)}
ROUGH = Effort(3, 7, 2)


def expose(
    tracer: Tracer,
    view: View,
    effort: Effort,
    progress: Callable[[float], None] = lambda share: None,
    where: Where | None = None,
) -> Floats:
    """The light (H, W, 3) on each pixel: the mean over its square.

    With `where` (H, W) only those pixels are traced, and all others have their mean light.
    """
    (width, height), rays = view.size_px, Rays(view)
    traced = np.ones((height, width), bool) if where is None else where
    image, part, shade = (
        np.zeros((height, width, 3), np.float32),
        *np.full((2, height, width), -1, np.int32),
    )
    step = max(1, BAND_PX // width)
    bands = [slice(top, min(top + step, height)) for top in range(0, height, step)]
    for band in bands:
        y, x = np.nonzero(traced[band])
        some = (y + band.start, x)
        image[some], part[some], shade[some] = _cast(
            tracer, rays, x, y + band.start, np.zeros((2, 1)), 0
        )
        progress(0.2 * band.stop / height)
    image[~traced] = image[traced].mean(0)
    edge = _edges(image, part, tracer.soft) & traced
    shadow = ~edge & _varied(shade, NEAR_PX) & traced
    smooth = ~edge & ~shadow & traced
    for band in bands:
        _refine(tracer, rays, image[band], band.start, _cells(effort.edge), edge[band], keep=False)
        _refine(tracer, rays, image[band], band.start, _spread(effort.shadow), shadow[band])
        _refine(tracer, rays, image[band], band.start, _spread(effort.smooth), smooth[band])
        progress(0.2 + 0.8 * band.stop / height)
    return image


def _refine(
    tracer: Tracer,
    rays: Rays,
    image: Floats,
    top: int,
    offsets: NDArray[np.float64],
    mask: Where,
    keep: bool = True,
) -> None:
    """Take more rays at offsets (K, 2) from the masked pixels; `keep` counts the ray that they have too."""
    if not mask.any():
        return
    y, x = np.nonzero(mask)
    total = image[mask] * keep
    for k, offset in enumerate(offsets):
        total += _cast(tracer, rays, x, y + top, offset[:, None], k + 1)[0]
    image[mask] = total / (len(offsets) + keep)


def _cast(
    tracer: Tracer, rays: Rays, x: Ints, y: Ints, offset: NDArray[np.float64], turn: int
) -> tuple[Floats, Ints, Ints]:
    """The light of pixels (N,), (N,), seen at an offset from their centres."""
    jitter, dice = np.split(_dice(x, y, turn), 2)
    place = np.stack([x, y]) + offset + (jitter - 0.5) * (turn > 0) / 4
    ways = rays.through(*place.astype(np.float32))
    eye = np.broadcast_to(rays.eye_mm.astype(np.float32), ways.shape)
    return tracer.see(np.ascontiguousarray(eye), ways, np.ascontiguousarray(dice.T, np.float32))


def _dice(x: Ints, y: Ints, turn: int) -> NDArray[np.float64]:
    """Four numbers (4, N) from 0 to 1: even over the turns at a pixel, and even over its neighbours at a turn."""
    steps = np.concatenate([R2, R2])[:, None] * turn
    return np.asarray((_blue_noise()[:, y % TILE, x % TILE] + steps) % 1)


@cache
def _blue_noise() -> NDArray[np.float64]:
    """Four tiles (4, TILE, TILE) of noise without lumps: white noise less its blur, spread evenly, a few times over."""
    tiles = np.random.default_rng(0).random((4, TILE, TILE))
    for _ in range(12):
        rough = tiles - gaussian_filter(tiles, (0, 1.6, 1.6), mode="wrap")
        order = rough.reshape(4, -1).argsort(1).argsort(1)
        tiles = (order.reshape(tiles.shape) + 0.5) / TILE**2
    return tiles


def _cells(n: int) -> NDArray[np.float64]:
    """The centres (n², 2) of a pixel's cells."""
    return (np.stack(np.meshgrid(range(n), range(n)), -1).reshape(-1, 2) + 0.5) / n - 0.5


def _spread(count: int) -> NDArray[np.float64]:
    """Offsets (count, 2), evenly over a pixel."""
    return np.asarray((np.arange(1, count + 1)[:, None] * R2 + 0.5) % 1 - 0.5)


def _varied(labels: NDArray[np.int32], near_px: int) -> Where:
    """Pixels (H, W) that have another label within a square of `near_px`."""
    square, values = np.ones((near_px, near_px), np.uint8), labels.astype(np.float32)
    return np.asarray(cv2.dilate(values, square) != cv2.erode(values, square))


def _edges(image: Floats, part: NDArray[np.int32], soft: Where) -> Where:
    """Pixels (H, W) whose neighbours show another part, or (but on a soft print) a light a third brighter."""
    tone, square = np.log(image.sum(-1) + 0.1 * image.mean() + 1e-6), np.ones((3, 3), np.uint8)
    contrast = cv2.dilate(tone, square) - cv2.erode(tone, square) > 0.3
    return np.asarray(_varied(part, 3) | (contrast & ~soft[part]))

"""What surfaces are painted with: noise of several kinds, and colours laid over each other."""

from functools import cache

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Rng, Shape

TILE = 512
"""Pixels of the side of noise that repeats."""


@cache
def repeating(seed: int, slope: float, stretch: float) -> Floats:
    """Noise (TILE, TILE) about 0, 1 σ 1, that repeats without a seam.

    Its spectrum falls as frequency^-slope; it is `stretch` times longer along x.
    """
    white = np.random.default_rng(seed).normal(size=(TILE, TILE))
    fy, fx = np.meshgrid(np.fft.fftfreq(TILE), np.fft.rfftfreq(TILE), indexing="ij")
    frequency: Array = np.hypot(fx * stretch, fy)
    frequency[0, 0] = np.inf
    noise = np.fft.irfft2(np.fft.rfft2(white) * frequency**-slope, s=(TILE, TILE))
    return np.asarray(noise / noise.std(), np.float32)


def clouds(shape: Shape, size_px: float, rng: Rng, octaves: int = 5, fade: float = 0.55) -> Floats:
    """Soft noise (H, W) about 0, 1 σ about 1, whose largest lumps are `size_px` wide."""
    total, weight, power = np.zeros(shape, np.float32), 1.0, 0.0
    for octave in range(octaves):
        cell = size_px / 2**octave
        if cell < 1:
            break
        rows, columns = int(shape[0] / cell) + 3, int(shape[1] / cell) + 3
        small = rng.standard_normal((rows, columns)).astype(np.float32)
        size = round(columns * cell), round(rows * cell)
        large = cv2.resize(small, size, interpolation=cv2.INTER_CUBIC)
        total += weight * large[: shape[0], : shape[1]]
        power, weight = power + 0.6 * weight**2, weight * fade
    return np.asarray(total / np.sqrt(power), np.float32)


def speckle(shape: Shape, rng: Rng, size_px: float = 1) -> Floats:
    """Grains (H, W) about 0, 1 σ about 1."""
    grains = cv2.GaussianBlur(rng.standard_normal(shape, np.float32), (0, 0), max(size_px, 0.4))
    return np.asarray(grains / grains.std(), np.float32)


def mix(ground: str | Floats, *layers: tuple[str, Floats]) -> Floats:
    """Colours (`#rrggbb`) laid over a colour or a picture, each with its cover (H, W) from 0 to 1."""
    picture = rgb(ground) if isinstance(ground, str) else ground
    for name, cover in layers:
        picture = picture + (rgb(name) - picture) * cover.clip(0, 1)[..., None]
    return np.asarray(picture, np.float32)


def rgb(name: str) -> Floats:
    """The values from 0 to 1 of `#rrggbb`, as a picture file has them."""
    return np.array([int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)], np.float32)


def rise(x: Floats, start: float, end: float) -> Floats:
    """0 below `start`, 1 above `end`, smooth between."""
    s = ((x - start) / (end - start)).clip(0, 1)
    return np.asarray(s * s * (3 - 2 * s), np.float32)

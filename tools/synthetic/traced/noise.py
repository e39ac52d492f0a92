"""What prints are painted with: soft noise, grain, and colours laid over each other."""

import cv2
import numpy as np

from synthetic.traced.materials import Floats

Shape = tuple[int, int]
Rng = np.random.Generator


def clouds(shape: Shape, size_px: float, rng: Rng, octaves: int = 5, fade: float = 0.55) -> Floats:
    """Soft noise (H, W) about 0, 1 σ about 1, whose largest lumps are `size_px` wide."""
    total, weight, power = np.zeros(shape, np.float32), 1.0, 0.0
    for octave in range(octaves):
        cell = size_px / 2**octave
        if cell < 1:
            break
        small = rng.standard_normal((int(shape[0] / cell) + 3, int(shape[1] / cell) + 3)).astype(
            np.float32
        )
        height, width = round(small.shape[0] * cell), round(small.shape[1] * cell)
        total += (
            weight
            * cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)[
                : shape[0], : shape[1]
            ]
        )
        power, weight = power + 0.6 * weight**2, weight * fade
    return np.asarray(total / np.sqrt(power), np.float32)


def speckle(shape: Shape, rng: Rng, size_px: float = 1) -> Floats:
    """Grains (H, W) about 0, 1 σ about 1."""
    grains = cv2.GaussianBlur(rng.standard_normal(shape, np.float32), (0, 0), max(size_px, 0.4))
    return np.asarray(grains / grains.std(), np.float32)


def mix(ground: tuple[str, Floats], *layers: tuple[str, Floats]) -> Floats:
    """Colours (`#rrggbb`) laid over each other, each with its cover (H, W) from 0 to 1."""
    picture = _rgb(ground[0]) * ground[1][..., None]
    for name, cover in layers:
        picture = picture + (_rgb(name) - picture) * cover.clip(0, 1)[..., None]
    return np.asarray(picture, np.float32)


def _rgb(name: str) -> Floats:
    return np.array([int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)], np.float32)


def full(shape: Shape) -> Floats:
    return np.ones(shape, np.float32)


def rise(x: Floats, start: float, end: float) -> Floats:
    """0 below `start`, 1 above `end`, smooth between."""
    s = ((x - start) / (end - start)).clip(0, 1)
    return np.asarray(s * s * (3 - 2 * s), np.float32)

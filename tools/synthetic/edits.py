"""What light, lenses and apps do to a photo without moving anything in it."""

from collections.abc import Callable, Mapping

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.develop import LIGHT, coded, encode_srgb

Edit = Callable[[Picture, Rng], Picture]
"""Turns a photo (H, W, 3), BGR, into an edited one."""


def to_light(photo: Picture) -> Floats:
    """Linear light, 0 to 1, of a photo's codes."""
    return np.asarray(LIGHT[photo])


def to_photo(light: Array | Floats) -> Picture:
    """The reverse."""
    seen = np.asarray(light, float).clip(0, 1)
    return np.asarray(np.rint(255 * encode_srgb(seen)), np.uint8)


def veiled(photo: Picture, veil: Array | float) -> Picture:
    """Under a veil of light, everywhere alike or (H, W)."""
    light = np.broadcast_to(np.asarray(veil, np.float32), photo.shape[:2])[..., None]
    return to_photo(light + (1 - light) * to_light(photo))


def _lit(*bgr: float) -> Edit:
    """In coloured, weaker or stronger light."""
    return lambda photo, rng: to_photo(to_light(photo) * np.array(bgr, np.float32))


def _lamp(photo: Picture, rng: Rng) -> Picture:
    """A lamp in view, or a window in a glossy mat: a wide glow about a place."""
    x, y = _places(photo)
    at = rng.uniform(0.2, 0.8, 2)
    away = ((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * 0.5**2)
    return to_photo(to_light(photo) + 0.3 * np.exp(-away)[..., None].astype(np.float32))


def _blinds(photo: Picture, rng: Rng) -> Picture:
    """Sun through blinds: hard stripes of shade."""
    x, y = _places(photo)
    wave = np.sin(2 * np.pi * 14 * (0.8 * x + 0.6 * y) + rng.uniform(0, 6))
    sun = (0.5 + 0.5 * np.clip(4 * wave, -1, 1)).astype(np.float32)
    soft = cv2.GaussianBlur(sun, (0, 0), photo.shape[1] / 400)
    return to_photo(to_light(photo) * (0.35 + 1.2 * soft[..., None]))


def _tones(photo: Picture, rng: Rng) -> Picture:
    """Tones stretched in each place by itself, as in a phone's high dynamic range."""
    lab = cv2.cvtColor(photo, cv2.COLOR_BGR2LAB)
    lab[..., 0] = cv2.createCLAHE(4, (8, 8)).apply(lab[..., 0])
    return np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2BGR), np.uint8)


def _smoothed(photo: Picture, rng: Rng) -> Picture:
    """Noise removed until the picture looks painted."""
    for _ in range(2):
        photo = np.asarray(cv2.bilateralFilter(photo, 9, 40, 9), np.uint8)
    return photo


def _sharpened(photo: Picture, rng: Rng) -> Picture:
    soft = cv2.GaussianBlur(photo, (0, 0), 2).astype(np.float32)
    return np.rint(photo + 2 * (photo - soft)).clip(0, 255).astype(np.uint8)


def _noisy(photo: Picture, rng: Rng) -> Picture:
    light = to_light(photo)
    sigma = np.sqrt(0.0004 + 0.006 * light)
    return to_photo(light + sigma * rng.normal(size=light.shape).astype(np.float32))


def _grey(photo: Picture, rng: Rng) -> Picture:
    return np.repeat(cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)[..., None], 3, axis=2)


def _small_file(photo: Picture, rng: Rng) -> Picture:
    """Blocks of a strongly compressed file."""
    return coded(photo, quality=15)


def _places(photo: Picture) -> tuple[Array, Array]:
    """x and y (H, W) of all pixels, in widths of the picture."""
    height, width = photo.shape[:2]
    y, x = np.mgrid[:height, :width] / width
    return x, y * width / height


EDITS: Mapping[str, Edit] = {
    "as it is": lambda photo, rng: photo,
    "smudged lens": lambda photo, rng: veiled(photo, 0.1),
    "haze": lambda photo, rng: veiled(photo, 0.2),
    "lamp in view": _lamp,
    "blinds": _blinds,
    "local tones": _tones,
    "smoothed": _smoothed,
    "sharpened": _sharpened,
    "noisy": _noisy,
    "dark": _lit(1 / 32, 1 / 32, 1 / 32),
    "bright": _lit(4, 4, 4),
    "red lamp": _lit(0.08, 0.12, 1),
    "blue lamp": _lit(1, 0.25, 0.12),
    "grey": _grey,
    "small file": _small_file,
}
"""What may happen to a photo."""

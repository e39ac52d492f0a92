"""A table with markers, drawn exactly: each pixel is the mean of what 6 × 6 rays through it meet on the board."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from evaluate.drawn.markers import DICTIONARY
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from synthetic.flat_table import marker_cells

SUBPIXELS = 6
MAT, CARD, BLACK = 0.25, 0.85, 0.03
"""Shares of the light that come back, linear."""


@dataclass(frozen=True)
class Look:
    """How the light becomes a picture."""

    blur_px: float = 0.7
    noise: float = 1.0
    gamma: float = 1.0
    """Applied to the light before the blur, as sharpening and coding come after the tone curve."""
    seed: int = 1


def shoot(
    camera: Camera,
    markers: Mapping[int, Array],
    *,
    size_px: tuple[int, int] = (1600, 1200),
    look: Look | None = None,
    cover: Callable[[Array], NDArray[np.bool_]] | None = None,
    dictionary: str = DICTIONARY,
) -> Frame:
    """The photo of markers with corners (4, 3); `cover` says which board points (..., 2) something grey lies on."""
    look = look or Look()
    light = np.full((size_px[1], size_px[0]), MAT)
    for number, corners in markers.items():
        _draw(light, camera, _print(number, dictionary), corners, cover)
    tone = cv2.GaussianBlur(light ** (1 / look.gamma), (0, 0), look.blur_px)
    noise = np.random.default_rng(look.seed).normal(0, look.noise, tone.shape)
    grey = np.clip(tone * 255 + noise, 0, 255).round().astype(np.uint8)
    return Frame(np.repeat(grey[:, :, None], 3, 2), "test")


def overexposed(frame: Frame, gains: tuple[float, float]) -> Frame:
    """A photo as if so many times as much light had come, at its left and at its right: white is cut off."""
    gain = np.linspace(*gains, frame.pixels.shape[1])[:, None]
    return replace(frame, pixels=np.clip(frame.pixels * gain, 0, 255).round().astype(np.uint8))


def _print(number: int, dictionary: str) -> Array:
    """A marker's cells with a white margin of two, as light."""
    cells = marker_cells(number, dictionary)
    return np.where(np.pad(cells, 2, constant_values=True), CARD, BLACK)


def _draw(
    light: Array,
    camera: Camera,
    cells: Array,
    corners: Array,
    cover: Callable[[Array], NDArray[np.bool_]] | None,
) -> None:
    middle, right, down = (
        corners.mean(0),
        (corners[1] - corners[0])[:2],
        (corners[3] - corners[0])[:2],
    )
    ring = camera.project(middle + (corners - middle) * 1.75)
    low = np.floor(ring.min(0)).astype(int).clip(0)
    high = np.ceil(ring.max(0)).astype(int).clip(0, np.array(light.shape)[::-1] - 1) + 1
    if (high <= low).any():
        return
    pixels = np.stack(
        np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1])), -1
    ).astype(float)
    board = camera.unproject(pixels, middle[2])
    by_v, by_u = np.gradient(board, axis=(0, 1))
    patch, old, count = (
        np.zeros(pixels.shape[:2]),
        light[low[1] : high[1], low[0] : high[0]],
        len(cells) - 4,
    )
    for v in (np.arange(SUBPIXELS) + 0.5) / SUBPIXELS - 0.5:
        for u in (np.arange(SUBPIXELS) + 0.5) / SUBPIXELS - 0.5:
            at = board + by_u * u + by_v * v
            local = (at - corners[0, :2]) @ np.linalg.inv(np.stack([right, down])) * count + 2
            column, row = np.floor(local).astype(int).transpose(2, 0, 1)
            inside = (np.minimum(row, column) >= 0) & (np.maximum(row, column) < len(cells))
            seen = np.where(
                inside, cells[row.clip(0, len(cells) - 1), column.clip(0, len(cells) - 1)], old
            )
            patch += seen if cover is None else np.where(cover(at), 0.5, seen)
    light[low[1] : high[1], low[0] : high[0]] = patch / SUBPIXELS**2

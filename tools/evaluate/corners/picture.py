"""Pictures of markers whose light is exact: the mean over each pixel's area, then what a camera makes of it."""

from dataclasses import replace

import cv2
import numpy as np

from evaluate.corners.view import MarkerView
from overruler.frame import Frame
from overruler.geometry.pose import Array
from synthetic.arrays import Floats, Rng
from synthetic.develop import Style, coded, develop
from synthetic.flat_table import marker_cells

FINE = 4
"""Samples of light a pixel, along u and along v; each is itself the mean over its own small square."""
MAT, CARD, BLACK = 0.18, 0.80, 0.025
"""Shares of the light that come back, linear."""
MARGIN_CELLS = 1.5
"""White paper round a marker's black frame."""
WHITE_SLOPE = 0.45
"""Of the tone curve in what is white: so much of the noise of light is left in the picture."""
BLUR_PX = {False: (0.4, 0.7), True: (1.0, 1.4)}
"""1 σ of the optics' blur in sharp and in soft pictures, before a pixel takes the mean over its area."""
NOISE = {False: 2.5, True: 5.0}
"""1 σ in steps of 1/255 in what is white, in sharp and in soft pictures."""


def random_look(random: Rng, *, soft: bool) -> Style:
    """A sharp picture with little noise, or a soft one with much; half of them sharpened."""
    return look(
        blur_px=random.uniform(*BLUR_PX[soft]),
        noise=NOISE[soft],
        sharpen=float(random.choice([0.0, random.uniform(0.2, 0.8)])),
        contrast=random.uniform(0, 0.5),
        exposure=random.uniform(0.7, 1.15),
        quality=int(random.integers(85, 97)),
    )


def look(
    blur_px: float,
    noise: float,
    sharpen: float = 0.0,
    contrast: float = 0.0,
    exposure: float = 1.0,
    quality: int = 92,
) -> Style:
    """A camera's way with light; `noise` is in steps of 1/255 in what is white."""
    return Style(
        blur_px=blur_px, noise=noise / 255 / WHITE_SLOPE, grain_px=0.5, read_noise=0.0, sharpen=sharpen,
        contrast=contrast, exposure=exposure, jpeg_quality=quality,
    )  # fmt: skip


def take(view: MarkerView, style: Style, dictionary: str, random: Rng) -> Frame:
    """The photo of a view. Its optics blur the light before a pixel takes the mean over its area."""
    light: Floats = np.full(view.size_px[::-1], MAT, np.float32)
    for number in view.corners_mm:
        _draw(light, view, number, print_of(number, dictionary), style.blur_px)
    light *= np.linspace(1.1, 0.9, view.size_px[0], dtype=np.float32)  # a lamp to the left
    grey = develop(light, replace(style, blur_px=0.0), random)
    return Frame(coded(np.repeat(grey[:, :, None], 3, 2), style.jpeg_quality), "markers")


def print_of(number: int, dictionary: str) -> Array:
    """A marker's cells (N, N) with its black frame, as shares of light."""
    return np.where(marker_cells(number, dictionary), CARD, BLACK)


# --- light ---


def _draw(light: Floats, view: MarkerView, number: int, cells: Array, blur_px: float) -> None:
    """Draw a marker on its card, blurred, into the light."""
    corners_px = view.corners_px(number)
    card = corners_px.mean(0) + (corners_px - corners_px.mean(0)) * (
        1 + 2.5 * MARGIN_CELLS / len(cells)
    )
    low = np.floor(card.min(0) - 12).astype(int).clip(0)
    high = np.ceil(card.max(0) + 12).astype(int).clip(0, view.size_px)
    fine = cv2.GaussianBlur(_shares(view, number, cells, low, high), (0, 0), blur_px * FINE)
    patch = cv2.resize(fine, (high - low).tolist(), interpolation=cv2.INTER_AREA)
    light[low[1] : high[1], low[0] : high[0]] = patch


def _shares(view: MarkerView, number: int, cells: Array, low: Array, high: Array) -> Floats:
    """What comes back, `FINE` samples a pixel of the patch from `low` to `high`, each a mean over its own square."""
    corners, count = view.corners_mm[number], len(cells)
    axes = np.linalg.inv(np.stack([corners[1] - corners[0], corners[3] - corners[0]])) * count
    pixels = np.stack(np.meshgrid(*(np.arange(low[i], high[i], dtype=float) for i in (0, 1))), -1)
    place = (view.camera.unproject(pixels, view.z_mm.get(number, 0.0)) - corners[0]) @ axes
    # between the middles of neighbouring pixels the way on the table is straight to a few 1e-4 px
    x, y = cv2.split(cv2.resize(place, None, fx=FINE, fy=FINE, interpolation=cv2.INTER_LINEAR))
    width_x, width_y = (
        np.maximum(np.abs(np.gradient(at, axis=0)) + np.abs(np.gradient(at, axis=1)), 1e-9)
        for at in (x, y)
    )
    inside = _between(x, width_x, cells.T, y, width_y)
    card = _covered(x, width_x, count) * _covered(y, width_y, count)
    return np.asarray(MAT + card * (inside - MAT), np.float32)


def _covered(at: Array, width: Array, count: int) -> Array:
    """How much of a sample `width` wide lies on the card."""
    low, high = -MARGIN_CELLS, count + MARGIN_CELLS
    return np.clip((at - low) / width + 0.5, 0, 1) * np.clip((high - at) / width + 0.5, 0, 1)


def _between(x: Array, width_x: Array, cells: Array, y: Array, width_y: Array) -> Array:
    """The mean of the cells (column, row) that a sample touches: at most two along each axis."""
    padded = np.pad(cells, 3, constant_values=CARD)
    column, right = _nearest(x, width_x, len(cells))
    row, below = _nearest(y, width_y, len(cells))
    left_side = padded[column - 1, row - 1] * (1 - below) + padded[column - 1, row] * below
    right_side = padded[column, row - 1] * (1 - below) + padded[column, row] * below
    return np.asarray(left_side * (1 - right) + right_side * right)


def _nearest(at: Array, width: Array, count: int) -> tuple[Array, Array]:
    """The line between cells nearest to each sample, and the share of the sample beyond it."""
    line = np.round(at).clip(-2, count + 2).astype(int)
    return line + 3, np.clip((at - line) / width + 0.5, 0, 1)

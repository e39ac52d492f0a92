"""Tables out of a seed: hills of many styles, and all that only looks like one."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from synthetic.from_above.hills.draw import (
    FINE_MM,
    SIDE_OF,
    TOP,
    Canvas,
    Eye,
    Lamp,
    cast,
    raise_block,
)
from synthetic.from_above.hills.ground import ground
from synthetic.from_above.hills.standing import blocks, climbers, people
from synthetic.painted.develop import develop
from synthetic.painted.mats import Floats, Picture, Rng

COARSE = 2
"""So many pixels of the picture make one of the network's answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A picture from above with its truth."""

    pixels: Picture
    """(S, S, 3), `FINE_MM` a pixel."""
    lean: Floats
    """(3,): how far right and down the picture's middle lies from the point below the camera, in camera heights, and
    how much that grows with a pixel."""
    shares: Picture
    """(S / 2, S / 2, 2): how much of each cell is a raised top and how much a side, of 255."""


def sample(seed: Sequence[int], tiles: Sequence[Picture], size_px: int) -> Sample:
    """A piece of a table of `size_px` pixels a side."""
    rng = np.random.default_rng(seed)
    side_mm = size_px * FINE_MM
    eye = _eye(rng, side_mm)
    canvas = Canvas(eye, _lamp(rng), size_px)
    ground(canvas, rng, tiles)
    _furnish(canvas, rng, tiles, side_mm)
    _weather(canvas, rng)
    pixels = develop(rng, canvas.light)
    if rng.random() < 0.4:
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), rng.uniform(0.3, 1.0)), np.uint8)
    cells = size_px // COARSE, size_px // COARSE
    exact = np.stack([canvas.labels == kind for kind in (TOP, SIDE_OF)], -1) * np.float32(255)
    shares = np.rint(cv2.resize(exact, cells, interpolation=cv2.INTER_AREA)).astype(np.uint8)
    lean = [*(side_mm / 2 - eye.below_mm) / eye.height_mm, FINE_MM / eye.height_mm]
    return Sample(pixels, np.array(lean, np.float32), shares)


def _furnish(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], side_mm: float) -> None:
    """All that stands on the table: what is farther from the camera first, nearer things hide it."""
    raised = blocks(canvas, rng, tiles, side_mm)
    for block in raised:
        cast(canvas, block)
    people(canvas, rng, rng.uniform(0, side_mm, (int(rng.integers(0, 14)), 2)), 0.0)
    for block in sorted(
        raised, key=lambda b: -float(np.hypot(*(b.outlines_mm[0].mean(0) - canvas.eye.below_mm)))
    ):
        raise_block(canvas, block)
        if block.label == TOP and rng.random() < 0.75:
            climbers(canvas, rng, block)


def _eye(rng: Rng, side_mm: float) -> Eye:
    height = float(rng.uniform(800, 2300))
    away, around = (
        float(rng.choice([rng.uniform(0, 0.7), rng.uniform(0, 1.3)])),
        rng.uniform(0, 6.3),
    )
    return Eye(side_mm / 2 - away * height * np.array([np.cos(around), np.sin(around)]), height)


def _lamp(rng: Rng) -> Lamp:
    height, around = (
        float(rng.choice([rng.uniform(0.5, 1.5), rng.uniform(0.25, 0.7)], p=[0.65, 0.35])),
        rng.uniform(0, 6.3),
    )
    towards = np.array(
        [np.cos(height) * np.cos(around), np.cos(height) * np.sin(around), np.sin(height)]
    )
    soft = float(rng.choice([rng.uniform(0.5, 3), rng.uniform(2, 14)]))
    return Lamp(towards, rng.uniform(0.05, 0.9), soft, rng.uniform(0, 0.6), rng.uniform(1, 14))


def _weather(canvas: Canvas, rng: Rng) -> None:
    """Uneven light over the table."""
    x, y = np.meshgrid(*[np.linspace(-1, 1, canvas.size_px, dtype=np.float32)] * 2)
    slope = rng.normal(0, rng.choice([0.25, 0.5]), 2)
    canvas.light *= np.exp(slope[0] * x + slope[1] * y - rng.uniform(0, 0.2) * (x * x + y * y))[
        ..., None
    ].astype(np.float32)

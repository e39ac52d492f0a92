"""What is flat: the mat with its stains, prints and craters, cards and sheets that lie on it, and its edge."""

from collections.abc import Sequence

import cv2
import numpy as np

from synthetic.from_above.hills.draw import FINE_MM, Array, Canvas, Mask, texture
from synthetic.from_above.hills.outlines import any_outline, rectangle, turned
from synthetic.painted.mats import SIDE, Floats, Picture, Rng, shuffled_grain


def ground(canvas: Canvas, rng: Rng, tiles: Sequence[Picture]) -> None:
    """The mat with its stains and prints; in one of three pictures its edge and the table beyond."""
    everything = np.full(canvas.labels.shape, 255, np.uint8)
    mat = int(rng.integers(0, len(tiles)))
    canvas.lay(
        everything, texture(rng, tiles[mat], canvas.size_px, float(np.exp(rng.uniform(-0.3, 1.5))))
    )
    for _ in range(int(rng.choice([0, 1, 2, 3]))):
        canvas.lay(_stain(canvas, rng), canvas.light * _tint(rng))
    if rng.random() < 0.25:
        canvas.lay(_stain(canvas, rng), tile(rng, tiles, canvas))
    side = canvas.size_px * FINE_MM
    for _ in range(int(rng.choice([0, 0, 0, 0, 0, 1, 2]))):
        outline = any_outline(rng) * rng.uniform(0.2, 1.4) + rng.uniform(0, side, 2)
        soft = float(rng.choice([0.3, rng.uniform(0.5, 6)]))
        mask = cv2.GaussianBlur(canvas.mask(outline), (0, 0), soft)
        ink = tile(rng, tiles, canvas) if rng.random() < 0.6 else colour(rng)
        canvas.lay((mask * rng.uniform(0.3, 1)).astype(np.uint8), ink)
        if rng.random() < 0.3:
            _line(canvas, rng, outline, closed=True)
    for _ in range(int(rng.choice([0, 0, 0, 0, 1]))):
        _line(
            canvas,
            rng,
            np.cumsum(rng.normal(0, 60, (6, 2)), 0) + rng.uniform(0, side, 2),
            closed=False,
        )
    if rng.random() < 0.2:
        _craters(canvas, rng, side)
    _cards(canvas, rng, side)
    if rng.random() < 0.35:
        _edge(canvas, rng, tiles, side)


def tile(rng: Rng, tiles: Sequence[Picture], canvas: Canvas) -> Floats:
    scale = float(np.exp(rng.uniform(-0.5, 1.2)))
    return texture(rng, tiles[int(rng.integers(0, len(tiles)))], canvas.size_px, scale)


def colour(rng: Rng) -> Floats:
    return np.asarray(
        rng.uniform(0.05, 0.85) ** 2 * np.exp(rng.normal(0, rng.choice([0.1, 0.6]), 3)), np.float32
    )


def _tint(rng: Rng) -> Floats:
    return np.asarray(np.exp(rng.normal(0, 0.15, 3) + rng.normal(0, 0.4)), np.float32)


def _stain(canvas: Canvas, rng: Rng) -> Mask:
    """Where a cloud is thick: the patches of earth on a printed mat."""
    size = int(canvas.size_px / rng.uniform(0.5, 3))
    cloud = shuffled_grain(rng, int(rng.choice([2, 3])))
    wide = cv2.resize(cloud[: min(size, SIDE), : min(size, SIDE)], (canvas.size_px, canvas.size_px))
    return np.asarray(
        np.clip((wide - rng.uniform(-0.2, 1.5)) * rng.uniform(1, 12), 0, 1) * 255, np.uint8
    )


def _craters(canvas: Canvas, rng: Rng, side: float) -> None:
    """Printed craters: round, dark within, with a lit rim and a shaded one."""
    depth, rim, towards = rng.uniform(0.1, 0.7), rng.uniform(0, 0.5), rng.uniform(0, 6.3)
    y, x = np.mgrid[: canvas.size_px, : canvas.size_px].astype(np.float32) * np.float32(FINE_MM)
    for _ in range(int(rng.integers(1, 12))):
        (cx, cy), radius = rng.uniform(0, side, 2), float(np.exp(rng.uniform(2.3, 4.8)))
        away = np.hypot(x - cx, y - cy) / radius
        lit = ((x - cx) * np.cos(towards) + (y - cy) * np.sin(towards)) / (
            radius * np.maximum(away, 0.1)
        )
        bowl = np.clip((1 - away) * rng.uniform(3, 12), 0, 1) * (-depth + 0.4 * depth * lit)
        canvas.light *= np.exp(bowl + rim * np.exp(-(((away - 1.05) / 0.12) ** 2)))[
            ..., None
        ].astype(np.float32)


def _line(canvas: Canvas, rng: Rng, points_mm: Array, closed: bool) -> None:
    """A road, a river, a drawn border."""
    mask = np.zeros(canvas.labels.shape, np.uint8)
    width = (
        max(1, round(float(np.exp(rng.uniform(0, 4))) / FINE_MM))
        if not closed
        else int(rng.integers(1, 9))
    )
    cv2.polylines(
        mask,
        [np.round(points_mm / FINE_MM * 16).astype(np.int32)],
        closed,
        255,
        width,
        cv2.LINE_AA,
        4,
    )
    canvas.lay(np.asarray(mask * rng.uniform(0.4, 1), np.uint8), colour(rng))


def _cards(canvas: Canvas, rng: Rng, side: float) -> None:
    """Markers, cards, rulers and sheets: thin, with the narrow shadow of what lies flat."""
    for _ in range(int(rng.choice([0, 0, 1]))):
        size = np.array([rng.uniform(30, 130), rng.uniform(20, 130)]) * float(rng.choice([1, 1, 2]))
        if rng.random() < 0.2:
            size = np.array([rng.uniform(150, 800), rng.uniform(12, 45)])
        spot, turn = rng.uniform(0, side, 2), rng.uniform(0, 6.3)
        card = rectangle(size) @ turned(turn) + spot
        canvas.darken(
            canvas.mask(card + rng.normal(0, 1, 2)), rng.uniform(0.5, 3), rng.uniform(0, 0.6)
        )
        canvas.lay(
            canvas.mask(card), colour(rng) if rng.random() < 0.5 else np.full(3, 0.8, np.float32)
        )
        for _ in range(int(rng.integers(0, 8))):
            cell = rectangle(size * rng.uniform(0.05, 0.7, 2)) + rng.uniform(-0.3, 0.3, 2) * size
            canvas.lay(canvas.mask(cell @ turned(turn) + spot), colour(rng))


def _edge(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], side: float) -> None:
    """The mat's edge: beyond it the table, and perhaps the floor."""
    turn, off = rng.uniform(0, 6.3), rng.uniform(0.05, 0.5) * side
    for step in range(int(rng.choice([1, 1, 2]))):
        away = np.array([0, 1.5 * side + off + step * 90])
        far = (rectangle(np.array([2.0, 1.0]) * 3 * side) + away) @ turned(turn)
        mask = canvas.mask(far + side / 2)
        canvas.darken(mask, rng.uniform(1, 6), rng.uniform(0, 0.5))
        canvas.lay(mask, tile(rng, tiles, canvas))

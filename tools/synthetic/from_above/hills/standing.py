"""What stands up: hills of every kind, buildings and boxes, rocks and trees, and pieces on the mat and on tops."""

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np

from synthetic.from_above.hills.draw import Array, Block, Canvas
from synthetic.from_above.hills.ground import colour, tile
from synthetic.from_above.hills.outlines import any_outline, circle, dense, rectangle, turned
from synthetic.painted.mats import Floats, Picture, Rng


def blocks(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], side: float) -> list[Block]:
    """Hills, buildings, boxes and lumps that do not overlap."""
    found: list[Block] = []
    for _ in range(int(rng.choice([0, 1, 2, 3, 4], p=[0.22, 0.33, 0.25, 0.15, 0.05]))):
        make = (_hill, _hill, _hill, _house, _lump)[int(rng.integers(0, 5))]
        block = make(canvas, rng, tiles, rng.uniform(0.1, 0.9, 2) * side)
        middle, reach = _round_of(block)
        if all(np.hypot(*(middle - m)) > reach + r for m, r in map(_round_of, found)):
            found.append(block)
    return found


def _round_of(block: Block) -> tuple[Array, float]:
    foot = block.outlines_mm[0]
    middle = foot.mean(0)
    return middle, float(np.hypot(*(foot - middle).T).max())


def _hill(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], spot: Array) -> Block:
    """A flat-topped hill: steep, sloped or in steps; of the mat's own stuff or another."""
    foot = any_outline(rng) + spot
    height = float(np.clip(np.exp(rng.normal(np.log(25), 0.6)), 7, 90))
    middle, reach = foot.mean(0), float(np.hypot(*(foot - foot.mean(0)).T).mean())
    kind = str(rng.choice(["upright", "steep", "sloped", "steps"], p=[0.35, 0.25, 0.28, 0.12]))
    run = {
        "upright": 0.0,
        "steep": rng.uniform(0, 0.2),
        "sloped": rng.uniform(0.1, 1.2),
        "steps": rng.uniform(0.2, 1),
    }[kind]
    most = 1 - min(run * height / reach, 0.45)
    stops = np.array([0, 1.0])
    outlines, heights = [foot], [0.0]
    if kind == "steps":
        stops = np.linspace(0, 1, int(rng.integers(2, 4)) + 1)
        for low, high in pairwise(stops):
            drawn_in = middle + (foot - middle) * (1 - low * (1 - most))
            if low > 0:
                outlines.append(drawn_in)
                heights.append(low * height)
            outlines.append(middle + (drawn_in - middle) * 0.99)
            heights.append(high * height)
    else:
        outlines.append(middle + (foot - middle) * most)
        heights.append(height)
    top = _top(canvas, rng, tiles, foot)
    side = (
        top * np.float32(rng.uniform(0.4, 1.3)) if rng.random() < 0.5 else tile(rng, tiles, canvas)
    )
    return Block(outlines, heights, np.asarray(top, np.float32), np.asarray(side, np.float32))


def _top(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], foot: Array) -> Floats:
    """What covers a hill: anything, the mat's own stuff, other stuff in nearly its colour, or paint."""
    kind = rng.choice(["own", "near", "any", "paint"], p=[0.13, 0.5, 0.32, 0.05])
    if kind == "own":
        away = tuple(rng.integers(40, canvas.size_px - 40, 2).tolist())
        return np.asarray(
            np.roll(canvas.light, away, (0, 1)) * np.float32(rng.uniform(0.75, 1.25)), np.float32
        )
    if kind == "paint":
        rough = rng.uniform(0, 0.1) * rng.standard_normal(canvas.labels.shape, np.float32)
        return np.asarray(colour(rng) * np.exp(rough)[..., None], np.float32)
    top = tile(rng, tiles, canvas)
    if kind == "near":
        here = canvas.mask(foot) > 0
        if here.any():
            want = canvas.light[here].mean(0) * np.exp(rng.normal(0, 0.22) + rng.normal(0, 0.08, 3))
            top = top * (want / (top[here].mean(0) + 1e-3))
    return np.asarray(top, np.float32)


def _house(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], spot: Array) -> Block:
    """A building, a container, a box or a book: straight up, flat on top."""
    size, height = rng.uniform(45, 170, 2), float(np.exp(rng.uniform(np.log(12), np.log(120))))
    foot = dense(rectangle(size) @ turned(rng.uniform(0, 6.3))) + spot
    if rng.random() < 0.2:
        foot = circle(float(rng.uniform(32, 80))) + spot
    top, side = (tile(rng, tiles, canvas) if rng.random() < 0.6 else colour(rng) for _ in range(2))
    top, side = (np.ascontiguousarray(np.broadcast_to(x, canvas.light.shape)) for x in (top, side))
    return Block([foot, foot], [0, height], top, side)


def _lump(canvas: Canvas, rng: Rng, tiles: Sequence[Picture], spot: Array) -> Block:
    """A rock or a tree: nothing stands on it."""
    radius, height = rng.uniform(20, 60), rng.uniform(20, 110)
    lumpy = 1 + 0.12 * np.cumsum(rng.normal(0, 0.5, 48)) / 6
    foot = circle(radius) * lumpy[:, None] * rng.uniform(0.7, 1.2, 2)
    stops = np.linspace(0, 1, 6)
    widths = np.sqrt(1 - stops**2) if rng.random() < 0.6 else 1 - 0.9 * stops
    widths = np.maximum(widths, 0.05)
    stuff = tile(rng, tiles, canvas)
    dark = stuff * np.float32(rng.uniform(0.4, 1.0))
    return Block([foot * w + spot for w in widths], (stops * height).tolist(), stuff, dark, 0)


def climbers(canvas: Canvas, rng: Rng, block: Block) -> None:
    """Pieces on a top."""
    middle, reach = _round_of(block)
    spots = middle + rng.normal(0, 0.25, (int(rng.integers(1, 6)), 2)) * reach
    top = np.asarray(block.outlines_mm[-1], np.float32).reshape(-1, 1, 2)
    on = [
        spot
        for spot in spots
        if cv2.pointPolygonTest(top, (float(spot[0]), float(spot[1])), False) > 0
    ]
    people(canvas, rng, np.array(on).reshape(-1, 2), block.heights_mm[-1])


def people(canvas: Canvas, rng: Rng, spots: Array, z_mm: float) -> None:
    """Bases with figures, dice and tokens on a level; what the level is stays what it is."""
    radius, paint = rng.uniform(10, 30), colour(rng)
    for spot in spots:
        r = radius if rng.random() < 0.7 else rng.uniform(4, 55)
        tall, body = rng.uniform(0, 2.5) * r, colour(rng)
        base = circle(r) + spot
        far = canvas.eye.seen(canvas.lamp.fall(spot + circle(r * 0.5), tall), z_mm)
        shadow = cv2.convexHull(
            np.vstack([canvas.eye.seen(base, z_mm), far]).astype(np.float32)
        ).reshape(-1, 2)
        canvas.darken(
            canvas.mask(shadow.astype(float)), canvas.lamp.soft_mm * 0.5, canvas.lamp.share
        )
        canvas.lay(
            canvas.mask(canvas.eye.seen(base, z_mm)), paint * np.float32(rng.uniform(0.3, 1))
        )
        canvas.lay(canvas.mask(canvas.eye.seen(spot + circle(r * 0.88), z_mm + 3.5)), paint)
        for level in np.linspace(4, tall + 4, 4):
            blob = spot + circle(r * rng.uniform(0.2, 0.6)) + rng.normal(0, 0.15, 2) * r
            canvas.lay(
                canvas.mask(canvas.eye.seen(blob, z_mm + level)),
                body * np.float32(rng.uniform(0.3, 1.6)),
            )

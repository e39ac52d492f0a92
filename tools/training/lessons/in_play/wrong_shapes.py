"""Guesses of a finder: shapes with its errors, and others that are wrong in the ways in which finders err.

A shape is a row (6,), as `looks` has it.
"""

import numpy as np

from overruler.bases import OVAL_SIDES_MM, RECTANGLE_SIDES_MM
from synthetic.arrays import Array, Rng

ROUND_KIND, SQUARE_KIND = 0.0, 1.0
PAIRS = 0.4
"""The share of neighbours about which one shape is laid."""
SQUARE_ASPECT = 1.01
"""What is longer than wide by more is long."""


def rounds(circles: Array) -> Array:
    """Circles (N, 3) as shapes."""
    count = np.zeros(len(circles))
    return np.column_stack([circles[:, :2], circles[:, 2], circles[:, 2], count, count])


def moved(rng: Rng, shapes: Array, share: float) -> Array:
    """Shapes off by up to a share of their half width in place, and of other sizes and turns."""
    count = len(shapes)
    turn, out = rng.uniform(0, 2 * np.pi, count), share * np.sqrt(rng.uniform(0, 1, count))
    shift = (out * shapes[:, 3])[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    size = np.exp(rng.uniform(-0.6, 0.6, (count, 1)) * share)
    longer = np.exp(rng.uniform(-0.25, 0.25, (count, 1)) * share * [[1.0, -1.0]])
    circle = (np.abs(shapes[:, 2] - shapes[:, 3]) < 1e-6) & (shapes[:, 5] == ROUND_KIND)
    half = shapes[:, 2:4] * size * np.where(circle[:, None], 1, longer)
    heading = shapes[:, 4] + rng.uniform(-0.5, 0.5, count) * share
    return np.column_stack([shapes[:, :2] + shift, half, heading, shapes[:, 5]])


def misplaced(rng: Rng, shapes: Array) -> Array:
    """Shapes across the edge of things, and far too large or too small for them."""
    count = len(shapes)
    turn, out = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.5, 1.5, count) * shapes[:, 3]
    beside, sized, spun = shapes.copy(), shapes.copy(), shapes[shapes[:, 5] == SQUARE_KIND]
    beside[:, :2] += out[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    beside[:, 2:4] *= np.exp(rng.uniform(-0.4, 0.4, (count, 1)))
    factor = np.exp(rng.choice([-1, 1], (count, 1)) * rng.uniform(0.42, 0.9, (count, 1)))
    sized[:, 2:4] *= factor
    spun[:, 4] += rng.choice([-1, 1], len(spun)) * rng.uniform(0.32, np.pi / 4, len(spun))
    return np.concatenate([beside, sized, spun])


def in_ovals(rng: Rng, bases: Array) -> Array:
    """Circles in the ends and in the middle of long round bases."""
    ovals = bases[(bases[:, 2] > SQUARE_ASPECT * bases[:, 3]) & (bases[:, 5] == ROUND_KIND)]
    along = np.stack([np.cos(ovals[:, 4]), np.sin(ovals[:, 4])], -1)
    reach = (ovals[:, 2] - ovals[:, 3])[:, None]
    parts = [ovals[:, :2] + end * reach * along for end in (-1, 1, float(rng.uniform(-1, 1)))]
    circles = [np.column_stack([at, ovals[:, 3]]) for at in parts]
    circles.append(np.column_stack([ovals[:, :2], np.sqrt(ovals[:, 2] * ovals[:, 3])]))
    return moved(rng, rounds(np.concatenate(circles)), 0.2)


def pairs(rng: Rng, bases: Array) -> Array:
    """One long shape about a base and its nearest neighbour."""
    rows = []
    for k, one in enumerate(bases):
        far = np.linalg.norm(bases[:, :2] - one[:2], axis=1)
        far[k] = np.inf
        j = int(np.argmin(far))
        if far[j] < 3 * one[2] and rng.random() < PAIRS:
            way = bases[j, :2] - one[:2]
            wide = one[3] * rng.uniform(0.9, 1.1)
            heading = np.arctan2(way[1], way[0])
            rows.append([*(one[:2] + way / 2), far[j] / 2 + wide, wide, heading, one[5]])
    return np.array(rows, float).reshape(-1, 6)


def wrong_shapes(rng: Rng, things: Array) -> Array:
    """Ovals, squares and rectangles about round things, and circles about others: of usual sizes or of the thing's."""
    count = len(things)
    if not count:
        return things
    kind = rng.integers(0, 3, count)
    ovals, sides = np.array(OVAL_SIDES_MM)[:, ::-1] / 2, np.array(RECTANGLE_SIDES_MM) / 2
    half = np.where(
        (kind == 0)[:, None],
        ovals[rng.integers(len(ovals), size=count)],
        sides[rng.integers(len(sides), size=count)],
    )
    own = np.sqrt(things[:, 2] * things[:, 3])[:, None]
    fits = rng.random((count, 1)) < 0.6
    half = np.where(fits, half * own / np.sqrt(half.prod(1, keepdims=True)), half)
    circle = (kind == 0) & (things[:, 5] == SQUARE_KIND)
    half = np.where(circle[:, None], own, half)
    shift = rng.normal(size=(count, 2)) * 0.2 * things[:, 3:4]
    turn = np.where(rng.random(count) < 0.5, things[:, 4], rng.uniform(0, np.pi, count))
    shape = np.where(kind == 0, ROUND_KIND, SQUARE_KIND)
    return np.column_stack([things[:, :2] + shift, half, turn, shape])

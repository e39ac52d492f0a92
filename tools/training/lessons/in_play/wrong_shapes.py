"""Guesses of a finder: shapes with its errors, and others that are wrong in the ways in which finders err.

A shape is a row (5,), as `looks` has it.
"""

import numpy as np

from overruler.bases import OVAL_SIDES_MM
from synthetic.arrays import Array, Rng

PAIRS = 0.4
"""The share of neighbours about which one shape is laid."""
ROUND_ASPECT = 1.01
"""What is longer than wide by more is an oval."""


def rounds(circles: Array) -> Array:
    """Circles (N, 3) as shapes."""
    return np.column_stack([circles, circles[:, 2], np.zeros(len(circles))])


def moved(rng: Rng, shapes: Array, share: float) -> Array:
    """Shapes off by up to a share of their half width in place, and of other sizes and turns."""
    count = len(shapes)
    turn, out = rng.uniform(0, 2 * np.pi, count), share * np.sqrt(rng.uniform(0, 1, count))
    shift = (out * shapes[:, 3])[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    size = np.exp(rng.uniform(-0.6, 0.6, (count, 1)) * share)
    longer = np.exp(rng.uniform(-0.25, 0.25, (count, 1)) * share * [[1.0, -1.0]])
    circle = shapes[:, 2] < ROUND_ASPECT * shapes[:, 3]
    half = shapes[:, 2:4] * size * np.where(circle[:, None], 1, longer)
    heading = shapes[:, 4] + rng.uniform(-0.5, 0.5, count) * share
    return np.column_stack([shapes[:, :2] + shift, half, heading])


def misplaced(rng: Rng, shapes: Array) -> Array:
    """Shapes across the edge of things, and far too large or too small for them."""
    count = len(shapes)
    turn, out = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.5, 1.5, count) * shapes[:, 3]
    beside, sized = shapes.copy(), shapes.copy()
    beside[:, :2] += out[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    beside[:, 2:4] *= np.exp(rng.uniform(-0.4, 0.4, (count, 1)))
    factor = np.exp(rng.choice([-1, 1], (count, 1)) * rng.uniform(0.42, 0.9, (count, 1)))
    sized[:, 2:4] *= factor
    return np.concatenate([beside, sized])


def in_ovals(rng: Rng, bases: Array) -> Array:
    """Circles in the ends and in the middle of long round bases."""
    ovals = bases[bases[:, 2] > ROUND_ASPECT * bases[:, 3]]
    along = np.stack([np.cos(ovals[:, 4]), np.sin(ovals[:, 4])], -1)
    reach = (ovals[:, 2] - ovals[:, 3])[:, None]
    parts = [ovals[:, :2] + end * reach * along for end in (-1, 1, float(rng.uniform(-1, 1)))]
    circles = [np.column_stack([at, ovals[:, 3]]) for at in parts]
    circles.append(np.column_stack([ovals[:, :2], np.sqrt(ovals[:, 2] * ovals[:, 3])]))
    return moved(rng, rounds(np.concatenate(circles)), 0.2)


def as_circles(rng: Rng, bases: Array) -> Array:
    """Circles in the place of long bases, off in place and size as the look from above is."""
    long = bases[bases[:, 2] > ROUND_ASPECT * bases[:, 3]]
    return moved(rng, rounds(np.column_stack([long[:, :2], np.sqrt(long[:, 2] * long[:, 3])])), 0.5)


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
            rows.append([*(one[:2] + way / 2), far[j] / 2 + wide, wide, heading])
    return np.array(rows, float).reshape(-1, 5)


def wrong_shapes(rng: Rng, things: Array) -> Array:
    """Ovals about round things and across others: of usual sizes or of the thing's."""
    count = len(things)
    if not count:
        return things
    ovals = np.array(OVAL_SIDES_MM)[:, ::-1] / 2
    half = ovals[rng.integers(len(ovals), size=count)]
    own = np.sqrt(things[:, 2] * things[:, 3])[:, None]
    fits = rng.random((count, 1)) < 0.6
    half = np.where(fits, half * own / np.sqrt(half.prod(1, keepdims=True)), half)
    shift = rng.normal(size=(count, 2)) * 0.2 * things[:, 3:4]
    return np.column_stack([things[:, :2] + shift, half, rng.uniform(0, np.pi, count)])

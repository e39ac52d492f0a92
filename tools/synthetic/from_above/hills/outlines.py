"""Outlines seen from above, (K, 2) in mm, clockwise as seen: y runs down."""

import numpy as np

from synthetic.from_above.hills.draw import Array
from synthetic.painted.mats import Rng


def turned(angle: float) -> Array:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def rectangle(size: Array) -> Array:
    return np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * size


def circle(radius: float, count: int = 48) -> Array:
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return radius * np.stack([np.cos(angles), np.sin(angles)], -1)


def dense(outline: Array, step_mm: float = 12.0) -> Array:
    """With points along the sides."""
    parts = []
    for a, b in zip(outline, np.roll(outline, -1, 0), strict=True):
        count = max(int(np.hypot(*(b - a)) / step_mm), 1)
        parts.append(a + np.arange(count)[:, None] / count * (b - a))
    return np.concatenate(parts)


def any_outline(rng: Rng) -> Array:
    """A hill's foot about the origin: a polygon, a blob, a rectangle, a disc."""
    reach = float(np.exp(rng.uniform(np.log(55), np.log(210))))
    kind = rng.random()
    if kind < 0.45:
        count = int(rng.integers(5, 12))
        angles = (
            np.linspace(0, 2 * np.pi, count, endpoint=False)
            + rng.uniform(-0.4, 0.4, count) * 2 * np.pi / count
        )
        shape = (
            np.stack([np.cos(angles), np.sin(angles)], -1)
            * rng.uniform(0.7, 1.2, (count, 1))
            * reach
        )
    elif kind < 0.8:
        angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
        wave = sum(
            rng.normal(0, 0.22 / k) * np.cos(k * angles + rng.uniform(0, 6.3)) for k in range(1, 7)
        )
        shape = (
            np.stack([np.cos(angles), np.sin(angles)], -1)
            * (reach * np.clip(1 + wave, 0.4, 1.8))[:, None]
        )
    elif kind < 0.92:
        shape = rectangle(rng.uniform(0.7, 1.6, 2) * reach)
    else:
        shape = circle(reach)
    stretch = np.diag([1, rng.uniform(0.55, 1)])
    return dense(shape @ stretch @ turned(rng.uniform(0, 6.3)))

"""Flat shapes on the mat."""

from dataclasses import dataclass

import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.painted.plates import circle, colour, spun
from synthetic.things.figures import any_colour


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """A flat shape on the mat."""

    outline_mm: Array
    """(n, 2)"""
    colour: Floats
    strength: float
    """1 covers the mat."""
    soft_mm: float = 0
    width_mm: float | None = None
    """A line of this width instead of the whole shape."""
    worn_mm: Array | None = None
    """(2, 2): a place where it is worn off and one where it is whole, if it is worn; in between it fades."""


def any_prints(rng: Rng, reach: float, many: bool) -> list[Print]:
    prints: list[Print] = []
    makers = (_crater, _crater, _manhole, _manhole, _ring, _card, _spot)
    for _ in range(
        int(rng.integers(1, 6) if many else rng.choice([0, 1, 2, 4], p=[0.45, 0.25, 0.2, 0.1]))
    ):
        prints += makers[int(rng.integers(0, len(makers)))](rng, rng.uniform(-reach, reach, 2))
    return prints


def _uneven(rng: Rng, radius: float, share: float) -> Array:
    """A circle with bumps of about `share` of its radius."""
    turn = np.arange(72) * 2 * np.pi / 72
    waves = [
        rng.normal() * share / k**0.5 * np.cos(k * turn + rng.uniform(0, 6))
        for k in (1, 2, 3, 5, 8, 13, 21)
    ]
    return np.asarray(circle(radius) * (1 + np.sum(waves, 0))[:, None])


def _crater(rng: Rng, at: Array) -> list[Print]:
    radius = float(rng.choice([rng.uniform(6, 25), rng.uniform(20, 80)]))
    dark = colour("1e1914") * rng.uniform(0.5, 4)
    pale = np.array([0.3, 0.45, 0.6], np.float32) * rng.uniform(0.8, 1.5)
    edge, lit = _uneven(rng, radius, rng.uniform(0.005, 0.08)), rng.uniform(-0.12, 0.12, 2) * radius
    return [
        Print(at + 1.05 * edge + lit, pale, rng.uniform(0, 0.7), rng.uniform(0.03, 0.15) * radius),
        Print(at + edge, dark, rng.uniform(0.3, 0.9), rng.uniform(0, 0.12) * radius),
        Print(
            at + 0.7 * edge + 0.15 * radius,
            dark,
            rng.uniform(0, 0.5),
            rng.uniform(0.1, 0.3) * radius,
        ),
    ]


def _manhole(rng: Rng, at: Array) -> list[Print]:
    radius = rng.uniform(8, 25)
    ink = np.full(3, rng.uniform(0.01, 0.1), np.float32)
    rungs, width, shade = (
        int(rng.integers(3, 15)),
        rng.uniform(0.5, 1.5),
        rng.choice([0.3, rng.uniform(1.5, 3)]),
    )
    turn = rng.uniform(0, 6.3)
    share = np.linspace(-0.85, 0.85, rungs)
    ends = [
        np.array([[-x, y], [x, y]]) * 0.95 * radius
        for x, y in zip(np.sqrt(1 - share**2), share, strict=True)
    ]
    lines = [
        Print(at + spun(rung, turn), ink * shade, rng.uniform(0.3, 0.9), 0.2, width)
        for rung in ends
    ]
    return [Print(at + circle(radius), ink, rng.uniform(0.6, 1), rng.uniform(0.2, 1)), *lines]


def _ring(rng: Rng, at: Array) -> list[Print]:
    radius = float(rng.choice([rng.uniform(10, 30), rng.uniform(25, 90)]))
    width = rng.uniform(0.5, max(3, min(0.15 * radius, 8)))
    turn = rng.uniform(0, 6.3)
    ends = (
        at
        + np.outer([rng.uniform(-2, 0), rng.uniform(0.1, 1)], [np.cos(turn), np.sin(turn)]) * radius
    )
    worn = ends if rng.random() < 0.6 else None
    return [
        Print(
            at + circle(radius),
            any_colour(rng),
            rng.uniform(0.3, 1),
            rng.uniform(0, 0.5),
            width,
            worn,
        )
    ]


def _spot(rng: Rng, at: Array) -> list[Print]:
    """A splash: round, with soft or uneven edges."""
    radius = rng.uniform(8, 40)
    outline = at + _uneven(rng, radius, rng.uniform(0.03, 0.12))
    return [Print(outline, any_colour(rng), rng.uniform(0.2, 0.9), rng.uniform(0, 5))]


def _card(rng: Rng, at: Array) -> list[Print]:
    """A card, or a marker: a black square with white cells on white paper."""
    size, turn = rng.uniform(20, 60), rng.uniform(0, 6.3)

    def square(x: float, y: float, half: float) -> Array:
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half + [x, y]
        return np.asarray(at + spun(corners, turn))

    white, black = np.full(3, 0.75, np.float32), np.full(3, 0.02, np.float32)
    cells = [(x, y) for x in range(-2, 2) for y in range(-2, 2) if rng.random() < 0.5]
    inner = [
        Print(square((x + 0.5) * size / 3, (y + 0.5) * size / 3, size / 6), white, 1)
        for x, y in cells
    ]
    return [Print(square(0, 0, 1.4 * size), white, 1), Print(square(0, 0, size), black, 1), *inner]


def planet(rng: Rng, reach_mm: float) -> Print:
    at, radius = rng.uniform(-reach_mm, reach_mm, 2), rng.uniform(20, 200)
    soft = rng.uniform(0, 0.3) * radius
    return Print(at + circle(radius), any_colour(rng), rng.uniform(0.3, 1), soft)

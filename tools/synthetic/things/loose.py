"""What stands and lies on a table without a base: dice, stones, walls and trees."""

import numpy as np

from synthetic.arrays import Array, Rng
from synthetic.things.figures import any_colour
from synthetic.things.solids import Solid, ball, box, turned


def dice(rng: Rng, foot: Array, most: int = 4) -> list[Solid]:
    """A few dice of one kind around a place; where it is one, there."""
    half, paint = rng.uniform(5, 8), any_colour(rng)
    pip = np.full(3, 0.01 if paint.mean() > 0.2 else 0.7, np.float32)
    parts = []
    for _ in range(int(rng.integers(1, most + 1))):
        center = foot + np.array([*rng.uniform(-30, 30, 2) * (most > 1), half])
        turn = turned(rng.uniform(0, 6))
        parts.append(box(center, np.full(3, half), turn, paint))
        spots = rng.choice([-0.5, 0, 0.5], (int(rng.integers(1, 7)), 2)) * half
        parts += [
            ball(center + turn @ [*spot, half], [half / 6, half / 6, 0.1], pip) for spot in spots
        ]
    return parts


def stones(rng: Rng, foot: Array) -> list[Solid]:
    paint = any_colour(rng)
    return [
        ball(
            foot + np.array([*rng.uniform(-40, 40, 2), 0]),
            rng.uniform(2, 14) * rng.uniform(0.5, 1, 3),
            paint,
            turned(rng.uniform(0, 6)),
        )
        for _ in range(int(rng.integers(1, 5)))
    ]


def wall(rng: Rng, foot: Array) -> list[Solid]:
    """A house, a wall, a ruler or a stick."""
    half = [
        rng.uniform([15, 10, 1], [60, 50, 35]),
        rng.uniform([40, 2, 1], [90, 6, 8]),
        rng.uniform([80, 6, 1], [150, 16, 2]),
    ]
    size = half[int(rng.integers(0, 3))]
    return [box(foot + np.array([0, 0, size[2]]), size, turned(rng.uniform(0, 6)), any_colour(rng))]


def tree(rng: Rng, foot: Array) -> list[Solid]:
    green = np.array([0.05, 0.2, 0.08], np.float32) * rng.uniform(0.3, 2)
    return [
        ball(
            foot + np.array([*rng.normal(size=2) * 7, rng.uniform(10, 45)]),
            rng.uniform(6, 14) * np.ones(3),
            green * np.float32(rng.uniform(0.7, 1.3)),
        )
        for _ in range(int(rng.integers(5, 16)))
    ]

"""Ships over plates: any shape, made of convex solids."""

import numpy as np

from synthetic.from_above.fighters import any_fighter, painted, wing
from synthetic.painted.figures import any_colour
from synthetic.painted.solids import Array, Rng, Solid, ball, box, capsule, cone, turned

SMALL, LARGE = -0.15, 0.3
"""How long the ships of a table usually are: the logarithm of their share of a plate's side."""
FIGHTERS, ASTRAY, TURNED = 0.85, 0.03, 0.1
"""The shares of ships that are built as fleets have them, and of those that look any way but ahead; and by how many
radians (1 σ) the others are turned on their pegs."""


def any_ship(
    rng: Rng, xy_mm: Array, turn_rad: float, side_mm: float, grown: float = SMALL
) -> list[Solid]:
    """A ship on its peg, most of which hangs over its plate; one in ten is but a peg or nothing.

    `grown` is the logarithm of how many sides of the plate it usually is long, or wide.
    """
    height, kind = rng.uniform(14, 70), rng.random()
    if kind < 0.1:
        return _peg(rng, xy_mm, rng.uniform(3, 12)) if rng.random() < 0.7 else []
    hull = any_fighter(rng) if rng.random() < FIGHTERS else _any_body(rng)
    paints = np.stack(
        [any_colour(rng) * rng.choice([0.5, 1.0, 2.0]), any_colour(rng), any_colour(rng)]
    )
    if rng.random() < 0.5:
        paints[:2] = paints[:2].mean(1, keepdims=True) * rng.uniform(0.8, 1.25, 3)
    size = side_mm * float(np.exp(rng.normal(grown, 0.38)))
    spin = turned(
        turn_rad + (rng.uniform(0, 6.3) if rng.random() < ASTRAY else rng.normal(0, TURNED))
    )
    lean = _tipped(rng, float(rng.choice([0.0, 0.05, 0.4])))
    at = np.array([*xy_mm + rng.normal(0, 0.04 * side_mm, 2), height])
    parts = [
        Solid(
            part.points_mm * size @ (spin @ lean).T + at,
            part.faces,
            paints[int(part.colour[0])].astype(np.float32),
        )
        for part in hull
    ]
    return (_peg(rng, xy_mm, height) if rng.random() < 0.8 else []) + parts


def _tipped(rng: Rng, most: float) -> Array:
    a, b = rng.normal(0, most, 2)
    pitch = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    roll = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    return np.asarray(pitch @ roll)


def _peg(rng: Rng, xy_mm: Array, high_mm: float) -> list[Solid]:
    coat = np.full(3, rng.choice([0.02, 0.3, 0.7]), np.float32) * rng.uniform(0.6, 1.2)
    radius, foot = rng.uniform(0.8, 2.4), np.array([*xy_mm, 2.5])
    peg = cone(
        foot,
        foot + np.array([0, 0, high_mm]),
        radius,
        radius * rng.uniform(0.7, 1),
        coat.astype(np.float32),
    )
    nub = cone(
        foot,
        foot + np.array([0, 0, rng.uniform(1, 4)]),
        radius * 2,
        radius * 1.6,
        coat.astype(np.float32),
    )
    return [peg, nub] if rng.random() < 0.5 else [peg]


def _any_body(rng: Rng) -> list[Solid]:
    return _hull(rng) + (_halves(rng) if rng.random() < 0.85 else []) + _greebles(rng)


def _hull(rng: Rng) -> list[Solid]:
    """The body about the origin, its length 1 or so, ahead along +x; colours are numbers of paints."""
    length, width = rng.uniform(0.25, 0.6), rng.uniform(0.05, 0.16)
    flat = np.array([length, width * rng.uniform(0.8, 3), width * rng.uniform(0.5, 1)])
    kind = rng.integers(6)
    if kind == 0:
        return [
            cone([-length, 0, 0], [length, 0, 0], width, width * rng.uniform(0.1, 0.8), painted(0))
        ]
    if kind == 1:
        return [capsule([-length, 0, 0], [length, 0, 0], width, painted(0))]
    if kind == 2:
        return [box([0, 0, 0], flat, np.eye(3), painted(0))]
    if kind == 3:
        return [ball([0, 0, 0], flat, painted(0))]
    if kind == 4:
        disc = rng.uniform(0.3, 0.5)
        return [
            ball([0, 0, 0], [disc, disc, width], painted(0)),
            ball([0, 0, width], [0.1, 0.1, 0.06], painted(1)),
        ]
    core = rng.uniform(0.12, 0.22)
    return [
        ball([0, 0, 0], [core] * 3, painted(0)),
        ball([core * 0.7, 0, 0.05], [core * 0.5] * 3, painted(2)),
    ]


def _halves(rng: Rng) -> list[Solid]:
    """Wings, panels and engines: what is on the left is on the right as well."""
    parts: list[Solid] = []
    for _ in range(int(rng.integers(1, 4))):
        at, kind, paint = (
            rng.uniform([-0.4, 0.05, -0.1], [0.25, 0.35, 0.12]),
            rng.integers(4),
            int(rng.integers(3)),
        )
        up, sweep = rng.normal(0, 0.25), rng.uniform(-0.35, 0.2)
        for side in (-1.0, 1.0):
            here = at * [1, side, 1]
            tip = here + np.array([sweep, side * rng.uniform(0.2, 0.5), up])
            parts.append(_half(rng, int(kind), here, tip, paint))
    return parts


def _half(rng: Rng, kind: int, at: Array, tip: Array, paint: int) -> Solid:
    if kind == 0:
        return wing(at, tip, rng.uniform(0.06, 0.3), rng.uniform(0.02, 0.15), paint)
    if kind == 1:
        return box(at, rng.uniform([0.1, 0.01, 0.08], [0.4, 0.04, 0.4]), np.eye(3), painted(paint))
    if kind == 2:
        return capsule(
            at,
            at + np.array([rng.uniform(0.15, 0.6), 0, 0]),
            rng.uniform(0.02, 0.09),
            painted(paint),
        )
    return cone(
        at,
        at + np.array([rng.uniform(0.1, 0.4), 0, 0]),
        rng.uniform(0.03, 0.1),
        rng.uniform(0.01, 0.08),
        painted(paint),
    )


def _greebles(rng: Rng) -> list[Solid]:
    places = rng.uniform([-0.4, -0.12, 0], [0.35, 0.12, 0.14], (int(rng.integers(0, 7)), 3))
    return [
        box(at, rng.uniform(0.01, 0.06, 3), np.eye(3), painted(int(rng.integers(3))))
        for at in places
    ]

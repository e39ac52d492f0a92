"""Ships over their plates: which way they look shows by their noses, engines, prongs and wings."""

import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.things.figures import any_colour
from synthetic.things.solids import Solid, ball, blade, box, capsule, cone, turned

BOTH = (-1.0, 1.0)
SMALL, LARGE = -0.15, 0.3
"""How long the ships of a table usually are: the logarithm of their share of a plate's side."""
ODD, ASTRAY, TURNED = 0.15, 0.03, 0.1
"""The shares of ships that are stretched out of all likeness, and of those that look any way but ahead; and by how many
radians (1 σ) the others are turned on their pegs."""


def any_ship(
    rng: Rng, xy_mm: Array, turn_rad: float, side_mm: float, grown: float = SMALL
) -> list[Solid]:
    """A ship on its peg, most of which hangs over its plate; one in ten is but a peg or nothing.

    `grown` is the logarithm of how many sides of the plate it usually is long, or wide.
    """
    if rng.random() < 0.1:
        return _peg(rng, xy_mm, rng.uniform(3, 12)) if rng.random() < 0.7 else []
    paints = np.stack([any_colour(rng) * rng.choice([0.5, 1, 2]), any_colour(rng), any_colour(rng)])
    if rng.random() < 0.5:
        paints[:2] = paints[:2].mean(1, keepdims=True) * rng.uniform(0.8, 1.25, 3)
    size = side_mm * float(np.exp(rng.normal(grown, 0.38)))
    astray = rng.uniform(0, 2 * np.pi) if rng.random() < ASTRAY else rng.normal(0, TURNED)
    lean = _tipped(rng, float(rng.choice([0.0, 0.05, 0.4])))
    if rng.random() < ODD:
        lean = lean @ np.diag(np.exp(rng.normal(0, 0.5, 3)))
    return ship(rng, xy_mm, turn_rad + astray, size, paints.astype(np.float32), lean)


def ship(
    rng: Rng,
    xy_mm: Array,
    turn_rad: float,
    size_mm: float,
    paints: Floats,
    lean: Array | None = None,
) -> list[Solid]:
    """A ship of this length, in three paints (3, 3), mostly on a peg."""
    high, kinds = (
        rng.uniform(14, 70),
        (_nosed, _nosed, _panelled, _panelled, _saucer, _swept, _engined),
    )
    spin = size_mm * turned(turn_rad) @ (np.eye(3) if lean is None else lean)
    at = np.append(xy_mm + rng.normal(0, 2, 2), high)
    parts = kinds[int(rng.integers(len(kinds)))](rng)
    flown = [Solid(one.mesh.mapped(spin, at), paints[int(one.colour[0])]) for one in parts]
    return (_peg(rng, xy_mm, high) if rng.random() < 0.8 else []) + flown


def _tipped(rng: Rng, most: float) -> Array:
    a, b = rng.normal(0, most, 2)
    pitch = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    roll = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    return np.asarray(pitch @ roll)


def _peg(rng: Rng, xy_mm: Array, high_mm: float) -> list[Solid]:
    coat = np.full(3, rng.choice([0.02, 0.3, 0.7]) * rng.uniform(0.6, 1.2), np.float32)
    radius, foot = rng.uniform(0.8, 2.4), np.array([*xy_mm, 2.5])
    up = np.array([0, 0, 1.0])
    peg = cone(foot, foot + up * high_mm, radius, radius * rng.uniform(0.7, 1), coat)
    nub = cone(foot, foot + up * rng.uniform(1, 4), radius * 2, radius * 1.6, coat)
    return [peg, nub] if rng.random() < 0.5 else [peg]


# --- kinds: about the origin, their length 1 or so, ahead along +x ---


def paint_no(which: int) -> Floats:
    """In place of a colour: which of the three paints it is to be."""
    return np.full(3, which, np.float32)


def _some(rng: Rng) -> int:
    return int(rng.integers(3))


def _engines(rng: Rng, aside: float, back: float, length: float, radius: float) -> list[Solid]:
    which, pointed = _some(rng), rng.random() < 0.5
    if pointed:
        ends = [([back, s * aside, 0], [back + length, s * aside, 0]) for s in BOTH]
        return [cone(a, b, radius, radius * rng.uniform(0.4, 1), paint_no(which)) for a, b in ends]
    return [
        capsule([back, s * aside, 0], [back + length, s * aside, 0], radius, paint_no(which))
        for s in BOTH
    ]


def _nosed(rng: Rng) -> list[Solid]:
    """A long nose, engines beside its rear, wings that stand out behind the middle, perhaps with guns."""
    nose, tail = rng.uniform(0.35, 0.65), rng.uniform(-0.5, -0.3)
    thick = rng.uniform(0.05, 0.11)
    parts = [cone([tail, 0, 0], [nose, 0, 0], thick, thick * rng.uniform(0.25, 0.8), paint_no(0))]
    if rng.random() < 0.6:
        parts.append(ball([nose, 0, 0], [thick, thick * 0.8, thick * 0.7], paint_no(_some(rng))))
    if rng.random() < 0.7:
        long = thick * rng.uniform(1, 2.4)
        parts.append(
            ball(
                [rng.uniform(-0.1, 0.3), 0, thick * 0.8],
                [long, thick * 0.7, thick * 0.7],
                paint_no(_some(rng)),
            )
        )
    if rng.random() < 0.85:
        parts += _engines(
            rng, rng.uniform(0.1, 0.22), tail, rng.uniform(0.2, 0.7), rng.uniform(0.035, 0.08)
        )
    span, chord, which = rng.uniform(0.3, 0.6), rng.uniform(0.08, 0.2), _some(rng)
    back, sweep = rng.uniform(tail + 0.08, -0.05), rng.uniform(-0.2, 0.05)
    for up in (0.0,) if rng.random() < 0.5 else (-0.1, 0.1):
        for s in BOTH:
            tip = np.array([back + sweep, s * span, up])
            parts.append(
                blade(
                    np.array([back, s * thick, up * 0.2]),
                    tip,
                    chord,
                    chord * rng.uniform(0.3, 1),
                    paint_no(which),
                )
            )
            if span > 0.4 and rng.random() < 0.6:
                gun = tip + np.array([rng.uniform(0.25, 0.5), 0, 0])
                parts.append(
                    capsule(
                        tip - np.array([chord, 0, 0]), gun, rng.uniform(0.01, 0.025), paint_no(2)
                    )
                )
    return parts


def _panelled(rng: Rng) -> list[Solid]:
    """A ball between two walls, which may reach further ahead; hardly anything tells its front from its rear."""
    core, aside = rng.uniform(0.1, 0.2), rng.uniform(0.25, 0.45)
    long, high, lean = rng.uniform(0.25, 0.5), rng.uniform(0.2, 0.5), rng.normal(0, 0.05)
    ahead = float(rng.choice([0.0, 0.0, rng.uniform(0, 0.2)]))
    parts = [
        ball([0, 0, 0], [core] * 3, paint_no(0)),
        capsule([0, -aside, 0], [0, aside, 0], core * 0.35, paint_no(0)),
    ]
    parts.append(
        ball([core * 0.8, 0, core * 0.2], [core * 0.4, core * 0.6, core * 0.6], paint_no(2))
    )
    for s in BOTH:
        c, n = np.cos(lean * s), np.sin(lean * s)
        spin = np.array([[1, 0, 0], [0, c, -n], [0, n, c]])
        parts.append(
            box([ahead, s * aside, 0], [long, rng.uniform(0.008, 0.025), high], spin, paint_no(1))
        )
        if rng.random() < 0.4:
            parts.append(
                box([ahead, s * aside, 0], [long * 1.02, 0.03, 0.03], np.eye(3), paint_no(0))
            )
    return parts


def _saucer(rng: Rng) -> list[Solid]:
    """A disc with two prongs ahead, a turret in its middle and a pod beside."""
    wide = rng.uniform(0.32, 0.45)
    parts = [
        ball([0, 0, 0], [wide * rng.uniform(0.95, 1.2), wide, rng.uniform(0.06, 0.12)], paint_no(0))
    ]
    aside, length = rng.uniform(0.07, 0.2), rng.uniform(0.15, 0.35)
    for s in BOTH:
        spin = np.eye(3)
        middle, half = (
            [wide * 0.9 + length / 2, s * aside, 0],
            [length / 2 + 0.05, rng.uniform(0.04, 0.08), 0.03],
        )
        parts.append(box(middle, half, spin, paint_no(0)))
    parts.append(
        ball(
            [rng.uniform(-0.1, 0.1), 0, 0.09],
            [rng.uniform(0.06, 0.12)] * 2 + [0.06],
            paint_no(_some(rng)),
        )
    )
    side = float(rng.choice(BOTH))
    if rng.random() < 0.6:
        at = np.array([rng.uniform(0, 0.3), side * wide * 0.95, 0])
        end = at + np.array([rng.uniform(0.05, 0.15), side * 0.03, 0])
        parts.append(capsule(at, end, 0.05, paint_no(_some(rng))))
    for _ in range(int(rng.integers(0, 7))):
        at = np.array([*rng.uniform(-0.25, 0.25, 2), 0.09])
        parts.append(box(at, rng.uniform(0.02, 0.06, 3), np.eye(3), paint_no(_some(rng))))
    return parts


def _swept(rng: Rng) -> list[Solid]:
    """One swept wing, pointed ahead, with engines at its rear."""
    nose, span, back = rng.uniform(0.4, 0.65), rng.uniform(0.25, 0.5), rng.uniform(-0.45, -0.25)
    parts = [
        blade(
            np.array([back * 0.3, 0, 0]),
            np.array([back, s * span, 0]),
            (nose - back) / 2,
            rng.uniform(0.01, 0.1),
            paint_no(0),
        )
        for s in BOTH
    ]
    parts.append(
        cone(
            [back, 0, 0.03],
            [nose * 0.8, 0, 0.02],
            rng.uniform(0.05, 0.1),
            0.03,
            paint_no(_some(rng)),
        )
    )
    if rng.random() < 0.8:
        parts += _engines(
            rng,
            rng.uniform(0.08, 0.2),
            back - 0.1,
            rng.uniform(0.15, 0.35),
            rng.uniform(0.04, 0.07),
        )
    if rng.random() < 0.5:
        parts.append(ball([rng.uniform(0, 0.2), 0, 0.08], [0.1, 0.05, 0.05], paint_no(2)))
    return parts


def _engined(rng: Rng) -> list[Solid]:
    """A head ahead, and two long engines behind it on a cross beam."""
    head, back, aside = rng.uniform(0.08, 0.14), rng.uniform(-0.55, -0.35), rng.uniform(0.2, 0.35)
    parts = [capsule([back * 0.6, 0, 0], [0.3, 0, 0], head * 0.5, paint_no(0))]
    parts.append(
        ball([0.35, 0, 0.02], [head * rng.uniform(1, 2), head, head * 0.7], paint_no(_some(rng)))
    )
    parts.append(
        box([back * 0.4, 0, 0], [rng.uniform(0.05, 0.12), aside, 0.03], np.eye(3), paint_no(0))
    )
    parts += _engines(rng, aside, back, rng.uniform(0.4, 0.75), rng.uniform(0.04, 0.09))
    return parts

"""Ships as fleets have them: which way they look shows by their noses, engines, prongs and wings."""

import numpy as np

from synthetic.painted.solids import Array, Floats, Rng, Solid, ball, box, capsule, cone

BOTH = (-1.0, 1.0)


def any_fighter(rng: Rng) -> list[Solid]:
    """A ship about the origin, its length 1 or so, ahead along +x; colours are numbers of three paints."""
    kinds = _nosed, _nosed, _panelled, _panelled, _saucer, _swept, _engined
    return kinds[int(rng.integers(len(kinds)))](rng)


def painted(which: int) -> Floats:
    return np.full(3, which, np.float32)


def wing(root: Array, tip: Array, chord: float, end: float, which: int) -> Solid:
    """A thin blade from `root` to `tip`, so wide there and there."""
    frame = box([0, 0, 0], [1, 1, 1], np.eye(3), painted(which))
    t = (frame.points_mm[:, 1:2] + 1) / 2
    points = root + t * (tip - root) + frame.points_mm * [1, 0, 0] * (chord + t * (end - chord))
    flip = -1 if tip[1] < root[1] else 1
    return Solid(points + frame.points_mm * [0, 0, 0.012], frame.faces[:, ::flip], frame.colour)


def _some(rng: Rng) -> int:
    return int(rng.integers(3))


def _engines(rng: Rng, aside: float, back: float, length: float, radius: float) -> list[Solid]:
    which, pointed = _some(rng), rng.random() < 0.5
    if pointed:
        ends = [([back, s * aside, 0], [back + length, s * aside, 0]) for s in BOTH]
        return [cone(a, b, radius, radius * rng.uniform(0.4, 1), painted(which)) for a, b in ends]
    return [
        capsule([back, s * aside, 0], [back + length, s * aside, 0], radius, painted(which))
        for s in BOTH
    ]


def _nosed(rng: Rng) -> list[Solid]:
    """A long nose, engines beside its rear, wings that stand out behind the middle, perhaps with guns."""
    nose, tail = rng.uniform(0.35, 0.65), rng.uniform(-0.5, -0.3)
    thick = rng.uniform(0.05, 0.11)
    parts = [cone([tail, 0, 0], [nose, 0, 0], thick, thick * rng.uniform(0.25, 0.8), painted(0))]
    if rng.random() < 0.6:
        parts.append(ball([nose, 0, 0], [thick, thick * 0.8, thick * 0.7], painted(_some(rng))))
    if rng.random() < 0.7:
        long = thick * rng.uniform(1, 2.4)
        parts.append(
            ball(
                [rng.uniform(-0.1, 0.3), 0, thick * 0.8],
                [long, thick * 0.7, thick * 0.7],
                painted(_some(rng)),
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
                wing(
                    np.array([back, s * thick, up * 0.2]),
                    tip,
                    chord,
                    chord * rng.uniform(0.3, 1),
                    which,
                )
            )
            if span > 0.4 and rng.random() < 0.6:
                gun = tip + np.array([rng.uniform(0.25, 0.5), 0, 0])
                parts.append(
                    capsule(
                        tip - np.array([chord, 0, 0]), gun, rng.uniform(0.01, 0.025), painted(2)
                    )
                )
    return parts


def _panelled(rng: Rng) -> list[Solid]:
    """A ball between two walls, which may reach further ahead; hardly anything tells its front from its rear."""
    core, aside = rng.uniform(0.1, 0.2), rng.uniform(0.25, 0.45)
    long, high, lean = rng.uniform(0.25, 0.5), rng.uniform(0.2, 0.5), rng.normal(0, 0.05)
    ahead = float(rng.choice([0.0, 0.0, rng.uniform(0, 0.2)]))
    parts = [
        ball([0, 0, 0], [core] * 3, painted(0)),
        capsule([0, -aside, 0], [0, aside, 0], core * 0.35, painted(0)),
    ]
    parts.append(
        ball([core * 0.8, 0, core * 0.2], [core * 0.4, core * 0.6, core * 0.6], painted(2))
    )
    for s in BOTH:
        c, n = np.cos(lean * s), np.sin(lean * s)
        spin = np.array([[1, 0, 0], [0, c, -n], [0, n, c]])
        parts.append(
            box([ahead, s * aside, 0], [long, rng.uniform(0.008, 0.025), high], spin, painted(1))
        )
        if rng.random() < 0.4:
            parts.append(
                box([ahead, s * aside, 0], [long * 1.02, 0.03, 0.03], np.eye(3), painted(0))
            )
    return parts


def _saucer(rng: Rng) -> list[Solid]:
    """A disc with two prongs ahead, a turret in its middle and a pod beside."""
    wide = rng.uniform(0.32, 0.45)
    parts = [
        ball([0, 0, 0], [wide * rng.uniform(0.95, 1.2), wide, rng.uniform(0.06, 0.12)], painted(0))
    ]
    aside, length = rng.uniform(0.07, 0.2), rng.uniform(0.15, 0.35)
    for s in BOTH:
        spin = np.eye(3)
        middle, half = (
            [wide * 0.9 + length / 2, s * aside, 0],
            [length / 2 + 0.05, rng.uniform(0.04, 0.08), 0.03],
        )
        parts.append(box(middle, half, spin, painted(0)))
    parts.append(
        ball(
            [rng.uniform(-0.1, 0.1), 0, 0.09],
            [rng.uniform(0.06, 0.12)] * 2 + [0.06],
            painted(_some(rng)),
        )
    )
    side = float(rng.choice(BOTH))
    if rng.random() < 0.6:
        at = np.array([rng.uniform(0, 0.3), side * wide * 0.95, 0])
        end = at + np.array([rng.uniform(0.05, 0.15), side * 0.03, 0])
        parts.append(capsule(at, end, 0.05, painted(_some(rng))))
    for _ in range(int(rng.integers(0, 7))):
        at = np.array([*rng.uniform(-0.25, 0.25, 2), 0.09])
        parts.append(box(at, rng.uniform(0.02, 0.06, 3), np.eye(3), painted(_some(rng))))
    return parts


def _swept(rng: Rng) -> list[Solid]:
    """One swept wing, pointed ahead, with engines at its rear."""
    nose, span, back = rng.uniform(0.4, 0.65), rng.uniform(0.25, 0.5), rng.uniform(-0.45, -0.25)
    parts = [
        wing(
            np.array([back * 0.3, 0, 0]),
            np.array([back, s * span, 0]),
            (nose - back) / 2,
            rng.uniform(0.01, 0.1),
            0,
        )
        for s in BOTH
    ]
    parts.append(
        cone(
            [back, 0, 0.03],
            [nose * 0.8, 0, 0.02],
            rng.uniform(0.05, 0.1),
            0.03,
            painted(_some(rng)),
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
        parts.append(ball([rng.uniform(0, 0.2), 0, 0.08], [0.1, 0.05, 0.05], painted(2)))
    return parts


def _engined(rng: Rng) -> list[Solid]:
    """A head ahead, and two long engines behind it on a cross beam."""
    head, back, aside = rng.uniform(0.08, 0.14), rng.uniform(-0.55, -0.35), rng.uniform(0.2, 0.35)
    parts = [capsule([back * 0.6, 0, 0], [0.3, 0, 0], head * 0.5, painted(0))]
    parts.append(
        ball([0.35, 0, 0.02], [head * rng.uniform(1, 2), head, head * 0.7], painted(_some(rng)))
    )
    parts.append(
        box([back * 0.4, 0, 0], [rng.uniform(0.05, 0.12), aside, 0.03], np.eye(3), painted(0))
    )
    parts += _engines(rng, aside, back, rng.uniform(0.4, 0.75), rng.uniform(0.04, 0.09))
    return parts

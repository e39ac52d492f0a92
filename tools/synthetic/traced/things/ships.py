"""Space ships on pegs, facing +x, in millimetres."""

import numpy as np

from synthetic.traced.materials import Part, plain
from synthetic.traced.mesh import ball, box, lathe, limb, prism
from synthetic.traced.paints import Paints, parts

Rng = np.random.Generator


def ship(p: Paints, rng: Rng, size: float = 1) -> list[Part]:
    """A fighter on a clear peg, 40 mm over its plate."""
    kind = int(rng.integers(4))
    body = (_cross, _panels, _arrow, _saucer)[kind](p, rng)
    high = rng.uniform(34, 46)
    glass = plain("#c8d2d6", gloss=0.8, rough=0.08, clear=0.75)
    peg = Part(limb([0, 0, 2], [0, 0, high], 2.2, 1.8, 10), glass, solid=False)
    return [peg] + [part.scaled(size).moved(0, 0, high + 4) for part in body]


def _cross(p: Paints, rng: Rng) -> list[Part]:
    """Four wings with a gun at each tip."""
    wings = []
    for s in (1, -1):
        for up in (1, -1):
            tilt = np.radians(9 * up)
            wing = prism([[-14, 3], [0, 3], [-4, 24], [-13, 24]], -0.5, 0.5).scaled(1, s, s)
            wings.append(
                (wing.mapped([[1, 0, 0], [0, np.cos(tilt), 0], [0, s * np.sin(tilt), 1]]), p.armour)
            )
            wings.append((limb([-14, 24 * s, 4 * up], [14, 24 * s, 4 * up], 0.7, 0.5, 8), p.metal))
        wings.append((limb([-16, 5 * s, 0], [-4, 5 * s, 0], 2.6, 2.6, 12), p.metal))
    nose = limb([-14, 0, 0], [28, 0, -1], 4.2, 1.6, 12)
    cockpit = ball(2.6).scaled(2, 1, 1).moved(-1, 0, 3.2)
    return parts(
        *wings, (nose, p.armour), (cockpit, p.metal), (box(6, 8.6, 1.2).moved(8, 0, 1.2), p.accent)
    )


def _panels(p: Paints, rng: Rng) -> list[Part]:
    """A ball between two walls."""
    side = prism([[-14, 0], [-7, -13], [7, -13], [14, 0], [7, 13], [-7, 13]], -0.6, 0.6)
    walls = [
        (side.mapped([[1, 0, 0], [0, 0, 1], [0, 1, 0]], [0, 16 * s, 0]), p.metal) for s in (1, -1)
    ]
    arm = limb([0, -15, 0], [0, 15, 0], 1.6, 1.6, 10)
    window = lathe([(3, 0), (3, 0.8)], 16).mapped([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], [6, 0, 0])
    return parts(*walls, (arm, p.armour), (ball(6.5, 20), p.armour), (window, p.accent))


def _arrow(p: Paints, rng: Rng) -> list[Part]:
    """One swept wing."""
    wing = prism([[26, 0], [-16, 17], [-10, 0], [-16, -17]], -1.2, 1.4, 0.9)
    engines = [(limb([-16, 6 * s, 0], [-5, 6 * s, 1], 2.4, 2.2, 12), p.metal) for s in (1, -1)]
    spine = limb([-10, 0, 1], [12, 0, 1], 3.2, 1.4, 12)
    return parts(
        (wing, p.armour), *engines, (spine, p.cloth), (box(9, 3, 1).moved(-4, 8, 1), p.accent)
    )


def _saucer(p: Paints, rng: Rng) -> list[Part]:
    """A disc with two prongs."""
    disc = lathe([(4, -3), (19, -0.6), (19, 0.6), (5, 3.4)], 36)
    prong = prism([[14, 2], [29, 3], [29, 6], [14, 9]], -1, 1)
    prongs = [(prong.scaled(1, s, s), p.armour) for s in (1, -1)]
    pod, turret = limb([6, -17, 0], [14, -20, 0], 2.8, 2.0, 12), lathe([(5, 3.2), (4, 4.4)], 20)
    stripe = box(10, 3, 0.8).moved(-9, 6, 2.2)
    return parts((disc, p.armour), *prongs, (pod, p.metal), (turret, p.metal), (stripe, p.accent))


def fighter(p: Paints, rng: Rng) -> list[Part]:
    """A small ship."""
    return ship(p, rng)


def freighter(p: Paints, rng: Rng) -> list[Part]:
    """A large one."""
    return ship(p, rng, 1.75)

"""Soldiers on foot and in the saddle: they stand on z = 0 and face +x, in millimetres."""

import numpy as np

from synthetic.traced.materials import Part, plain
from synthetic.traced.mesh import Array, ball, box, lathe, limb
from synthetic.traced.paints import Paints, off, parts

Rng = np.random.Generator


def soldier(p: Paints, rng: Rng, weapon: str = "rifle") -> list[Part]:
    """A standing figure 30 mm tall."""
    spread, lean = rng.uniform(2, 4.5), rng.uniform(-1.5, 2.5)
    hips, chest, head = (
        np.array([0, 0, 12.0]),
        np.array([lean, 0, 20.0]),
        np.array([lean * 1.3, 0, 26.5]),
    )
    turn = rng.uniform(-0.6, 0.6)
    left, right = (off(chest, s * turn, 4.2 * s, 1.5) for s in (1, -1))
    hand = off(chest, 6.5, rng.uniform(-2, 2), rng.uniform(-3, 2))
    elbow = off((left + hand) / 2, -1, 1.5, -1)
    body = parts(
        (limb([-1.5, spread, 0.5], off(hips, 0, 1.8, 0), 1.6, 2.1), p.cloth),
        (limb([2.0, -spread, 0.5], off(hips, 0, -1.8, 0), 1.6, 2.1), p.cloth),
        (limb(hips, chest, 3.2, 3.9).scaled(1, 1.15, 1), p.armour),
        (limb(left, elbow, 1.7, 1.4), p.cloth),
        (limb(elbow, hand, 1.4, 1.2), p.cloth),
        (limb(right, off(hand, -3, -1, 0), 1.7, 1.2), p.cloth),
        (ball(2.7).shifted(head), p.skin),
    )
    return body + _gear(p, rng, chest, head) + WEAPONS[weapon](p, rng, hand)


def _gear(p: Paints, rng: Rng, chest: Array, head: Array) -> list[Part]:
    gear = []
    if rng.random() < 0.7:
        gear += parts(
            (
                lathe([(3.2, 0), (3.1, 1.5), (2.0, 2.9), (0.1, 3.3)], 16, smooth=True).shifted(
                    off(head, 0, 0, 0.4)
                ),
                p.armour,
            )
        )
    if rng.random() < 0.5:
        gear += parts((box(3, 6, 7).shifted(off(chest, -5, 0, -4)), p.cloth))
    if rng.random() < 0.35:
        gear += parts((box(1.5, 9, 1.2).shifted(off(chest, 0.5, 0, 3)), p.accent))
    return gear


def _rifle(p: Paints, rng: Rng, hand: Array) -> list[Part]:
    tip = off(hand, rng.uniform(9, 14), rng.uniform(-3, 3), rng.uniform(-3, 5))
    stock = off(hand, -6, -2.5, rng.uniform(-2, 1))
    return parts((limb(stock, hand, 1.3, 1.0, 6), p.metal), (limb(hand, tip, 0.8, 0.6, 6), p.metal))


def _spear(p: Paints, rng: Rng, hand: Array) -> list[Part]:
    tilt = np.array([rng.uniform(-0.5, 1.2), rng.uniform(-0.5, 0.5), 1.0])
    end, start = hand + tilt * 22, hand - tilt * 10
    shield = lathe([(5.5, 0), (5.0, 0.9), (1, 1.9)], 20, smooth=True).mapped(
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], off(hand, 1.5, 4.5, 0)
    )
    return parts(
        (limb(start, end, 0.55, 0.5, 6), p.skin),
        (limb(end, end + tilt * 4, 1.0, 0.1, 6), p.metal),
        (shield, p.accent),
    )


def _sword(p: Paints, rng: Rng, hand: Array) -> list[Part]:
    tip = hand + np.array([rng.uniform(4, 14), rng.uniform(-6, 6), rng.uniform(-2, 14)])
    return parts(
        (limb(hand, tip, 0.9, 0.5, 6), p.accent if rng.random() < 0.3 else p.metal),
        (ball(1.4).shifted(hand), p.skin),
    )


WEAPONS = {"rifle": _rifle, "spear": _spear, "sword": _sword}


def hero(p: Paints, rng: Rng) -> list[Part]:
    """A figure with a cloak and a sword, a little larger."""
    cloak = (
        lathe([(7.5, 2), (6, 10), (4.2, 20), (2.5, 23)], 20, smooth=True, cap=False)
        .scaled(0.8, 1, 1)
        .moved(-2.6)
    )
    return [part.scaled(1.15) for part in soldier(p, rng, "sword") + parts((cloak, p.accent))]


def kneeling(p: Paints, rng: Rng) -> list[Part]:
    """A figure down on a knee behind a long gun."""
    chest = np.array([1, 0, 12.0])
    low = parts(
        (limb([-6, 2, 1.5], [2, 3, 2.5], 1.8, 2.2), p.cloth),
        (limb([5, -3, 1], [5, -3, 7], 1.6, 2), p.cloth),
        (limb([5, -3, 7], [-1, -2, 7], 2, 2.2), p.cloth),
        (limb([-0.5, 0, 6.5], chest, 3.2, 3.8).scaled(1, 1.15, 1), p.armour),
        (ball(2.7).moved(3, 0, 18), p.skin),
        (limb([0, -4, 13], [8, -1, 14], 1.6, 1.2), p.cloth),
    )
    return (
        low + _gear(p, rng, chest, np.array([3, 0, 18.0])) + _rifle(p, rng, np.array([9, -1, 14.0]))
    )


def rider(p: Paints, rng: Rng) -> list[Part]:
    """A figure on a horse or something like one, 60 mm long."""
    hide = plain(str(rng.choice(["#5a3a22", "#8a7a68", "#2a2522", "#c8bfae"])), gloss=0.12)
    legs = [
        (limb([x, y, 0.5], [x * 0.9, y, 17], 1.5, 2.6), hide) for x in (-14, 13) for y in (-4, 4)
    ]
    beast = parts(
        *legs,
        (limb([-13, 0, 20], [13, 0, 20], 6.3, 5.6), hide),
        (limb([14, 0, 22], [23, 0, 33], 4, 2.6), hide),
        (limb([23, 0, 33], [31, 0, 29], 2.8, 1.7), hide),
        (limb([-18, 0, 22], [-25, 0, 10], 1.4, 0.7), p.cloth),
    )
    return beast + [part.moved(-1, 0, 14) for part in soldier(p, rng, "spear")]


def infantry(p: Paints, rng: Rng) -> list[Part]:
    """One of the rank and file."""
    if rng.random() < 0.25:
        return kneeling(p, rng)
    return soldier(p, rng, str(rng.choice(["rifle", "rifle", "spear", "sword"])))

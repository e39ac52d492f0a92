"""Beasts and machines: they stand on z = 0 and face +x, in millimetres."""

import numpy as np

from synthetic.traced.materials import Part
from synthetic.traced.mesh import box, lathe, limb, prism, sheet
from synthetic.traced.paints import Paints, parts

Rng = np.random.Generator


def monster(p: Paints, rng: Rng) -> list[Part]:
    """A winged beast 70 mm long: it hangs over its base."""
    wings = []
    for s in (1, -1):
        root, elbow, tip = (
            np.array([2, 5 * s, 34]),
            np.array([-6, 24 * s, 48]),
            np.array([-24, 44 * s, 38]),
        )
        for a, b in ((root, elbow), (elbow, tip)):
            wings.append((limb(a, b, 1.4, 0.8, 8), p.armour))
        wings.append(
            (
                sheet([root, elbow, np.array([-22, 20 * s, 34]), np.array([-12, 5 * s, 30])]),
                p.accent,
            )
        )
        wings.append(
            (
                sheet([elbow, tip, np.array([-34, 28 * s, 30]), np.array([-22, 20 * s, 34])]),
                p.accent,
            )
        )
    legs = [
        (limb([x, 9 * s, 1], [x * 0.6, 6 * s, 20], 3, 4.5), p.armour)
        for x in (-14, 12)
        for s in (1, -1)
    ]
    body = [
        (limb([-14, 0, 22], [12, 0, 28], 10, 9), p.armour),
        (limb([14, 0, 32], [28, 0, 46], 5.5, 4), p.armour),
        (limb([28, 0, 47], [40, 0, 44], 4.4, 2.4), p.cloth),
        (limb([-20, 0, 20], [-38, 8, 8], 5, 2.5), p.armour),
        (limb([-38, 8, 8], [-50, 2, 6], 2.5, 0.6), p.armour),
    ]
    return parts(*wings, *legs, *body)


def walker(p: Paints, rng: Rng) -> list[Part]:
    """A machine on two legs, 70 mm tall."""
    legs = []
    for s in (1, -1):
        legs += [
            (limb([4, 12 * s, 2], [-9, 11 * s, 22], 2.6, 2.6), p.metal),
            (limb([-9, 11 * s, 22], [2, 9 * s, 42], 2.8, 3.2), p.metal),
            (box(16, 9, 3, 0.8).moved(5, 12 * s, 0), p.metal),
        ]
    hull = [
        (box(30, 20, 20, 0.85).moved(3, 0, 42), p.armour),
        (box(9, 16, 9, 0.8).moved(22, 0, 46), p.armour),
    ]
    guns = [(limb([24, 5 * s, 48], [38, 5 * s, 47], 1.3, 1.0, 8), p.metal) for s in (1, -1)]
    top = [
        (box(9, 7, 3).moved(-2, 0, 62), p.accent),
        (limb([-8, 6, 62], [-10, 7, 80], 0.5, 0.4, 6), p.metal),
    ]
    return parts(*legs, *hull, *guns, *top)


def tank(p: Paints, rng: Rng) -> list[Part]:
    """A vehicle 62 mm long that hovers on a short peg."""
    lift = rng.uniform(3, 14)
    hull = prism(
        [[-28, -14], [24, -16], [34, -5], [34, 5], [24, 16], [-28, 14]], lift, lift + 12, 0.82
    )
    pods = [
        (limb([-26, 19 * s, lift + 7], [14, 19 * s, lift + 6], 4.5, 3.6, 12), p.metal)
        for s in (1, -1)
    ]
    turret = lathe([(9, lift + 12), (9, lift + 15), (6, lift + 19)], 20)
    peg = limb([0, 0, 0], [0, 0, lift], 3, 3, 8)
    gun = limb([5, 0, lift + 15], [30, 0, lift + 17], 1.6, 1.3, 8)
    stripe = box(22, 5, 0.6).moved(-12, 0, lift + 12)
    return parts(
        (hull, p.armour),
        *pods,
        (turret, p.armour),
        (peg, p.metal),
        (gun, p.metal),
        (stripe, p.accent),
    )

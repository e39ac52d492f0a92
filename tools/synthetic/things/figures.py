"""What stands on bases."""

from collections.abc import Callable

import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.things.solids import Solid, ball, box, capsule, cone, leaning, turned


def any_colour(rng: Rng) -> Floats:
    """A paint: mostly dull, sometimes bright."""
    grey = 0.5 * rng.uniform(0.1, 1) ** 2.5
    strength = rng.choice([0.15, 0.5, 1.2])
    return np.asarray(np.clip(grey * np.exp(strength * rng.normal(size=3)), 0.005, 0.8), np.float32)


def palette(rng: Rng) -> Floats:
    """A unit's paints (5, 3): cloth, armour, skin, metal, trim."""
    skin = np.array([0.2, 0.32, 0.6], np.float32) * rng.uniform(0.3, 1.1)
    return np.stack(
        [
            any_colour(rng),
            any_colour(rng),
            skin,
            np.full(3, rng.uniform(0.03, 0.4)),
            any_colour(rng),
        ]
    ).astype(np.float32)


def trooper(rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """Someone on two legs, `size` times 30 mm tall."""
    s, turn = size, turned(rng.uniform(0, 2 * np.pi))
    lean = leaning(rng, 0.35)

    def at(x: float, y: float, z: float) -> Array:
        return np.asarray(foot + s * (turn @ [x, y, 0] + lean * z))

    stance = rng.uniform(2, 6)
    parts = [
        capsule(at(rng.uniform(-3, 3), side * stance, 0), at(0, side * 1.5, 12), s * 2, paints[0])
        for side in (-1, 1)
    ]
    parts.append(ball(at(0, 0, 17), s * np.array([3.2, 4.6, 6.5]), paints[1], turn))
    parts.append(
        ball(at(1, 0, 26), s * np.full(3, rng.uniform(2.2, 3.2)), paints[int(rng.integers(1, 5))])
    )
    hands = [
        at(rng.uniform(0, 9), side * rng.uniform(2, 9), rng.uniform(10, 24)) for side in (-1, 1)
    ]
    parts += [
        capsule(at(0, side * 4.5, 21), hand, s * 1.4, paints[0])
        for side, hand in zip((-1, 1), hands, strict=True)
    ]
    return parts + _gear(rng, at, hands[0], s, paints)


def _gear(
    rng: Rng, at: Callable[[float, float, float], Array], hand: Array, s: float, paints: Floats
) -> list[Solid]:
    parts = []
    if rng.random() < 0.7:
        reach = rng.uniform(5, 22)
        parts.append(
            capsule(
                hand, hand + s * reach * leaning(rng, 2.2), s * rng.uniform(0.5, 1.2), paints[3]
            )
        )
    if rng.random() < 0.3:
        parts.append(
            cone(
                at(-7, 0, rng.uniform(2, 8)),
                at(-1, 0, 22),
                s * rng.uniform(5, 9),
                s * 2.5,
                paints[4],
            )
        )
    if rng.random() < 0.25:
        parts.append(box(at(-4, 0, 19), s * np.array([2, 3, 4]), np.eye(3), paints[3]))
    if rng.random() < 0.2:
        parts.append(
            cone(hand, hand + s * np.array([0.3, 0, 0.3]), s * rng.uniform(4, 7), s * 4, paints[4])
        )
    return parts


def beast(rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """Something on four legs, with a neck, perhaps wings; `size` times 30 mm long."""
    s, turn = size, turned(rng.uniform(0, 2 * np.pi))

    def at(x: float, y: float, z: float) -> Array:
        return np.asarray(foot + s * (turn @ [x, y, z]))

    height = rng.uniform(8, 16)
    parts = [
        capsule(at(x, y, 0), at(x * 0.8, y * 0.5, height), s * 1.8, paints[0])
        for x in (-9, 9)
        for y in (-4.5, 4.5)
    ]
    parts.append(ball(at(0, 0, height + 3), s * np.array([13, 5.5, 5.5]), paints[0], turn))
    head = at(rng.uniform(14, 20), rng.uniform(-4, 4), height + rng.uniform(2, 16))
    parts += [
        capsule(at(10, 0, height + 4), head, s * 3, paints[0]),
        ball(head, s * np.array([5, 3, 3]), paints[1], turn),
    ]
    parts.append(
        capsule(
            at(-12, 0, height + 2),
            at(-22, rng.uniform(-8, 8), rng.uniform(3, 15)),
            s * 1.5,
            paints[0],
        )
    )
    if rng.random() < 0.4:
        span = rng.uniform(10, 26)
        parts += [
            cone(
                at(0, y, height + 5),
                at(rng.uniform(-8, 6), y * span / 4, height + rng.uniform(5, 20)),
                s * 4,
                s,
                paints[4],
            )
            for y in (-4, 4)
        ]
    if rng.random() < 0.5:
        parts += trooper(rng, at(-2, 0, height + 4), s * 0.7, paints)
    return parts


def machine(rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """A walker, a tank or a statue of boxes, `size` times 30 mm long."""
    s, turn = size, turned(rng.uniform(0, 2 * np.pi))
    height = rng.uniform(0, 25)
    parts = []
    if height > 8:
        for y in (-7, 7):
            hip = foot + s * (turn @ [rng.uniform(-4, 4), y * 0.6, height])
            parts.append(
                capsule(foot + s * (turn @ [rng.uniform(-8, 8), y, 0]), hip, s * 2.5, paints[3])
            )
    body = foot + s * np.array([0, 0, height + 5])
    parts.append(box(body, s * rng.uniform([9, 6, 4], [14, 9, 7]), turn, paints[0]))
    top = body + s * np.array([0, 0, 7])
    parts.append(
        box(top, s * rng.uniform([3, 3, 2], [7, 6, 4]), turned(rng.uniform(0, 6)), paints[1])
    )
    parts.append(
        capsule(
            top, top + s * (turn @ [rng.uniform(10, 24), rng.uniform(-5, 5), 2]), s * 1.2, paints[3]
        )
    )
    return parts


def tank(rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """A hull between two tracks, `size` times 30 mm long or more, that hides most of the base under it."""
    long, turn = size * rng.uniform(13, 20), turned(rng.uniform(0, 2 * np.pi))
    wide, low, high = long * np.array(
        [rng.uniform(0.35, 0.65), rng.uniform(0, 0.15), rng.uniform(0.2, 0.35)]
    )
    middle = foot + turn @ [rng.uniform(-0.3, 0.3) * long, rng.uniform(-0.2, 0.2) * long, 0]

    def at(x: float, y: float, z: float) -> Array:
        return np.asarray(middle + turn @ [x, y, z])

    parts = [box(at(0, 0, low + high), [long * rng.uniform(0.7, 1), wide, high], turn, paints[0])]
    if rng.random() < 0.5:  # a pointed nose
        nose = turn @ turned(np.pi / 4)
        parts.append(
            box(
                at(0.8 * long, 0, low + high), [0.7 * wide, 0.7 * wide, 0.9 * high], nose, paints[0]
            )
        )
    track, reach = long * rng.uniform(0.1, 0.2), long * rng.uniform(0.7, 1)
    tread = paints[int(rng.integers(0, 4))]
    round_ones = rng.random() < 0.5
    for y in (-wide, wide):
        ends = at(-reach, y, track), at(reach, y, track)
        block = [reach, track, track]
        parts.append(
            capsule(*ends, track, tread) if round_ones else box(at(0, y, track), block, turn, tread)
        )
    top = at(rng.uniform(-0.4, 0.3) * long, 0, low + 2 * high)
    turret = wide * rng.uniform(0.3, 0.8)
    up = np.asarray(top + np.array([0, 0, 0.5 * turret]))
    drum, cube = (
        cone(top, up, turret, 0.8 * turret, paints[1]),
        box(top, np.full(3, turret), turn, paints[1]),
    )
    parts.append(drum if rng.random() < 0.5 else cube)
    way = turned(rng.uniform(-0.6, 0.6)) @ turn @ [long * rng.uniform(0.5, 1.1), 0, 0]
    parts.append(capsule(up, up + way, long * rng.uniform(0.03, 0.07), paints[3]))
    mark = at(rng.uniform(-0.6, 0.6) * long, rng.uniform(-0.4, 0.4) * wide, low + 2 * high)
    return [*parts, box(mark, [0.2 * long, 0.2 * wide, 0.3], turn, any_colour(rng))]


def plant(rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """Leaves or spikes out of one foot."""
    count = int(rng.integers(4, 14))
    tips = [foot + size * rng.uniform(8, 30) * leaning(rng, 1.4) for _ in range(count)]
    return [
        cone(foot, tip, size * rng.uniform(1, 3), 0.3, paints[i % 2]) for i, tip in enumerate(tips)
    ]


def heap(rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """Lumps: a rock, a blob, a tree's crown."""
    count = int(rng.integers(1, 7))
    spread = size * rng.uniform(2, 8)
    return [
        ball(
            foot + rng.normal(size=3) * spread * [1, 1, 0.4] + [0, 0, spread],
            size * rng.uniform(3, 9, 3),
            paints[i % 2],
        )
        for i in range(count)
    ]


def figure(rng: Rng, foot: Array, radius: float, paints: Floats) -> list[Solid]:
    """What stands on a base of `radius` mm at `foot`, most often a trooper on a small one."""
    small = radius < 22
    makers = (trooper, beast, machine, tank, plant, heap)
    often = [0.78, 0.04, 0.04, 0, 0.06, 0.08] if small else [0.13, 0.26, 0.2, 0.26, 0.07, 0.08]
    maker = makers[int(rng.choice(len(makers), p=often))]
    size = rng.uniform(0.8, 1.3) if maker is trooper else radius / 16 * rng.uniform(0.5, 1.1)
    if maker is trooper and not small:
        size *= rng.uniform(1.0, min(radius / 14, 3))
    return maker(rng, foot, float(size), paints)


# --- by name, as armies have them ---

NAMED: dict[str, tuple[Callable[[Rng, Array, float, Floats], list[Solid]], float]] = {
    "inf": (trooper, 1.0),
    "hero": (trooper, 1.15),
    "cav": (beast, 1.35),
    "monster": (beast, 1.9),
    "walker": (machine, 1.5),
    "tank": (tank, 1.8),
}
"""Who makes each figure, and how large it usually is."""


def named_figure(name: str, rng: Rng, foot: Array, size: float, paints: Floats) -> list[Solid]:
    """A figure of an army at a place, `size` times as large as usual."""
    maker, usual = NAMED[name]
    return maker(rng, foot, usual * size, paints)

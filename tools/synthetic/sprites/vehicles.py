"""War machines of boxes and barrels: for bodies that no free mesh shows."""

import numpy as np

from synthetic.arrays import Array, Rng
from synthetic.sprites.shapes import Shape, joined
from synthetic.things.solids import box, capsule, cone, turned

STILL = np.eye(3)


def vehicle(rng: Rng) -> Shape:
    """A tank, a walker or a car, along x."""
    maker = (_tank, _walker, _tank)[int(rng.integers(3))]
    return maker(rng)


def _solid(one: object, part: int) -> Shape:
    points = np.asarray(one.mesh.points_mm)  # type: ignore[attr-defined]
    return Shape(points, np.full(len(points), part, np.uint8))


def _box(center: Array, half: Array, part: int, turn: Array = STILL) -> Shape:
    return _solid(box(center, half, turn, np.ones(3, np.float32)), part)


def _bar(start: Array, end: Array, radius: float, part: int) -> Shape:
    return _solid(capsule(start, end, radius, np.ones(3, np.float32)), part)


def _tank(rng: Rng) -> Shape:
    """A hull between two tracks, with a turret, a gun, hatches and boxes."""
    long, wide, high = rng.uniform([40, 22, 14], [60, 34, 24])
    half = np.array([long, wide, high]) / 2
    parts = [_box(np.array([0, 0, 0.55 * high]), half * [0.9, 0.62, 0.42], 1)]
    for side in (-1, 1):
        at = np.array([0, side * 0.8 * half[1], 0.4 * high])
        parts.append(_box(at, half * [0.85, 0.2, 0.6], 2))
        for share in (-0.85, 0.85):
            hub = at + np.array([share * half[0], 0, 0])
            aside = np.array([0, 0.2 * half[1], 0])
            parts.append(_bar(hub - aside, hub + aside, 0.33 * high, 2))
    turret = np.array([rng.uniform(-0.2, 0.1) * long, 0, 1.15 * high])
    turn = turned(rng.uniform(-1, 1))
    if rng.random() < 0.5:
        parts.append(_box(turret, half * [0.4, 0.5, 0.4], 3, turn))
    else:
        top = turret + np.array([0, 0, 0.4 * high])
        parts.append(
            _solid(
                cone(
                    turret - [0, 0, 0.2 * high],
                    top,
                    0.55 * half[1],
                    0.4 * half[1],
                    np.ones(3, np.float32),
                ),
                3,
            )
        )
    muzzle = turret + turn @ [rng.uniform(0.5, 0.9) * long, 0, rng.uniform(-1, 3)]
    parts.append(_bar(turret, muzzle, float(rng.uniform(0.8, 2.2)), 4))
    return joined(parts + _fittings(rng, half, high))


def _fittings(rng: Rng, half: Array, high: float) -> list[Shape]:
    """Boxes, pipes and hatches on a hull."""
    parts = []
    for _ in range(int(rng.integers(4, 12))):
        spot = rng.uniform(-0.8, 0.8, 2) * half[:2]
        at = np.array([*spot, high * rng.uniform(0.9, 1.1)])
        if rng.random() < 0.7:
            parts.append(_box(at, rng.uniform(1, 4, 3), int(rng.integers(3, 7)), turned(spot[0])))
        else:
            parts.append(_bar(at, at + rng.normal(0, 4, 3), 1.0, int(rng.integers(4, 7))))
    return parts


def _walker(rng: Rng) -> Shape:
    """A machine on two or four legs, with arms or guns."""
    high, wide = rng.uniform(40, 60), rng.uniform(14, 24)
    parts, legs = [], [(0.0, -1), (0.0, 1)]
    if rng.random() < 0.4:
        legs = [(x, side) for x in (-0.8, 0.8) for side in (-1, 1)]
    for x, side in legs:
        foot = np.array([x * wide + rng.normal(0, 3), side * 0.7 * wide, 1.5])
        knee = np.array([x * 0.8 * wide + 4, side * 0.6 * wide, 0.28 * high])
        hip = np.array([x * 0.3 * wide, side * 0.3 * wide, 0.5 * high])
        parts += [_bar(foot, knee, 0.14 * wide, 2), _bar(knee, hip, 0.17 * wide, 1)]
        parts.append(_box(foot, np.array([0.28 * wide, 0.2 * wide, 1.5]), 3))
    middle = np.array([0, 0, 0.7 * high])
    parts.append(_box(middle, np.array([0.45, 0.55, 0.5]) * wide, 1, turned(rng.normal(0, 0.3))))
    parts.append(
        _box(middle + np.array([0.4 * wide, 0, 0.2 * wide]), np.array([0.2, 0.25, 0.22]) * wide, 4)
    )
    for side in (-1, 1):
        shoulder = middle + np.array([0, side * 0.75 * wide, 0.3 * wide])
        parts.append(_box(shoulder, np.array([0.3, 0.25, 0.3]) * wide, 5))
        hand = shoulder + rng.uniform([0.3 * wide, -4, -12], [1.2 * wide, 4, 0])
        parts.append(_bar(shoulder, hand, 0.13 * wide, int(rng.integers(2, 7))))
    return joined(parts)

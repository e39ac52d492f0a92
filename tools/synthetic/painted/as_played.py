"""Bases as they are played: painted rims, moulded plastic, snow over the edge, ranks, figures that lean out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.develop import LIGHT
from synthetic.painted.art import ink
from synthetic.painted.dressed import DRESSED, along, dressed
from synthetic.painted.plates import Plate, rounded, spun
from synthetic.painted.prints import Print
from synthetic.painted.wardrobe import Body, Wardrobe
from synthetic.things.figures import any_colour, figure, trooper
from synthetic.things.solids import Solid, ball, box, capsule, cone, turned

MOULDED = 0.25
"""The share of bases in one colour with their figure: board games and unpainted plastic."""
LOST_IN_MAT = 0.15
"""The share whose rim and top are nearly as the mat."""
DARK = 0.25
"""The share of black and nearly black ones."""
BRIGHT = 0.15
"""The share whose rim is painted in a bright colour."""
STREWN, MORE_OUT = 0.4, 0.2
"""The shares of bases with tufts, snow or rocks along their edge, and of bodies with one more thing that leans out."""


def as_played(rng: Rng, base: Plate, mat: Picture) -> Plate:
    """A base painted as players do it."""
    kind = rng.random()
    if kind < MOULDED:
        grey = np.full(3, rng.uniform(0.02, 0.5), np.float32)
        paint = grey if rng.random() < 0.4 else np.array(ink(rng), np.float32)
        return _plain(rng, base, paint)
    if kind < MOULDED + LOST_IN_MAT:
        return _as_mat(rng, base, mat)
    if kind < MOULDED + LOST_IN_MAT + DARK:
        paint = np.asarray(rng.uniform(0.003, 0.03) * np.exp(rng.normal(0, 0.2, 3)), np.float32)
        top = replace(
            base, rim=paint, plain=None, tint=base.tint * np.float32(rng.uniform(0.1, 0.8))
        )
        return top if rng.random() < 0.6 else _plain(rng, base, paint)
    if kind < MOULDED + LOST_IN_MAT + DARK + BRIGHT:
        return replace(base, rim=np.array(ink(rng), np.float32), ring_mm=float(rng.uniform(0, 1.5)))
    return replace(base, ring_mm=0.0, wobble_mm=float(rng.uniform(0, 2.5)))


def _plain(rng: Rng, base: Plate, paint: Floats) -> Plate:
    """One coat on all of it, sometimes with a raised middle of the same stuff."""
    gloss = float(rng.choice([0, rng.uniform(0, 0.8)]))
    return replace(
        base, rim=paint, plain=paint, gloss=gloss, highlight=float(rng.choice([0, 0.15]))
    )


def _as_mat(rng: Rng, base: Plate, mat: Picture) -> Plate:
    mean = LIGHT[mat[::16, ::16]].mean((0, 1))
    paint = np.asarray(mean * np.exp(rng.normal(0, 0.15) + rng.normal(0, 0.08, 3)), np.float32)
    tint = np.exp(rng.normal(0, 0.15, 3)).astype(np.float32)
    top = None if rng.random() < 0.7 else paint * np.float32(rng.uniform(0.7, 1.3))
    return replace(base, rim=paint, tint=tint, plain=top, ring_mm=0.0)


def is_moulded(base: Plate) -> bool:
    """Whether the top has the rim's own colour."""
    return base.plain is not None and bool(np.all(base.plain == base.rim))


# --- what stands on them ---


def posed(rng: Rng, base: Plate, paints: Floats, wardrobe: Wardrobe | None = None) -> list[Body]:
    """A figure that may lean far out over its base, and what is strewn over the edge."""
    if wardrobe is not None and rng.random() < DRESSED:
        figure_there = dressed(rng, base, paints, wardrobe, is_moulded(base))
        return [figure_there, *_beside(rng, base, paints)]
    return [*_built(rng, base, paints)]


def _beside(rng: Rng, base: Plate, paints: Floats) -> list[Solid]:
    """What there is on a base beside a body out of the wardrobe."""
    parts = _strewn(rng, base) if rng.random() < STREWN else []
    if rng.random() < MORE_OUT:
        foot = np.array([*base.center_mm, base.top_mm])
        parts += _leaning_out(rng, foot, base.radius_mm, _worn(rng, base, paints))
    return parts


def _built(rng: Rng, base: Plate, paints: Floats) -> list[Solid]:
    """A figure of simple solids."""
    paints = _worn(rng, base, paints)
    lean = rng.normal(size=2) * 0.2 * base.radius_mm
    foot = np.array([*base.center_mm + lean, base.top_mm])
    parts = figure(rng, foot, base.radius_mm * rng.uniform(0.8, 1.5), paints)
    if rng.random() < 0.45:
        parts += _leaning_out(rng, foot, base.radius_mm, paints)
    return parts + (_strewn(rng, base) if rng.random() < STREWN else [])


def mounted(
    rng: Rng, base: Plate, half_mm: Array, paints: Floats, wardrobe: Wardrobe | None = None
) -> list[Body]:
    """A beast along an oval base of half such a length and width, its rider, and what they carry."""
    if wardrobe is not None and rng.random() < DRESSED:
        rider = dressed(rng, base, paints, wardrobe, is_moulded(base))
        return [along(rng, base, half_mm, rider)]
    return [*_built_mount(rng, base, half_mm, paints)]


def _built_mount(rng: Rng, base: Plate, half_mm: Array, paints: Floats) -> list[Solid]:
    """The same of simple solids."""
    paints = _worn(rng, base, paints)
    (long, wide), turn = half_mm.tolist(), turned(base.turn_rad)
    foot = np.array([*base.center_mm, base.top_mm])

    def at(x: float, y: float, z: float) -> Array:
        return np.asarray(foot + turn @ [x * long, y * wide, z])

    high, thick = rng.uniform(0.5, 1.3) * wide, rng.uniform(0.3, 0.6) * wide
    parts = [
        capsule(at(x, y, 0), at(0.8 * x, 0.5 * y, high), 0.09 * wide, paints[0])
        for x in (-0.6, 0.6)
        for y in (-0.4, 0.4)
    ]
    body = [rng.uniform(0.55, 0.95) * long, thick, thick]
    parts.append(ball(at(0, 0, high + 0.5 * thick), body, paints[0], turn))
    head = at(rng.uniform(0.8, 1.4), rng.uniform(-0.4, 0.4), high + rng.uniform(0.2, 1.3) * wide)
    parts.append(capsule(at(0.6, 0, high + 0.5 * thick), head, 0.5 * thick, paints[0]))
    parts.append(ball(head, 0.6 * thick * np.array([1.6, 1, 1]), paints[1], turn))
    tail = at(rng.uniform(-1.5, -0.9), rng.uniform(-0.5, 0.5), rng.uniform(0.2, 1.2) * high)
    parts.append(capsule(at(-0.6, 0, high), tail, 0.3 * thick, paints[0]))
    if rng.random() < 0.8:
        parts += trooper(rng, at(-0.1, 0, high + thick), wide / 20, paints)
    if rng.random() < 0.4:
        parts += _leaning_out(rng, foot, wide, paints)
    return parts


def _worn(rng: Rng, base: Plate, paints: Floats) -> Floats:
    """The paints of a figure on a base: those of moulded plastic are the base's own, others are often dark."""
    if is_moulded(base) and rng.random() < 0.8:
        tones = rng.uniform(0.6, 1.4, (len(paints), 1)).astype(np.float32)
        return np.asarray(base.rim[None] * tones, np.float32)
    if rng.random() < 0.35:
        return np.asarray(paints * np.float32(rng.uniform(0.05, 0.4)), np.float32)
    return paints


def _leaning_out(rng: Rng, foot: Array, radius: float, paints: Floats) -> list[Solid]:
    """Wings, a banner, a spear, a tail or a cloak that reaches over the edge."""
    parts = list[Solid]()
    for _ in range(int(rng.integers(1, 4))):
        way, out = rng.uniform(0, 6.3), radius * rng.uniform(0.6, 1.9)
        high, low = rng.uniform(0, 1.6) * radius, rng.uniform(0.2, 1.4) * radius
        tip = foot + np.array([out * np.cos(way), out * np.sin(way), high])
        root = foot + np.array([0, 0, low])
        paint = paints[int(rng.integers(len(paints)))]
        kind = int(rng.integers(4))
        if kind == 0:
            parts.append(capsule(root, tip, float(radius * rng.uniform(0.03, 0.12)), paint))
        elif kind == 1:
            parts.append(cone(root, tip, float(radius * rng.uniform(0.15, 0.4)), 0.5, paint))
        elif kind == 2:
            size = radius * rng.uniform([0.3, 0.15, 0.03], [0.7, 0.5, 0.15])
            parts.append(ball((root + tip) / 2, size, paint, turned(way)))
        else:
            half = radius * rng.uniform([0.2, 0.02, 0.2], [0.5, 0.06, 0.6])
            parts.append(box((root + tip) / 2, half, turned(way), paint))
    return parts


def _strewn(rng: Rng, base: Plate) -> list[Solid]:
    """Tufts, snow or rocks along the edge, which hide parts of the rim."""
    paint, parts = any_colour(rng), list[Solid]()
    if rng.random() < 0.25:
        paint = np.full(3, rng.uniform(0.5, 0.85), np.float32)
    for _ in range(int(rng.integers(2, 14))):
        way = rng.uniform(0, 6.3)
        out = (base.radius_mm - rng.uniform(-0.8, 2.5)) * np.array([np.cos(way), np.sin(way)])
        spot = [*(base.center_mm + out), base.top_mm - 0.5]
        size = rng.uniform([1, 1, 1], [3.5, 3.5, 3])
        parts.append(ball(spot, size, paint * np.float32(rng.uniform(0.7, 1.3)), turned(way)))
    return parts


# --- how they stand ---


def ranks(rng: Rng, style: Plate, reach_mm: float) -> list[Plate]:
    """Bases of one make in rows or in a blob, in contact or nearly."""
    step = 2 * style.radius_mm * rng.choice([1.004, rng.uniform(1.0, 1.08), rng.uniform(1.0, 1.4)])
    turn, packed = rng.uniform(0, 6.3), rng.random() < 0.4
    rows, columns = rng.integers(1, 5), rng.integers(2, 7)
    found = list[Plate]()
    for row in range(int(rows)):
        for column in range(int(columns)):
            aside = 0.5 * (row % 2) if packed else 0.0
            place = step * np.array([[column + aside, row * (0.867 if packed else 1.0)]])
            place = place - step * np.array([[columns - 1, rows - 1]]) / 2
            at = spun(place, turn)[0]
            if rng.random() < 0.9 and np.abs(at).max() < reach_mm - style.radius_mm:
                found.append(replace(style, center_mm=at))
    return found or [style]


def tray_under(rng: Rng, plates: Sequence[Plate]) -> list[Print]:
    """A movement tray below round bases of a unit: a dark or painted slab a little larger than they."""
    middles, turn = np.array([plate.center_mm for plate in plates]), float(rng.uniform(0, 6.3))
    return tray_around(rng, middles, turn, plates[0].radius_mm * rng.uniform(1.02, 1.4))


def tray_around(rng: Rng, points: Array, turn: float, border_mm: float) -> list[Print]:
    """A tray that reaches so far beyond points (N, 2)."""
    low, high = (f(spun(points, -turn), 0) for f in (np.min, np.max))
    half = (high - low) / 2 + border_mm
    paint = np.full(3, rng.uniform(0.003, 0.05), np.float32)
    paint = paint if rng.random() < 0.6 else any_colour(rng)
    middle = spun((low + high)[None] / 2, turn)
    slab = middle + spun(rounded(half, 3.0), turn)
    return [
        Print(slab + rng.normal(size=2), paint * np.float32(0.3), 0.7, 1.5),
        Print(slab, paint, 1.0),
    ]

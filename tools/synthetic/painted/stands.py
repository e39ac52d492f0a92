"""Stands of small scales, several figures on a base covered as the ground is; and scenery that looks like one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.develop import LIGHT
from synthetic.painted.plates import Plate, colour, rounded, spun
from synthetic.things.figures import any_colour
from synthetic.things.solids import Solid, ball, box, capsule, turned

AS_GROUND = 0.4
"""The share of stands covered with the very stuff of the ground they stand on."""
EARTHS = ("462d1e", "6e4b32", "5a4632", "82643c", "321e14", "3c5a28", "505a32", "141414", "787878")
"""Paints of their rims: earth, grass, black and grey."""
CORNERS_MM, BEVELS_MM, HEIGHTS_MM = (0.2, 4.0), (0.0, 2.6), (1.2, 4.2)
"""Radius of their corners, how much narrower their top is all round, and their height."""
TALL_MM = (8.0, 19.0)
"""Height of their figures."""
CREWED = 0.25
"""The share of stands with a gun, a cart or a vehicle."""
STREWN = 0.6
"""The share with stones and tufts."""


def flocked(rng: Rng, base: Plate, half_mm: Array, mat: int, tiles: Sequence[Picture]) -> Plate:
    """A base of half such a length and width, covered as the ground of a table is."""
    tile = mat if rng.random() < AS_GROUND else int(rng.integers(len(tiles)))
    paint = colour(str(rng.choice(EARTHS))) * np.float32(rng.uniform(0.5, 1.5))
    if rng.random() < 0.2:
        paint = LIGHT[tiles[tile][::16, ::16]].mean((0, 1)) * np.float32(rng.uniform(0.5, 1.2))
    tint = rng.uniform(0.5, 1.2) * np.exp(rng.normal(0, 0.1, 3))
    corner = min(float(rng.uniform(*CORNERS_MM)), 0.4 * float(half_mm.min()))
    return replace(
        base, outline_mm=rounded(half_mm, corner), tile=tile, rim=np.asarray(paint, np.float32),
        tint=np.asarray(tint, np.float32), plain=None, glyph=None, gloss=0.0, is_base=False,
        inset_mm=float(rng.uniform(*BEVELS_MM)), height_mm=float(rng.uniform(*HEIGHTS_MM)),
        ring_mm=float(rng.choice([0, rng.uniform(0, 1.5)])), wobble_mm=float(rng.uniform(0, 1.5)),
        highlight=float(rng.choice([0, rng.uniform(0, 0.3)])),
    )  # fmt: skip


def small_figures(rng: Rng, stand: Plate, half_mm: Array, paints: Floats) -> list[Solid]:
    """What stands on a stand: some men in a row or anywhere, at times a gun or a vehicle, and what is strewn."""
    tall = float(rng.uniform(*TALL_MM))
    count, in_row = int(rng.integers(2, 7)), rng.random() < 0.5
    along = (np.arange(count) + 0.5) / count * 1.7 - 0.85
    places = np.column_stack([along, rng.uniform(-0.3, 0.3, count)])
    if not in_row:
        places = rng.uniform(-0.8, 0.8, (count, 2))
    parts: list[Solid] = []
    if rng.random() < CREWED:
        parts += _gun(rng, _on(stand, rng.uniform(-0.3, 0.3, 2) * half_mm), tall, paints)
    for place in places:
        parts += _man(rng, _on(stand, place * half_mm), tall * rng.uniform(0.6, 1.1), paints)
    if rng.random() < STREWN:
        strewn = any_colour(rng)
        for _ in range(int(rng.integers(1, 7))):
            size = rng.uniform(0.6, 2.6, 3) * [1, 1, 0.7]
            parts.append(ball(_on(stand, rng.uniform(-0.95, 0.95, 2) * half_mm), size, strewn))
    return parts


def _on(stand: Plate, aside_mm: Array) -> Array:
    """A place on top of a stand, by how far it lies along and across it."""
    at = stand.center_mm + spun(aside_mm[None], stand.turn_rad)[0]
    return np.array([*at, stand.top_mm])


def _man(rng: Rng, foot: Array, tall: float, paints: Floats) -> list[Solid]:
    """Legs and body, a head, arms with a weapon; some kneel or lie."""
    lean = rng.normal(0, 0.15 if rng.random() < 0.8 else 1.2, 2) * tall
    reach = lean + rng.normal(0, 0.25, 2) * tall
    neck = foot + np.append(lean, 0.75 * tall)
    hand = foot + np.append(reach, rng.uniform(0.3, 0.9) * tall)
    tip = hand + rng.normal(0, 0.25, 3) * tall
    up = np.array([0, 0, tall])
    paint, metal = paints[int(rng.integers(2))], paints[3]
    return [
        capsule(foot, neck, 0.14 * tall, paint),
        ball(neck + 0.12 * up, 0.12 * tall, paints[int(rng.integers(5))]),
        capsule(neck - 0.15 * up, hand, 0.06 * tall, paint),
        capsule(hand, tip, 0.04 * tall, metal),
    ]


def _gun(rng: Rng, foot: Array, tall: float, paints: Floats) -> list[Solid]:
    """A gun on its wheels, or a small vehicle."""
    turn, size = turned(rng.uniform(0, 6.3)), rng.uniform([0.6, 0.3, 0.25], [1.3, 0.6, 0.5]) * tall
    middle = foot + np.array([0, 0, size[2]])
    end = middle + turn @ [rng.uniform(0.8, 2.0) * size[0], 0, 0.3 * tall]
    body = box(middle, size * [1, 1, rng.uniform(0.3, 1)], turn, paints[0])
    return [body, capsule(middle, end, 0.08 * tall, paints[3])]


# --- scenery ---


def any_strip(rng: Rng, plain: Plate, reach_mm: float, tiles: Sequence[Picture]) -> list[Plate]:
    """A road, a river, a field or the foot of a ruin: low, flocked, and as straight as a stand."""
    half = np.array([rng.uniform(40, 170), rng.uniform(22, 60)]) / 2 * rng.uniform(1, 1.6)
    turn, middle = float(rng.uniform(0, 6.3)), rng.uniform(-1, 1, 2) * reach_mm
    strip = flocked(rng, plain, half, plain.tile, tiles)
    lane = rounded(half * [1, rng.uniform(0.2, 0.7)], 0.5)
    paved = rng.random() < 0.6
    glyph = (spun(lane, turn), np.asarray(any_colour(rng), np.float32)) if paved else None
    count = int(rng.choice([1, 1, 2, 3]))
    step = spun(np.array([[2 * half[0] + rng.choice([0.1, rng.uniform(0, 4)]), 0.0]]), turn)[0]
    return [
        replace(
            strip, center_mm=middle + k * step, turn_rad=turn, glyph=glyph, is_clutter=True,
            outline_mm=spun(strip.outline_mm, turn),
        )
        for k in range(count)
    ]  # fmt: skip


def gabled(rng: Rng, house: Plate, half_mm: Array) -> Plate:
    """A house whose roof has a ridge: one half lies in the shade."""
    shade = np.asarray(house.rim * np.float32(rng.uniform(0.3, 2.0)), np.float32)
    corners = half_mm * [[1, 1], [-1, 1], [-1, 0], [1, 0]]
    return replace(house, glyph=(spun(corners, house.turn_rad), shade))

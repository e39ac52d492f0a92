"""Chooses bodies out of a wardrobe, and paints them as players do."""

from dataclasses import replace

import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.painted.art import ink
from synthetic.painted.plates import Plate
from synthetic.painted.wardrobe import FIGURE, ITEM, LARGE, PARTS, Cutout, Wardrobe
from synthetic.things.figures import any_colour

DRESSED = 0.88
"""The share of figures that are bodies out of the wardrobe, where there is one."""
PRIMED, DARK, METAL, BONE = 0.1, 0.3, 0.14, 0.1
"""The shares of units in one coat of primer, in dark paint, in metal, in bone and skin; others have any colours."""
LARGE_FROM_MM, LARGE_SHARE = 19.0, 0.6
"""From this radius on a base may carry something large, and the share of those that do."""
ALIKE = 0.5
"""The share of units whose figures are all of one make; others are of up to four."""
TALL_RADII = (2.2, 3.6)
"""How tall figures are, in radii of their base: 28 mm figures on bases of 25 and 32 mm."""
LONG_RADII = (0.85, 1.7)
"""How far something large reaches from the middle of its base, in radii."""
HIGHEST_RADII = 2.8
"""How tall something large is at the most, in radii."""
OUT_RADII = ((1.2, 1.7), (1.7, 2.4), (2.4, 3.0))
"""How far a figure reaches at the most: some overhang their base by its diameter."""
OUT_SHARES = (0.4, 0.38, 0.22)
"""How common each of these is."""
LOOSE_SIZES = (0.85, 1.2)
"""How large things without a base are, against their usual size."""
MOUNTS = (0.9, 1.35)
"""How large bodies along ovals are, against what is as large on round bases."""
DETAILS = (0.0, 0.15, 0.3, 0.45)
"""How uneven the paint of a unit is: from plain to rich in small things."""
RELIEFS, PLAIN_RELIEF = (0.5, 1.3), 0.3
"""How strongly textures show on painted units; in plastic and primer only their relief does."""
AS_MADE = 0.3
"""The share of units in the paints of their textures: skin, leather, bronze and cloth, as artists have them."""
WITHOUT_BASE = 0.35
"""The share of figures among those."""


def dressed(rng: Rng, base: Plate, paints: Floats, wardrobe: Wardrobe, plain: bool) -> Cutout:
    """A figure on a base; `plain`: it has the base's own colour.

    Figures with the same paints are a unit: of a few makes, in one scheme, looking the same way.
    """
    unit = _rng_of(paints)
    radius = base.radius_mm
    large = radius > LARGE_FROM_MM and unit.random() < LARGE_SHARE
    body = _of_unit(rng, unit, wardrobe, LARGE if large else FIGURE)
    coats, gloss = _scheme(unit, paints)
    coats = _as_made(unit, wardrobe, body, coats)
    if plain:
        coats = np.tile(base.rim * np.float32(rng.uniform(0.7, 1.2)), (PARTS + 1, 1))
        gloss = float(unit.choice([0.0, 0.1]))
    turn = float(unit.uniform(0, 6.3) + rng.normal(0, 0.4))
    aside = rng.normal(size=2) * 0.15 * radius
    return Cutout(
        wardrobe,
        body,
        np.array([*(base.center_mm + aside), base.top_mm]),
        _size(rng, wardrobe, body, radius, large),
        turn if unit.random() < 0.6 else float(rng.uniform(0, 6.3)),
        np.asarray(coats * np.exp(rng.normal(0, 0.1)), np.float32),
        gloss,
        float(unit.choice([0.0, unit.uniform(0, 3)])),
        0.0 if plain else float(unit.choice(DETAILS)),
        bool(rng.random() < 0.5),
        PLAIN_RELIEF if plain else float(unit.uniform(*RELIEFS)),
    )


def along(rng: Rng, base: Plate, half_mm: Array, dressed_one: Cutout) -> Cutout:
    """A large body along an oval base of half such a length and width."""
    wardrobe = dressed_one.wardrobe
    body = int(rng.choice(np.flatnonzero(wardrobe.kinds == LARGE)))
    size = _large_size(rng, wardrobe, body, float(half_mm[0])) * rng.uniform(*MOUNTS)
    turn = base.turn_rad + rng.normal(0, 0.12) + np.pi * (rng.random() < 0.5)
    return replace(dressed_one, body=body, scale=size, turn_rad=float(turn))


def small_one(rng: Rng, foot: Array, radius: float, paints: Floats, wardrobe: Wardrobe) -> Cutout:
    """One of several figures on a base."""
    unit = _rng_of(paints)
    body = _of_unit(rng, unit, wardrobe, FIGURE)
    coats, gloss = _scheme(unit, paints)
    coats = _as_made(unit, wardrobe, body, coats)
    size = _size(rng, wardrobe, body, radius, large=False)
    turn = float(rng.uniform(0, 6.3))
    detail, relief = float(unit.choice(DETAILS)), float(unit.uniform(*RELIEFS))
    return Cutout(wardrobe, body, foot, size, turn, coats, gloss, 0.5, detail, relief=relief)


def loose_one(rng: Rng, at: Array, wardrobe: Wardrobe) -> Cutout:
    """Something that stands on the mat without a base."""
    kind = FIGURE if rng.random() < WITHOUT_BASE else ITEM
    body = int(rng.choice(np.flatnonzero(wardrobe.kinds == kind)))
    foot, turn = np.array([*at, 0.0]), float(rng.uniform(0, 6.3))
    paint = np.array(ink(rng), np.float32) if rng.random() < 0.5 else any_colour(rng)
    coats = np.tile(paint, (PARTS + 1, 1))
    if rng.random() < 0.5:
        coats[rng.random(PARTS + 1) < 0.4] = any_colour(rng)
    size = float(rng.uniform(*LOOSE_SIZES))
    coats = _as_made(rng, wardrobe, body, coats)
    relief = float(rng.uniform(*RELIEFS))
    gloss = float(rng.choice([0, 0.4]))
    return Cutout(wardrobe, body, foot, size, turn, coats, gloss, relief=relief)


def _rng_of(paints: Floats) -> Rng:
    """What chooses for a whole unit: the same for the same paints."""
    return np.random.default_rng(np.frombuffer(np.float32(paints).tobytes(), np.uint32).tolist())


def _of_unit(rng: Rng, unit: Rng, wardrobe: Wardrobe, kind: int) -> int:
    """One of the few makes that a unit has."""
    bodies = np.flatnonzero(wardrobe.kinds == kind)
    makes = unit.choice(bodies, 4)
    count = 1 if unit.random() < ALIKE else 4
    return int(makes[int(rng.integers(count))])


def _as_made(rng: Rng, wardrobe: Wardrobe, body: int, coats: Floats) -> Floats:
    """The paints of the body's own texture, in some shade, for a share of units; else the coats."""
    shade = np.exp(rng.normal(0, 0.12, 3) + rng.normal(0, 0.3))
    own = wardrobe.paints[body]
    if rng.random() > AS_MADE or not own.any():
        return coats
    return np.asarray(own * shade, np.float32)


def _size(rng: Rng, wardrobe: Wardrobe, body: int, radius: float, large: bool) -> float:
    if large:
        return _large_size(rng, wardrobe, body, radius)
    high, reach = wardrobe.bulks_mm[body].tolist()
    low, most = OUT_RADII[int(rng.choice(len(OUT_RADII), p=OUT_SHARES))]
    tall, out = radius * rng.uniform(*TALL_RADII) / high, radius * rng.uniform(low, most) / reach
    return float(min(tall, out))


def _large_size(rng: Rng, wardrobe: Wardrobe, body: int, radius: float) -> float:
    high, reach = wardrobe.bulks_mm[body].tolist()
    return float(min(radius * rng.uniform(*LONG_RADII) / reach, radius * HIGHEST_RADII / high))


def _scheme(unit: Rng, paints: Floats) -> tuple[Floats, float]:
    """The paint of each part (PARTS + 1, 3), and the gloss."""
    kind, gloss = unit.random(), float(unit.choice([0.0, 0.05, 0.25]))
    if kind < PRIMED:
        tone = unit.choice([0.012, 0.05, 0.25, 0.6])
        return np.full((PARTS + 1, 3), tone * unit.uniform(0.8, 1.2), np.float32), gloss
    coats = paints[unit.permutation(np.arange(PARTS + 1) % len(paints))]
    accents = unit.random((PARTS + 1, 1)) < 0.3
    if kind < PRIMED + DARK:
        dark = unit.uniform(0.006, 0.05, (PARTS + 1, 1)) * np.exp(unit.normal(0, 0.3, 3))
        coats = np.where(accents, coats, dark)
    elif kind < PRIMED + DARK + METAL:
        warm = np.array([0.5, 0.75, 1.0]) if unit.random() < 0.4 else np.ones(3)
        coats = np.where(accents, coats, unit.uniform(0.04, 0.3, (PARTS + 1, 1)) * warm)
        gloss = float(unit.uniform(0.3, 0.9))
    elif kind < PRIMED + DARK + METAL + BONE:
        bone = np.array([0.3, 0.48, 0.6]) * unit.uniform(0.4, 1.1, (PARTS + 1, 1))
        coats = np.where(accents, coats, bone)
    return np.asarray(coats, np.float32), gloss

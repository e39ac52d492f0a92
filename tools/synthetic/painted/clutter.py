"""What lies on real tables and is no base: tokens, gems, cards, rings, trays, counters, fingers and round scenery."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.painted.art import ink, round_art, square_art
from synthetic.painted.dressed import loose_one
from synthetic.painted.plates import Plate, circle, rounded, spun
from synthetic.painted.prints import Print
from synthetic.painted.round_scenery import round_scenery
from synthetic.painted.wardrobe import Body, Wardrobe
from synthetic.things.figures import any_colour
from synthetic.things.loose import dice
from synthetic.things.solids import ball, capsule

NO_LURES = np.empty((0, 4))
LOOSE = 0.12
"""The share of clutter that is bodies without a base, where there is a wardrobe."""


@dataclass(frozen=True, slots=True, eq=False)
class Clutter:
    """Some things that belong together."""

    plates: list[Plate] = field(default_factory=list)
    prints: list[Print] = field(default_factory=list)
    solids: Sequence[Body] = ()
    lures: Array = field(default_factory=lambda: NO_LURES)
    """(N, 4): round things that are no plates: x, y, height and radius in mm."""


def any_clutter(
    rng: Rng,
    reach_mm: float,
    plain: Plate,
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None = None,
) -> Clutter:
    """Something anywhere on a piece of a table; `plain` is any base, for what is like one."""
    if wardrobe is not None and rng.random() < LOOSE:
        return _loose(rng, rng.uniform(-reach_mm, reach_mm, 2), wardrobe)
    kinds = len(_MAKERS)
    maker = _MAKERS[int(rng.choice(kinds, p=_OFTEN))]
    return maker(rng, rng.uniform(-reach_mm, reach_mm, 2), plain, tiles)


def _flat(plain: Plate, at: Array, outline: Array, height: float, card: Floats) -> Plate:
    """A printed plate."""
    half = np.abs(outline).max(0)
    return replace(
        plain, center_mm=at, outline_mm=outline, height_mm=height, inset_mm=0.0, ring_mm=0.0,
        wobble_mm=0.0, highlight=0.0, glyph=None, is_base=False, is_clutter=True, card=card, card_half_mm=half,
    )  # fmt: skip


def _token(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """A few printed round tokens of one kind."""
    radius, height = float(rng.uniform(6, 32)), float(rng.uniform(0.3, 2.6))
    card, turn = round_art(rng), rng.uniform(0, 6.3)
    edge = np.asarray(rng.choice([0.02, 0.3, 0.6]) * np.ones(3), np.float32)
    one = replace(_flat(plain, at, circle(radius), height, card), rim=edge, turn_rad=float(turn))
    some = [one]
    for _ in range(int(rng.choice([0, 0, 1, 3]))):
        way = rng.uniform(0, 6.3)
        step = (2.02 + rng.uniform(0, 1.5)) * radius * np.array([np.cos(way), np.sin(way)])
        some.append(replace(one, center_mm=some[-1].center_mm + step, turn_rad=float(way)))
    return Clutter(_apart(some))


def _apart(plates: Sequence[Plate]) -> list[Plate]:
    """Those plates that overlap none before them."""
    kept: list[Plate] = []
    for one in plates:
        gaps = (
            np.linalg.norm(one.center_mm - o.center_mm) - one.radius_mm - o.radius_mm for o in kept
        )
        if all(gap >= 0 for gap in gaps):
            kept.append(one)
    return kept


def _washer(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """A flat disc with a hole: a washer, a clip, an acrylic ring."""
    radius = float(rng.uniform(7, 30))
    hole = circle(radius * rng.uniform(0.25, 0.85))
    under = any_colour(rng)
    metal = (
        np.full(3, rng.uniform(0.05, 0.6), np.float32) if rng.random() < 0.5 else any_colour(rng)
    )
    one = replace(
        _flat(plain, at, circle(radius), float(rng.uniform(0.5, 3)), round_art(rng)),
        card=None, card_half_mm=None, glyph=(hole, under), rim=metal, plain=metal, gloss=0.5,
        clear=float(rng.choice([0, rng.uniform(0.3, 0.9)])),
    )  # fmt: skip
    return Clutter([one])


def _gems(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """Glass beads or cubes in a heap, each with a spot of light."""
    hue, shine = np.array(ink(rng), np.float32), np.full(3, 0.9, np.float32)
    parts, lures = [], []
    for _ in range(int(rng.integers(1, 8))):
        spot, radius = at + rng.normal(size=2) * 16, float(rng.uniform(5, 11))
        flat = float(rng.uniform(0.3, 0.7)) * radius
        parts.append(
            ball([*spot, flat], [radius, radius, flat], hue * np.float32(rng.uniform(0.6, 1.2)))
        )
        way = rng.normal(size=2) * 0.3 * radius
        parts.append(ball([*(spot + way), 1.9 * flat], [radius / 4, radius / 5, 0.3], shine))
        lures.append([*spot, 0.0, radius])
    return Clutter(solids=parts, lures=np.array(lures))


def _dice(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    parts = dice(rng, np.array([*at, 0]), 12)
    return Clutter(solids=parts, lures=np.array([[*at, 0, 9.0]]))


def _loose(rng: Rng, at: Array, wardrobe: Wardrobe) -> Clutter:
    """A few things or figures that stand on the mat without a base."""
    bodies, lures = list[Body](), []
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        one = loose_one(rng, at, wardrobe)
        high, reach = one.extent_mm
        bodies.append(one)
        lures += [[*at, 0.0, reach], [*at, 0.8 * high, 0.7 * reach]]
        way = rng.uniform(0, 6.3)
        at = at + (2 * reach + rng.uniform(1, 20)) * np.array([np.cos(way), np.sin(way)])
    return Clutter(solids=bodies, lures=np.array(lures))


def _card(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """A card, a tile, a page or an open rulebook."""
    sizes = [(63, 88), (44, 68), (70, 120), (210, 297), (57, 57), (30, 60), (148, 210)]
    half = np.array(sizes[int(rng.integers(len(sizes)))]) / 2
    turn = float(rng.uniform(0, 6.3))
    height = float(rng.choice([0.3, 0.5, 2.0, rng.uniform(1, 8)]))
    outline = spun(rounded(half, rng.uniform(0.2, 4)), turn)
    page = np.full(3, rng.uniform(0.2, 0.8), np.float32)
    one = replace(_flat(plain, at, outline, height, square_art(rng)), rim=page, turn_rad=turn)
    return Clutter([replace(one, card_half_mm=half)])


def _hexes(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """Six-sided counters or tiles, side by side."""
    radius, turn = float(rng.uniform(9, 45)), float(rng.uniform(0, 6.3))
    outline, rim = spun(circle(radius, 6), turn), np.array(ink(rng), np.float32)
    one = _flat(plain, at, outline, float(rng.uniform(0.5, 4)), square_art(rng))
    one = replace(one, rim=rim, card_half_mm=np.full(2, radius), turn_rad=turn)
    some, ways = [one], turn + np.pi / 6 + np.pi / 3 * rng.permutation(6)[: int(rng.integers(0, 6))]
    for way in ways.tolist():
        step = radius * np.sqrt(3) * 1.03 * np.array([np.cos(way), np.sin(way)])
        same = rng.random() < 0.4
        some.append(replace(one, center_mm=at + step, card=one.card if same else square_art(rng)))
    return Clutter([_within_hex(plate) for plate in some])


def _within_hex(plate: Plate) -> Plate:
    """The print cut to a hexagon: a card's cover ends where the plate does."""
    assert plate.card is not None
    step = np.linspace(-1, 1, len(plate.card), dtype=np.float32)
    x, y = np.abs(step)[None], np.abs(step)[:, None]
    cover = ((0.866 * y + 0.5 * x < 0.84) & (x < 0.97)).astype(np.float32)
    card = plate.card * np.minimum(cover, np.float32(1))[..., None]
    return replace(plate, card=card.astype(np.float32))


def _objective(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """A printed ring, disc or target, to 160 mm wide; several circles about one middle."""
    radius = float(rng.choice([rng.uniform(10, 30), rng.uniform(25, 80)]))
    prints, strength = [], float(rng.uniform(0.2, 1))
    if rng.random() < 0.4:
        colour = np.array(ink(rng), np.float32)
        prints.append(Print(at + circle(radius), colour, strength * float(rng.uniform(0.3, 1))))
    for _ in range(int(rng.integers(1, 4))):
        width, share = float(rng.uniform(0.4, max(0.12 * radius, 0.5))), rng.uniform(0.4, 1.0)
        colour, soft = np.array(ink(rng), np.float32), float(rng.choice([0, rng.uniform(0, 0.6)]))
        prints.append(Print(at + share * circle(radius), colour, strength, soft, width))
        radius *= float(rng.choice([1.0, share]))
    most = max(float(np.abs(item.outline_mm - at).max()) for item in prints)
    return Clutter(prints=prints, lures=np.array([[*at, 0, most]]))


def _tray(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """An empty movement tray: a slab with round slots, each with a lit and a shaded edge."""
    radius = float(rng.choice([12.5, 14, 16, 20]))
    rows, columns = rng.integers(1, 4), rng.integers(2, 6)
    pitch, turn = 2 * radius * rng.uniform(1.02, 1.2), rng.uniform(0, 6.3)
    paint = (
        any_colour(rng) if rng.random() < 0.5 else np.full(3, rng.uniform(0.005, 0.06), np.float32)
    )
    half = np.array([columns, rows]) * pitch / 2 + rng.uniform(0, 6)
    prints = [Print(at + spun(rounded(half, 2.0), turn), paint, 1.0)]
    lures, lit = [], spun(np.array([[0.6, 0.0]]), rng.uniform(0, 6.3))[0]
    for row in range(int(rows)):
        for column in range(int(columns)):
            place = (
                np.array([[column + 0.5, row + 0.5]]) * pitch
                - np.array([columns, rows]) * pitch / 2
            )
            spot = at + spun(place, turn)[0]
            lures.append([*spot, 0.0, radius])
            for shift, tone in ((lit, 2.2), (-lit, 0.3), (0 * lit, rng.uniform(0.5, 1.3))):
                prints.append(Print(spot + shift + circle(radius), paint * np.float32(tone), 1.0))
    return Clutter(prints=prints, lures=np.array(lures))


def _finger(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    """Fingers that point at something."""
    skin = np.array([0.2, 0.32, 0.6], np.float32) * np.float32(rng.uniform(0.2, 1.2))
    way = rng.uniform(0, 6.3)
    along, aside = np.array([np.cos(way), np.sin(way)]), np.array([-np.sin(way), np.cos(way)])
    parts = []
    for k in range(int(rng.integers(1, 5))):
        tip = at + 17 * k * aside - rng.uniform(0, 25) * along
        start = [*tip, rng.uniform(8, 30)]
        end = [*(tip + 160 * along), rng.uniform(40, 80)]
        parts.append(capsule(start, end, float(rng.uniform(6.5, 9.5)), skin))
    return Clutter(solids=parts, lures=np.array([[*at, 10.0, 9.0]]))


def _scenery(rng: Rng, at: Array, plain: Plate, tiles: Sequence[Picture]) -> Clutter:
    plates, solids = round_scenery(rng, at, plain, len(tiles))
    tops = [[*plate.center_mm, plate.top_mm, plate.radius_mm - plate.inset_mm] for plate in plates]
    return Clutter(plates, solids=solids, lures=np.array(tops).reshape(-1, 4))


Maker = Callable[[Rng, Array, Plate, Sequence[Picture]], Clutter]
_WEIGHTS: dict[Maker, float] = {
    _token: 5, _washer: 2.5, _gems: 1.5, _dice: 1.5, _card: 3, _hexes: 2.5, _objective: 3,
    _tray: 1.5, _finger: 0.5, _scenery: 6,
}  # fmt: skip
_MAKERS = tuple(_WEIGHTS)
_OFTEN = np.array(list(_WEIGHTS.values())) / sum(_WEIGHTS.values())

"""Quickly drawn pieces of tables with ships on plates: any card, any ship, any mat, any light."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.vision.contours.outlines import penetration_depth_mm
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View, patch_view
from synthetic.from_above.sheet import FINE_MM, REACH_MM, Sheet, sheet_of, visible_share
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate, any_oddity, rounded, spun
from synthetic.painted.prints import any_prints, planet
from synthetic.painted.scene import Scene, make_scene
from synthetic.things.cards import any_card
from synthetic.things.figures import any_colour
from synthetic.things.ships import LARGE, SMALL, any_ship
from synthetic.things.solids import Solid
from synthetic.tiles import any_tile

FINER = 2
"""Samples of a pixel's side."""
SIDES_MM, SHARES = (40.0, 60.0, 80.0), (0.6, 0.2, 0.2)
"""Sides of ships' plates, and how common each is."""
CARDBOARD_MM = (
    (41, 63),
    (63, 88),
    (20, 40),
    (20, 100),
    (20, 180),
    (20, 300),
    (18, 18),
    (25, 25),
    (25, 50),
    (30, 45),
)
"""Cards, templates, rulers and tokens: no plates."""
PLATES = 1, 12
"""How many plates are laid on each piece of a table, the last not among them."""
CROWDED = (0.35, 0.8)
"""On some tables few plates stand beside others, on some most."""
NO_PLATE_MM = 2.5
"""What is lower is a card."""


def fleet_sheet(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    photos_mm: tuple[float, float] = (0.8, 1.6),
    fine_mm: float = FINE_MM,
    plates: tuple[int, int] = PLATES,
) -> Sheet:
    """One piece of a table from above, in pixels of `fine_mm`, by a photo of this many mm a pixel.

    At most as many plates are laid as there is room for; on some tables none.
    """
    rng = np.random.default_rng(list(seed))
    view = patch_view(rng, REACH_MM, float(rng.uniform(*photos_mm)))
    photo, rows = fleet_photo(rng, view, tiles, REACH_MM, plates=plates)
    return sheet_of(photo, view, rows, fine_mm)


def fleet_photo(
    rng: Rng,
    view: View,
    tiles: Sequence[Picture],
    reach_mm: float,
    finer: int = FINER,
    plates: tuple[int, int] = PLATES,
) -> tuple[Picture, Array]:
    """A photo, and the ships' plates in it (N, 7), as `Sheet` has them."""
    scene, tiles = _table(rng, reach_mm, tiles)
    slabs = _slabs(rng, reach_mm, plates)
    first, grown = len(scene.plates), float(rng.choice([SMALL, LARGE]))
    ships = [ship for slab in slabs if _is_plate(slab) for ship in _ship(rng, slab, grown)]
    scene = replace(scene, plates=[*scene.plates, *slabs], solids=ships)
    photo, owners = photo_of(rng, scene, view, finer, tiles)
    fine = view.resized(finer)
    rows = [
        [
            *slab.center_mm,
            *np.full(2, _side(slab)),
            slab.turn_rad,
            0,
            visible_share(k, slab, owners, fine),
        ]
        for k, slab in enumerate(slabs, first)
        if _is_plate(slab)
    ]
    return photo, np.array(rows, float).reshape(-1, 7)


def _is_plate(slab: Plate) -> bool:
    return slab.height_mm > NO_PLATE_MM


def _side(slab: Plate) -> float:
    """The length along the heading."""
    return float(2 * spun(slab.outline_mm, -slab.turn_rad)[:, 0].max())


def _ship(rng: Rng, slab: Plate, grown: float) -> list[Solid]:
    return any_ship(rng, slab.center_mm, slab.turn_rad, _side(slab), grown)


def _table(rng: Rng, reach_mm: float, tiles: Sequence[Picture]) -> tuple[Scene, Sequence[Picture]]:
    """A mat, half of them space, with what is printed on it and some odd things."""
    scene = make_scene(rng, reach_mm, tiles)
    tile = any_tile(rng, "space") if rng.random() < 0.5 else tiles[scene.tile]
    few = [any_oddity(rng, scene.tile, tiles) for _ in range(int(rng.choice([0, 0, 1, 3])))]
    low = [
        replace(thing, center_mm=rng.uniform(-reach_mm, reach_mm, 2))
        for thing in few
        if thing.height_mm < 10
    ]
    prints = any_prints(rng, reach_mm, rng.random() < 0.3) if rng.random() < 0.5 else []
    prints += [planet(rng, reach_mm) for _ in range(int(rng.choice([0, 0, 1])))]
    scale = scene.tile_scale * rng.uniform(0.7, 2)
    space = replace(scene, tile=len(tiles), tile_scale=scale, plates=low, prints=prints, solids=[])
    return space, [*tiles, tile]


def _slabs(rng: Rng, reach_mm: float, plates: tuple[int, int]) -> list[Plate]:
    """Plates, some side by side, and cards between them; some tables have none."""
    kept: list[Plate] = []
    like = _slab(rng, float(rng.choice(SIDES_MM, p=SHARES)))
    count = 0 if rng.random() < 0.1 else int(rng.integers(*plates) * (reach_mm / 190) ** 2)
    crowded = float(rng.choice(CROWDED))
    for k in range(count + int(rng.choice([0, 1, 3]))):
        plate = k < count
        new = _slab(rng, float(rng.choice(SIDES_MM, p=SHARES)), like) if plate else _cardboard(rng)
        for _ in range(8):
            near = kept[int(rng.integers(len(kept)))] if kept and rng.random() < crowded else None
            one = _moved(rng, new, near, reach_mm)
            if all(_depth_mm(one, other) < 0.05 for other in kept):
                kept.append(one)
                break
    return kept


def _depth_mm(a: Plate, b: Plate) -> float:
    """How far two slabs lie within each other."""
    return penetration_depth_mm(a.center_mm + a.outline_mm, b.center_mm + b.outline_mm)


def _moved(rng: Rng, slab: Plate, near: Plate | None, reach_mm: float) -> Plate:
    """Anywhere, or beside another one: in contact, a little apart, turned likewise or not."""
    if near is None:
        return _at(slab, rng.uniform(-reach_mm, reach_mm, 2), rng.uniform(0, 2 * np.pi))
    turn = near.turn_rad + rng.integers(4) * np.pi / 2
    gap = float(rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 12)]))
    way = turn + rng.integers(4) * np.pi / 2
    forward, left = np.array([np.cos(way), np.sin(way)]), np.array([-np.sin(way), np.cos(way)])
    half, aside = _side(near) / 2, rng.uniform(-1, 1) * _side(near) / 2
    xy = near.center_mm + (half + _side(slab) / 2 + gap) * forward + aside * left
    return _at(slab, xy, turn + (rng.normal(0, 0.1) if gap > 3 else 0))


def _at(slab: Plate, xy_mm: Array, turn_rad: float) -> Plate:
    outline = spun(slab.outline_mm, turn_rad - slab.turn_rad)
    return replace(slab, center_mm=xy_mm, outline_mm=outline, turn_rad=float(turn_rad))


def _slab(rng: Rng, side_mm: float, like: Plate | None = None) -> Plate:
    """A plate about the origin; most plates of a table are of one make."""
    half, corner = np.full(2, side_mm / 2), rng.uniform(0.3, 2.5)
    paint, clear, shine = _body(rng)
    taper, margin = float(rng.choice([0.5, rng.uniform(0, 1)])), float(rng.uniform(0.4, 4))
    plate = Plate(
        np.zeros(2),
        rounded(half, corner),
        float(rng.uniform(2.6, 3.4)),
        taper,
        paint,
        0,
        np.ones(3, np.float32),
        gloss=shine,
        highlight=shine,
        plain=paint,
        is_base=False,
        clear=clear,
        card=any_card(rng),
        card_half_mm=half - margin,
    )
    if like is None or rng.random() > 0.75:
        return plate
    return replace(
        plate,
        rim=like.rim,
        plain=like.plain,
        clear=like.clear,
        gloss=like.gloss,
        highlight=like.highlight,
        inset_mm=like.inset_mm,
    )


def _body(rng: Rng) -> tuple[Floats, float, float]:
    """A plate's paint, how clear it is, and how its edges shine."""
    kind = rng.random()
    if kind < 0.35:
        paint = np.full(3, rng.uniform(0.4, 0.8), np.float32)
        return paint, float(rng.uniform(0.5, 0.98)), float(rng.uniform(0, 0.5))
    if kind < 0.8:
        paint = np.full(3, rng.uniform(0.004, 0.05), np.float32)
        return paint, 0.0, float(rng.choice([0, rng.uniform(0, 0.2)]))
    return any_colour(rng), float(rng.choice([0, rng.uniform(0, 0.8)])), float(rng.uniform(0, 0.2))


def _cardboard(rng: Rng) -> Plate:
    """Something flat that is no plate."""
    width, length = CARDBOARD_MM[int(rng.integers(len(CARDBOARD_MM)))]
    half = np.array([length, width]) / 2 * rng.uniform(0.9, 1.1)
    paint, card = np.full(3, rng.uniform(0.02, 0.6), np.float32), any_card(rng)
    card[..., 3] = 1
    return replace(
        _slab(rng, 10.0),
        outline_mm=rounded(half, rng.uniform(0.3, 4)),
        height_mm=float(rng.uniform(0.2, 2)),
        inset_mm=0.0,
        rim=paint,
        plain=paint,
        clear=0.0,
        highlight=0.0,
        card=card,
        card_half_mm=half,
    )

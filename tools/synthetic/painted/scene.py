"""A small piece of a table: what stands where, in mm."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.painted.as_played import as_played, posed, ranks, tray_under
from synthetic.painted.clutter import NO_LURES, Clutter, any_clutter
from synthetic.painted.dressed import DRESSED, dressed
from synthetic.painted.plates import Plate, any_base, any_oddity
from synthetic.painted.prints import Print, any_prints
from synthetic.painted.wardrobe import Body, Wardrobe
from synthetic.things.figures import any_colour, figure, palette
from synthetic.things.loose import dice, stones, tree, wall
from synthetic.things.solids import Solid, ball, cone


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """All there is; the mat's tile comes with its own place, turn and size."""

    tile: int
    tile_turn: float
    tile_scale: float
    tile_shift_mm: Array
    plates: list[Plate]
    prints: list[Print] = field(default_factory=list)
    solids: Sequence[Body] = ()
    lures: Array = field(default_factory=lambda: NO_LURES)
    """(N, 4): round things that are neither plates nor bases: x, y, height and radius in mm."""


AS_PLAYED = 0.65
"""The share of scenes that are as real tables are: played bases, clutter of any kind."""
BODIES = 0.5
"""The share of bases of which a part of the figure is looked at as well."""
RANKED = 0.3
"""The share of those in which a unit stands in ranks or in a blob."""

FLAT_MM = 2.8
"""Up to this height a plate is a disc or a coin rather than a base."""
BASED = 0.3
"""The share of plates with tufts and stones."""


def make_scene(
    rng: Rng,
    reach_mm: float,
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None = None,
    unmanned: float = 0.0,
) -> Scene:
    """A scene that fills a square of twice `reach_mm`; two in seven have no base.

    With a wardrobe most figures are bodies out of it. On this share of scenes, `unmanned`, bases carry none.
    """
    mat = int(rng.integers(0, len(tiles)))
    bare, played = rng.random() < 2 / 7, rng.random() < AS_PLAYED
    plates = _odd_things(rng, reach_mm, mat, tiles) if bare else _cluster(rng, reach_mm, mat, tiles)
    prints = any_prints(rng, reach_mm, bare)
    if played and not bare:
        plates, more = _played(rng, plates, reach_mm, tiles[mat])
        prints += more
    paints = [palette(rng) for _ in range(2)]
    stand = _posed if played else standing
    if unmanned and rng.random() < unmanned:
        stand = _unmanned
    crowd = [
        part
        for plate in plates
        for part in stand(rng, plate, paints[int(rng.random() < 0.3)], wardrobe)
    ]
    scene = Scene(
        mat,
        float(rng.uniform(0, 6.3)),
        float(rng.uniform(0.6, 1.5)),
        rng.uniform(0, 256, 2),
        plates,
        prints,
        [*crowd, *_clutter(rng, reach_mm, plates)],
        _bodies(rng, plates),
    )
    return _cluttered(rng, scene, reach_mm, tiles, wardrobe) if played else scene


def _played(
    rng: Rng, plates: list[Plate], reach: float, mat: Picture
) -> tuple[list[Plate], list[Print]]:
    """The same plates painted as players do it, or one of them in ranks; and what lies below."""
    style = as_played(rng, plates[0], mat)
    if rng.random() < RANKED:
        unit = ranks(rng, style, reach)
        return unit, tray_under(rng, unit) if rng.random() < 0.4 else []
    return [_repainted(rng, plate, plates[0], style, mat) for plate in plates], []


def _repainted(rng: Rng, plate: Plate, old: Plate, style: Plate, mat: Picture) -> Plate:
    """A unit has one style; others have their own."""
    if not plate.is_base:
        return plate
    if plate.radius_mm == old.radius_mm:
        return replace(style, center_mm=plate.center_mm, tile=plate.tile)
    return as_played(rng, plate, mat)


def _bodies(rng: Rng, plates: Sequence[Plate]) -> Array:
    """Parts of figures that may look round (N, 4): heads, bellies, shields and what hangs over the edge."""
    rows = []
    for plate in plates:
        if plate.is_base and rng.random() < BODIES:
            aside = rng.normal(size=2) * 0.5 * plate.radius_mm
            high, radius = rng.uniform(8, 2.2 * plate.radius_mm), rng.uniform(9, 22)
            rows.append([*(plate.center_mm + aside), high, radius])
    return np.array(rows).reshape(-1, 4)


def _posed(rng: Rng, plate: Plate, paints: Floats, wardrobe: Wardrobe | None) -> list[Body]:
    """The figure of a played base; elsewhere what usually stands there."""
    stand = posed if plate.is_base else standing
    return stand(rng, plate, paints, wardrobe)


def _unmanned(rng: Rng, plate: Plate, paints: Floats, wardrobe: Wardrobe | None) -> list[Body]:
    """What is on a base without a figure: nothing, or tufts and stones."""
    return [*_basing(rng, plate)] if plate.is_base and rng.random() < BASED else []


def _cluttered(
    rng: Rng, scene: Scene, reach: float, tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> Scene:
    """The scene with what lies on real tables beside its bases."""
    plates, prints, solids = [*scene.plates], [*scene.prints], [*scene.solids]
    lures = [scene.lures]
    for _ in range(int(rng.choice([0, 1, 2, 4, 6], p=[0.15, 0.25, 0.25, 0.2, 0.15]))):
        new = any_clutter(rng, reach, any_base(rng, scene.tile, tiles), tiles, wardrobe)
        if _lies_free(new, plates):
            plates += new.plates
            prints += new.prints
            solids += new.solids
            lures.append(new.lures)
    return replace(scene, plates=plates, prints=prints, solids=solids, lures=np.concatenate(lures))


def _lies_free(new: Clutter, plates: Sequence[Plate]) -> bool:
    """Whether the new things stand on no plate; prints lie below all."""
    rounds = [(plate.center_mm, plate.radius_mm) for plate in new.plates]
    rounds += [(row[:2], row[3]) for row in new.lures] if new.solids or len(new.prints) > 4 else []
    return all(
        np.linalg.norm(at - plate.center_mm) >= radius + plate.radius_mm
        for at, radius in rounds
        for plate in plates
    )


# --- plates ---


def _cluster(rng: Rng, reach: float, mat: int, tiles: Sequence[Picture]) -> list[Plate]:
    """Plates that touch or stand apart, never one inside another."""
    style = any_base(rng, mat, tiles)
    while style.radius_mm * 2.1 > reach:
        style = any_base(rng, mat, tiles)
    style = replace(style, center_mm=rng.uniform(-0.3, 0.3, 2) * (reach - 1.9 * style.radius_mm))
    plates = [style]
    for _ in range(int(rng.integers(0, 9))):
        plate = _next_plate(rng, plates, style, mat, tiles)
        place = _free_place(rng, plate, plates, reach)
        if place is not None:
            plates.append(replace(plate, center_mm=place))
    return plates


def _odd_things(rng: Rng, reach: float, mat: int, tiles: Sequence[Picture]) -> list[Plate]:
    plates: list[Plate] = []
    for _ in range(int(rng.integers(0, 4))):
        plate = replace(any_oddity(rng, mat, tiles), center_mm=rng.uniform(-reach, reach, 2))
        if all(
            np.linalg.norm(plate.center_mm - p.center_mm) >= p.radius_mm + plate.radius_mm
            for p in plates
        ):
            plates.append(plate)
    return plates


def _next_plate(
    rng: Rng, plates: list[Plate], style: Plate, mat: int, tiles: Sequence[Picture]
) -> Plate:
    kind = rng.random()
    if kind < 0.5:
        return replace(
            style, tile=style.tile if rng.random() < 0.5 else int(rng.integers(0, len(tiles)))
        )
    if kind < 0.78:
        return any_base(rng, mat, tiles)
    return any_oddity(rng, mat, tiles)


def _free_place(rng: Rng, plate: Plate, plates: list[Plate], reach: float) -> Array | None:
    for _ in range(12):
        near = plates[int(rng.integers(0, len(plates)))]
        gap = float(
            rng.choice([0.02, rng.uniform(0, 1.5), rng.uniform(0, 12), rng.uniform(0, reach)])
        )
        turn = rng.uniform(0, 2 * np.pi)
        place = near.center_mm + (near.radius_mm + plate.radius_mm + gap) * np.array(
            [np.cos(turn), np.sin(turn)]
        )
        apart = all(
            np.linalg.norm(place - p.center_mm) >= p.radius_mm + plate.radius_mm for p in plates
        )
        if apart and np.abs(place).max() < reach:
            return np.asarray(place)
    return None


# --- what stands on plates and lies about ---


def standing(
    rng: Rng, plate: Plate, paints: Floats, wardrobe: Wardrobe | None = None
) -> list[Body]:
    """The figure on a plate, and tufts near its edge."""
    if plate.glyph is not None or plate.height_mm > 10:
        return []
    if wardrobe is not None and plate.height_mm > FLAT_MM and rng.random() < DRESSED:
        figure_there = dressed(rng, plate, paints, wardrobe, plain=False)
        return [figure_there, *(_basing(rng, plate) if rng.random() < BASED else [])]
    foot = np.array([*plate.center_mm + rng.normal(size=2) * 0.12 * plate.radius_mm, plate.top_mm])
    parts = (
        figure(rng, foot, plate.radius_mm, paints)
        if rng.random() < (0.9 if plate.height_mm > FLAT_MM else 0.4)
        else []
    )
    return [*parts, *(_basing(rng, plate) if rng.random() < BASED else [])]


def _basing(rng: Rng, plate: Plate) -> list[Solid]:
    """Tufts and stones on the top, some over its edge."""
    paint = any_colour(rng)
    parts = []
    for _ in range(int(rng.integers(1, 6))):
        turn = rng.uniform(0, 6.3)
        way = np.array([np.cos(turn), np.sin(turn)])
        spot = np.array(
            [
                *plate.center_mm + way * (plate.radius_mm - 2) * rng.uniform(0.4, 1) ** 0.5,
                plate.top_mm,
            ]
        )
        if rng.random() < 0.5:
            parts.append(ball(spot, rng.uniform(0.8, 3, 3), paint))
        else:
            tips = rng.normal(size=(4, 3)) * [1.5, 1.5, 0.5] + [0, 0, rng.uniform(2, 5)]
            parts += [cone(spot, spot + tip, 0.8, 0.1, paint) for tip in tips]
    return parts


def _clutter(rng: Rng, reach: float, plates: list[Plate]) -> list[Solid]:
    """Dice, stones, walls and trees in free places."""
    parts: list[Solid] = []
    makers = (dice, stones, wall, tree)
    for _ in range(int(rng.choice([0, 1, 2], p=[0.5, 0.35, 0.15]))):
        spot = rng.uniform(-reach, reach, 2)
        for solid in makers[int(rng.integers(0, 4))](rng, np.array([*spot, 0])):
            middle, size = (
                solid.points_mm[:, :2].mean(0),
                np.ptp(solid.points_mm[:, :2], 0).max() / 2,
            )
            if all(np.linalg.norm(middle - p.center_mm) > p.radius_mm + 0.8 * size for p in plates):
                parts.append(solid)
    return parts

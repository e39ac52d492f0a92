"""Quickly drawn pieces of tables with bases in rank and file, lone ones and stands, among what looks like them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import RECTANGLE_SIDES_MM
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View, patch_view
from synthetic.from_above.quick_tables import DISC, RECTANGLE
from synthetic.from_above.sheet import REACH_MM, Sheet, Size, seen_bases, sheet_of
from synthetic.painted.art import square_art
from synthetic.painted.as_played import as_played, posed, ranks, tray_around
from synthetic.painted.clutter import any_clutter
from synthetic.painted.dressed import DRESSED, small_one
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate, any_base, circle, is_free, rounded, spun
from synthetic.painted.prints import Print, any_prints
from synthetic.painted.scene import Scene, make_scene
from synthetic.painted.stands import any_strip, flocked, gabled, small_figures
from synthetic.painted.wardrobe import Body, Wardrobe
from synthetic.things.figures import figure, palette

SHEET_MM = 1.0
"""A pixel of a sheet."""
PHOTOS_MM, FINER = (0.5, 1.25), 2
"""A pixel of the photos, and how many samples each of its sides has."""
LOW, LOW_TILT_RAD, USUAL_TILT_RAD = 0.3, 1.2, 0.74
"""The share of photos taken from low beside the table, their greatest tilt, and that of others."""
TRAYS, TRAY_BORDERS_MM = 0.2, (0.5, 8.0)
"""The share of units on a movement tray, and how far it reaches beyond their bases."""
GAPS_MM = (0.05, 0.05, 0.4, 2.0)
"""Gaps between neighbours in rank and file; others stand loosely."""
LOOSE = 0.25
"""The share of units that stand loosely, ..."""
LOOSE_GAP_MM, LOOSE_TURN_RAD = (3.0, 25.0), 0.15
"""... their gaps, and 1 σ of their turns."""
SINGLE = 0.3
"""The share of units of one base."""
STAND_MM = 40.0
"""From this length on a base may carry several figures."""
SMALL_SCALE, STANDS_MM = 0.45, (30.0, 80.0)
"""The share of units that are stands of small scales, and the lengths of their bases."""
LOOSE_STANDS, STANDS_GAP_MM = 0.65, (2.0, 50.0)
"""The share of those that stand loosely, and their gaps."""
SHEETS_MM = ((44, 68), (63, 88), (57, 57), (25, 25), (40, 40), (50, 50), (30, 60), (20, 20))
"""Cards, tiles and counters that lie in rows or alone."""
REPEATED = 0.5
"""The share of their rows in which all show the same."""
GABLED = 0.4
"""The share of houses and boxes with a ridge."""


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Bases of one size, and what stands on them."""

    plates: list[Plate]
    sizes_mm: tuple[float, float]
    solids: list[Body]

    @property
    def corners_mm(self) -> Array:
        """All outlines (N, 2)."""
        return np.concatenate([plate.center_mm + plate.outline_mm for plate in self.plates])


def regiment_sheet(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Sheet:
    """One piece of a table from above, in pixels of `SHEET_MM`."""
    rng = np.random.default_rng(list(seed))
    mm_per_px = float(rng.uniform(*PHOTOS_MM))
    view = patch_view(rng, REACH_MM, mm_per_px, steepest_tilt(rng))
    photo, rows = regiment_photo(rng, view, tiles, REACH_MM, FINER, wardrobe)
    return sheet_of(photo, view, rows, SHEET_MM)


def steepest_tilt(rng: Rng) -> float:
    """The greatest tilt of a photo in radians: some are taken from low beside the table."""
    return LOW_TILT_RAD if rng.random() < LOW else USUAL_TILT_RAD


def regiment_photo(
    rng: Rng,
    view: View,
    tiles: Sequence[Picture],
    reach_mm: float,
    finer: int,
    wardrobe: Wardrobe | None = None,
) -> tuple[Picture, Array]:
    """A photo of one piece of a table, and its rectangular bases (N, 7), as `Sheet` has them."""
    scene, sizes = regiment_scene(rng, reach_mm, tiles, wardrobe)
    photo, owners = photo_of(rng, scene, view, finer, tiles)
    rows = seen_bases(scene.plates, sizes, owners, view.resized(finer))
    return photo, rows[rows[:, 5] == RECTANGLE]


def regiment_scene(
    rng: Rng, reach_mm: float, tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> tuple[Scene, list[Size | None]]:
    """A scene with units on it, and the size of each of its plates that is a base."""
    scene = make_scene(rng, reach_mm, tiles, wardrobe)
    units = list(_units(rng, reach_mm, scene.tile, tiles, wardrobe))
    plates = [plate for unit in units for plate in unit.plates]
    sizes: list[Size | None] = [
        (*unit.sizes_mm, plate.turn_rad, RECTANGLE) for unit in units for plate in unit.plates
    ]
    solids = [solid for unit in units for solid in unit.solids]
    prints = any_prints(rng, reach_mm, rng.random() < 0.3)
    for unit in units:
        if rng.random() < TRAYS:
            border_mm = float(rng.uniform(*TRAY_BORDERS_MM))
            prints += tray_around(rng, unit.corners_mm, unit.plates[0].turn_rad, border_mm)
    more, lying, printed = _others(rng, reach_mm, scene.tile, tiles, plates, wardrobe)
    sizes += [
        (2 * one.radius_mm, 2 * one.radius_mm, 0.0, DISC) if one.is_base else None for one in more
    ]
    whole = replace(
        scene, plates=[*plates, *more], solids=[*solids, *lying], prints=[*prints, *printed]
    )
    return whole, sizes


def _units(
    rng: Rng, reach_mm: float, mat: int, tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> Iterator[Unit]:
    """Units that do not overlap; on one table in five there is none."""
    taken: list[Array] = []
    for _ in range(int(rng.choice([0, 2, 3, 4, 5]))):
        unit = _unit(rng, reach_mm, mat, tiles, wardrobe)
        if unit.plates and _lies_apart(unit.corners_mm, taken):
            taken.append(unit.corners_mm)
            yield unit


def _lies_apart(corners_mm: Array, taken: Sequence[Array]) -> bool:
    """Whether the circles around two sets of points do not meet."""
    middle, reach = _circle_around(corners_mm)
    for other in taken:
        at, radius = _circle_around(other)
        if np.linalg.norm(middle - at) < reach + radius:
            return False
    return True


def _circle_around(points: Array) -> tuple[Array, float]:
    middle = (points.min(0) + points.max(0)) / 2
    return middle, float(np.linalg.norm(points - middle, axis=1).max())


def _unit(
    rng: Rng, reach_mm: float, mat: int, tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> Unit:
    if rng.random() < SMALL_SCALE:
        return _stands(rng, reach_mm, mat, tiles)
    half = _any_half_mm(rng, RECTANGLE_SIDES_MM)
    outline = rounded(half, float(rng.uniform(0.2, 1.6)))
    height = float(rng.uniform(1.5, 4.6))
    base = replace(any_base(rng, mat, tiles), height_mm=height, is_base=False)
    style = as_played(rng, base, tiles[mat]) if rng.random() < 0.7 else base
    style = replace(style, outline_mm=outline, inset_mm=float(rng.uniform(0, 1.2)))
    loose_mm = LOOSE_GAP_MM if rng.random() < LOOSE else None
    plates = list(_in_rank_and_file(rng, style, half, reach_mm, loose_mm))
    paints = palette(rng)
    stands = bool(rng.random() < 0.6)
    solids = [
        solid for plate in plates for solid in _figures(rng, plate, half, paints, stands, wardrobe)
    ]
    return Unit(plates, (2 * half[0], 2 * half[1]), solids)


def _any_half_mm(rng: Rng, sizes_mm: Sequence[tuple[float, float]]) -> Array:
    """Half the length and the width of a base of one of these sizes, as exactly as makers keep to it."""
    return np.array(sizes_mm[int(rng.integers(len(sizes_mm)))]) / 2 * rng.uniform(0.99, 1.01)


def _stands(rng: Rng, reach_mm: float, mat: int, tiles: Sequence[Picture]) -> Unit:
    """Stands of a small scale."""
    low, high = STANDS_MM
    half = _any_half_mm(rng, [one for one in RECTANGLE_SIDES_MM if low <= one[0] <= high])
    style = flocked(rng, any_base(rng, mat, tiles), half, mat, tiles)
    loose_mm = STANDS_GAP_MM if rng.random() < LOOSE_STANDS else None
    plates = list(_in_rank_and_file(rng, style, half, reach_mm, loose_mm))
    paints = palette(rng)
    solids: list[Body] = [
        solid for plate in plates for solid in small_figures(rng, plate, half, paints)
    ]
    return Unit(plates, (2 * half[0], 2 * half[1]), solids)


def _in_rank_and_file(
    rng: Rng, style: Plate, half: Array, reach_mm: float, loose_mm: tuple[float, float] | None
) -> Iterator[Plate]:
    """Yield the bases of a unit that lie within reach, loosely with gaps in a range; a few are missing."""
    loose = loose_mm is not None
    gap = float(rng.choice(GAPS_MM) if loose_mm is None else rng.uniform(*loose_mm))
    columns, rows = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    if rng.random() < SINGLE:
        columns = rows = 1
    across = rng.random() < 0.5
    turn, middle = float(rng.uniform(0, 2 * np.pi)), rng.uniform(-0.8, 0.8, 2) * reach_mm
    pitch = 2 * (half[::-1] if across else half) + gap
    for row in range(rows):
        for column in range(columns):
            at = (np.array([column, row]) - np.array([columns - 1, rows - 1]) / 2) * pitch
            at = (
                middle
                + spun(at[None] + rng.normal(0, 0.15 * gap, 2).clip(-gap / 2.1, gap / 2.1), turn)[0]
            )
            if np.abs(at).max() > reach_mm - half.max() or rng.random() < 0.05:
                continue
            heading = turn + np.pi / 2 * across + (rng.normal(0, LOOSE_TURN_RAD) if loose else 0)
            tint = style.tint * np.exp(rng.normal(0, 0.08, 3)).astype(np.float32)
            outline = spun(style.outline_mm, heading)
            yield replace(
                style, center_mm=at, outline_mm=outline, turn_rad=float(heading), tint=tint
            )


def _figures(
    rng: Rng,
    plate: Plate,
    half: Array,
    paints: Floats,
    stands: bool,
    wardrobe: Wardrobe | None,
) -> list[Body]:
    """What stands on a base: one figure of its size, or several small ones."""
    if rng.random() < 0.05:
        return []
    if not stands or 2 * half[0] < STAND_MM:
        size = float(np.sqrt(half[0] * half[1]))
        return posed(rng, replace(plate, outline_mm=circle(size)), paints, wardrobe)
    parts: list[Body] = []
    for _ in range(int(rng.integers(2, 7))):
        aside = spun(rng.uniform(-0.75, 0.75, (1, 2)) * half, plate.turn_rad)[0]
        foot = np.array([*(plate.center_mm + aside), plate.top_mm])
        radius = float(rng.uniform(4, 12))
        if wardrobe is not None and rng.random() < DRESSED:
            parts.append(small_one(rng, foot, radius, paints, wardrobe))
        else:
            parts += figure(rng, foot, radius, paints)
    return parts


# --- what looks like them ---


def _others(
    rng: Rng,
    reach_mm: float,
    mat: int,
    tiles: Sequence[Picture],
    taken: Sequence[Plate],
    wardrobe: Wardrobe | None,
) -> tuple[list[Plate], list[Body], list[Print]]:
    """Round bases, cards and counters in rows, blocks and other clutter, where there is room."""
    plates: list[Plate] = []
    solids: list[Body] = []
    prints: list[Print] = []
    for _ in range(int(rng.integers(1, 7))):
        kind = rng.random()
        plain = any_base(rng, mat, tiles)
        lying: list[Body] = []
        under: list[Print] = []
        if kind < 0.1:
            new = any_strip(rng, plain, reach_mm, tiles)
        elif kind < 0.35:
            new = _sheets(rng, plain, reach_mm)
        elif kind < 0.5:
            new = [_block(rng, plain, reach_mm)]
        elif kind < 0.7:
            style = as_played(rng, plain, tiles[mat])
            new = ranks(rng, style, reach_mm)
            paints = palette(rng)
            lying = [solid for plate in new for solid in posed(rng, plate, paints, wardrobe)]
        else:
            clutter = any_clutter(rng, reach_mm, plain, tiles, wardrobe)
            new, lying, under = clutter.plates, [*clutter.solids], clutter.prints
        if all(is_free(one, [*taken, *plates]) for one in new):
            plates += new
            solids += lying
            prints += under
    return plates, solids, prints


def _sheets(rng: Rng, plain: Plate, reach_mm: float) -> list[Plate]:
    """Cards or counters side by side; in half of the rows all are alike."""
    half = np.array(SHEETS_MM[int(rng.integers(len(SHEETS_MM)))]) / 2
    columns, rows = rng.integers(1, 5), rng.integers(1, 4)
    turn, middle = float(rng.uniform(0, 2 * np.pi)), rng.uniform(-1, 1, 2) * reach_mm
    gap = float(rng.choice([0.05, 1.0, rng.uniform(0, 12)]))
    height, corner = float(rng.choice([0.3, 1.0, 2.0])), float(rng.uniform(0.2, 4))
    page, art = np.full(3, rng.uniform(0.1, 0.8), np.float32), square_art(rng)
    repeated = rng.random() < REPEATED
    found = []
    for row in range(int(rows)):
        for column in range(int(columns)):
            at = middle + spun(np.array([[column, row]]) * (2 * half + gap), turn)[0]
            card = art if repeated else square_art(rng)
            found.append(replace(
                plain, center_mm=at, outline_mm=spun(rounded(half, corner), turn),
                height_mm=height, inset_mm=0.0, ring_mm=0.0, wobble_mm=0.0, highlight=0.0,
                is_base=False, is_clutter=True, card=card, card_half_mm=half, rim=page,
                turn_rad=turn,
            ))  # fmt: skip
    return found


def _block(rng: Rng, plain: Plate, reach_mm: float) -> Plate:
    """A house, a wall, a box or a book."""
    half, turn = rng.uniform(8, 70, 2), float(rng.uniform(0, 2 * np.pi))
    outline = spun(rounded(half, float(rng.uniform(0.2, 3))), turn)
    block = replace(
        plain, center_mm=rng.uniform(-1, 1, 2) * reach_mm, outline_mm=outline, is_base=False,
        height_mm=float(rng.uniform(6, 60)), is_clutter=True, ring_mm=float(rng.uniform(0, 5)),
        turn_rad=turn,
    )  # fmt: skip
    return gabled(rng, block, half) if rng.random() < GABLED else block

"""Quickly drawn pieces of tables in play: units of round and oval bases, in contact and under figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import OVAL_SIDES_MM
from overruler.vision.contours.outlines import penetration_depth_mm
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View, view_towards
from synthetic.from_above.quick_tables import (
    DISC,
    FINER,
    OVAL,
    RECTANGLE,
    ROUND,
    reshaped,
)
from synthetic.from_above.sheet import REACH_MM, Sheet, Size, seen_bases, sheet_of
from synthetic.painted.as_played import as_played, mounted, posed, tray_around
from synthetic.painted.light import corners_of
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate, any_base, circle, is_free, rounded, spun
from synthetic.painted.prints import Print
from synthetic.painted.scene import Scene, make_scene
from synthetic.painted.wardrobe import Body, Wardrobe
from synthetic.things.figures import any_colour, palette

DISTANCES_MM, USUAL_TILT_RAD = (220.0, 2000.0), 0.75
"""How far the camera stands from the table's middle, and the greatest tilt of most photos."""
LOW, LOW_TILT_RAD = 0.4, 1.12
"""The share of photos taken from low beside the table, and their greatest tilt."""
PHOTOS_MM = (0.6, 2.2)
"""A pixel of the photos."""
UNITS, COUNTS = (0, 1, 2, 3, 4, 5, 6), (2, 18)
"""How many units are added to a table, and how many bases each may have."""
OVALS, RECTANGLES = 0.46, 0.06
"""The shares of units on oval and on rectangular bases; the others stand on round ones."""
OVALS_OFTEN = (0.34, 0.18, 0.16, 0.14, 0.1, 0.08)
"""How common each size of oval is."""
LONE, RANKED, TRAYS = 0.2, 0.45, 0.22
"""The shares of units of one base, of others in ranks, and of those on a movement tray."""
BARE, MOUNTED = 0.06, 0.75
"""The share of bases without a figure, and of ovals the share with a mounted one."""
CONTACT_STEPS, OVERLAP_MM = 7, 0.1
"""Halvings that find where two bases touch, and how deep they may lie within each other."""
EDGES, HOUSES = 0.3, 0.35
"""The shares of tables whose edge is seen, and that have a house or a box."""
NEAREST_MM, SHADOW_HEIGHTS = 50.0, 2.0
"""What is nearer to the camera's plane, or lies behind it, is left out; so is what may throw a shadow there, this many
heights long."""


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Bases of one make, and what stands on them."""

    plates: list[Plate]
    half_mm: Array
    """(2,): half length and half width."""
    kind: int
    """Theirs, as `quick_tables` has it."""
    solids: list[Body]
    prints: list[Print]


def crowd_sheet(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Sheet:
    """One piece of a table from above."""
    rng = np.random.default_rng(list(seed))
    view = any_view(rng)
    photo, rows = crowd_photo(rng, view, tiles, REACH_MM, wardrobe)
    return sheet_of(photo, view, rows)


def any_view(rng: Rng) -> View:
    """A camera as people hold it over a table: near or far, often low."""
    distance, eye, roll = any_eye(rng, DISTANCES_MM, LOW, LOW_TILT_RAD)
    aim = np.append(rng.uniform(-0.2, 0.2, 2) * distance, 0)
    mm_per_px = float(np.exp(rng.uniform(*np.log(PHOTOS_MM))))
    return view_towards(eye, aim, roll, REACH_MM, mm_per_px)


def any_eye(
    rng: Rng, distances_mm: tuple[float, float], low: float, low_tilt_rad: float
) -> tuple[float, Array, float]:
    """How far from the table's middle a camera is, where, and its roll; a share `low` is held low beside it."""
    distance = float(np.exp(rng.uniform(*np.log(distances_mm))))
    tilt = rng.uniform(0, low_tilt_rad if rng.random() < low else USUAL_TILT_RAD)
    around, roll = rng.uniform(0, 2 * np.pi, 2).tolist()
    away = np.array([np.cos(around), np.sin(around)])
    return distance, distance * np.append(np.sin(tilt) * away, np.cos(tilt)), roll


def crowd_photo(
    rng: Rng,
    view: View,
    tiles: Sequence[Picture],
    reach_mm: float,
    wardrobe: Wardrobe | None = None,
) -> tuple[Picture, Array]:
    """A photo of one piece of a table, and its round bases and ovals (N, 7), as `Sheet` has them."""
    scene, sizes = in_front(view, *crowded_scene(rng, reach_mm, tiles, wardrobe))
    photo, owners = photo_of(rng, scene, view, FINER, tiles)
    rows = seen_bases(scene.plates, sizes, owners, view.resized(FINER))
    return photo, rows[rows[:, 5] != RECTANGLE]


def crowded_scene(
    rng: Rng, reach_mm: float, tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> tuple[Scene, list[Size | None]]:
    """A scene with units on it, and the size of each of its plates that is a base."""
    scene = make_scene(rng, reach_mm, tiles, wardrobe)
    made = [reshaped(rng, plate, ROUND) for plate in scene.plates]
    plates, sizes = [plate for plate, _ in made], [size for _, size in made]
    solids, prints = [*scene.solids], [*scene.prints]
    if rng.random() < EDGES:
        prints.append(_edge(rng, reach_mm))
    for _ in range(int(rng.choice(UNITS))):
        unit = _unit(rng, reach_mm, plates, scene.tile, tiles, wardrobe)
        plates += unit.plates
        sizes += [_size(unit, plate) for plate in unit.plates]
        solids += unit.solids
        prints += unit.prints
    if rng.random() < HOUSES:
        house = _house(rng, reach_mm, scene.tile, tiles)
        if is_free(house, plates):
            plates.append(house)
            sizes.append(None)
    return replace(scene, plates=plates, solids=solids, prints=prints), sizes


def in_front(
    view: View, scene: Scene, sizes: Sequence[Size | None]
) -> tuple[Scene, list[Size | None]]:
    """The scene without what lies beside the camera or behind it, and the sizes of the plates that are left."""
    pose = view.camera.T_camera_board

    def shows(points_mm: Array) -> bool:
        depths = pose.apply(points_mm)[:, 2]
        return bool(depths.min() > NEAREST_MM + SHADOW_HEIGHTS * points_mm[:, 2].max())

    def shows_flat(outline_mm: Array) -> bool:
        return shows(np.column_stack([outline_mm, np.zeros(len(outline_mm))]))

    kept = [k for k, plate in enumerate(scene.plates) if shows(corners_of(plate))]
    left = replace(
        scene,
        plates=[scene.plates[k] for k in kept],
        solids=[solid for solid in scene.solids if shows(solid.points_mm)],
        prints=[item for item in scene.prints if shows_flat(item.outline_mm)],
    )
    return left, [sizes[k] for k in kept]


def _size(unit: Unit, plate: Plate) -> Size:
    long, wide = (2 * unit.half_mm).tolist()
    return long, wide, plate.turn_rad, unit.kind


def _edge(rng: Rng, reach: float) -> Print:
    """The mat's edge: beyond it lies the table or the floor."""
    away = np.array([0, (1.2 + rng.uniform(0.1, 0.9)) * reach])
    far = rounded(np.array([2.4, 1.2]) * reach, 1.0) + away
    return Print(spun(far, rng.uniform(0, 2 * np.pi)), any_colour(rng), 1.0)


def _house(rng: Rng, reach: float, mat: int, tiles: Sequence[Picture]) -> Plate:
    """A house, a box or a ruin's wall."""
    half, turn = rng.uniform(12, 80, 2), float(rng.uniform(0, 2 * np.pi))
    outline = spun(rounded(half, float(rng.uniform(0.2, 3))), turn)
    side = int(rng.integers(len(tiles))) if rng.random() < 0.6 else None
    return replace(
        any_base(rng, mat, tiles), center_mm=rng.uniform(-1, 1, 2) * reach, outline_mm=outline,
        height_mm=float(rng.uniform(15, 160)), is_base=False, is_clutter=True, side_tile=side,
        inset_mm=float(rng.uniform(0, 5)), ring_mm=float(rng.uniform(0, 5)),
    )  # fmt: skip


# --- units ---


def _unit(
    rng: Rng,
    reach_mm: float,
    there: Sequence[Plate],
    mat: int,
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None,
) -> Unit:
    """Bases of one make where no other plate is."""
    style, half, base_kind = _style(rng, mat, tiles)
    place = replace(style, center_mm=rng.uniform(-0.8, 0.8, 2) * reach_mm)
    if rng.random() < LONE:
        plates = [place]
    elif rng.random() < RANKED:
        plates = list(_ranks(rng, place, half, reach_mm))
    else:
        plates = _blob(rng, place, reach_mm)
    plates = [plate for plate in plates if is_free(plate, there)]
    paints = palette(rng)
    solids = [solid for plate in plates for solid in _figure(rng, plate, half, paints, wardrobe)]
    prints: list[Print] = []
    if plates and rng.random() < TRAYS:
        corners = np.concatenate([plate.center_mm + plate.outline_mm for plate in plates])
        prints = tray_around(rng, corners, place.turn_rad, float(rng.uniform(0.5, 8)))
    return Unit(plates, half, base_kind, solids, prints)


def _style(rng: Rng, mat: int, tiles: Sequence[Picture]) -> tuple[Plate, Array, int]:
    """A base about the origin, half its length and width, and its kind."""
    base = any_base(rng, mat, tiles)
    style = as_played(rng, base, tiles[mat]) if rng.random() < 0.85 else base
    kind, turn = rng.random(), float(rng.uniform(0, 2 * np.pi))
    if kind > OVALS + RECTANGLES:
        return replace(style, turn_rad=turn), np.full(2, style.radius_mm), DISC
    if kind > RECTANGLES:
        wide, long = OVAL_SIDES_MM[int(rng.choice(len(OVAL_SIDES_MM), p=OVALS_OFTEN))]
        half = np.array([long, wide]) / 2 * rng.uniform(0.99, 1.04)
        outline = half * circle(1)
    else:
        half = rng.choice([10.0, 12.5, 15.0, 20.0, 25.0, 30.0]) * np.array([rng.choice([1, 2]), 1])
        outline = rounded(half, float(rng.uniform(0.2, 1.6)))
    shaped = replace(style, outline_mm=spun(outline, turn), turn_rad=turn, is_base=False)
    return shaped, half, OVAL if kind > RECTANGLES else RECTANGLE


def _turned(plate: Plate, by_rad: float, at: Array) -> Plate:
    outline = spun(plate.outline_mm, by_rad)
    return replace(plate, center_mm=at, outline_mm=outline, turn_rad=plate.turn_rad + by_rad)


def _ranks(rng: Rng, first: Plate, half: Array, reach_mm: float) -> Iterator[Plate]:
    """Yield bases in rows about a place; a few are missing."""
    gap = float(rng.choice([0.05, rng.uniform(0, 1), rng.uniform(0, 12)]))
    counts = rng.integers(1, [4, 8])
    for row in range(int(counts[0])):
        for column in range(int(counts[1])):
            step = np.array([row, column]) - (counts - 1) / 2
            aside = spun(step[None] * (2 * half + gap), first.turn_rad)[0]
            at = first.center_mm + aside + rng.normal(0, 0.05 * gap, 2)
            if np.abs(at).max() < reach_mm - half.max() and rng.random() < 0.92:
                turn = float(rng.normal(0, 0.1)) if gap > 4 else 0.0
                yield _turned(first, turn, at)


def _blob(rng: Rng, first: Plate, reach_mm: float) -> list[Plate]:
    """Bases one beside the other, many in contact, turned likewise or not."""
    kept = [first]
    alike = rng.random() < 0.6
    for _ in range(int(rng.integers(*COUNTS))):
        near = kept[int(rng.integers(len(kept)))]
        turn = float(rng.normal(0, 0.15) if alike else rng.uniform(0, 2 * np.pi))
        gap = float(rng.choice([0.0, rng.uniform(0, 1.5), rng.uniform(0, 15)], p=[0.4, 0.3, 0.3]))
        one = _beside(near, _turned(near, turn, near.center_mm), rng.uniform(0, 2 * np.pi), gap)
        clear = all(_depth_mm(one, other) < OVERLAP_MM for other in kept)
        if clear and np.abs(one.center_mm).max() < reach_mm - one.radius_mm:
            kept.append(one)
    return kept


def _beside(near: Plate, plate: Plate, way_rad: float, gap_mm: float) -> Plate:
    """A base that lies so far from another one, in a direction."""
    way = np.array([np.cos(way_rad), np.sin(way_rad)])
    low, high = 0.0, near.radius_mm + plate.radius_mm
    for _ in range(CONTACT_STEPS):
        middle = (low + high) / 2
        moved = replace(plate, center_mm=near.center_mm + middle * way)
        low, high = (middle, high) if _depth_mm(near, moved) > OVERLAP_MM else (low, middle)
    return replace(plate, center_mm=near.center_mm + (high + gap_mm) * way)


def _depth_mm(a: Plate, b: Plate) -> float:
    """How far two bases lie within each other."""
    apart = float(np.linalg.norm(a.center_mm - b.center_mm))
    if apart > a.radius_mm + b.radius_mm:
        return 0.0
    return penetration_depth_mm(a.center_mm + a.outline_mm, b.center_mm + b.outline_mm)


def _figure(
    rng: Rng, plate: Plate, half: Array, paints: Floats, wardrobe: Wardrobe | None
) -> list[Body]:
    """What stands on a base of a unit."""
    if rng.random() < BARE:
        return []
    if half[0] > 1.1 * half[1] and rng.random() < MOUNTED:
        return mounted(rng, plate, half, paints, wardrobe)
    round_one = replace(plate, outline_mm=circle(float(np.sqrt(half.prod()))))
    return posed(rng, round_one, paints, wardrobe)

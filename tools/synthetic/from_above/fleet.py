"""Quickly drawn pieces of tables with ships on plates: any card, any ship, any mat, any light."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from overruler.vision.contours.outlines import penetration_depth_mm
from synthetic.arrays import Array, Floats, Mask, Picture, Rng
from synthetic.camera import View, patch_view, rows_columns
from synthetic.develop import photograph
from synthetic.from_above.sheet import FINE_MM, REACH_MM, Sheet, owners_at, sheet_of
from synthetic.mats import any_tile
from synthetic.painted.canvas import fill, hull, outline, softened
from synthetic.painted.light import Lamp, any_lamp, light_on
from synthetic.painted.paint import draw_solids, on_sensor, paint
from synthetic.painted.plates import any_oddity, circle, spun
from synthetic.painted.prints import any_prints, planet
from synthetic.painted.scene import Scene, make_scene
from synthetic.things.cards import SIDE, any_card
from synthetic.things.figures import any_colour
from synthetic.things.ships import LARGE, SMALL, any_ship

FINER = 2
SIDES_MM, SHARES = (40.0, 60.0, 80.0), (0.6, 0.2, 0.2)
FIRST = 100
"""In the map of owners: the first slab; pieces of other kinds come before."""
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
"""So many plates are laid on each piece of a table, the last not among them."""
CROWDED = (0.35, 0.8)
"""On some tables few plates stand beside others, on some most."""


@dataclass(frozen=True, slots=True, eq=False)
class Slab:
    """A flat rectangle with a card on it: a plate, or a mere card."""

    xy_mm: Array
    turn_rad: float
    half_mm: Array
    """(2,): half the length, along the heading, and half the width."""
    high_mm: float
    taper_mm: float
    inset_mm: float
    """How far inside the lower edge the card ends."""
    corner_mm: float
    paint: Floats
    """(3,): the body's, blue green red."""
    clear: float
    """0: what lies beneath does not show through, to 1."""
    shine: float
    card: Floats
    """(S, S, 4)"""
    is_plate: bool

    def outline(self, z_mm: float, inset_mm: float) -> Array:
        """A ring about it (K, 3), so far in."""
        half = self.half_mm - inset_mm
        corner = min(max(self.corner_mm - inset_mm, 0.05), float(half.min()))
        ring = circle(corner, 20) + np.sign(circle(1, 20) + 1e-9) * (half - corner)
        return self.place(ring, z_mm)

    def place(self, forward_left: Array, z_mm: float) -> Array:
        flat = spun(forward_left, self.turn_rad) + self.xy_mm
        return np.column_stack([flat, np.full(len(flat), z_mm)])

    @property
    def corners_mm(self) -> Array:
        return self.place(self.half_mm * [[1, -1], [1, 1], [-1, 1], [-1, -1]], 0.0)[:, :2]

    @property
    def body(self) -> Array:
        return np.vstack([self.outline(0, 0), self.outline(self.high_mm, self.taper_mm)])


def fleet_sheet(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    photos_mm: tuple[float, float] = (0.8, 1.6),
    fine_mm: float = FINE_MM,
    plates: tuple[int, int] = PLATES,
) -> Sheet:
    """One piece of a table from above, in pixels of `fine_mm`, by a photo of this many mm a pixel.

    So many plates are laid, unless none is, or there is no room.
    """
    rng = np.random.default_rng(list(seed))
    view = patch_view(rng, REACH_MM, float(rng.uniform(*photos_mm)))
    photo, slabs, shown = fleet_photo(rng, view, tiles, REACH_MM, plates=plates)
    return sheet_of(photo, view, plate_rows(slabs, shown), fine_mm)


def plate_rows(slabs: Sequence["Slab"], shown: Sequence[float]) -> list[list[float]]:
    """The plates among slabs, as a sheet has them."""
    return [
        [*slab.xy_mm, *2 * slab.half_mm, slab.turn_rad, 0, seen]
        for slab, seen in zip(slabs, shown, strict=True)
        if slab.is_plate
    ]


def fleet_photo(
    rng: Rng,
    view: View,
    tiles: Sequence[Picture],
    reach_mm: float,
    finer: int = FINER,
    plates: tuple[int, int] = PLATES,
) -> tuple[Picture, list[Slab], list[float]]:
    """A photo, the plates and cards in it, and the share of the rim of each that is in sight."""
    scene, tiles = _table(rng, reach_mm, tiles)
    slabs, lamp, fine = _slabs(rng, reach_mm, plates), any_lamp(rng), view.resized(finer)
    grown = float(rng.choice([SMALL, LARGE]))
    solids = [
        part
        for slab in slabs
        if slab.is_plate
        for part in any_ship(rng, slab.xy_mm, slab.turn_rad, _side(slab), grown)
    ]
    light, owners = paint(scene, fine, lamp, tiles)
    casters = [solid.points_mm for solid in solids]
    light *= light_on(casters, fine, lamp, 0.0) / light_on([], fine, lamp, 0.0)
    light *= _contact(slabs, fine, lamp)[..., None]
    eye = view.camera.center_mm[:2]
    for k in np.argsort([-float(np.linalg.norm(slab.xy_mm - eye)) for slab in slabs]):
        _draw(light, owners, slabs[k], int(k), fine, lamp, casters)
    draw_solids(light, owners, solids, fine, lamp)
    photo = photograph(on_sensor(light, view), rng)
    return photo, slabs, [_shown(slab, k, owners, fine) for k, slab in enumerate(slabs)]


def _side(slab: Slab) -> float:
    return float(2 * slab.half_mm[0])


# --- what lies there ---


def _table(rng: Rng, reach_mm: float, tiles: Sequence[Picture]) -> tuple[Scene, Sequence[Picture]]:
    """A mat, half of them space, with what is printed on it and some odd things."""
    scene = make_scene(rng, reach_mm, tiles)
    tile = any_tile(rng, "space") if rng.random() < 0.5 else tiles[scene.tile]
    few = [any_oddity(rng, scene.tile, tiles) for _ in range(int(rng.choice([0, 0, 1, 3])))]
    for thing in few:
        thing.center_mm[:] = rng.uniform(-reach_mm, reach_mm, 2)
    prints = any_prints(rng, reach_mm, rng.random() < 0.3) if rng.random() < 0.5 else []
    prints += [planet(rng, reach_mm) for _ in range(int(rng.choice([0, 0, 1])))]
    low = [thing for thing in few if thing.height_mm < 10]
    scene = Scene(
        len(tiles),
        scene.tile_turn,
        scene.tile_scale * rng.uniform(0.7, 2),
        scene.tile_shift_mm,
        low,
        prints,
    )
    return scene, [*tiles, tile]


def _slabs(rng: Rng, reach_mm: float, plates: tuple[int, int]) -> list[Slab]:
    """Plates, some side by side, and cards between them; some tables have none."""
    kept: list[Slab] = []
    like = _slab(rng, float(rng.choice(SIDES_MM, p=SHARES)))
    count = 0 if rng.random() < 0.1 else int(rng.integers(*plates) * (reach_mm / 190) ** 2)
    crowded = float(rng.choice(CROWDED))
    for k in range(count + int(rng.choice([0, 1, 3]))):
        plate = k < count
        new = _slab(rng, float(rng.choice(SIDES_MM, p=SHARES)), like) if plate else _cardboard(rng)
        for _ in range(8):
            near = kept[int(rng.integers(len(kept)))] if kept and rng.random() < crowded else None
            one = _moved(rng, new, near, reach_mm)
            if all(penetration_depth_mm(one.corners_mm, other.corners_mm) < 0.05 for other in kept):
                kept.append(one)
                break
    return kept


def _moved(rng: Rng, slab: Slab, near: Slab | None, reach_mm: float) -> Slab:
    """Anywhere, or beside another one: in contact, a little apart, turned likewise or not."""
    if near is None:
        return _at(slab, rng.uniform(-reach_mm, reach_mm, 2), rng.uniform(0, 2 * np.pi))
    turn = near.turn_rad + rng.integers(4) * np.pi / 2
    gap = float(rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 12)]))
    way = turn + rng.integers(4) * np.pi / 2
    forward, left = np.array([np.cos(way), np.sin(way)]), np.array([-np.sin(way), np.cos(way)])
    aside = rng.uniform(-1, 1) * near.half_mm[0]
    xy = near.xy_mm + (near.half_mm[0] + slab.half_mm[0] + gap) * forward + aside * left
    return _at(slab, xy, turn + (rng.normal(0, 0.1) if gap > 3 else 0))


def _at(slab: Slab, xy_mm: Array, turn_rad: float) -> Slab:
    return replace(slab, xy_mm=np.asarray(xy_mm, float), turn_rad=float(turn_rad))


def _slab(rng: Rng, side_mm: float, like: Slab | None = None) -> Slab:
    """A plate about the origin; most plates of a table are of one make."""
    same = like is not None and rng.random() < 0.75
    paint, clear, shine = (
        (like.paint, like.clear, like.shine) if same and like is not None else _body(rng)
    )
    taper = (
        like.taper_mm if same and like is not None else float(rng.choice([0.5, rng.uniform(0, 1)]))
    )
    inset = like.inset_mm if same and like is not None else float(rng.uniform(0.4, 4))
    high, corner = rng.uniform(2.6, 3.4), rng.uniform(0.3, 2.5)
    half = np.full(2, side_mm / 2)
    return Slab(
        np.zeros(2), 0.0, half, high, taper, inset, corner, paint, clear, shine, any_card(rng), True
    )


def _body(rng: Rng) -> tuple[Floats, float, float]:
    """A plate's paint, how clear it is, and how its edges shine."""
    kind = rng.random()
    if kind < 0.35:
        return (
            np.full(3, rng.uniform(0.4, 0.8), np.float32),
            float(rng.uniform(0.5, 0.98)),
            float(rng.uniform(0, 0.5)),
        )
    if kind < 0.8:
        return (
            np.full(3, rng.uniform(0.004, 0.05), np.float32),
            0.0,
            float(rng.choice([0, rng.uniform(0, 0.2)])),
        )
    return any_colour(rng), float(rng.choice([0, rng.uniform(0, 0.8)])), float(rng.uniform(0, 0.2))


def _cardboard(rng: Rng) -> Slab:
    """Something flat that is no plate."""
    width, length = CARDBOARD_MM[int(rng.integers(len(CARDBOARD_MM)))]
    half = np.array([length, width]) / 2 * rng.uniform(0.9, 1.1)
    paint = np.full(3, rng.uniform(0.02, 0.6), np.float32)
    card = any_card(rng)
    card[..., 3] = 1
    return Slab(
        np.zeros(2),
        0.0,
        half,
        rng.uniform(0.2, 2),
        0.0,
        0.0,
        rng.uniform(0.3, 4),
        paint,
        0.0,
        0.0,
        card,
        False,
    )


# --- painting ---


def _contact(slabs: Sequence[Slab], view: View, lamp: Lamp) -> Floats:
    """What slabs leave of the sky's light beside them, and their shadows' share of it."""
    dark = view.blank()
    for slab in slabs:
        fill(dark, hull(view.camera.project(slab.outline(0, 0))))
    opaque = np.float32(lamp.contact)
    return np.asarray(1 - opaque * softened(dark, lamp.contact_mm * view.px_per_mm), np.float32)


def _draw(
    light: Floats,
    owners: Mask,
    slab: Slab,
    k: int,
    view: View,
    lamp: Lamp,
    casters: Sequence[Array],
) -> None:
    """Paint a slab on the canvas."""
    corners = view.camera.project(slab.body)
    box = view.box(corners, 2)
    if min(box[2:]) == 0:
        return
    here, part, off = rows_columns(box), view.part(box), np.array(box[:2])
    patch = light[here]
    body, top = part.blank(), part.blank()
    fill(body, hull(corners - off))
    edge = view.camera.project(slab.outline(slab.high_mm, slab.taper_mm)) - off
    fill(top, hull(edge))
    lit = light_on(casters, part, lamp, slab.high_mm)
    beneath = np.roll(patch, 2, (0, 1)) if slab.clear else patch
    glass = slab.clear * beneath + (1 - slab.clear) * slab.paint * lit
    side = (
        glass * np.float32(0.6 if slab.paint.mean() > 0.1 else 1.0)
        + np.float32(0.3 * slab.shine) * lamp.sky
    )
    patch[body > 0] = side[body > 0]
    patch[top > 0] = glass[top > 0]
    _print(patch, top, slab, part, lit)
    for ring, share in ((edge, 1.0), (corners[:20] - off, 0.5)):
        if slab.shine * share > 0.02:
            shine = (slab.paint * lit.mean((0, 1)) + slab.shine * share).tolist()
            outline(patch, ring, shine, 1, True)
    owners[here][body > 0] = FIRST + k


def _print(patch: Floats, top: Mask, slab: Slab, view: View, lit: Floats) -> None:
    """The card, its upper edge ahead."""
    half = slab.half_mm - slab.inset_mm
    corners = view.camera.project(
        slab.place(half * [[1, 1], [1, -1], [-1, -1], [-1, 1]], slab.high_mm)
    )
    source = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], np.float32) - np.float32(0.5)
    warp = cv2.getPerspectiveTransform(source, corners.astype(np.float32))
    card = cv2.warpPerspective(slab.card, warp, view.size_px, flags=cv2.INTER_LINEAR)
    cover = card[..., 3:] * (top > 0)[..., None]
    patch += cover * (card[..., :3] / np.maximum(card[..., 3:], 0.2) * lit - patch)


def _shown(slab: Slab, k: int, owners: Mask, view: View) -> float:
    """The share of its upper edge in sight."""
    ring = slab.outline(slab.high_mm, slab.taper_mm + 0.7)
    steps, after = np.linspace(0, 1, 8, endpoint=False)[:, None], np.roll(ring, -1, 0)
    dense = np.concatenate([a + steps * (b - a) for a, b in zip(ring, after, strict=True)])
    lengths = np.repeat(np.linalg.norm(after - ring, axis=1), len(steps))
    seen = owners_at(owners, view.camera.project(dense)) == FIRST + k
    return float(np.average(seen, weights=lengths))

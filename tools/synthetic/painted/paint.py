"""A scene as light on a sensor: exact outlines, shading by one lamp and the sky, soft shadows."""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Mask, Picture, Rng
from synthetic.camera import View, rows_columns
from synthetic.develop import LIGHT, photograph
from synthetic.noise import TILE, clouds
from synthetic.painted.bodies import draw_bodies
from synthetic.painted.canvas import fill, hull, outline, softened
from synthetic.painted.light import (
    Casters,
    Lamp,
    any_lamp,
    casters_of,
    contact,
    corners_of,
    light_on,
)
from synthetic.painted.plates import Plate, spun
from synthetic.painted.prints import Print
from synthetic.painted.scene import Scene
from synthetic.painted.wardrobe import Cutout
from synthetic.things.solids import Solid
from synthetic.tiles import TILE_TEXEL_MM

TALL_MM = 10.0
"""What stands behind something higher is hidden by it."""


def photo_of(
    rng: Rng, scene: Scene, view: View, finer: int, tiles: Sequence[Picture]
) -> tuple[Picture, Mask]:
    """A photo of the scene, in any light and by any camera, and who is seen at each of its finer pixels."""
    light, owners = paint(scene, view.resized(finer), any_lamp(rng), tiles)
    return photograph(in_a_room(rng, on_sensor(light, view)), rng), owners


def in_a_room(rng: Rng, light: Floats) -> Floats:
    """The light of a scene under uneven lamps and windows, and what a pale room adds by reflection."""
    if rng.random() < 0.5:
        return light
    height, width = light.shape[:2]
    strength = rng.uniform(0, 0.5)
    field = strength * clouds((height, width), float(rng.uniform(0.5, 2) * width), rng, 2)
    veil = float(rng.choice([0.0, rng.uniform(0, 0.04)]))
    return np.asarray(light * np.exp(field)[..., None] + np.float32(veil), np.float32)


def on_sensor(light: Floats, view: View) -> Floats:
    """The mean of the light over each pixel of a view."""
    return np.asarray(cv2.resize(light, view.size_px, interpolation=cv2.INTER_AREA), np.float32)


def paint(scene: Scene, view: View, lamp: Lamp, tiles: Sequence[Picture]) -> tuple[Floats, Mask]:
    """Amounts of light (S, S, 3) and who is seen at each pixel (S, S), on the view's canvas."""
    canvas = _textured(tiles[scene.tile], _tile_map(scene), view, 0.0)
    _draw_prints(canvas, scene.prints, view)
    owners = view.blank()
    cutouts = [body for body in scene.solids if isinstance(body, Cutout)]
    hulls = [body.points_mm for body in scene.solids if isinstance(body, Solid)]
    casters = casters_of(hulls, cutouts, lamp)
    on_mat = replace(casters, hulls=[*hulls, *map(corners_of, scene.plates)])
    light = light_on(on_mat, view, lamp, 0.0)
    canvas *= light * contact(scene.plates, view, lamp)[..., None]
    solids, eye = scene.solids, view.camera.center_mm[:2]
    for k in _farthest_first(scene.plates, eye):
        plate = scene.plates[k]
        if plate.height_mm > TALL_MM:
            away = float(np.linalg.norm(plate.center_mm - eye))
            behind = [s for s in solids if np.linalg.norm(s.points_mm[:, :2].mean(0) - eye) > away]
            draw_bodies(canvas, owners, behind, view, lamp)
            solids = [solid for solid in solids if solid not in behind]
        _draw_on_canvas(canvas, owners, k, plate, casters, view, lamp, tiles)
    draw_bodies(canvas, owners, solids, view, lamp)
    return canvas, owners


def _farthest_first(plates: Sequence[Plate], eye: Array) -> list[int]:
    """Plates on the mat, then those that stand on others; of each the nearest last."""
    key = [(plate.z_mm > 0, -float(np.linalg.norm(plate.center_mm - eye))) for plate in plates]
    return sorted(range(len(plates)), key=key.__getitem__)


def _draw_on_canvas(
    canvas: Floats,
    owners: Mask,
    k: int,
    plate: Plate,
    casters: Casters,
    view: View,
    lamp: Lamp,
    tiles: Sequence[Picture],
) -> None:
    """Paint plate k where it is in sight."""
    box = view.box(view.camera.project(corners_of(plate)), 2)
    if min(box[2:]) > 0:
        here = rows_columns(box)
        body = _draw_plate(canvas[here], plate, casters, view.part(box), lamp, tiles)
        owners[here][body > 0] = k + 1


# --- the mat ---


def _tile_map(scene: Scene) -> Array:
    """From mm on the mat to pixels of its tile (3, 3)."""
    scale = 1 / TILE_TEXEL_MM / scene.tile_scale
    c, s = scale * np.cos(scene.tile_turn), scale * np.sin(scene.tile_turn)
    return np.array([[c, -s, scene.tile_shift_mm[0]], [s, c, scene.tile_shift_mm[1]], [0, 0, 1]])


def _textured(tile: Picture, tile_from_mm: Array, view: View, z_mm: float) -> Floats:
    """A tile as it lies on the plane at z, mirrored beyond its edges."""
    matrix = tile_from_mm @ np.linalg.inv(view.plane(z_mm))
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    seen = cv2.warpPerspective(
        tile, matrix, view.size_px, flags=flags, borderMode=cv2.BORDER_REFLECT
    )
    return np.asarray(LIGHT[seen])


def _draw_prints(canvas: Floats, prints: Sequence[Print], view: View) -> None:
    for item in prints:
        margin = 3 * item.soft_mm + (item.width_mm or 0)
        box = view.box(view.pixels(item.outline_mm, 0.0), 2 + margin * view.px_per_mm)
        if min(box[2:]) > 0:
            patch = canvas[rows_columns(box)]
            patch += _cover(item, view.part(box))[..., None] * (item.colour - patch)


def _cover(item: Print, view: View) -> Floats:
    """How much a print covers each pixel of its part of the canvas (h, w)."""
    mask, points, scale = view.blank(), view.pixels(item.outline_mm, 0.0), view.px_per_mm
    if item.width_mm is None and len(points) > 2:
        fill(mask, points, 255, convex=False)
    else:
        width = max(1, round((item.width_mm or 1) * scale))
        outline(mask, points, 255, width, len(points) > 2)
    covered = np.float32(item.strength) * softened(mask, item.soft_mm * scale)
    return covered if item.worn_mm is None else covered * _left(view, item.worn_mm)


def _left(view: View, worn_mm: Array) -> Floats:
    """What is left of a print at each pixel (h, w): from nothing at the first place to all at the second."""
    off, whole = view.pixels(worn_mm, 0.0)
    way = (whole - off) / np.sum((whole - off) ** 2)
    x, y = (np.arange(size) - start for size, start in zip(view.size_px, off, strict=True))
    return np.asarray(np.clip(way[0] * x + way[1] * y[:, None], 0, 1), np.float32)


# --- plates ---


def _draw_plate(
    patch: Floats,
    plate: Plate,
    casters: Casters,
    view: View,
    lamp: Lamp,
    tiles: Sequence[Picture],
) -> Mask:
    """Paint a plate on its part of the canvas; where it is (h, w)."""
    corners = view.camera.project(corners_of(plate))
    edge = corners[len(corners) // 2 :]
    body, top = view.blank(), view.blank()
    fill(body, hull(corners))
    fill(top, edge)
    lit = light_on(casters, view, lamp, plate.top_mm)
    beneath = np.roll(patch, 2, (0, 1))
    side, level = _side(plate, view, lamp, body, tiles), _top(plate, view, tiles) * lit
    patch[body > 0] = side + plate.clear * (0.6 * beneath[body > 0] - side)
    level += np.float32(plate.clear) * (beneath - level)
    if plate.card is not None:
        _lay_card(level, plate, view, lit)
    patch[top > 0] = level[top > 0]
    if plate.highlight > 0:
        light = (plate.rim + np.float32(0.5 * plate.highlight)).tolist()
        outline(patch, edge, light, 1, True)
    return body


def _lay_card(level: Floats, plate: Plate, view: View, lit: Floats) -> None:
    """Lay a plate's card on its top, under the same light."""
    assert plate.card is not None
    assert plate.card_half_mm is not None
    ahead = plate.card_half_mm * [[1, 1], [1, -1], [-1, -1], [-1, 1]]
    corners = view.pixels(plate.center_mm + spun(ahead, plate.turn_rad), plate.top_mm)
    size = len(plate.card)
    source = np.array([[0, 0], [size, 0], [size, size], [0, size]], np.float32) - np.float32(0.5)
    warp = cv2.getPerspectiveTransform(source, corners.astype(np.float32))
    card = cv2.warpPerspective(plate.card, warp, view.size_px, flags=cv2.INTER_LINEAR)
    cover = card[..., 3:]
    level += cover * (card[..., :3] / np.maximum(cover, 0.2) * lit - level)


def _side(plate: Plate, view: View, lamp: Lamp, body: Mask, tiles: Sequence[Picture]) -> Floats:
    """The side's light at each pixel of `body` (n, 3)."""
    ys, xs = np.nonzero(body)
    middle_mm = plate.z_mm + plate.height_mm / 2
    inverse = np.linalg.inv(view.plane(middle_mm)).astype(np.float32)
    place = inverse @ np.stack([xs, ys, np.ones(len(xs))]).astype(np.float32)
    out = (place[:2] / place[2]).T - plate.center_mm.astype(np.float32)
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-3)
    tilt = np.arctan2(plate.inset_mm, plate.height_mm)
    facing = out @ lamp.towards[:2].astype(np.float32) * np.float32(np.cos(tilt)) + np.float32(
        lamp.towards[2] * np.sin(tilt)
    )
    sun = np.maximum(facing, 0)[:, None]
    shine = np.float32(0.5 * plate.gloss) * sun**8
    paint = plate.rim
    if plate.side_tile is not None:
        paint = paint * _cut(plate, tiles[plate.side_tile], view, middle_mm)[body > 0]
    return np.asarray(paint * (0.7 * lamp.sky + lamp.lamp * sun) + lamp.lamp * shine, np.float32)


def _top(plate: Plate, view: View, tiles: Sequence[Picture]) -> Floats:
    """The top's reflectance on its part of the canvas (h, w, 3)."""
    paint = _cut(plate, tiles[plate.tile], view, plate.top_mm) * plate.tint
    if plate.plain is not None:
        paint[:] = plate.plain
    if plate.ring_mm > 0 or plate.wobble_mm > 0:
        topping = view.blank()
        fill(topping, view.pixels(plate.center_mm + _topping(plate), plate.top_mm), convex=False)
        paint[topping == 0] = plate.rim
    if plate.glyph is not None:
        cover = view.blank()
        fill(cover, view.pixels(plate.center_mm + plate.glyph[0], plate.top_mm), convex=False)
        paint[cover > 0] = plate.glyph[1]
    return paint


def _cut(plate: Plate, tile: Picture, view: View, z_mm: float) -> Floats:
    """A tile over a plate: another part of it for each."""
    scale = 1 / TILE_TEXEL_MM * (1.6 if plate.height_mm < TALL_MM else 1.0)
    x, y = 40 * plate.center_mm % TILE
    return _textured(tile, np.array([[scale, 0, x], [0, scale, y], [0, 0, 1]]), view, z_mm)


def _topping(plate: Plate) -> Array:
    """Where the topping ends (K, 2), about the centre."""
    turn = np.arange(len(plate.outline_mm)) * 2 * np.pi / len(plate.outline_mm)
    phase = float(plate.center_mm.sum())
    waves = sum(np.sin(k * turn + k * k * phase) for k in (3, 5, 8, 13, 21)) / 2
    inset = plate.inset_mm + plate.ring_mm + plate.wobble_mm * np.maximum(waves, -0.3)
    reach = np.linalg.norm(plate.outline_mm, axis=1)
    return np.asarray(plate.outline_mm * np.maximum(1 - inset / reach, 0.1)[:, None])

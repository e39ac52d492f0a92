"""A scene as light on a sensor: exact outlines, shading by one lamp and the sky, soft shadows."""

from collections.abc import Sequence

import cv2
import numpy as np

from synthetic.painted.light import Lamp, contact, corners_of, light_on
from synthetic.painted.mats import SIDE, TILE_MM, Picture
from synthetic.painted.plates import Plate
from synthetic.painted.prints import Print
from synthetic.painted.scene import Scene
from synthetic.painted.solids import Array, Floats, Solid
from synthetic.painted.view import Mask, View, bounds, fill, hull, px_per_mm, softened

HIDDEN = 255
"""In the map of owners: a solid; 0 is the mat, k + 1 plate k."""
_LIGHT = (np.arange(256) / 255).astype(np.float32) ** 2.2


def paint(scene: Scene, view: View, lamp: Lamp, tiles: Sequence[Picture]) -> tuple[Floats, Mask]:
    """Amounts of light (S, S, 3) and who is seen at each pixel (S, S), on the view's canvas."""
    canvas = _mat(scene, view, tiles)
    _draw_prints(canvas, scene.prints, view)
    owners = view.blank()
    eye = view.camera.center_mm
    casters = [solid.points_mm for solid in scene.solids]
    light = light_on([*casters, *map(corners_of, scene.plates)], view, lamp, 0.0)
    canvas *= light * contact(scene.plates, view, lamp)[..., None]
    for k in np.argsort([-np.linalg.norm(plate.center_mm - eye[:2]) for plate in scene.plates]):
        box = bounds(view.camera.project(corners_of(scene.plates[k])), view, 2)
        if min(box[2:]) > 0:
            here = (slice(box[1], box[1] + box[3]), slice(box[0], box[0] + box[2]))
            body = _draw_plate(canvas[here], scene.plates[k], casters, view.part(box), lamp, tiles)
            owners[here][body > 0] = k + 1
    draw_solids(canvas, owners, scene.solids, view, lamp)
    return canvas, owners


# --- the mat ---


def _tile_map(scene: Scene) -> Array:
    """From mm on the mat to pixels of its tile (3, 3)."""
    scale = SIDE / TILE_MM / scene.tile_scale
    c, s = scale * np.cos(scene.tile_turn), scale * np.sin(scene.tile_turn)
    return np.array([[c, -s, scene.tile_shift_mm[0]], [s, c, scene.tile_shift_mm[1]], [0, 0, 1]])


def _textured(tile: Picture, tile_from_mm: Array, view: View, z_mm: float) -> Floats:
    """A tile as it lies on the plane at z."""
    matrix = tile_from_mm @ np.linalg.inv(view.plane(z_mm))
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    size = (view.width_px, view.height_px)
    seen = cv2.warpPerspective(tile, matrix, size, flags=flags, borderMode=cv2.BORDER_WRAP)
    return np.asarray(_LIGHT[seen])


def _mat(scene: Scene, view: View, tiles: Sequence[Picture]) -> Floats:
    return _textured(tiles[scene.tile], _tile_map(scene), view, 0.0)


def _draw_prints(canvas: Floats, prints: Sequence[Print], view: View) -> None:
    for item in prints:
        margin = 3 * item.soft_mm + (item.width_mm or 0)
        box = bounds(view.pixels(item.outline_mm, 0.0), view, 2 + margin * px_per_mm(view))
        if min(box[2:]) > 0:
            patch = canvas[box[1] : box[1] + box[3], box[0] : box[0] + box[2]]
            patch += _cover(item, view.part(box))[..., None] * (item.colour - patch)


def _cover(item: Print, view: View) -> Floats:
    """How much a print covers each pixel of its part of the canvas (h, w)."""
    mask, points, scale = view.blank(), view.pixels(item.outline_mm, 0.0), px_per_mm(view)
    if item.width_mm is None and len(points) > 2:
        fill(mask, points, 255, convex=False)
    else:
        width = max(1, round((item.width_mm or 1) * scale))
        cv2.polylines(
            mask,
            [np.round(points * 16).astype(np.int32)],
            len(points) > 2,
            255,
            width,
            cv2.LINE_8,
            4,
        )
    covered = np.float32(item.strength) * softened(mask, item.soft_mm * scale)
    return covered if item.worn_mm is None else covered * _left(view, item.worn_mm)


def _left(view: View, worn_mm: Array) -> Floats:
    """What is left of a print at each pixel (h, w): from nothing at the first place to all at the second."""
    off, whole = view.pixels(worn_mm, 0.0)
    way = (whole - off) / np.sum((whole - off) ** 2)
    x, y = np.arange(view.width_px) - off[0], np.arange(view.height_px) - off[1]
    return np.asarray(np.clip(way[0] * x + way[1] * y[:, None], 0, 1), np.float32)


# --- plates ---


def _draw_plate(
    patch: Floats,
    plate: Plate,
    casters: Sequence[Array],
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
    patch[body > 0] = _side(plate, view, lamp, body)
    level = _top(plate, view, tiles) * light_on(casters, view, lamp, plate.height_mm)
    patch[top > 0] = level[top > 0]
    if plate.highlight > 0:
        light = (plate.rim + np.float32(0.5 * plate.highlight)).tolist()
        cv2.polylines(patch, [np.round(edge * 16).astype(np.int32)], True, light, 1, cv2.LINE_8, 4)
    return body


def _side(plate: Plate, view: View, lamp: Lamp, body: Mask) -> Floats:
    """The side's light at each pixel of `body` (n, 3)."""
    ys, xs = np.nonzero(body)
    inverse = np.linalg.inv(view.plane(plate.height_mm / 2)).astype(np.float32)
    place = inverse @ np.stack([xs, ys, np.ones(len(xs))]).astype(np.float32)
    out = (place[:2] / place[2]).T - plate.center_mm.astype(np.float32)
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-3)
    tilt = np.arctan2(plate.inset_mm, plate.height_mm)
    facing = out @ lamp.towards[:2].astype(np.float32) * np.float32(np.cos(tilt)) + np.float32(
        lamp.towards[2] * np.sin(tilt)
    )
    sun = np.maximum(facing, 0)[:, None]
    shine = np.float32(0.5 * plate.gloss) * sun**8
    return np.asarray(
        plate.rim * (0.7 * lamp.sky + lamp.lamp * sun) + lamp.lamp * shine, np.float32
    )


def _top(plate: Plate, view: View, tiles: Sequence[Picture]) -> Floats:
    """The top's reflectance on its part of the canvas (h, w, 3)."""
    scale = SIDE / TILE_MM * 1.6
    x, y = 40 * plate.center_mm  # another part of the tile for each
    shift = np.array([[scale, 0, x % SIDE], [0, scale, y % SIDE], [0, 0, 1]])
    paint = _textured(tiles[plate.tile], shift, view, plate.height_mm) * plate.tint
    if plate.plain is not None:
        paint[:] = plate.plain
    if plate.ring_mm > 0 or plate.wobble_mm > 0:
        topping = view.blank()
        fill(topping, view.pixels(plate.center_mm + _topping(plate), plate.height_mm), convex=False)
        paint[topping == 0] = plate.rim
    if plate.glyph is not None:
        cover = view.blank()
        fill(cover, view.pixels(plate.center_mm + plate.glyph[0], plate.height_mm), convex=False)
        paint[cover > 0] = plate.glyph[1]
    return paint


def _topping(plate: Plate) -> Array:
    """Where the topping ends (K, 2), about the centre."""
    turn = np.arange(len(plate.outline_mm)) * 2 * np.pi / len(plate.outline_mm)
    phase = float(plate.center_mm.sum())
    waves = sum(np.sin(k * turn + k * k * phase) for k in (3, 5, 8, 13, 21)) / 2
    inset = plate.inset_mm + plate.ring_mm + plate.wobble_mm * np.maximum(waves, -0.3)
    reach = np.linalg.norm(plate.outline_mm, axis=1)
    return np.asarray(plate.outline_mm * np.maximum(1 - inset / reach, 0.1)[:, None])


# --- solids ---


def draw_solids(
    canvas: Floats, owners: Mask, solids: Sequence[Solid], view: View, lamp: Lamp
) -> None:
    """All solids, the farthest triangle first."""
    if not solids:
        return
    corners = np.concatenate([solid.points_mm[solid.faces] for solid in solids])  # (m, 3, 3)
    colours = np.concatenate(
        [np.repeat(solid.colour[None], len(solid.faces), 0) for solid in solids]
    )
    seen = view.camera.project(corners)
    u, v = seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0]
    front = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] < 0  # the picture's y points down
    light = _flat_light(corners, lamp) * colours
    distance = np.linalg.norm(corners.mean(1) - view.camera.center_mm, axis=1)
    fixed = np.round(seen * 16).astype(np.int32)
    for k in np.argsort(-distance):
        if front[k]:
            cv2.fillConvexPoly(canvas, fixed[k], light[k].tolist(), cv2.LINE_8, 4)
            cv2.fillConvexPoly(owners, fixed[k], HIDDEN, cv2.LINE_8, 4)


def _flat_light(corners: Array, lamp: Lamp) -> Floats:
    """Light on triangles (m, 3, 3), one colour each (m, 3); darker near the ground."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    sky = 0.55 + 0.45 * normal[:, 2]
    low = np.clip(corners[:, :, 2].mean(1) / 15, 0.3, 1)
    sun = np.maximum(normal @ lamp.towards, 0)
    return np.asarray(
        low[:, None] * (sky[:, None] * lamp.sky + sun[:, None] * lamp.lamp), np.float32
    )

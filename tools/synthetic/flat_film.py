"""A film's table drawn flat: bases, figures and a hand as plain outlines, their edges averaged over each pixel."""

from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View, box_around, rows_columns
from synthetic.develop import LIGHT
from synthetic.filming import STEPS_PER_S, ahead
from synthetic.flat_table import coded_light, render_table, ring_mm
from synthetic.things.materials import paint
from synthetic.things.pieces import RIMS, TOPPINGS, Piece
from synthetic.traced.hands import Carry
from synthetic.traced.table import Table

FINE = 4
"""Samples of a pixel's side."""
MATS = (
    (0.42, 0.3, 0.12),
    (0.12, 0.25, 0.08),
    (0.4, 0.36, 0.35),
    (0.55, 0.52, 0.5),
    (0.08, 0.1, 0.16),
)
"""Their colours, red green blue."""
SKIN, SLEEVES = (0.62, 0.4, 0.28), ((0.05, 0.12, 0.3), (0.05, 0.05, 0.05), (0.4, 0.08, 0.08))
LUMPS = ((0.25, 0.42, 8.0, 1.0), (0.1, 0.28, 22.0, 0.6), (0.5, 0.13, 14.0, 1.6))
"""A figure: how far ahead, how wide (in radii), how high (mm) and how bright each lump is."""
FINGERS, PALM, WRIST, ARM = (0, 60, 9.5), (60, 95, 34.0), (90, 160, 24.0), (150, 1500, 36.0)
"""Parts of a hand: from and to how far behind the fingertips, and half how wide, in mm."""
Colour = Sequence[float] | Array


def flat_pictures(
    table: Table, view: View, moves: Sequence[Carry], steps: int, rng: Rng
) -> Iterator[Picture]:
    """The table at each step."""
    mat, size = _mat(table, view, rng), view.size_px
    sleeve = SLEEVES[int(rng.integers(len(SLEEVES)))]
    paints = {piece.id: rng.uniform(0.05, 0.8, 3) for piece in table.pieces}
    noises = [rng.normal(0, 1.2, (size[1], size[0], 1)).astype(np.float32) for _ in range(4)]
    stands = {piece.id: piece for piece in table.pieces}
    for step in range(steps):
        light, now = mat.copy(), step / STEPS_PER_S
        stands |= {move.piece.id: move.moved(now) for move in moves if move.start_s <= now}
        for piece in stands.values():
            _draw_piece(light, view.camera, piece, paints[piece.id])
        for move in moves:
            if move.gone(now) < 1:
                _draw_hand(light, view.camera, move, now, sleeve)
        yield coded_light(light, 0.6, noises[step % 4])


def _mat(table: Table, view: View, rng: Rng) -> Floats:
    """The empty table in linear light (H, W, 3)."""
    corners = {marker.id: marker.corners_mm * [1, 1, 0] for marker in table.markers}
    colour, size = MATS[int(rng.integers(len(MATS)))], view.size_px
    flat = render_table(view.camera, size, table.spec.size_mm, (), corners, mat=colour, blur_px=0.0)
    light = LIGHT[flat]
    texture = np.zeros(light.shape[:2], np.float32)
    for scale in (300, 90, 28, 8, 3):
        lumps = rng.normal(0, 1, (size[1] // scale + 2, size[0] // scale + 2)).astype(np.float32)
        large = cv2.resize(lumps, size, interpolation=cv2.INTER_CUBIC)
        texture += large * rng.uniform(0.03, 0.12)
    plain = np.all(np.abs(light - np.array(colour, np.float32)) < 0.02, axis=-1)
    light[plain] *= np.exp(texture[plain])[:, None]
    return light


def _fill(light: Floats, outline_px: Array, colour: Colour, cover: float = 1.0) -> None:
    """Paint a polygon into a picture in linear light, its edge averaged over the samples of each pixel."""
    box = box_around(outline_px, 1, light.shape[1::-1])
    if min(box[2:]) <= 0:
        return
    mask = np.zeros((box[3] * FINE, box[2] * FINE), np.uint8)
    fine = ((outline_px - box[:2] + 0.5) * FINE - 0.5) * 16
    cv2.fillPoly(mask, [np.rint(fine).astype(np.int32)], 255, shift=4)
    share = cv2.resize(mask, box[2:], interpolation=cv2.INTER_AREA)[..., None] / 255 * cover
    part = light[rows_columns(box)]
    part[:] = part * (1 - share) + np.array(colour, np.float32) * share


def _hull(points_px: Array) -> Array:
    seen = points_px[np.isfinite(points_px).all(1)].astype(np.float32)
    return cv2.convexHull(seen)[:, 0].astype(float)


def _draw_piece(light: Floats, camera: Camera, piece: Piece, colour: Array) -> None:
    """The body of the base, its top, and a figure whose lumps show which way it is turned."""
    lower, upper = camera.project(piece.rim_mm(120)[0]), camera.project(piece.top_rim_mm(120))
    _fill(light, _hull(np.vstack([lower, upper])), paint(RIMS[piece.stand.rim]))
    top = upper.mean(0) + (upper - upper.mean(0)) * 0.92
    _fill(light, top, paint(TOPPINGS[piece.stand.topping][0]))
    front, radius = ahead(np.radians(piece.heading_deg)), piece.shape.width_mm / 2
    foot, high = np.array([piece.x_mm, piece.y_mm]), piece.z_mm + piece.stand.height_mm
    for step, wide, rise, bright in LUMPS:
        ring = ring_mm(foot + front * radius * step, radius * wide, high + rise, 40)
        _fill(light, camera.project(ring), np.minimum(colour * bright, 1.0))


def _draw_hand(light: Floats, camera: Camera, move: Carry, now: float, sleeve: Colour) -> None:
    """A shade, fingers over the piece, a palm and an arm that leaves the table."""
    away = ahead(np.radians(move.away_deg))
    side = np.array([-away[1], away[0]])
    tip = move.at(now)[0] + move.grip_mm + away * 700 * move.gone(now) ** 1.5
    for along, radius in ((55, 60.0), (150, 55.0), (260, 60.0)):
        shade = ring_mm(tip + away * along + 14, radius, 0.0, 120)
        _fill(light, camera.project(shade), (0, 0, 0), 0.35)
    for aside in (-1, 0, 1):
        start = tip + side * 20 * aside + away * 4 * abs(aside)
        _limb(light, camera, start, tip + away * FINGERS[1] + side * 14 * aside, FINGERS[2], SKIN)
    for (near, far, radius), colour in ((PALM, SKIN), (WRIST, SKIN), (ARM, sleeve)):
        _limb(light, camera, tip + away * near, tip + away * far, radius, colour)


def _limb(
    light: Floats, camera: Camera, start: Array, end: Array, radius: float, colour: Colour
) -> None:
    ends = np.vstack([ring_mm(start, radius, 30.0, 48), ring_mm(end, radius, 45.0, 48)])
    _fill(light, _hull(camera.project(ends)), colour)

"""Paints bodies out of a wardrobe into a scene: under its lamp, in any paint, with their shadows."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Mask, Picture
from synthetic.camera import View, rows_columns
from synthetic.painted.wardrobe import NEUTRAL, PARTS, Cutout

STEEP = 0.12
"""The sine of the tilt up to which a body is taken as seen from straight above: its picture turns with it."""
CREVICE = 0.55
"""The share of the lamp that reaches where no sky does: what is deep lies in its own shadow."""
SHINE_POWER = 18
"""How narrow the spots of light on metal and varnish are."""
GRAIN = 0.1
"""1 σ of the brightness of the small relief that the meshes do not have."""
MARKED = 1.15
"""Above so many σ of a noise small spots have the next part's paint: buckles, eyes, patterns."""
SHARPER = 1.6
"""How much steeper the edge of an enlarged picture is made."""
GAMMA, GRAINS = 2.2, (0.35, 1.4)
"""Light is about this power of a texture's grain, and grain is taken within these: no paint shines by itself."""
LARGE, SMOOTH_PX = 1.4, 0.6
"""Pictures that are seen larger than this are smoothed first by a blur of so many of their pixels (1 σ)."""
SMALL = 0.75
"""Pictures that are seen smaller than this are shrunk first, or thin parts would flicker."""
BELOW_MM = 12.0
"""What stands farther below a plane throws no shadow on it."""
HIDDEN = 255
"""In the map of owners: a body; 0 is the mat, k + 1 plate k."""
_GRAINS = (np.arange(256, dtype=np.float32) / NEUTRAL).clip(*GRAINS)
_STROKES = np.random.default_rng(5).standard_normal((160, 160)).astype(np.float32)
_MARKS = cv2.GaussianBlur(_STROKES[::-1, ::-1], (0, 0), 0.9)
_MARKS = np.asarray(_MARKS / _MARKS.std(), np.float32)


@dataclass(frozen=True, slots=True)
class Light:
    """What falls on a body: the direction to the lamp (3,), the lamp's light and the sky's (3,)."""

    towards: Array
    lamp: Floats
    sky: Floats


def draw_cutout(canvas: Floats, owners: Mask, cutout: Cutout, view: View, light: Light) -> None:
    """Paint a body on the canvas, and write that it hides what is behind it."""
    which, frame = _seen_from(cutout, view.camera.center_mm)
    picture, foot = _mirrored(cutout, which)
    step = cutout.scale / cutout.wardrobe.px_per_mm[which]
    ends = cutout.foot_mm + np.array([np.zeros(3), step * frame[0], step * frame[1]])
    origin, right, up = view.camera.project(ends)
    across, along = right - origin, origin - up
    colour = _painted(cutout, picture, frame, light)
    small = float(np.sqrt(abs(across[0] * along[1] - across[1] * along[0])))
    if small > LARGE:
        colour = np.asarray(cv2.GaussianBlur(colour, (0, 0), SMOOTH_PX), np.float32)
    if small < SMALL:
        size = np.maximum(np.round(np.array(colour.shape[1::-1]) * small), 1).astype(int)
        share = size / colour.shape[1::-1]
        shrunk = cv2.resize(colour, size.tolist(), interpolation=cv2.INTER_AREA)
        colour = np.asarray(shrunk, np.float32)
        foot = (foot + 0.5) * share - 0.5
        across, along = across / share[0], along / share[1]
    warp = np.column_stack([across, along, origin - foot[0] * across - foot[1] * along])
    _lay(canvas, owners, colour, warp, view)


def _lay(canvas: Floats, owners: Mask, colour: Floats, warp: Array, view: View) -> None:
    """Lay a picture with its cover (h, w, 4), warped by (2, 3), on the canvas."""
    height, width = colour.shape[:2]
    corners = np.array([[-1, -1], [width, -1], [width, height], [-1, height]])
    box = view.box(corners @ warp[:, :2].T + warp[:, 2], 1)
    if min(box[2:]) <= 0:
        return
    shifted = warp - np.array([[0, 0, box[0]], [0, 0, box[1]]])
    seen = cv2.warpAffine(colour, shifted, box[2:], flags=cv2.INTER_LINEAR)
    cover = seen[..., 3:]
    edge = np.clip((cover - 0.5) * SHARPER + 0.5, 0, 1)
    patch = canvas[rows_columns(box)]
    patch += edge * (seen[..., :3] / np.maximum(cover, 0.05) - patch)
    owners[rows_columns(box)][edge[..., 0] > 0.5] = HIDDEN


def _seen_from(cutout: Cutout, eye_mm: Array) -> tuple[int, Array]:
    """Which picture shows the body from a place, and its right, up and towards (3, 3) on the table."""
    high, _ = cutout.extent_mm
    towards = eye_mm - cutout.foot_mm - [0, 0, high / 2]
    towards = towards / np.linalg.norm(towards)
    which = cutout.wardrobe.nearest(cutout.body, _in_frame(cutout, towards))
    own = cutout.wardrobe.frames[which]
    if own[2, 2] > 1 - STEEP**2 / 2:
        return which, _on_table(cutout, own)
    aside = float(np.hypot(*towards[:2]))
    right = np.array([-towards[1], towards[0], 0]) / max(aside, 1e-9)
    return which, np.array([right, np.cross(towards, right), towards])


def _in_frame(cutout: Cutout, way: Array) -> Array:
    """A direction on the table in the body's frame."""
    c, s = np.cos(cutout.turn_rad), np.sin(cutout.turn_rad)
    x, y = c * way[0] + s * way[1], c * way[1] - s * way[0]
    return np.array([x, -y if cutout.mirrored else y, way[2]])


def _on_table(cutout: Cutout, frame: Array) -> Array:
    """A picture's frame as it stands on the table; that of a mirrored body is turned over."""
    c, s = np.cos(cutout.turn_rad), np.sin(cutout.turn_rad)
    turned = frame @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    if not cutout.mirrored:
        return np.asarray(turned)
    flipped = frame * [1, -1, 1] @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    return np.asarray(flipped * [[-1], [1], [1]])


def _mirrored(cutout: Cutout, which: int) -> tuple[Picture, Array]:
    """The picture and its foot, turned over where the body is."""
    picture, foot = cutout.wardrobe.pictures[which], cutout.wardrobe.feet[which]
    if not cutout.mirrored:
        return picture, foot
    over = picture[:, ::-1].copy()
    over[..., 2] = 255 - over[..., 2]
    return over, np.array([picture.shape[1] - 1 - foot[0], foot[1]])


def _painted(cutout: Cutout, picture: Picture, frame: Array, light: Light) -> Floats:
    """The body's light with its cover (h, w, 4), the light multiplied by the cover."""
    part, values = picture[..., 0], picture[..., 1:4].astype(np.float32)
    is_open = values[..., 0] / np.float32(255)
    x, y = (values[..., k] / np.float32(127.5) - 1 for k in (1, 2))
    z = np.sqrt(np.maximum(1 - x * x - y * y, 0))
    lit = frame @ light.towards
    sun = np.maximum(x * lit[0] + y * lit[1] + z * lit[2], 0)
    sun *= np.clip(CREVICE + is_open, 0, 1)
    half = frame @ (light.towards + frame[2])
    half = half / np.linalg.norm(half)
    shine = np.maximum(x * half[0] + y * half[1] + z * half[2], 0) ** SHINE_POWER
    coats = _coated(cutout, picture, is_open)
    seen = (part > 0).astype(np.float32)
    glow = coats * (light.sky * is_open[..., None] + light.lamp * sun[..., None])
    glow = glow + np.float32(cutout.gloss) * shine[..., None] * light.lamp
    return np.dstack([glow * seen[..., None], seen]).astype(np.float32)


def _coated(cutout: Cutout, picture: Picture, is_open: Floats) -> Floats:
    """The paint of each pixel (h, w, 3): with highlights on open edges, and spots of another paint."""
    side, part = len(_STROKES), picture[..., 0]
    down, right = (997 * np.abs(cutout.foot_mm[:2])).astype(int).tolist()
    rows = (down + np.arange(part.shape[0])) % side
    columns = (right + np.arange(part.shape[1])) % side
    strokes = _STROKES[rows[:, None], columns]
    if cutout.detail > 0:
        marked = _MARKS[rows[:, None], columns] > MARKED
        part = np.where(marked & (part > 0), part % PARTS + 1, part)
    brushed = 1 + cutout.drybrush * np.maximum(is_open - 0.6, 0)
    tone = brushed * np.exp(np.float32(GRAIN + cutout.detail) * strokes)
    if cutout.relief > 0:
        tone *= (_GRAINS ** np.float32(GAMMA * cutout.relief))[picture[..., 4]]
    return np.asarray(cutout.coats[part] * tone[..., None], np.float32)


# --- shadows ---


@dataclass(frozen=True, slots=True, eq=False)
class Shades:
    """The shadows of bodies on level planes."""

    masks: list[Mask]
    """Each body as its lamp sees it."""
    corners_mm: Array
    """(N, 3, 2): where three corners of each mask fall on the plane through the foot: the first, right of it and
    below it."""
    foot_z_mm: Array
    """(N,)"""
    drift: Array
    """(2,): how far a shadow goes for each mm that the plane lies lower."""

    def draw(self, shade: Mask, view: View, z_mm: float) -> None:
        """Draw those on the plane at z, but for bodies that stand far below it."""
        drop = self.foot_z_mm - z_mm
        flat = self.corners_mm + (drop[:, None] * self.drift)[:, None]
        fourth = flat[:, 1:2] + flat[:, 2:3] - flat[:, :1]
        flat = np.concatenate([flat, fourth], 1)
        seen = view.pixels(flat.reshape(-1, 2), z_mm).reshape(-1, 4, 2)
        low, high = seen.min(1), seen.max(1)
        near = np.all((high > 0) & (low < view.size_px), axis=1) & (drop > -BELOW_MM)
        for k in np.flatnonzero(near).tolist():
            _shade_one(shade, self.masks[k], seen[k], view)


def _shade_one(shade: Mask, mask: Mask, corners: Array, view: View) -> None:
    height, width = mask.shape
    across, along = (corners[1] - corners[0]) / width, (corners[2] - corners[0]) / height
    box = view.box(corners, 1)
    warp = np.column_stack([across, along, corners[0] - box[:2]])
    fallen = cv2.warpAffine(mask, warp, box[2:], flags=cv2.INTER_LINEAR)
    here = shade[rows_columns(box)]
    np.maximum(here, fallen, out=here)


def shades_of(cutouts: Sequence[Cutout], towards: Array) -> Shades:
    """The shadows of bodies in the light from a direction (3,)."""
    masks, corners = [], []
    aside = float(np.hypot(*towards[:2]))
    way = towards[:2] / aside if aside > 1e-6 else np.array([1.0, 0.0])
    for cutout in cutouts:
        which = cutout.wardrobe.nearest(cutout.body, _in_frame(cutout, towards))
        picture, foot = _mirrored(cutout, which)
        masks.append(np.where(picture[..., 0] > 0, np.uint8(255), np.uint8(0)))
        own = cutout.wardrobe.frames[which]
        if own[2, 2] > 1 - STEEP**2 / 2:
            right, up = _on_table(cutout, own)[:2, :2]
        else:
            right, up = np.array([-way[1], way[0]]), -way / _squeeze(own, towards)
        step = cutout.scale / cutout.wardrobe.px_per_mm[which]
        first = cutout.foot_mm[:2] - step * foot[0] * right + step * foot[1] * up
        height, width = picture.shape[:2]
        corners.append([first, first + step * width * right, first - step * height * up])
    drift = -towards[:2] / max(float(towards[2]), 0.05)
    heights = np.array([cutout.foot_mm[2] for cutout in cutouts])
    return Shades(masks, np.array(corners, float).reshape(-1, 3, 2), heights, drift)


def _squeeze(own: Array, towards: Array) -> float:
    """How much shorter than its shadow a body is in the picture: that of the nearest tilt stands for the lamp's."""
    tangent = float(np.hypot(*towards[:2])) / max(float(towards[2]), 0.05)
    return max(float(np.hypot(*own[2, :2])) / max(tangent, 0.05), 0.05)

"""The tabletop as a picture from above holds it: what is high is seen displaced away from the camera.

Everything is drawn straight into the rectified picture, `FINE_MM` a pixel; x to the right, y down, in mm.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from synthetic.painted.mats import SIDE, Floats, Picture, Rng

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Mask = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
FINE_MM = 2.0
"""A pixel of the canvas."""
REST, TOP, SIDE_OF = 0, 1, 2
"""What a pixel shows: the mat and all that lies on it, a raised area's top, or its sides."""
_LIGHT = (np.arange(256) / 255).astype(np.float32) ** 2.2


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """The camera: above a point of the table."""

    below_mm: Array
    """(2,)"""
    height_mm: float

    def seen(self, xy_mm: Array, z_mm: float) -> Array:
        """Where points at z are seen on the plane z = 0."""
        return self.below_mm + (xy_mm - self.below_mm) * (self.height_mm / (self.height_mm - z_mm))


@dataclass(frozen=True, slots=True, eq=False)
class Lamp:
    """One lamp and the sky."""

    towards: Array
    """(3,)"""
    share: float
    """Of the light."""
    soft_mm: float
    contact: float
    contact_mm: float

    def shade(self, normal: Array) -> float:
        """The light that a surface gets, against a level one."""
        sky = 0.5 + 0.5 * normal[2]
        sun = max(float(normal @ self.towards), 0.0) / self.towards[2]
        return float((1 - self.share) * sky + self.share * sun)

    def fall(self, xy_mm: Array, z_mm: float) -> Array:
        """Where the shadow of points at z falls."""
        return np.asarray(xy_mm - z_mm * self.towards[:2] / self.towards[2])


@dataclass(slots=True, eq=False)
class Canvas:
    """What has been drawn so far."""

    eye: Eye
    lamp: Lamp
    size_px: int
    light: Floats = field(init=False)
    """(S, S, 3): colours, blue green red."""
    labels: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.light = np.zeros((self.size_px, self.size_px, 3), np.float32)
        self.labels = np.zeros((self.size_px, self.size_px), np.uint8)

    def mask(self, *polygons: Array) -> Mask:
        """Where polygons (K, 2) in mm lie, 255 inside, smooth at the edge."""
        mask = np.zeros(self.labels.shape, np.uint8)
        for polygon in polygons:
            cv2.fillPoly(
                mask,
                [np.round((polygon / FINE_MM - 0.5) * 16).astype(np.int32)],
                255,
                cv2.LINE_AA,
                4,
            )
        return mask

    def lay(self, mask: Mask, colour: Floats, label: int | None = None) -> None:
        """Cover with a colour (3,) or a picture (S, S, 3); what it is, where that matters."""
        x, y, w, h = cv2.boundingRect(mask)
        if w == 0 or h == 0:
            return
        here = slice(y, y + h), slice(x, x + w)
        share = (mask[here] / np.float32(255))[..., None]
        over = colour[here] if colour.ndim == 3 else colour
        self.light[here] += share * (over - self.light[here])
        if label is not None:
            self.labels[here][mask[here] > 127] = label

    def darken(self, mask: Mask, soft_mm: float, strength: float) -> None:
        """A soft shadow; `mask` is 255 where it is dark."""
        x, y, w, h = cv2.boundingRect(mask)
        if w == 0:
            return
        reach = int(3 * soft_mm / FINE_MM) + 3
        y0, y1, x0, x1 = max(y - reach, 0), y + h + reach, max(x - reach, 0), x + w + reach
        here = slice(y0, y1), slice(x0, x1)
        soft = cv2.GaussianBlur(mask[here], (0, 0), max(soft_mm / FINE_MM, 0.4))
        self.light[here] *= 1 - np.float32(strength / 255) * soft[..., None]


def texture(rng: Rng, tile: Picture, size_px: int, scale: float = 1.0) -> Floats:
    """A tile (512, 512, 3) of half a millimetre over the canvas, turned and shifted, as light."""
    turn, step, small = rng.uniform(0, 6.3), FINE_MM / 0.5 / scale, tile
    while step > 1.4:  # average first, so that nothing aliases
        half = cv2.resize(small, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        small, step = np.asarray(half, np.uint8), step / 2
    c, s = step * np.cos(turn), step * np.sin(turn)
    matrix = np.array([[c, -s, rng.uniform(0, SIDE)], [s, c, rng.uniform(0, SIDE)]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    seen = cv2.warpAffine(
        small, matrix, (size_px, size_px), flags=flags, borderMode=cv2.BORDER_WRAP
    )
    return np.asarray(_LIGHT[seen])


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A solid between outlines at several heights, the lowest first; flat on top."""

    outlines_mm: Sequence[Array]
    """(K, 2) each, with as many points, point k of one over point k of the one before."""
    heights_mm: Sequence[float]
    top: Floats
    """(3,) or (S, S, 3)."""
    side: Floats
    label: int = TOP


def cast(canvas: Canvas, block: Block) -> None:
    """A block's shadow on the ground, and the dark where it meets it."""
    lamp, foot = canvas.lamp, block.outlines_mm[0]
    for outline, height in zip(block.outlines_mm[1:], block.heights_mm[1:], strict=True):
        far = lamp.fall(outline, height)
        quads = [np.stack([foot[k - 1], foot[k], far[k], far[k - 1]]) for k in range(len(foot))]
        shadow = canvas.mask(far, *quads)
        height_soft = lamp.soft_mm * (0.3 + height / 40)
        canvas.darken(shadow, height_soft, lamp.share)
    canvas.darken(canvas.mask(foot), lamp.contact_mm, lamp.contact)


def raise_block(canvas: Canvas, block: Block) -> None:
    """The block itself, as the camera sees it."""
    for (low, z_low), (high, z_high) in zip(_levels(block)[:-1], _levels(block)[1:], strict=True):
        _sides(canvas, block, (low, z_low), (high, z_high))
        wide = canvas.mask(canvas.eye.seen(high, z_high))
        last = z_high == block.heights_mm[-1]
        canvas.lay(
            wide, block.top if last else block.side, block.label if last else _side_label(block)
        )


def _levels(block: Block) -> list[tuple[Array, float]]:
    return list(zip(block.outlines_mm, block.heights_mm, strict=True))


def _side_label(block: Block) -> int:
    return SIDE_OF if block.label == TOP else block.label


def _sides(
    canvas: Canvas, block: Block, lower: tuple[Array, float], upper: tuple[Array, float]
) -> None:
    """The faces between two outlines, shaded by where they look."""
    low, high = canvas.eye.seen(*lower), canvas.eye.seen(*upper)
    shade = np.zeros(canvas.labels.shape, np.float32)
    for k in range(len(low)):
        normal = _normal(lower[0][k - 1], lower[0][k], upper[0][k], upper[1] - lower[1])
        quad = np.stack([low[k - 1], low[k], high[k], high[k - 1]])
        cv2.fillPoly(
            shade,
            [np.round((quad / FINE_MM - 0.5) * 16).astype(np.int32)],
            canvas.lamp.shade(normal),
            8,
            4,
        )
    mask = np.asarray((shade > 0) * 255, np.uint8)
    canvas.lay(mask, np.asarray(block.side * shade[..., None], np.float32), _side_label(block))


def _normal(a: Array, b: Array, above: Array, rise_mm: float) -> Array:
    """The outward normal of the face over the edge a to b of an outline that runs clockwise as seen (y down)."""
    along = (b - a) / max(float(np.hypot(*(b - a))), 1e-6)
    out = np.array([along[1], -along[0]])
    run = float((b - above) @ out)
    normal = np.array([*out * rise_mm, max(run, 0.0)])
    return normal / max(float(np.linalg.norm(normal)), 1e-6)

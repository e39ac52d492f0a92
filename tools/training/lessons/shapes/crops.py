"""Crops of tables as seen from above, turned, scaled and recoloured, and the cells in which their bases lie."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.vision.learned.inference import OUTPUT_STRIDE_PX, OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import picture_input
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.from_above.sheet import Sheet

SIDE = 128
"""Pixels of a crop."""
CELLS = SIDE // OUTPUT_STRIDE_PX
CELL_MM = OVERVIEW_MM_PER_PX * OUTPUT_STRIDE_PX
HIDDEN, HALF_SEEN = 0.08, 0.22
"""What shows less of its rim is nothing, or may be either."""
NEAR_CELLS = 1.3
"""Cells as near to a base's middle as this say what it is like."""
AROUND_CELLS = 4
"""Bases whose middle lies this far outside the crop still count."""

COARSER, COARSER_SHARES = 0.3, (0.6, 0.95)
"""The share of crops that are shown with fewer pixels, and how many of each side's are left."""
SQUEEZED, JPEG_QUALITIES = 0.4, (35, 90)
"""The share of crops that are coded as JPEG once more, and the qualities."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How a crop lies on its table: p = middle + spin @ q leads from mm about its middle, y up, to the board."""

    middle: Array
    spin: Array
    """(2, 2)"""
    scale: float
    """How much larger things look in the crop."""

    def direction(self, heading_rad: float) -> float:
        """A heading on the board, in the crop."""
        x, y = np.linalg.solve(self.spin, [np.cos(heading_rad), np.sin(heading_rad)])
        return float(np.arctan2(y, x))


@dataclass(frozen=True, slots=True)
class Cropping:
    """How crops are taken, and what is true of them."""

    scales: float
    """The greatest logarithm of how much larger or smaller a crop is shown."""
    near: float
    """The share of crops that lie near a base."""
    label: Callable[[Sheet, Frame], Floats]
    """The truth (K, 32, 32) of a crop's cells."""
    enlarged: float = 0.0
    """The share of crops near a base in which it is enlarged, as a closer look shows it, ..."""
    close_mm: float = 54.0
    """... to about this size."""
    favour: float = 0.0
    """The power of a base's longer side that its chance to be looked at goes with: small ones are many."""
    magnified: float = 1.0
    """How much larger the network sees the table than the whole-table networks do."""

    messaged: bool = False
    """Whether some crops are shown as coarser photos and messengers show them."""

    def batch(self, rng: Rng, sheets: Sequence[Sheet], count: int) -> tuple[Floats, Floats]:
        """So many crops of any sheets."""
        some = (sheets[int(rng.integers(len(sheets)))] for _ in range(count))
        blobs, truths = zip(*(self.crop(rng, sheet) for sheet in some), strict=True)
        return np.stack(blobs), np.stack(truths)

    def crop(self, rng: Rng, sheet: Sheet) -> tuple[Floats, Floats]:
        """What the network sees (5, 128, 128), and the truth of its cells."""
        pixels, lean, truth = self.piece(rng, sheet)
        there = np.broadcast_to(lean, (SIDE, SIDE, 2)).astype(np.float32)
        shown = recoloured(rng, pixels)
        return picture_input(sent(rng, shown) if self.messaged else shown, there), truth

    def piece(self, rng: Rng, sheet: Sheet) -> tuple[Picture, Array, Floats]:
        """The pixels (128, 128, 3), how what is high leans there (2,), and the truth of its cells."""
        frame = self._frame(rng, sheet)
        eye = sheet.camera.center_mm
        away = (frame.middle - eye[:2]) / eye[2]
        lean = np.linalg.solve(frame.spin, away) / frame.scale * [1, -1]
        return cut(sheet, frame), lean, self.label(sheet, frame)

    def _frame(self, rng: Rng, sheet: Sheet) -> Frame:
        turn, mirror = rng.uniform(0, 2 * np.pi), rng.choice([-1.0, 1.0])
        scale = self.magnified * float(np.exp(rng.uniform(-1, 1) * self.scales))
        size_mm, middle = 0.0, None
        if len(sheet.bases) and rng.random() < self.near:
            chances = sheet.bases[:, 2:4].max(1) ** self.favour
            base = sheet.bases[rng.choice(len(chances), p=chances / chances.sum())]
            middle, size_mm = base[:2] + rng.uniform(-90, 90, 2), float(base[2:4].max())
        if size_mm and rng.random() < self.enlarged:
            scale = max(1.0, rng.uniform(0.75, 1.1) * self.close_mm / size_mm)
        c, s = np.cos(turn), np.sin(turn)
        spin = np.array([[c, -s], [s, c]]) @ np.diag([mirror, 1.0]) / scale
        return Frame(anywhere(rng, sheet) if middle is None else middle, spin, scale)


def anywhere(rng: Rng, sheet: Sheet) -> Array:
    size = np.array(sheet.pixels.shape[1::-1]) * sheet.mm_per_px
    return np.asarray([sheet.left_mm, sheet.top_mm] + rng.uniform(0, 1, 2) * size * [1, -1])


def cut(sheet: Sheet, frame: Frame) -> Picture:
    """The crop's pixels: a picture's y runs down, and its middle lies between pixels."""
    flip = np.diag([1.0, -1.0])
    linear = flip @ frame.spin @ flip * OVERVIEW_MM_PER_PX / sheet.mm_per_px
    corner = np.array([sheet.left_mm, sheet.top_mm])
    centre = (frame.middle - corner) * [1, -1] / sheet.mm_per_px - 0.5
    move = centre - linear @ np.full(2, (SIDE - 1) / 2)
    return warped(sheet.pixels, np.column_stack([linear, move]), SIDE)


def warped(pixels: Picture, warp: Array, side: int) -> Picture:
    """A square whose pixels `warp` (2, 3) leads to those of a picture."""
    flags, border = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, cv2.BORDER_REPLICATE
    crop = cv2.warpAffine(pixels, warp, (side, side), flags=flags, borderMode=border)
    return np.asarray(crop, np.uint8)


def recoloured(rng: Rng, pixels: Picture) -> Picture:
    """Another light, another lens: gain, tint, contrast, blur, noise, and sometimes other colours."""
    light: Floats = np.divide(pixels, 255, dtype=np.float32)
    if rng.random() < 0.3:
        light = light[..., rng.permutation(3)]
    light = np.asarray(light ** np.float32(np.exp(rng.normal(0, 0.2))), np.float32)
    tint = rng.normal(-0.1, 0.3) + rng.normal(0, rng.choice([0.08, 0.3]), 3)
    light *= np.exp(tint).astype(np.float32)
    if rng.random() < 0.35:
        soft = cv2.GaussianBlur(light, (0, 0), float(rng.uniform(0.3, 1.2)))
        light = np.asarray(soft, np.float32)
    if rng.random() < 0.35:
        halo = light - cv2.GaussianBlur(light, (0, 0), 1.0)
        light = light + np.float32(rng.uniform(0.2, 0.8)) * halo
    light = light + np.float32(rng.uniform(0, 0.03)) * rng.standard_normal(light.shape, np.float32)
    return np.asarray(np.clip(light, 0, 1) * 255, np.uint8)


def sent(rng: Rng, pixels: Picture) -> Picture:
    """The crop as a coarser photo shows it, or one that a messenger sent."""
    if rng.random() < COARSER:
        share = rng.uniform(*COARSER_SHARES)
        small = cv2.resize(pixels, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
        pixels = np.asarray(cv2.resize(small, (SIDE, SIDE)), np.uint8)
    if rng.random() < SQUEEZED:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(*JPEG_QUALITIES))]
        _, coded = cv2.imencode(".jpg", pixels, quality)
        pixels = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)
    return pixels


# --- cells ---


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A base in a crop's cells."""

    at: Array
    """(2,): column and row of its middle, in cells."""
    away: Array
    """(32, 32): how far each cell is from there."""
    size_mm: Array
    """(2,): length and width as they look in the crop."""
    row: Array
    """Its row in the sheet: x, y, length, width, heading, kind, share of the rim in sight."""


def placed(sheet: Sheet, frame: Frame) -> Iterator[Placed]:
    """The bases of a sheet that lie in a crop or near it, and of which something is seen."""
    y, x = np.mgrid[:CELLS, :CELLS]
    for row in sheet.bases:
        q = np.linalg.solve(frame.spin, row[:2] - frame.middle) * [1, -1]
        at = (q / OVERVIEW_MM_PER_PX + SIDE / 2) / OUTPUT_STRIDE_PX - 0.5
        if (np.abs(at - CELLS / 2) <= CELLS / 2 + AROUND_CELLS).all() and row[6] >= HIDDEN:
            yield Placed(at, np.hypot(x - at[0], y - at[1]), row[2:4] * frame.scale, row)


def heat_up(heat: Floats, base: Placed, spread: float) -> None:
    """Mark a base's middle in a map of how likely middles are."""
    heat[:] = np.maximum(heat, np.exp(-0.5 * (base.away / spread) ** 2))
    column, row = np.round(base.at).astype(int)
    if 0 <= column < CELLS and 0 <= row < CELLS:
        heat[row, column] = 1


def claim(nearest: Array, base: Placed) -> NDArray[np.bool_]:
    """The cells that say what a base is like: a cell is labelled by the nearest middle alone."""
    near = (base.away < NEAR_CELLS) & (base.away < nearest)
    nearest[near] = base.away[near]
    return near


def offsets(base: Placed, near: NDArray[np.bool_]) -> Array:
    """How far right and down of some cells (N,) the middle lies (2, N), in cells."""
    rows, columns = np.nonzero(near)
    return np.stack([base.at[0] - columns, base.at[1] - rows])

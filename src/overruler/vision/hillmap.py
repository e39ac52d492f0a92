"""A learned look at the whole table from above: where the ground stands up flat above the board, and how high.

One fully convolutional network sees the board from straight above at 2 mm a pixel, and which way things of height lean.
For every cell of 8 mm it says how likely the flat top of something lies there, how likely its side, and how high the
top is, with what doubt. `docs/heights.md` says how it was trained.
"""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.networks import answer
from overruler.vision.orthophoto import Orthophoto

Floats = NDArray[np.float32]
MODEL = Path(__file__).with_name("hills.onnx")
MM_PER_PX = 2.0
"""The picture from above that the network sees."""
CELL_PX = 4
"""One answer for so many pixels a side."""
STEP_PX = 16
"""The picture's sides are multiples of this."""
LEAN_UNIT, CONTRAST, DARK = 0.5, 0.5, 8.0
"""What counts as 1: a lean; the logarithm of a ratio of brightnesses. The last is added to each brightness."""
USUAL_MM = 25.0
"""Heights are said as the logarithm of their share of this."""
CHANNELS = 5
"""Logits of the mat with all on it, of a top and of a side (3); logarithms of a top's height and of its σ (2)."""

_LOGARITHM = np.log(np.arange(256) + DARK).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class HillMap:
    """What the network says of each cell of a picture from above."""

    view: Orthophoto
    """With a pixel for each cell."""
    top: Floats
    """(H, W): the probability of a flat top that stands above the board."""
    side: Floats
    """(H, W): that of its sides."""
    log_height: Floats
    """(H, W): the logarithm of a top's height in units of `USUAL_MM`, where there is one."""
    log_sigma: Floats
    """(H, W): the logarithm of the σ of that."""


def hill_map(view: Orthophoto, camera: Camera) -> HillMap:
    """The network's look at a picture from above, whatever its resolution."""
    fine = resized(view, MM_PER_PX)
    blob = picture_input(fine.pixels, fine.seen, lean_at(fine, camera)).transpose(2, 0, 1)
    rows, columns = blob.shape[1:]
    whole = np.ascontiguousarray(np.pad(blob, ((0, 0), (0, -rows % STEP_PX), (0, -columns % STEP_PX)))[None])
    cells = _cells(fine)
    high, wide = cells.seen.shape
    said = answer(MODEL, whole)[0, :, :high, :wide]
    share = _softmax(said[:3])
    return HillMap(cells, share[1] * cells.seen, share[2] * cells.seen, said[3], said[4])


def _cells(fine: Orthophoto) -> Orthophoto:
    """A pixel for each of the network's answers."""
    some = slice(CELL_PX // 2, None, CELL_PX)
    return Orthophoto(
        fine.pixels[some, some], fine.seen[some, some], fine.left_mm, fine.top_mm, CELL_PX * fine.mm_per_px
    )


def resized(view: Orthophoto, mm_per_px: float) -> Orthophoto:
    """The same picture at another resolution."""
    rows, columns = view.pixels.shape[:2]
    share = view.mm_per_px / mm_per_px
    if abs(share - 1) < 1e-6:
        return view
    size = max(1, int(columns * share)), max(1, int(rows * share))
    matrix = np.array([[1 / share, 0, 0.5 / share - 0.5], [0, 1 / share, 0.5 / share - 0.5]])
    pixels = view.pixels
    if share < 0.9:  # average first, so that nothing aliases
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), 0.4 / share), np.uint8)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    there = cv2.warpAffine(pixels, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.resize(view.seen.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
    return Orthophoto(np.asarray(there, np.uint8), seen, view.left_mm, view.top_mm, mm_per_px)


def picture_input(pixels: NDArray[np.uint8], seen: NDArray[np.bool_], lean: Floats) -> Floats:
    """What the network takes, channels last (H, W, 5).

    Logarithms of the colours (H, W, 3) against the table's usual ones, 0 where nothing is seen; and the lean (H, W, 2)
    to the right and down.
    """
    colour = np.take(_LOGARITHM, pixels)
    shown = seen.astype(np.uint8)
    colour -= np.asarray(cv2.mean(colour, shown)[:3], np.float32)
    colour *= (shown / np.float32(CONTRAST))[..., None]
    return np.concatenate([colour, lean / np.float32(LEAN_UNIT)], -1)


def lean_at(view: Orthophoto, camera: Camera) -> Floats:
    """How far (H, W, 2), per mm of its height, a thing appears from its foot: to the right and down in the picture."""
    rows, columns = view.pixels.shape[:2]
    eye: Array = camera.center_mm
    right = (view.to_mm(np.stack([np.arange(columns), np.zeros(columns)], -1))[:, 0] - eye[0]) / eye[2]
    down = -(view.to_mm(np.stack([np.zeros(rows), np.arange(rows)], -1))[:, 1] - eye[1]) / eye[2]
    return np.stack(np.meshgrid(right, down), -1).astype(np.float32)


def _softmax(logits: Floats) -> Floats:
    power = np.exp(logits - logits.max(0))
    return np.asarray(power / power.sum(0), np.float32)

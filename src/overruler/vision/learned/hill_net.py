"""A learned look at the whole table from above: where the ground stands up flat above the board.

One fully convolutional network sees the board from straight above at 2 mm a pixel, and which way things of height lean.
For every cell of 8 mm it says how likely the flat top of something lies there, and how likely its side. How high that
is it never learned to tell. `docs/heights.md` says how it was trained.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats, log_colours
from overruler.vision.imaging.orthophoto import (
    Orthophoto,
    relief_displacement_map,
    resample_orthophoto,
)
from overruler.vision.learned.inference import (
    OUTPUT_STRIDE_PX,
    OVERVIEW_MM_PER_PX,
    WEIGHTS,
    infer_whole_picture,
    softmax,
)

MODEL = WEIGHTS / "hills.onnx"
RELIEF_SCALE, LOG_CONTRAST_SCALE = 0.5, 0.5
"""What counts as 1: a lean; the logarithm of a ratio of brightnesses."""
OUTPUT_CHANNELS = 3
"""Logits of the mat with all on it, of a top and of a side."""


@dataclass(frozen=True, slots=True, eq=False)
class HillMap:
    """What the network says of each cell of a picture from above."""

    view: Orthophoto
    """With a pixel for each cell."""
    top: Floats
    """(H, W): the probability of a flat top that stands above the board."""

    def cells_at(self, places_mm: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows (N,) and columns (N,) of the cells nearest to places (N, 2) on the board."""
        column, row = np.rint(self.view.to_px(places_mm)).astype(int).T
        high, wide = self.top.shape
        return np.clip(row, 0, high - 1), np.clip(column, 0, wide - 1)


def predict_hill_map(view: Orthophoto, camera: Camera) -> HillMap:
    """The network's look at a picture from above, whatever its resolution."""
    fine = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    blob = picture_input(fine.pixels, fine.seen, relief_displacement_map(fine, camera)).transpose(
        2, 0, 1
    )
    cells = _downsample_to_cells(fine)
    high, wide = cells.seen.shape
    share = softmax(infer_whole_picture(MODEL, blob)[:, :high, :wide])
    return HillMap(cells, share[1] * cells.seen)


def _downsample_to_cells(fine: Orthophoto) -> Orthophoto:
    """A pixel for each of the network's answers."""
    some = slice(OUTPUT_STRIDE_PX // 2, None, OUTPUT_STRIDE_PX)
    return Orthophoto(
        fine.pixels[some, some],
        fine.seen[some, some],
        fine.left_mm,
        fine.top_mm,
        OUTPUT_STRIDE_PX * fine.mm_per_px,
    )


def picture_input(pixels: NDArray[np.uint8], seen: NDArray[np.bool_], lean: Floats) -> Floats:
    """What the network takes, channels last (H, W, 5).

    Logarithms of the colours (H, W, 3) against the table's usual ones, 0 where nothing is seen; and the lean (H, W, 2)
    to the right and down.
    """
    colour = log_colours(pixels)
    shown = seen.astype(np.uint8)
    colour -= np.asarray(cv2.mean(colour, shown)[:3], np.float32)
    colour *= (shown / np.float32(LOG_CONTRAST_SCALE))[..., None]
    return np.concatenate([colour, lean / np.float32(RELIEF_SCALE)], -1)

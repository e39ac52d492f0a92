"""A network that finds raised ground in the orthophoto of the whole table.

It is fully convolutional. It takes the board from straight above at 2 mm per px, and the relief
displacement. For each cell of 8 mm it predicts the probability of a raised flat top and of a side.
It does not predict heights. `docs/heights.md` describes the training.
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
RELIEF_SCALE = 0.5
"""Relief displacement per height that the network sees as 1."""
LOG_CONTRAST_SCALE = 0.5
"""Natural logarithm of a brightness ratio that the network sees as 1."""
OUTPUT_CHANNELS = 3
"""Logits of the mat with everything on it, of a raised top, and of its side."""
TOP_CHANNEL = 1


@dataclass(frozen=True, slots=True, eq=False)
class HillMap:
    """The network's prediction for each cell of an orthophoto."""

    view: Orthophoto
    """The orthophoto with one pixel for each cell."""
    top: Floats
    """(H, W): the probability of a flat top that stands above the board."""

    def cells_at(self, places_mm: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows (N,) and columns (N,) of the cells nearest to board points (N, 2)."""
        cells = np.rint(self.view.to_px(places_mm)).astype(int)
        column, row = cells.T
        height, width = self.top.shape
        return np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)


def predict_hill_map(view: Orthophoto, camera: Camera) -> HillMap:
    """Run the network on an orthophoto of any resolution."""
    fine = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    relief = relief_displacement_map(fine, camera)
    blob = picture_input(fine.pixels, fine.seen, relief).transpose(2, 0, 1)
    cells = _downsample_to_cells(fine)
    height, width = cells.seen.shape
    logits = infer_whole_picture(MODEL, blob)[:, :height, :width]
    return HillMap(cells, softmax(logits)[TOP_CHANNEL] * cells.seen)


def _downsample_to_cells(fine: Orthophoto) -> Orthophoto:
    """Reduce an orthophoto to one pixel for each of the network's cells."""
    every = slice(OUTPUT_STRIDE_PX // 2, None, OUTPUT_STRIDE_PX)
    pixels, seen = fine.pixels[every, every], fine.seen[every, every]
    return Orthophoto(pixels, seen, fine.left_mm, fine.top_mm, OUTPUT_STRIDE_PX * fine.mm_per_px)


def picture_input(pixels: NDArray[np.uint8], seen: NDArray[np.bool_], lean: Floats) -> Floats:
    """Build the network's input, channels last (H, W, 5).

    The channels are log colours (H, W, 3) minus the table's mean, 0 where `seen` is False, and the
    relief displacement `lean` (H, W, 2) to the right and down.
    """
    colour = log_colours(pixels)
    shown = seen.astype(np.uint8)
    colour -= np.asarray(cv2.mean(colour, shown)[:3], np.float32)
    colour *= (shown / np.float32(LOG_CONTRAST_SCALE))[..., None]
    return np.concatenate([colour, lean / np.float32(RELIEF_SCALE)], -1)

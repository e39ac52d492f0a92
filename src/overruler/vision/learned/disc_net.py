"""A network that finds round and oval bases in the orthophoto of the whole table.

It is fully convolutional and built like `shape_net`'s. It takes the board from straight above at
2 mm per px. For each cell of 8 mm it predicts the probability of a round base's centre and of an
oval's, the exact position, the size, and an oval's heading. On textured mats such as grass it finds
bases that a ring filter cannot tell from tufts. `docs/rims.md` describes the training.
"""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
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
)
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.shape_net import picture_input

MODEL = WEIGHTS / "discs.onnx"
REFERENCE_SIZE_MM = 16.0
"""The network predicts radii and half axes as logarithms of their ratio to this, in mm."""
MIN_ROUND_SCORE = 0.05
"""Round bases below this probability are dropped."""
MIN_OVAL_SCORE = 0.05
"""Ovals below this probability are dropped.

On rendered tables 88 true ones had 0.22 or more; in crowds and under riders it is less, and the rim
networks judge."""
ROUND_CHANNEL = 0
"""Output channel with the logit of a round base."""
OFFSET_CHANNELS = slice(1, 3)
"""Output channels with the offset of the centre (dx, dy) in cells, for both shapes."""
RADIUS_CHANNEL = 3
"""Output channel with a round base's log radius."""
OVAL_CHANNEL = 4
"""Output channel with the logit of an oval."""
OVAL_CHANNELS = slice(5, 9)
"""Output channels with an oval's log half axes, and cosine and sine of twice its heading."""


class Discs(NamedTuple):
    """Possible bases as they appear on the plane z = 0, in descending order of probability."""

    rounds: Array
    """(N, 4): x, y and radius in mm, and the probability."""
    ovals: Array
    """(N, 6): x, y, half length and half width in mm, heading in rad, and the probability."""


NO_DISCS = Discs(np.empty((0, 4)), np.empty((0, 6)))


def find_discs(view: Orthophoto, camera: Camera) -> Discs:
    """Find possible round bases and ovals in an orthophoto."""
    fine = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    relief = relief_displacement_map(fine, camera)
    answer = infer_whole_picture(MODEL, picture_input(fine.pixels, relief))
    return Discs(_decode_rounds(fine, answer), _decode_ovals(fine, answer))


def _decode_rounds(fine: Orthophoto, answer: Floats) -> Array:
    """Decode round bases (N, 4)."""
    row, column, score = _find_peaks(answer[ROUND_CHANNEL], MIN_ROUND_SCORE)
    centre_mm = _peak_centres_mm(fine, answer, row, column)
    log_radius = answer[RADIUS_CHANNEL, row, column].astype(float)
    return np.column_stack([centre_mm, REFERENCE_SIZE_MM * np.exp(log_radius), score])


def _decode_ovals(fine: Orthophoto, answer: Floats) -> Array:
    """Decode ovals (N, 6)."""
    row, column, score = _find_peaks(answer[OVAL_CHANNEL], MIN_OVAL_SCORE)
    centre_mm = _peak_centres_mm(fine, answer, row, column)
    shape = answer[OVAL_CHANNELS, row, column].astype(float)
    half_axes_mm = REFERENCE_SIZE_MM * np.exp(shape[:2].T)
    heading = np.arctan2(shape[3], shape[2]) / 2
    return np.column_stack([centre_mm, half_axes_mm, heading, score])


def _find_peaks(
    logits: Floats, least: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Find local maxima above `least`: rows, columns and probabilities (N,), descending."""
    score = sigmoid(logits).astype(np.float32)
    highest_around = cv2.dilate(score, np.ones((3, 3), np.uint8))
    row, column = np.nonzero((score >= highest_around) & (score > least))
    order = np.argsort(-score[row, column], kind="stable")
    row, column = row[order], column[order]
    return row, column, score[row, column].astype(float)


def _peak_centres_mm(
    fine: Orthophoto, answer: Floats, row: NDArray[np.intp], column: NDArray[np.intp]
) -> Array:
    """Return the predicted centres (N, 2) of cells, on the board."""
    offset = answer[OFFSET_CHANNELS, row, column].T
    centre = np.stack([column, row], -1) + 0.5 + offset
    return fine.to_mm(centre * OUTPUT_STRIDE_PX - 0.5)

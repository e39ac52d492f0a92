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
    resample_orthophoto,
)
from overruler.vision.learned.inference import (
    OUTPUT_STRIDE_PX,
    OVERVIEW_MM_PER_PX,
    WEIGHTS,
)
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.shape_net import infer_orthophoto

MODEL = WEIGHTS / "discs.onnx"
MODEL_IN_PLAY = WEIGHTS / "discs_in_play.onnx"
"""A network whose first weights come from photographs, taught on tables in play: crowds under figures,
from near and low. It is less sure of plain bases, so it only adds to what the first one says."""
REFERENCE_SIZE_MM = 16.0
"""The network predicts radii and half axes as logarithms of their ratio to this, in mm."""
MIN_ROUND_SCORE = 0.05
"""Round bases below this probability are dropped."""
MIN_OVAL_SCORE = 0.05
"""Ovals below this probability are dropped.

On rendered tables 88 true ones had 0.22 or more; in crowds and under riders it is less, and the rim
networks judge."""
MIN_CELL_SCORE = 0.08
"""Cells below this probability are dropped, on tables in play.

There all cells count, not only local maxima: in crowds one peak may stand for two bases."""
MIN_FAINT_SCORE = 0.02
"""Cells below this probability say nothing at all. Between the two bases of a unit may be, of which others
are plain (`shapes_in_play`)."""
MOST_FAINT = 4000
"""Largest number of such cells, the likeliest."""
SAME_CENTRE_SHARE = 0.35
"""Distance of the centres, in radii or half widths, below which two cells may speak of one base."""
SAME_SIZE_LOG_RATIO = 0.28
"""Logarithm of the ratio of radii or half lengths up to which such two do."""
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


Cells = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]
"""Rows, columns and probabilities (N,) of cells, the likeliest first."""


class Discs(NamedTuple):
    """Possible bases as they appear on the plane z = 0, in descending order of probability."""

    rounds: Array
    """(N, 4): x, y and radius in mm, and the probability."""
    ovals: Array
    """(N, 6): x, y, half length and half width in mm, heading in rad, and the probability."""
    faint: Array = np.empty((0, 4))
    """(N, 4): on a table in play, round ones of so low a probability that they need others of their size."""


NO_DISCS = Discs(np.empty((0, 4)), np.empty((0, 6)))


def find_discs(view: Orthophoto, camera: Camera, in_play: bool = False) -> Discs:
    """Find possible round bases and ovals in an orthophoto; those of a table `in_play` by both networks."""
    fine = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    first = infer_orthophoto(MODEL, fine, camera)
    if not in_play:
        round_peaks = _find_peaks(first[ROUND_CHANNEL], MIN_ROUND_SCORE)
        oval_peaks = _find_peaks(first[OVAL_CHANNEL], MIN_OVAL_SCORE)
        rounds = _decode_rounds(fine, first, round_peaks)
        return Discs(rounds, _decode_ovals(fine, first, oval_peaks))
    answer = _with_second_answer(first, infer_orthophoto(MODEL_IN_PLAY, fine, camera))
    rounds = _decode_rounds(fine, answer, _cells_above(answer[ROUND_CHANNEL], MIN_FAINT_SCORE))
    rounds = rounds[: np.count_nonzero(rounds[:, 3] > MIN_CELL_SCORE) + MOST_FAINT]
    rounds = rounds[_first_of_each(rounds[:, :2], rounds[:, 2], rounds[:, 2])]
    ovals = _decode_ovals(fine, answer, _cells_above(answer[OVAL_CHANNEL], MIN_CELL_SCORE))
    ovals = ovals[_first_of_each(ovals[:, :2], ovals[:, 2], ovals[:, 3])]
    likely = np.count_nonzero(rounds[:, 3] > MIN_CELL_SCORE)
    return Discs(rounds[:likely], ovals, rounds[likely:])


def _with_second_answer(first: Floats, second: Floats) -> Floats:
    """Return the mean of two answers; a base is never less likely than by the first one."""
    answer = np.asarray((first + second) / 2, np.float32)
    for channel in (ROUND_CHANNEL, OVAL_CHANNEL):
        np.maximum(answer[channel], first[channel], out=answer[channel])
    return answer


def _decode_rounds(fine: Orthophoto, answer: Floats, cells: Cells) -> Array:
    """Decode the round bases (N, 4) of cells."""
    row, column, score = cells
    centre_mm = _centres_mm(fine, answer, row, column)
    log_radius = answer[RADIUS_CHANNEL, row, column].astype(float)
    return np.column_stack([centre_mm, REFERENCE_SIZE_MM * np.exp(log_radius), score])


def _decode_ovals(fine: Orthophoto, answer: Floats, cells: Cells) -> Array:
    """Decode the ovals (N, 6) of cells."""
    row, column, score = cells
    centre_mm = _centres_mm(fine, answer, row, column)
    shape = answer[OVAL_CHANNELS, row, column].astype(float)
    half_axes_mm = REFERENCE_SIZE_MM * np.exp(shape[:2].T)
    heading = np.arctan2(shape[3], shape[2]) / 2
    return np.column_stack([centre_mm, half_axes_mm, heading, score])


def _find_peaks(logits: Floats, least: float) -> Cells:
    """Find local maxima above `least`."""
    score = sigmoid(logits).astype(np.float32)
    highest_around = cv2.dilate(score, np.ones((3, 3), np.uint8))
    return _likeliest_first(score, (score >= highest_around) & (score > least))


def _cells_above(logits: Floats, least: float) -> Cells:
    """Find all cells above `least`."""
    score = sigmoid(logits).astype(np.float32)
    return _likeliest_first(score, score > least)


def _likeliest_first(score: Floats, is_chosen: NDArray[np.bool_]) -> Cells:
    row, column = np.nonzero(is_chosen)
    order = np.argsort(-score[row, column], kind="stable")
    row, column = row[order], column[order]
    return row, column, score[row, column].astype(float)


def _first_of_each(centre_mm: Array, length_mm: Array, width_mm: Array) -> list[int]:
    """Return the first of the rows that speak of one base, by centres (N, 2) and half axes (N,).

    Two small bases in contact share one peak of probability, but their cells know each its own.
    """
    log_length = np.log(length_mm)
    reach_mm = SAME_CENTRE_SHARE * width_mm
    left = np.arange(len(centre_mm))
    kept: list[int] = []
    while len(left):
        k = int(left[0])
        kept.append(k)
        dx, dy = (centre_mm[left] - centre_mm[k]).T
        is_near = np.hypot(dx, dy) < np.minimum(reach_mm[left], reach_mm[k])
        is_one = is_near & (np.abs(log_length[left] - log_length[k]) < SAME_SIZE_LOG_RATIO)
        is_one[0] = True
        left = left[~is_one]
    return kept


def _centres_mm(
    fine: Orthophoto, answer: Floats, row: NDArray[np.intp], column: NDArray[np.intp]
) -> Array:
    """Return the predicted centres (N, 2) of cells, on the board."""
    offset = answer[OFFSET_CHANNELS, row, column].T
    centre = np.stack([column, row], -1) + 0.5 + offset
    return fine.to_mm(centre * OUTPUT_STRIDE_PX - 0.5)

"""A learned look at the whole table from above: where round and oval bases may stand, and how large they look.

One fully convolutional network, built as that of `overview` is, sees the board from straight above at 2 mm a pixel. For
every cell of 8 mm it says how likely the middle of a round base lies there and how likely an oval's, where exactly, how
large, and which way an oval lies. On mats that are all texture, grass above all, it knows bases that a filter for rings
finds no better than tufts. `docs/rims.md` says how it was trained.
"""

from typing import NamedTuple

import cv2
import numpy as np

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
"""Radii and half axes are said as the logarithm of their share of this."""
MIN_ROUND_SCORE, MIN_OVAL_SCORE = 0.05, 0.15
"""What is less likely is told by nobody: the least likely true oval of 88 on rendered tables had 0.22."""
ROUND_CHANNEL, OVAL_CHANNEL = 0, 4
"""Where the two likelihoods (logits) are among the answers. After the first come dx and dy in cells, of either, and the
log radius; after the second the log half axes, and the cosine and sine of twice the heading."""


class Discs(NamedTuple):
    """Where bases may stand, as they look on the plane z = 0 in mm; the likeliest first."""

    rounds: Array
    """(N, 4): x, y, radius, and the likelihood."""
    ovals: Array
    """(N, 6): x, y, half length, half width, heading in rad, and the likelihood."""


NO_DISCS = Discs(np.empty((0, 4)), np.empty((0, 6)))


def find_discs(view: Orthophoto, camera: Camera) -> Discs:
    """The places in a picture from above where a round base or an oval may stand."""
    fine = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    answer = infer_whole_picture(
        MODEL, picture_input(fine.pixels, relief_displacement_map(fine, camera))
    )
    (at, heat, (said,)), (at_oval, heat_oval, oval) = (
        _find_peaks(fine, answer, ROUND_CHANNEL, MIN_ROUND_SCORE, slice(3, 4)),
        _find_peaks(fine, answer, OVAL_CHANNEL, MIN_OVAL_SCORE, slice(5, 9)),
    )
    turn = np.arctan2(oval[3], oval[2]) / 2
    return Discs(
        np.column_stack([at, REFERENCE_SIZE_MM * np.exp(said), heat]),
        np.column_stack([at_oval, REFERENCE_SIZE_MM * np.exp(oval[:2].T), turn, heat_oval]),
    )


def _find_peaks(
    fine: Orthophoto, answer: Floats, kind: int, least: float, also: slice
) -> tuple[Array, Array, Array]:
    """Where (N, 2) in mm one kind is likelier than around, how likely (N,), and `also` of the answers (K, N) there."""
    score = sigmoid(answer[kind]).astype(np.float32)
    row, column = np.nonzero(
        (score >= cv2.dilate(score, np.ones((3, 3), np.uint8))) & (score > least)
    )
    order = np.argsort(-score[row, column], kind="stable")
    row, column = row[order], column[order]
    middle = (
        np.stack([column, row], -1) + 0.5 + answer[1:3, row, column].T
    ) * OUTPUT_STRIDE_PX - 0.5
    return (
        fine.to_mm(middle),
        score[row, column].astype(float),
        answer[also, row, column].astype(float),
    )

"""A learned look at the whole table from above: where round bases may stand, and how large they look.

One fully convolutional network, built as that of `overview` is, sees the board from straight above at 2 mm a pixel. For
every cell of 8 mm it says how likely the middle of a round base lies there, where exactly and how large. On mats that
are all texture, grass above all, it knows bases that a filter for rings finds no better than tufts. `docs/rims.md` says
how it was trained.
"""

from functools import cache
from pathlib import Path

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.hillmap import resized
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.overview import lean_at, picture_input

MODEL = Path(__file__).with_name("discs.onnx")
MM_PER_PX = 2.0
"""The picture from above that the network sees."""
CELL_PX = 4
"""One answer for so many pixels a side."""
STEP_PX = 16
"""The picture's sides are multiples of this."""
UNIT_MM = 16.0
"""Radii are said as the logarithm of their share of this."""
LEAST_SCORE = 0.1


def find_discs(view: Orthophoto, camera: Camera) -> Array:
    """Rows (N, 4) of x, y and radius in mm as they look on the plane z = 0, and the likelihood; the likeliest first."""
    fine = resized(view, MM_PER_PX)
    blob = picture_input(fine.pixels, lean_at(fine, camera))
    rows, columns = blob.shape[1:]
    network = _network()
    network.setInput(np.pad(blob, ((0, 0), (0, -rows % STEP_PX), (0, -columns % STEP_PX)), mode="edge")[None])
    answer = np.asarray(network.forward(), np.float32)[0, :, : -(-rows // CELL_PX), : -(-columns // CELL_PX)]
    score = np.asarray(1 / (1 + np.exp(-answer[0].clip(-30, 30))), np.float32)
    row, column = np.nonzero((score >= cv2.dilate(score, np.ones((3, 3), np.uint8))) & (score > LEAST_SCORE))
    middle = (np.stack([column, row], -1) + 0.5 + answer[1:3, row, column].T) * CELL_PX - 0.5
    found = np.column_stack([fine.to_mm(middle), UNIT_MM * np.exp(answer[3, row, column]), score[row, column]])
    return np.asarray(found[np.argsort(-found[:, 3], kind="stable")], float)


@cache
def _network() -> cv2.dnn.Net:
    return cv2.dnn.readNetFromONNX(str(MODEL))

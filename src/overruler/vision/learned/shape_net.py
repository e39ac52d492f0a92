"""A learned look at the whole table from above: where bases stand that are not round, how large and which way they lie.

One fully convolutional network sees the board from straight above at 2 mm a pixel, and which way things of height lean.
For every cell of 8 mm it says how likely the middle of a plate, a rectangle or an oval lies there, and where exactly,
how large and at which heading. The place itself is a fit in the photo's own pixels. `docs/plates.md` says how it was
trained.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
    visibility_mask,
)
from overruler.vision.learned.inference import (
    OUTPUT_STRIDE_PX,
    OVERVIEW_MM_PER_PX,
    WEIGHTS,
    infer_whole_picture,
)
from overruler.vision.learned.logits import sigmoid

MODEL = WEIGHTS / "overview.onnx"
KINDS = ("plate", "rectangle", "oval")
"""A plate is a square that carries a card, under a ship on a peg."""
PLATE_CHANNEL, RECTANGLE_CHANNEL = 0, 1
REFERENCE_SIZE_MM = 50.0
"""Sizes are said as the logarithm of their share of this."""
RELIEF_SCALE = 0.5
"""A thing of height z appears z times the lean further out; what counts as 1."""
MIN_PLATE_SCORE = 0.2
MIN_RECTANGLE_SCORE, MIN_RECTANGLE_SPACING_MM = 0.04, 5.0
"""In rank and file the network is unsure of every rectangle, and a peak of what it says may stand for two: all places
count, so far apart, whose likelihood is this high."""
MIN_SPACING_SHARE = 0.35
"""Two guesses closer than this share of the smaller one's width speak of the same base."""
OUTPUT_CHANNELS = 13
"""Logits of the kinds (3), dx and dy in cells (2), log length and width (2), cos and sin of once, twice and four times
the heading (6)."""


@dataclass(frozen=True, slots=True, eq=False)
class ShapeCandidate:
    """Something that may be a plate, or another rectangle."""

    xy_mm: Array
    """(2,): as it appears on the plane z = 0."""
    length_mm: float
    width_mm: float
    turn_rad: float
    """Its heading, but for quarters of a turn."""
    heading_confidence: float
    """How sure the heading is, 0 to 1."""
    score: float
    """How likely it is one, over 0 and below 1."""
    double_heading_vector: tuple[float, float] = (0.0, 0.0)
    """Which way it is longer: the cosine and sine of twice that heading, 0 where it is unsure."""


def find_plate_candidates(
    view: Orthophoto, camera: Camera, hidden: Sequence[Array] = ()
) -> list[ShapeCandidate]:
    """All that may be plates in a picture from above, the likeliest first.

    None where a `hidden` polygon (K, 2) in mm lies or the photo shows nothing.
    """
    view, answer, likely = _score_cells(view, camera, hidden, PLATE_CHANNEL)
    highest = cv2.dilate(likely, np.ones((3, 3), np.uint8))
    return _suppress_overlaps(
        _decode_cells(view, answer, likely * (likely >= highest), MIN_PLATE_SCORE, PLATE_CHANNEL)
    )


def find_rectangle_candidates(
    view: Orthophoto, camera: Camera, hidden: Sequence[Array] = ()
) -> list[ShapeCandidate]:
    """Places in a picture from above where the middle of a rectangle may lie that is no plate, the likeliest first."""
    view, answer, likely = _score_cells(view, camera, hidden, RECTANGLE_CHANNEL)
    kept: list[ShapeCandidate] = []
    for one in _decode_cells(view, answer, likely, MIN_RECTANGLE_SCORE, RECTANGLE_CHANNEL):
        if all(np.hypot(*(one.xy_mm - other.xy_mm)) > MIN_RECTANGLE_SPACING_MM for other in kept):
            kept.append(one)
    return kept


def _score_cells(
    view: Orthophoto, camera: Camera, hidden: Sequence[Array], kind: int
) -> tuple[Orthophoto, Array, Array]:
    """The picture at the network's scale, its answer, and how likely one kind lies in each cell that is not hidden."""
    view = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    (answer,) = run_shape_network(
        picture_input(view.pixels, relief_displacement_map(view, camera))[None]
    )
    likely = sigmoid(answer[kind])
    mask = cv2.resize(
        visibility_mask(view, hidden, 0), likely.shape[::-1], interpolation=cv2.INTER_NEAREST
    )
    return view, answer, likely * mask


def _decode_cells(
    view: Orthophoto, answer: Array, likely: Array, least: float, kind: int
) -> list[ShapeCandidate]:
    """What is said of each cell that is likely enough, the likeliest first."""
    rows, columns = np.nonzero(likely > least)
    order = np.argsort(-likely[rows, columns], kind="stable")
    cells = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
    return [_decode_cell(view, answer[:, row, column], row, column, kind) for row, column in cells]


def run_shape_network(pictures: Floats) -> Array:
    """The network's answers (N, 13, rows, columns), a cell each, to pictures (N, 5, H, W) as `picture_input` makes."""
    return np.stack([infer_whole_picture(MODEL, one) for one in pictures]).astype(float)


def _decode_cell(
    view: Orthophoto, answer: Array, row: int, column: int, kind: int
) -> ShapeCandidate:
    middle = (np.array([column, row]) + 0.5) * OUTPUT_STRIDE_PX - 0.5
    at = view.to_mm(middle + answer[3:5] * OUTPUT_STRIDE_PX)
    length, width = REFERENCE_SIZE_MM * np.exp(answer[5:7])
    turned = float(min(np.hypot(*answer[11:13]), 1.0))
    along = float(answer[9]), float(answer[10])
    likely = float(sigmoid(answer[kind]))
    return ShapeCandidate(
        at, float(length), float(width), heading_from_fourfold(answer[11:13]), turned, likely, along
    )


def heading_from_fourfold(fourfold: Array) -> float:
    """The heading, in rad but for quarters of a turn, whose fourfold has this cosine and sine."""
    return float(np.arctan2(fourfold[1], fourfold[0]) / 4)


def _suppress_overlaps(guesses: Sequence[ShapeCandidate]) -> list[ShapeCandidate]:
    """The likeliest of every group of guesses that speak of the same base; they come likeliest first."""
    kept: list[ShapeCandidate] = []
    for one in guesses:
        if all(
            np.hypot(*(one.xy_mm - k.xy_mm)) > MIN_SPACING_SHARE * min(one.width_mm, k.width_mm)
            for k in kept
        ):
            kept.append(one)
    return kept


def picture_input(pixels: NDArray[np.uint8], lean: Floats) -> Floats:
    """What the network takes (5, H, W): the picture (H, W, 3), and the lean (H, W, 2) to the right and down."""
    blob = np.empty((5, *pixels.shape[:2]), np.float32)
    np.multiply(pixels.transpose(2, 0, 1), np.float32(1 / 64), out=blob[:3])
    blob[:3] -= 2
    np.multiply(lean.transpose(2, 0, 1), np.float32(1 / RELIEF_SCALE), out=blob[3:])
    return blob

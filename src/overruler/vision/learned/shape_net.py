"""A network that finds bases that are not round in the orthophoto of the whole table.

It is fully convolutional. It takes the board from straight above at 2 mm per px, and the relief
displacement. For each cell of 8 mm it predicts the probability of the centre of a plate, a
rectangle or an oval, the exact position, the size, and the heading. A fit in the photo's own pixels
measures the place afterwards. `docs/plates.md` describes the training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
    infer_in_strips,
    infer_whole_picture,
)
from overruler.vision.learned.logits import sigmoid

MODEL = WEIGHTS / "overview.onnx"
KINDS = ("plate", "rectangle", "oval")
"""The shapes. A plate is a square that carries a card, under a ship on a peg."""
PLATE_CHANNEL = 0
"""Output channel with the logit of a plate."""
RECTANGLE_CHANNEL = 1
"""Output channel with the logit of another rectangle."""
REFERENCE_SIZE_MM = 50.0
"""The network predicts sizes as logarithms of their ratio to this, in mm."""
RELIEF_SCALE = 0.5
"""Relief displacement per height that the network sees as 1."""
MIN_PLATE_SCORE = 0.2
"""Plates below this probability are dropped."""
MIN_RECTANGLE_SCORE = 0.04
"""Rectangles below this probability are dropped.

In rank and file the network is unsure of every rectangle, and one peak may stand for two. So every
cell counts, not only local maxima.
"""
MIN_RECTANGLE_SPACING_MM = 5.0
"""Rectangle candidates nearer than this to a likelier one are dropped, in mm."""
MIN_SPACING_SHARE = 0.35
"""Plate candidates nearer than this share of the smaller width are the same base."""
OUTPUT_CHANNELS = 13
"""Logits of the kinds (3), dx and dy in cells (2), log length and width (2), and cosine and sine of
once, twice and four times the heading (6)."""
OFFSET_CHANNELS = slice(3, 5)
"""Offset of the centre in cells."""
SIZE_CHANNELS = slice(5, 7)
"""Logarithms of length and width."""
DOUBLE_HEADING_CHANNELS = slice(9, 11)
"""Cosine and sine of twice the heading."""
FOURFOLD_HEADING_CHANNELS = slice(11, 13)
"""Cosine and sine of four times the heading."""


@dataclass(frozen=True, slots=True, eq=False)
class ShapeCandidate:
    """A possible plate or other rectangle."""

    xy_mm: Array
    """(2,): its centre as it appears on the plane z = 0."""
    length_mm: float
    """Its longer side."""
    width_mm: float
    """Its shorter side."""
    turn_rad: float
    """Its heading, modulo a quarter turn."""
    heading_confidence: float
    """Confidence of the heading, 0 to 1."""
    score: float
    """Probability that it is one, over 0 and below 1."""
    double_heading_vector: tuple[float, float] = (0.0, 0.0)
    """Cosine and sine of twice the heading of its longer side; shorter where that is unsure."""


def find_plate_candidates(
    view: Orthophoto, camera: Camera, hidden: Sequence[Array] = ()
) -> list[ShapeCandidate]:
    """Find possible plates in an orthophoto, the likeliest first.

    None lies inside a `hidden` polygon (K, 2) in mm or where the photo shows nothing.
    """
    view, answer, score = _score_cells(view, camera, hidden, PLATE_CHANNEL)
    highest_around = cv2.dilate(score, np.ones((3, 3), np.uint8))
    peaks = score * (score >= highest_around)
    return _suppress_overlaps(_decode_cells(view, answer, peaks, MIN_PLATE_SCORE, PLATE_CHANNEL))


def find_rectangle_candidates(
    view: Orthophoto, camera: Camera, hidden: Sequence[Array] = ()
) -> list[ShapeCandidate]:
    """Find possible centres of rectangles other than plates, the likeliest first."""
    view, answer, score = _score_cells(view, camera, hidden, RECTANGLE_CHANNEL)
    kept: list[ShapeCandidate] = []
    for guess in _decode_cells(view, answer, score, MIN_RECTANGLE_SCORE, RECTANGLE_CHANNEL):
        if all(_distance_mm(guess, other) > MIN_RECTANGLE_SPACING_MM for other in kept):
            kept.append(guess)
    return kept


def _score_cells(
    view: Orthophoto, camera: Camera, hidden: Sequence[Array], kind: int
) -> tuple[Orthophoto, Array, Array]:
    """Return the view at the network's scale, the answer, and one kind's probability by cell.

    The probability is 0 in hidden cells.
    """
    view = resample_orthophoto(view, OVERVIEW_MM_PER_PX)
    answer = infer_orthophoto(MODEL, view, camera).astype(float)
    score = sigmoid(answer[kind])
    mask = visibility_mask(view, hidden, 0)
    cells = cv2.resize(mask, score.shape[::-1], interpolation=cv2.INTER_NEAREST)
    return view, answer, score * cells


def _decode_cells(
    view: Orthophoto, answer: Array, score: Array, least: float, kind: int
) -> list[ShapeCandidate]:
    """Decode the cells that score above `least`, the likeliest first."""
    rows, columns = np.nonzero(score > least)
    order = np.argsort(-score[rows, columns], kind="stable")
    cells = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
    found = []
    for row, column in cells:
        found.append(decode_cell(view, answer[:, row, column], row, column, kind))
    return found


def run_shape_network(pictures: Floats) -> Array:
    """Run the network on inputs (N, 5, H, W); answers (N, 13, rows, columns)."""
    return np.stack([infer_whole_picture(MODEL, picture) for picture in pictures]).astype(float)


def decode_cell(
    view: Orthophoto,
    answer: Array,
    row: int,
    column: int,
    kind: int,
    reference_size_mm: float = REFERENCE_SIZE_MM,
) -> ShapeCandidate:
    """Return what a network says (13,) of one cell of a view, for one kind of base."""
    cell_px = (np.array([column, row]) + 0.5) * OUTPUT_STRIDE_PX - 0.5
    offset_px = answer[OFFSET_CHANNELS] * OUTPUT_STRIDE_PX
    length, width = reference_size_mm * np.exp(answer[SIZE_CHANNELS])
    fourfold = answer[FOURFOLD_HEADING_CHANNELS]
    cosine, sine = answer[DOUBLE_HEADING_CHANNELS]
    return ShapeCandidate(
        xy_mm=view.to_mm(cell_px + offset_px),
        length_mm=float(length),
        width_mm=float(width),
        turn_rad=heading_from_fourfold(fourfold),
        heading_confidence=float(min(np.hypot(*fourfold), 1.0)),
        score=float(sigmoid(answer[kind])),
        double_heading_vector=(float(cosine), float(sine)),
    )


def heading_from_fourfold(fourfold: Array) -> float:
    """Return the heading in rad, modulo a quarter turn, by cosine and sine of four times it."""
    return float(np.arctan2(fourfold[1], fourfold[0]) / 4)


def _suppress_overlaps(guesses: Sequence[ShapeCandidate]) -> list[ShapeCandidate]:
    """Keep the likeliest candidate of each base (non-maximum suppression); input is sorted."""
    kept: list[ShapeCandidate] = []
    for guess in guesses:
        if all(
            _distance_mm(guess, other) > MIN_SPACING_SHARE * min(guess.width_mm, other.width_mm)
            for other in kept
        ):
            kept.append(guess)
    return kept


def _distance_mm(guess: ShapeCandidate, other: ShapeCandidate) -> float:
    return float(np.hypot(*(guess.xy_mm - other.xy_mm)))


def infer_orthophoto(network: Path, view: Orthophoto, camera: Camera) -> Floats:
    """Run a network of this kind on an orthophoto of its resolution; answers (K, rows, columns)."""
    lean = relief_displacement_map(view, camera)

    def some(rows: slice) -> Floats:
        return picture_input(view.pixels[rows], lean[rows])

    return infer_in_strips(network, len(view.pixels), some)


def picture_input(pixels: NDArray[np.uint8], lean: Floats) -> Floats:
    """Build the network's input (5, H, W).

    The channels are the picture (H, W, 3) and the relief displacement `lean` (H, W, 2), right and
    down.
    """
    blob = np.empty((5, *pixels.shape[:2]), np.float32)
    np.multiply(pixels.transpose(2, 0, 1), np.float32(1 / 64), out=blob[:3])
    blob[:3] -= 2
    np.multiply(lean.transpose(2, 0, 1), np.float32(1 / RELIEF_SCALE), out=blob[3:])
    return blob

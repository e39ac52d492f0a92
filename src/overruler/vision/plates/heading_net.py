"""The heading of a ship, by a network that sees it over its plate, and the card's arcs, rectified.

A measured plate's heading is open by quarter turns. The network sees plate and ship turned by each
quarter, mirrored or not, and returns how likely the ship faces right in each picture. The result is
the heading, or its axis alone, or nothing, as far as it is sure.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.inference import WEIGHTS, infer_batch, softmax
from overruler.vision.plates.face_net import QUARTER_TURNS, face_input, face_pictures

MODEL = WEIGHTS / "plate_heading.onnx"
"""The network's weights."""
PICTURE_SIDES = 2.0
"""Side of the picture, in sides of the plate: ships overhang their plates, the more so aslant."""
SIDE_PX = 128
"""Side of the picture: noses and the arcs of cards are finer than what `face_net` looks for."""
LOGIT_SCALE = 1.2
"""Scale of the log odds: between 1.1 and 1.2 they are likeliest on 342 plates of 16 traced tables."""
MIN_HEADING_PROBABILITY = 0.98
"""Smallest probability of a heading, or an axis, that is reported."""
NEGLIGIBLE_PROBABILITY = 1e-4
"""Less probable alternative headings are left out."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a plate, as far as it is known."""

    turn_rad: float
    """The likeliest heading."""
    modulo_deg: float
    """By which turns it is open: 360 (not at all), 180 or 90 degrees."""
    others: tuple[tuple[float, float], ...] = ()
    """Alternatives to a known heading (rad), and their probabilities."""


def find_heading(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, turn_rad: float, side_mm: float
) -> Heading:
    """Return the heading of a plate, known but for quarter turns; `pixels` is the photo."""
    views = face_pictures(pixels, camera, xy_mm, turn_rad, side_mm, PICTURE_SIDES, SIDE_PX)
    if views is None:
        return Heading(turn_rad, 90.0)
    views += [_mirror_picture(view) for view in views]
    inputs = np.stack([face_input(view, side_mm) for view in views])
    logits = infer_batch(MODEL, inputs).reshape(2, QUARTER_TURNS).mean(0)
    return decide_heading(turn_rad, softmax(LOGIT_SCALE * logits).astype(float))


def _mirror_picture(picture: Floats) -> Floats:
    """Return the picture (5, S, S) upside down: a ship that faces right still does."""
    mirrored = picture[:, ::-1].copy()
    mirrored[-1] *= -1  # the lean down becomes a lean up
    return mirrored


def decide_heading(turn_rad: float, likely: Array) -> Heading:
    """Return what is sure of a heading, by the probabilities (4,) of its quarter turns."""
    best = int(likely.argmax())
    turns = turn_rad + np.arange(QUARTER_TURNS) * np.pi / 2
    turn = float(turns[best])
    if likely[best] >= MIN_HEADING_PROBABILITY:
        others = np.delete(np.column_stack([turns, likely]), best, axis=0).tolist()
        listed = tuple((t, p) for t, p in others if p >= NEGLIGIBLE_PROBABILITY)
        return Heading(turn, 360.0, listed)
    is_axis_sure = likely[best] + likely[best - 2] >= MIN_HEADING_PROBABILITY
    return Heading(turn, 180.0 if is_axis_sure else 90.0)

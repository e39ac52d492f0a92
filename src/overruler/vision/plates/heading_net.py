"""Which way a ship faces: a look at it over its plate, and at the card's arcs, laid straight and brought to one size.

Once a plate is measured its heading is open but for quarters of a turn. A small network sees it with what stands on it
and hangs over it, a quarter turned each time, mirrored or not, and says of each picture how likely the ship faces right
in it. What is sure is told: the heading, or its axis alone, or nothing.
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
PICTURE_SIDES = 2.0
"""So many sides the picture shows: ships seem to hang over their plates' borders, the more so aslant."""
LOGIT_SCALE = 1.5
"""The log odds count for so much: likeliest on 127 plates of eleven traced tables, two of them of another renderer."""
MIN_HEADING_PROBABILITY = 0.98
"""A heading, or an axis, that is less likely is not told."""
NEGLIGIBLE_PROBABILITY = 1e-4
"""Headings that are less likely are left out."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Which way a plate faces, as far as that is known."""

    turn_rad: float
    modulo_deg: float
    """By which turns it is open: 360 (not at all), 180 or 90 degrees."""
    others: tuple[tuple[float, float], ...] = ()
    """Where it is told: what it may be all the same (rad), and how likely each is."""


def find_heading(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, turn_rad: float, side_mm: float
) -> Heading:
    """The heading of a plate that lies along `turn_rad` but for quarters of a turn; `pixels` (H, W, 3) is the photo."""
    turned = face_pictures(pixels, camera, xy_mm, turn_rad, side_mm, PICTURE_SIDES)
    if turned is None:
        return Heading(turn_rad, 90.0)
    pictures = np.stack(
        [face_input(one, side_mm) for one in [*turned, *map(_mirror_picture, turned)]]
    )
    odds = infer_batch(MODEL, pictures).reshape(2, QUARTER_TURNS).mean(0)
    return decide_heading(turn_rad, softmax(LOGIT_SCALE * odds).astype(float))


def _mirror_picture(picture: Floats) -> Floats:
    """The picture (5, S, S) upside down: a ship that faces right still does."""
    mirrored = picture[:, ::-1].copy()
    mirrored[-1] *= -1  # what leans down leans up
    return mirrored


def decide_heading(turn_rad: float, likely: Array) -> Heading:
    """What is told where the heading is, this `likely` (4,), `turn_rad` and one, two, three quarters further."""
    best = int(likely.argmax())
    turns = turn_rad + np.arange(QUARTER_TURNS) * np.pi / 2
    if likely[best] >= MIN_HEADING_PROBABILITY:
        others = zip(np.delete(turns, best).tolist(), np.delete(likely, best).tolist(), strict=True)
        return Heading(
            float(turns[best]),
            360.0,
            tuple((turn, chance) for turn, chance in others if chance >= NEGLIGIBLE_PROBABILITY),
        )
    return Heading(
        float(turns[best]),
        180.0 if likely[best] + likely[best - 2] >= MIN_HEADING_PROBABILITY else 90.0,
    )

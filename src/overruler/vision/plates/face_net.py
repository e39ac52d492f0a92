"""A look at the whole face of what may be a plate, laid straight and brought to one size: is it one, of this size?

The looks from above say roughly where plates may be, the look along the sides where exactly. Once a square of each
possible size lies there as well as it can, a third small network sees it whole, with what is round it: card, edges and
outline must now all lie where those of a plate lie.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.inference import WEIGHTS, infer_batch
from overruler.vision.learned.shape_net import REFERENCE_SIZE_MM
from overruler.vision.plates.more_views import picture_to_board, sample_picture
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, side_normals

MODEL = WEIGHTS / "plate_face.onnx"
SIDE_PX = 64
"""Of the picture that the network sees."""
PICTURE_SIDES = 1.5
"""It shows so many sides."""
INPUT_CHANNELS = 6
"""Colours (3), lean to the right and down, log of the side."""
QUARTER_TURNS = 4
"""A plate looks likewise from all four sides: looks that are turned err each their own way."""
SLIDE_SIDES = 0.075
"""By how many sides a square is slid either way along each axis, for its face to say which way it rather lies: of much
more it only says that there is no plate."""
FACE_LOGIT_WEIGHT = 5.0
"""The log odds of faces side by side count for so much of how likely the place is."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceLikelihood:
    """What a face says of its place: how much likelier it is slid aside."""

    xy_mm: Array
    turn_rad: float
    slide_mm: float
    logit_change: Array
    """(2, 2): by how much the log odds are higher, slid back and on along the heading, then to the right and left."""

    def log_likelihood_at(self, places_mm: Array) -> Array:
        """How much likelier (...) places (..., 2) are (nats): a parabola along each axis, no more beyond the slides."""
        slid = np.clip(
            (places_mm - self.xy_mm) @ side_normals(self.turn_rad)[:2].T / self.slide_mm, -1, 1
        )
        slope, bend = np.diff(self.logit_change)[:, 0] / 2, np.minimum(self.logit_change.mean(1), 0)
        return np.asarray(FACE_LOGIT_WEIGHT * (slope * slid + bend * slid**2).sum(-1))


def probe_face_shifts(
    pixels: NDArray[np.uint8],
    camera: Camera,
    xy_mm: Array,
    turn_rad: float,
    side_mm: float,
    odds: float,
) -> FaceLikelihood | None:
    """Which way a square whose face has these log odds rather lies; None where the camera does not see the place."""
    slides = SLIDE_SIDES * side_mm * side_normals(turn_rad)[[2, 0, 3, 1]]
    aside = [face_logit(pixels, camera, xy_mm + slide, turn_rad, side_mm) for slide in slides]
    known = np.array([one for one in aside if one is not None])
    return (
        FaceLikelihood(xy_mm, turn_rad, SLIDE_SIDES * side_mm, (known - odds).reshape(2, 2))
        if len(known) == 4
        else None
    )


def face_logit(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, turn_rad: float, side_mm: float
) -> float | None:
    """The log odds that a plate of this side lies there; `pixels` (H, W, 3) is the photo.

    None where the camera does not see the place.
    """
    turned = face_pictures(pixels, camera, xy_mm, turn_rad, side_mm)
    return (
        None
        if turned is None
        else float(
            infer_batch(MODEL, np.stack([face_input(one, side_mm) for one in turned])).mean()
        )
    )


def face_pictures(
    pixels: NDArray[np.uint8],
    camera: Camera,
    xy_mm: Array,
    turn_rad: float,
    side_mm: float,
    sides_wide: float = PICTURE_SIDES,
) -> list[Floats] | None:
    """Four pictures (5, S, S) of a square's upper face, so many sides wide: as it lies, and each a quarter turned on.

    None where the camera does not see the place.
    """
    mm_per_px = side_mm * sides_wide / SIDE_PX
    picture = sample_picture(
        pixels,
        camera,
        picture_to_board(xy_mm, turn_rad, mm_per_px, SIDE_PX),
        mm_per_px,
        SIDE_PX,
        PLATE_HEIGHT_MM,
    )
    if picture is None:
        return None
    turned = [picture]
    while len(turned) < QUARTER_TURNS:
        turned.append(rotate_quarter(turned[-1]))
    return turned


def rotate_quarter(picture: Floats) -> Floats:
    """The picture (5, S, S) of a square whose heading is a quarter of a turn further counter-clockwise."""
    colours, right, down = np.split(np.rot90(picture, -1, (1, 2)), [3, 4])
    return np.concatenate([colours, -down, right])


def face_input(picture: Floats, side_mm: float) -> Floats:
    """What the network takes (6, H, W): colours and lean (5, H, W), and the side."""
    size = np.full((1, *picture.shape[1:]), np.log(side_mm / REFERENCE_SIZE_MM), np.float32)
    return np.concatenate([picture, size])

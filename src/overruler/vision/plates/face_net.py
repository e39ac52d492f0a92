"""A network that sees the whole rectified face of a possible plate: is it one, of this size?

The overview says roughly where plates may be, `side_net` exactly where. Once a square of each
possible size lies as well as it can, this network sees it whole with its surroundings: card, edges
and outline must now all lie where those of a plate lie.
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
"""The network's weights."""
SIDE_PX = 64
"""Side of the network's picture."""
PICTURE_SIDES = 1.5
"""Side of the network's picture, in sides of the square."""
INPUT_CHANNELS = 6
"""Colours (3), lean to the right and down, log of the side."""
QUARTER_TURNS = 4
"""Views of a plate, which looks alike from all four sides; turned views err independently."""
SLIDE_SIDES = 0.075
"""Shift of probed faces along each axis, in sides; with larger ones there is no plate to see."""
FACE_LOGIT_WEIGHT = 5.0
"""Weight of the log odds of neighbouring faces in the likelihood of a place."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceLikelihood:
    """The likelihood of a square's place by its face, from shifts along both axes."""

    xy_mm: Array
    """(2,): centre of the unshifted square."""
    turn_rad: float
    """Heading of the square."""
    slide_mm: float
    """Length of the shifts."""
    logit_change: Array
    """(2, 2): change of the log odds by shifts back and forth, then to the right and left."""

    def log_likelihood_at(self, places_mm: Array) -> Array:
        """Return the log-likelihood (...) of places (..., 2): parabolas between the shifts."""
        axes = side_normals(self.turn_rad)[:2]
        shift = np.clip((places_mm - self.xy_mm) @ axes.T / self.slide_mm, -1, 1)
        slope = np.diff(self.logit_change)[:, 0] / 2
        curvature = np.minimum(self.logit_change.mean(1), 0)
        change = slope * shift + curvature * shift**2
        return np.asarray(FACE_LOGIT_WEIGHT * change.sum(-1))


def probe_face_shifts(
    pixels: NDArray[np.uint8],
    camera: Camera,
    xy_mm: Array,
    turn_rad: float,
    side_mm: float,
    odds: float,
) -> FaceLikelihood | None:
    """Return the likelihood of places around a visible square whose face has log odds `odds`."""
    slide_mm = SLIDE_SIDES * side_mm
    logits = []
    for shift in slide_mm * side_normals(turn_rad)[[2, 0, 3, 1]]:
        logit = face_logit(pixels, camera, xy_mm + shift, turn_rad, side_mm)
        if logit is None:
            return None
        logits.append(logit)
    return FaceLikelihood(xy_mm, turn_rad, slide_mm, (np.array(logits) - odds).reshape(2, 2))


def face_logit(
    pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, turn_rad: float, side_mm: float
) -> float | None:
    """Return the log odds of a plate of this side there; None where the camera does not see it."""
    views = face_pictures(pixels, camera, xy_mm, turn_rad, side_mm)
    if views is None:
        return None
    inputs = np.stack([face_input(view, side_mm) for view in views])
    return float(infer_batch(MODEL, inputs).mean())


def face_pictures(
    pixels: NDArray[np.uint8],
    camera: Camera,
    xy_mm: Array,
    turn_rad: float,
    side_mm: float,
    sides_wide: float = PICTURE_SIDES,
    side_px: int = SIDE_PX,
) -> list[Floats] | None:
    """Return the upper face in 4 quarter turns (5, S, S), `sides_wide` sides wide, if visible.

    S is `side_px`.
    """
    mm_per_px = side_mm * sides_wide / side_px
    to_board = picture_to_board(xy_mm, turn_rad, mm_per_px, side_px)
    picture = sample_picture(pixels, camera, to_board, mm_per_px, side_px, PLATE_HEIGHT_MM)
    if picture is None:
        return None
    views = [picture]
    while len(views) < QUARTER_TURNS:
        views.append(rotate_quarter(views[-1]))
    return views


def rotate_quarter(picture: Floats) -> Floats:
    """Return the picture (5, S, S) of a square with its heading a quarter turn further left."""
    colours, right, down = np.split(np.rot90(picture, -1, (1, 2)), [3, 4])
    return np.concatenate([colours, -down, right])


def face_input(picture: Floats, side_mm: float) -> Floats:
    """Return the network's input (6, H, W): colours and lean (5, H, W), and the log of the side."""
    log_side = np.log(side_mm / REFERENCE_SIZE_MM)
    size = np.full((1, *picture.shape[1:]), log_side, np.float32)
    return np.concatenate([picture, size])

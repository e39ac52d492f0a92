"""Closer views of an overview guess: turned and enlarged pictures, seen by the same network.

A plate enlarged to the size that the network knows best is seen better, and views that share no
pixel grid err independently. Together they locate it to about a millimetre; their spread says how
well.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX, OVERVIEW_MM_PER_PX
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.shape_net import (
    REFERENCE_SIZE_MM,
    RELIEF_SCALE,
    ShapeCandidate,
    heading_from_fourfold,
    run_shape_network,
)

SIDE_PX = 96
"""Side of each view's picture."""
PROJECTION_GRID_PX = 8
"""Spacing of the grid on which the camera is exact; between its points it is linear."""
APPARENT_SIDE_MM = 54.0
"""Side in the overview to which a plate is enlarged."""
FINEST_MM_PER_PX = 1.45
"""Smallest pixel of a view."""
COARSEST_MM_PER_PX = 2.0
"""Largest pixel of a view."""
VIEW_TURNS_RAD = np.radians([0.0, 113.0, 227.0])
"""Turns of the views."""
MAX_OFFSET_SIDES = 0.3
"""Largest distance of a plate from its guess, in sides."""
MAX_VIEW_LOGIT = 8.0
"""Largest log odds of a view that count."""


@dataclass(frozen=True, slots=True, eq=False)
class AveragedGuess:
    """The mean of several views of one guess."""

    guess: ShapeCandidate
    """Their mean place, size, heading and probability."""
    spread_mm: float
    """1 σ of one coordinate of one view's place."""


def refine_guess(
    pixels: NDArray[np.uint8], camera: Camera, guess: ShapeCandidate
) -> AveragedGuess | None:
    """Return the mean of the views of a guess; None where the photo does not show the place."""
    side = float(np.sqrt(guess.length_mm * guess.width_mm))
    enlarged = OVERVIEW_MM_PER_PX * side / APPARENT_SIDE_MM
    mm_per_px = float(np.clip(enlarged, FINEST_MM_PER_PX, COARSEST_MM_PER_PX))
    to_board = [picture_to_board(guess.xy_mm, turn, mm_per_px) for turn in VIEW_TURNS_RAD]
    pictures = [sample_picture(pixels, camera, matrix, mm_per_px) for matrix in to_board]
    visible = [picture for picture in pictures if picture is not None]
    if len(visible) < len(pictures):
        return None
    answers = run_shape_network(np.ascontiguousarray(np.stack(visible), np.float32))
    views = zip(answers, to_board, strict=True)
    rows = [_decode_answer(answer, matrix, side, mm_per_px) for answer, matrix in views]
    return _average_views(guess, np.array(rows))


def picture_to_board(
    xy_mm: Array, turn_rad: float, mm_per_px: float, side_px: int = SIDE_PX
) -> Array:
    """Return the map (2, 3) from pixels (x, y, 1) of a turned picture of a place to the board."""
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    linear = mm_per_px * np.array([[c, -s], [s, c]]) @ np.diag([1.0, -1.0])
    return np.column_stack([linear, xy_mm - linear @ np.full(2, (side_px - 1) / 2)])


def sample_picture(
    pixels: NDArray[np.uint8],
    camera: Camera,
    frame: Array,
    mm_per_px: float,
    side_px: int = SIDE_PX,
    z_mm: float = 0.0,
) -> Floats | None:
    """Return a picture (5, side, side) of the plane z: colours, and the lean of things there.

    `frame` maps its pixels to the board (`picture_to_board`). The camera is exact on a coarse grid
    and linear in between. None where the camera does not see the place.
    """
    steps = np.arange(0, side_px + 1, PROJECTION_GRID_PX)
    x, y = np.meshgrid(steps, steps)
    board = np.stack([x, y, np.ones_like(x)], -1).astype(float) @ frame.T
    height = np.full((*board.shape[:2], 1), z_mm)
    seen = camera.project(np.concatenate([board, height], -1))
    if not np.isfinite(seen).all():
        return None
    lean = (board - camera.center_mm[:2]) / camera.center_mm[2]
    lean_px = lean @ frame[:, :2] / mm_per_px  # the inverse of a turn with a mirror
    centre = np.append(board[len(x) // 2, len(x) // 2], z_mm)
    photo_px = float(mm_per_px / camera.mm_per_px(centre))
    colours = _sample_colours(pixels, _upsample_grid(seen, side_px), photo_px)
    relief = _upsample_grid(lean_px, side_px) / RELIEF_SCALE
    return np.concatenate([colours / 64 - 2, relief], -1).transpose(2, 0, 1)


def _upsample_grid(coarse: Array, side_px: int) -> Floats:
    """Return values (side, side, 2) at every pixel from those at every 8th (h, w, 2)."""
    grow = np.array([[1 / PROJECTION_GRID_PX, 0, 0], [0, 1 / PROJECTION_GRID_PX, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    fine = cv2.warpAffine(coarse.astype(np.float32), grow, (side_px, side_px), flags=flags)
    return np.asarray(fine, np.float32)


def _sample_colours(pixels: NDArray[np.uint8], at_px: Floats, px: float) -> Floats:
    """Return the photo's colours at places (H, W, 2), averaged over about their spacing `px`."""
    size = np.array(pixels.shape[1::-1])
    low = np.clip(np.floor(at_px.min((0, 1))) - 4, 0, size - 1).astype(int)
    high = np.clip(np.ceil(at_px.max((0, 1))) + 5, low + 1, size).astype(int)
    (left, top), (right, bottom) = low, high
    crop = pixels[top:bottom, left:right]
    shrink = int(np.clip(px, 1, 8))
    if shrink > 1:
        scale = 1 / shrink
        shrunk = cv2.resize(crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        crop = np.asarray(shrunk, np.uint8)
    at = ((at_px - low + 0.5) / shrink - 0.5).astype(np.float32)
    border = cv2.BORDER_REPLICATE
    seen = cv2.remap(crop, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=border)
    return np.asarray(seen, np.float32)


def _decode_answer(answer: Array, frame: Array, side_mm: float, mm_per_px: float) -> Array:
    """Return one view's log odds, place, log length and width, cos and sin of 4 turns (7,)."""
    rows, columns = np.mgrid[: answer.shape[1], : answer.shape[2]]
    cells = (np.stack([columns, rows]) + 0.5) * OUTPUT_STRIDE_PX - 0.5
    places = cells + answer[3:5] * OUTPUT_STRIDE_PX
    offset_mm = np.hypot(*(places - (SIDE_PX - 1) / 2)) * mm_per_px
    logits = np.where(offset_mm < MAX_OFFSET_SIDES * side_mm, answer[0], -30)
    row, column = np.unravel_index(int(np.argmax(logits)), logits.shape)
    best = answer[:, row, column]
    turn = 4 * np.arctan2(frame[1, 0], frame[0, 0])  # of the picture
    c, s = np.cos(turn), np.sin(turn)
    fourfold = np.array([[c, -s], [s, c]]) @ best[11:13]
    xy = frame @ [*places[:, row, column], 1.0]
    log_size = best[5:7] + np.log(mm_per_px / OVERVIEW_MM_PER_PX)
    return np.array([logits[row, column], *xy, *log_size, *fourfold])


def _average_views(guess: ShapeCandidate, rows: Array) -> AveragedGuess:
    """Return the mean of views (V, 7), weighted by their probabilities."""
    logits = rows[:, 0].clip(-MAX_VIEW_LOGIT, MAX_VIEW_LOGIT)
    probability = sigmoid(logits)
    weight = probability / probability.sum()
    xy = weight @ rows[:, 1:3]
    length, width = REFERENCE_SIZE_MM * np.exp(weight @ rows[:, 3:5])
    fourfold = weight @ rows[:, 5:7]
    variance = weight @ ((rows[:, 1:3] - xy) ** 2).sum(1) / 2
    mean = replace(
        guess,
        xy_mm=np.asarray(xy),
        length_mm=float(length),
        width_mm=float(width),
        turn_rad=heading_from_fourfold(fourfold),
        heading_confidence=float(min(np.hypot(*fourfold), 1.0)),
        score=float(sigmoid(float(logits.mean()))),
    )
    return AveragedGuess(mean, float(np.sqrt(variance)))

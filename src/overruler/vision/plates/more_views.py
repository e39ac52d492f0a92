"""A closer look at each guess of the look from above: a few more times, turned and enlarged, by the same network.

A plate that looks as large as the network knows it best is seen better, and looks that share no pixel grid err each
their own way: together they say where it lies to about a millimetre, and how far they disagree says how well.
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
"""Of the picture of each look."""
PROJECTION_GRID_PX = 8
"""The camera is exact on a grid this wide and linear in between."""
APPARENT_SIDE_MM = 54.0
"""A plate is enlarged until it looks as large as one of this side does in the look from above, ..."""
FINEST_MM_PER_PX, COARSEST_MM_PER_PX = 1.45, 2.0
"""... to pixels of so many mm."""
VIEW_TURNS_RAD = np.radians([0.0, 113.0, 227.0])
"""How the looks are turned."""
MAX_OFFSET_SIDES = 0.3
"""How far from its guess, in sides, a plate may lie."""


@dataclass(frozen=True, slots=True, eq=False)
class AveragedGuess:
    """What some looks at one guess say together."""

    guess: ShapeCandidate
    """Their mean: place, size, heading and likelihood."""
    spread_mm: float
    """How far apart the places lie that they say (1 σ of one coordinate of one look)."""


def refine_guess(
    pixels: NDArray[np.uint8], camera: Camera, guess: ShapeCandidate
) -> AveragedGuess | None:
    """The looks at a guess together; `pixels` (H, W, 3) is the photo. None where it does not show the place."""
    side = float(np.sqrt(guess.length_mm * guess.width_mm))
    mm_per_px = float(
        np.clip(OVERVIEW_MM_PER_PX * side / APPARENT_SIDE_MM, FINEST_MM_PER_PX, COARSEST_MM_PER_PX)
    )
    frames = [picture_to_board(guess.xy_mm, turn, mm_per_px) for turn in VIEW_TURNS_RAD]
    pictures = [sample_picture(pixels, camera, frame, mm_per_px) for frame in frames]
    known = [picture for picture in pictures if picture is not None]
    if len(known) < len(frames):
        return None
    said = run_shape_network(np.ascontiguousarray(np.stack(known), np.float32))
    rows = np.array(
        [
            _decode_answer(answer, frame, side, mm_per_px)
            for answer, frame in zip(said, frames, strict=True)
        ]
    )
    return _average_views(guess, rows)


def picture_to_board(
    xy_mm: Array, turn_rad: float, mm_per_px: float, side_px: int = SIDE_PX
) -> Array:
    """From the pixels (x, y, 1) of a turned picture of a place to the board (2, 3)."""
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
    """A picture of the plane z (5, side, side), and how things lean there; exact on a coarse grid, linear in between.

    None where the camera does not see the place.
    """
    x, y = np.meshgrid(
        np.arange(0, side_px + 1, PROJECTION_GRID_PX), np.arange(0, side_px + 1, PROJECTION_GRID_PX)
    )
    board = np.stack([x, y, np.ones_like(x)], -1).astype(float) @ frame.T
    seen = camera.project(np.concatenate([board, np.full((*board.shape[:2], 1), z_mm)], -1))
    if not np.isfinite(seen).all():
        return None
    lean = (board - camera.center_mm[:2]) / camera.center_mm[2]
    there = lean @ frame[:, :2] / mm_per_px  # the inverse of a turn with a mirror
    middle = np.append(board[len(x) // 2, len(x) // 2], z_mm)
    colours = _sample_colours(
        pixels, _upsample_grid(seen, side_px), float(mm_per_px / camera.mm_per_px(middle))
    )
    return np.concatenate(
        [colours / 64 - 2, _upsample_grid(there, side_px) / RELIEF_SCALE], -1
    ).transpose(2, 0, 1)


def _upsample_grid(coarse: Array, side_px: int) -> Floats:
    """Values (side, side, 2) at every pixel, by those at every `PROJECTION_GRID_PX`-th (h, w, 2)."""
    grow = np.array([[1 / PROJECTION_GRID_PX, 0, 0], [0, 1 / PROJECTION_GRID_PX, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(coarse.astype(np.float32), grow, (side_px, side_px), flags=flags), np.float32
    )


def _sample_colours(pixels: NDArray[np.uint8], at_px: Floats, px: float) -> Floats:
    """The photo's colours at places (H, W, 2) that lie `px` apart, averaged over about so much."""
    size = np.array(pixels.shape[1::-1])
    low = np.clip(np.floor(at_px.min((0, 1))) - 4, 0, size - 1).astype(int)
    high = np.clip(np.ceil(at_px.max((0, 1))) + 5, low + 1, size).astype(int)
    part = pixels[low[1] : high[1], low[0] : high[0]]
    shrink = int(np.clip(px, 1, 8))
    if shrink > 1:
        part = np.asarray(
            cv2.resize(part, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA),
            np.uint8,
        )
    at = ((at_px - low + 0.5) / shrink - 0.5).astype(np.float32)
    seen = cv2.remap(
        part, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(seen, np.float32)


def _decode_answer(answer: Array, frame: Array, side_mm: float, mm_per_px: float) -> Array:
    """What one look says (7,): the log odds of a plate, its place, log length and width, the turn as cos and sin."""
    rows, columns = np.mgrid[: answer.shape[1], : answer.shape[2]]
    middle = (np.stack([columns, rows]) + 0.5) * OUTPUT_STRIDE_PX - 0.5
    place = middle + answer[3:5] * OUTPUT_STRIDE_PX
    away = np.hypot(*(place - (SIDE_PX - 1) / 2)) * mm_per_px
    logit = np.where(away < MAX_OFFSET_SIDES * side_mm, answer[0], -30)
    row, column = np.unravel_index(int(np.argmax(logit)), logit.shape)
    here = answer[:, row, column]
    turned = 4 * np.arctan2(frame[1, 0], frame[0, 0])  # the picture's own turn
    c, s = np.cos(turned), np.sin(turned)
    fourfold = np.array([[c, -s], [s, c]]) @ here[11:13]
    xy = frame @ [*place[:, row, column], 1.0]
    return np.array(
        [logit[row, column], *xy, *here[5:7] + np.log(mm_per_px / OVERVIEW_MM_PER_PX), *fourfold]
    )


def _average_views(guess: ShapeCandidate, said: Array) -> AveragedGuess:
    sure = sigmoid(said[:, 0].clip(-8, 8))
    weight = sure / sure.sum()
    odds = float(said[:, 0].clip(-8, 8).mean())
    xy = weight @ said[:, 1:3]
    length, width = REFERENCE_SIZE_MM * np.exp(weight @ said[:, 3:5])
    fourfold = weight @ said[:, 5:7]
    spread = float(np.sqrt(weight @ ((said[:, 1:3] - xy) ** 2).sum(1) / 2))
    mean = replace(
        guess,
        xy_mm=np.asarray(xy),
        length_mm=float(length),
        width_mm=float(width),
        turn_rad=heading_from_fourfold(fourfold),
        heading_confidence=float(min(np.hypot(*fourfold), 1.0)),
        score=float(sigmoid(odds)),
    )
    return AveragedGuess(mean, spread)

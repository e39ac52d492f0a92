"""Features of the ground: what a photo shows of the mat, as it looks from straight above.

A SIFT feature bears turns and scales, but not a slant. So a calibrated photo is rectified by its
camera, and one whose camera is unknown by a guess of its tilt.
"""

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import rectify_photo

FEATURE_COUNT = 3000
"""Most features of a view, the strongest ones: a photo has hundreds in common with another."""
MIN_CONTRAST = 0.01
"""SIFT's least contrast of a feature, a quarter of the usual one: mats are soft and photos dark."""
EDGE_LIMIT = 15.0
"""SIFT's limit of a feature's two curvatures against each other."""
CONTRAST_CLIP = 2.0
"""Clip limit of the equalization of local contrast, which takes the light out of a view."""
CONTRAST_TILES = (8, 8)
"""Tiles of that equalization, across and down."""
GROUND_SIDE_PX = 750
"""Longer side of the rectified board, in px: the table in a photo with unreadable markers has 500."""
CLOSE_UP_SIDE_PX = 2250
"""The same for a photo of a part of the board, which shows finer texture."""
CLOSE_UP_FEATURE_COUNT = 12000
"""Most features of a view then: the photo shows a tenth of the board's."""
GROUND_MARGIN_SHARE = 0.05
"""What is looked at beyond the board, as a share of its longer side."""
MAX_VIEW_PIXELS = 1.2e6
"""Most pixels of a photo rectified by a guess."""
HORIZON_SHARE = 0.15
"""Depth of the nearest ground that is rectified against that of the farthest: nearer to the horizon
a photo shows no texture."""
MAX_TILE_PX = 1600
"""Longest side of what is searched at a time: SIFT needs 200 bytes of memory for a pixel."""
TILE_OVERLAP_PX = 60
"""So far beyond its tile a feature may look."""
EDGE_PX = 4
"""Nearer to the border of what a photo shows there are no features, in px."""


@dataclass(frozen=True, slots=True, eq=False)
class GroundFeatures:
    """N features, each at a place."""

    xy: Array
    """(N, 2): in mm on the board if the camera is known, else in px of the photo."""
    descriptors: NDArray[np.float32]
    """(N, 128): square roots of SIFT's, of length 1."""


def describe_board(
    frame: Frame, calibration: Calibration, for_close_up: bool = False
) -> GroundFeatures:
    """The features of a calibrated photo, at their places on a flat board.

    They are to be found in another photo of the board, or in one of a part of it: `for_close_up`.
    """
    side_px = CLOSE_UP_SIDE_PX if for_close_up else GROUND_SIDE_PX
    width, height = calibration.board_mm
    margin = GROUND_MARGIN_SHARE * max(width, height)
    box = (-margin, -margin, width + margin, height + margin)
    step = max(width, height) / side_px
    view = rectify_photo(frame.pixels, calibration.camera, box, step)
    grey = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY)
    xy_px, descriptors = _find_features(np.asarray(grey, np.uint8), view.seen, for_close_up)
    return GroundFeatures(view.to_mm(xy_px), descriptors)


def describe_by_guess(
    frame: Frame, matrix: Array, tilt_deg: float, is_close_up: bool
) -> GroundFeatures:
    """The features of a photo by an intrinsic matrix (3, 3), were it tilted so from straight down.

    `is_close_up` says that it shows a part of the board.
    """
    grey = np.asarray(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY), np.uint8)
    to_photo, size = _guess_homography(frame.size_px, matrix, tilt_deg)
    flags = cv2.INTER_AREA | cv2.WARP_INVERSE_MAP
    view = cv2.warpPerspective(grey, to_photo, size, flags=flags)
    seen = cv2.warpPerspective(np.full_like(grey, 255), to_photo, size, flags=flags) > 254
    xy_px, descriptors = _find_features(np.asarray(view, np.uint8), np.asarray(seen), is_close_up)
    if not len(xy_px):
        return GroundFeatures(xy_px, descriptors)
    in_photo = cv2.perspectiveTransform(xy_px[None], to_photo)[0]
    return GroundFeatures(np.asarray(in_photo, float), descriptors)


def _find_features(
    grey: NDArray[np.uint8], seen: NDArray[np.bool_], for_close_up: bool
) -> tuple[Array, NDArray[np.float32]]:
    """Places (N, 2) in px and descriptors (N, 128) of the features of a view."""
    kernel = np.ones((2 * EDGE_PX + 1,) * 2, np.uint8)
    mask = np.asarray(cv2.erode(seen.astype(np.uint8), kernel, borderValue=0), np.uint8)
    even = np.asarray(cv2.createCLAHE(CONTRAST_CLIP, CONTRAST_TILES).apply(grey), np.uint8)
    tiles = [(rows, columns) for rows in _parts(len(grey)) for columns in _parts(grey.shape[1])]
    most = CLOSE_UP_FEATURE_COUNT if for_close_up else FEATURE_COUNT
    sift = cv2.SIFT.create(
        most // len(tiles),
        contrastThreshold=MIN_CONTRAST,
        edgeThreshold=EDGE_LIMIT,
        enable_precise_upscale=True,
    )
    found = [_find_in_tile(sift, even, mask, rows, columns) for rows, columns in tiles]
    places, descriptors = zip(*found, strict=True)
    return np.concatenate(places), np.concatenate(descriptors)


def _parts(length: int) -> list[tuple[int, int]]:
    """From where to where the tiles along a side go: they are as few as may be, and alike."""
    count = max(1, -(-length // MAX_TILE_PX))
    ends = np.linspace(0, length, count + 1).astype(int).tolist()
    return list(pairwise(ends))


def _find_in_tile(
    sift: cv2.SIFT,
    grey: NDArray[np.uint8],
    mask: NDArray[np.uint8],
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> tuple[Array, NDArray[np.float32]]:
    """The features in a tile of a view, whose descriptors may look beyond it."""
    corner = [max(0, rows[0] - TILE_OVERLAP_PX), max(0, columns[0] - TILE_OVERLAP_PX)]
    around = (
        slice(corner[0], rows[1] + TILE_OVERLAP_PX),
        slice(corner[1], columns[1] + TILE_OVERLAP_PX),
    )
    inside = np.zeros_like(mask)
    inside[slice(*rows), slice(*columns)] = mask[slice(*rows), slice(*columns)]
    points, found = sift.detectAndCompute(grey[around], inside[around])
    if found is None:
        return np.zeros((0, 2)), np.zeros((0, 128), np.float32)
    shares = found / np.maximum(found.sum(1, keepdims=True), 1e-9)
    xy_px = np.array([point.pt for point in points], float) + corner[::-1]
    return xy_px, np.asarray(np.sqrt(shares), np.float32)


def _guess_homography(
    size_px: tuple[int, int], matrix: Array, tilt_deg: float
) -> tuple[Array, tuple[int, int]]:
    """From the rectified view's pixels to the photo's (3, 3), and the view's width and height."""
    tilt = np.radians(tilt_deg)
    right, up = np.array([1.0, 0, 0]), np.array([0, -np.sin(tilt), -np.cos(tilt)])
    ground = matrix @ np.column_stack([right, np.cross(up, right), [0, 0, 1.0]])
    width, height = size_px
    top = _topmost_row(ground, size_px)
    corners = np.array([(0, top), (width, top), (width, height), (0, height)], float)
    on_ground = cv2.perspectiveTransform(corners[None], np.linalg.inv(ground))[0]
    low, high = on_ground.min(0), on_ground.max(0)
    step = 1 / float(matrix[0, 0])
    step *= max(1.0, float(np.sqrt(np.prod((high - low) / step) / MAX_VIEW_PIXELS)))
    columns, rows = np.ceil((high - low) / step).astype(int).tolist()
    from_px = np.array([[step, 0, low[0]], [0, -step, high[1]], [0, 0, 1.0]])
    return np.asarray(ground @ from_px), (columns, rows)


def _topmost_row(ground: Array, size_px: tuple[int, int]) -> float:
    """The first row of a photo that lies well below the horizon of the plane `ground` (3, 3)."""
    width, height = size_px
    rows = np.linspace(0, height, 41)
    pixels = np.stack([np.full_like(rows, width / 2), rows, np.ones_like(rows)], -1)
    depth = (pixels @ np.linalg.inv(ground).T)[:, 2]
    good = depth > HORIZON_SHARE * depth.max()
    return float(rows[good].min())

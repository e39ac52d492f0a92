"""ArUco markers in a picture: their ids on a reduced picture, their edges at full size."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.board import Board
from overruler.errors import UnknownName
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.imaging.subpixel_edges import SLOPE_WINDOW_SIGMA_PX, Floats
from overruler.vision.markers.dictionaries import (
    GreyPicture,
    count_markers_by_dictionary,
    load_dictionary,
)
from overruler.vision.markers.duplicates import resolve_duplicates
from overruler.vision.markers.marker import Marker, _marker_cells
from overruler.vision.markers.square_fit import Square, fit_square, side_px
from overruler.vision.markers.square_model import square_to_quad

ERROR_CORRECTION = 0.3
"""OpenCV's default of 0.6 finds markers in gravel."""
DETECTION_SIDE_PX = 2000
"""Longer side of the picture that ids are read from first."""
MIN_SCORE = 0.6
"""Of a marker's fit to its code: one with a tenth of it hidden still has 0.8."""
MIN_GUIDED_SCORE = 0.5
"""The same of a marker whose place the others tell: half of it may be hidden."""
FLIPPED_CELL_TOLERANCE = 0.2
"""A cell is of the other colour when it is so near to it, as a share of the marker's contrast."""
MIN_VISIBLE_CELL_SHARE = 0.4
"""The share of its cells that must lie in the picture."""
MAX_CORNER_SIGMA_SHARE = 0.02
"""A corner less sure than this share of the marker's side says nothing: too few sides are seen."""
MAX_SQUARES_READ = 600
"""So many of the largest squares are read to tell the dictionary: gravel has thousands of small ones."""
ENOUGH_MARKERS, MAX_SIZE_RATIO = 4, 8.0
"""Among so many markers, one so many times larger or smaller than the typical one is none of them."""
WHITE_BORDER_PX = 8
"""White laid round the reduced picture."""
PATCH_MARGIN_PX, SMOOTHING_SIGMA_PX = 16, 0.4
"""What is looked at around a marker, and how much it is smoothed against the sensor's noise."""

_SIZES = ("50", "100", "250", "1000")
_GRIDS = tuple(f"DICT_{n}X{n}_" for n in (4, 5, 6, 7))
_TAGS = (
    "DICT_APRILTAG_16h5",
    "DICT_APRILTAG_25h9",
    "DICT_APRILTAG_36h10",
    "DICT_APRILTAG_36h11",
    "DICT_ARUCO_MIP_36h12",
)
DICTIONARIES = (*(grid + size for grid in _GRIDS for size in _SIZES), *_TAGS, "DICT_ARUCO_ORIGINAL")
_COMMON_DICTIONARIES = (
    *(grid + "250" for grid in _GRIDS),
    "DICT_APRILTAG_36h11",
    "DICT_APRILTAG_25h9",
    "DICT_ARUCO_ORIGINAL",
)
_UNCOMMON_DICTIONARIES = tuple(
    name
    for name in (*(grid + "1000" for grid in _GRIDS), *_TAGS)
    if name not in _COMMON_DICTIONARIES
)


def find_markers(frame: Frame, board: Board) -> tuple[Marker, ...]:
    """The board's markers in the picture, ascending by id, each id once; those that are cut off by what they show."""
    grey = _to_grey(frame)
    wanted = set(board.corners_mm) if board.corners_mm is not None else None
    found = _read_markers(grey, board.dictionary, wanted)
    fitted = (
        _fit_marker(grey, name, number, corners, MIN_SCORE) for name, number, corners in found
    )
    return _reject_odd_sizes(
        resolve_duplicates((marker for marker in fitted if marker is not None), board.corners_mm)
    )


def fit_expected_marker(
    frame: Frame, dictionary: str, number: int, corners_px: Array
) -> Marker | None:
    """The marker that must lie near `corners_px` (4, 2), though too much of it is hidden for its id to be read.

    It may reach beyond the picture, or lie half under a hand.
    """
    low, high = corners_px.min(0), corners_px.max(0)
    if (
        not np.isfinite(corners_px).all()
        or (high < PATCH_MARGIN_PX).any()
        or (low > np.array(frame.size_px) - PATCH_MARGIN_PX).any()
    ):
        return None
    return _fit_marker(_to_grey(frame), dictionary, number, corners_px, MIN_GUIDED_SCORE)


def _to_grey(frame: Frame) -> GreyPicture:
    return np.asarray(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY), np.uint8)


def _read_markers(grey: GreyPicture, told: str, wanted: set[int] | None) -> "list[_Candidate]":
    """The readings by a dictionary, or by the one that reads most."""
    name = _resolve_dictionary_name(told) if told != "auto" else _identify_dictionary(grey)
    return _detect_candidates(grey, name, wanted) if name is not None else []


def _identify_dictionary(grey: GreyPicture) -> str | None:
    """The dictionary that reads most of the squares seen; one that is used often before one that is not."""
    first = _reduction_factor(grey)
    for names in (_COMMON_DICTIONARIES, _UNCOMMON_DICTIONARIES):
        counts = dict.fromkeys(names, 0)
        for share in dict.fromkeys((first, max(1, first // 2))):
            if max(counts.values()) < ENOUGH_MARKERS:
                counts = {
                    name: max(counts[name], more)
                    for name, more in _count_by_dictionary(grey, share, names).items()
                }
        best = max(names, key=lambda name: counts[name])
        if counts[best] > 1:
            return best
    return None


def _count_by_dictionary(grey: GreyPicture, share: int, names: Sequence[str]) -> dict[str, int]:
    """How many markers of each dictionary the largest squares of the picture reduced to one `share`-th show."""
    small = _reduce_picture(grey, share)
    detector = _make_detector(names[0])
    detector.setDetectorParameters(_detector_parameters(every=True))
    quads, _, rejected = detector.detectMarkers(small)
    squares = sorted(
        (np.reshape(quad, (4, 2)) for quad in (*quads, *rejected)), key=side_px, reverse=True
    )
    return count_markers_by_dictionary(small, squares[:MAX_SQUARES_READ], names, ERROR_CORRECTION)


def _resolve_dictionary_name(name: str) -> str:
    for known in DICTIONARIES:
        if known.lower() == name.lower():
            return known
    raise UnknownName("dictionary", name, DICTIONARIES)


_Candidate = tuple[str, int, Array]


def _detect_candidates(grey: GreyPicture, name: str, wanted: set[int] | None) -> list[_Candidate]:
    """Every reading of a marker, at a reduced size and, where hardly any was read, at a larger one.

    Of a board with known places four are enough to tell where the others are.
    """
    share = _reduction_factor(grey)
    found = _detect_at_scale(grey, name, share)
    enough = ENOUGH_MARKERS if wanted is None else min(ENOUGH_MARKERS, len(wanted))
    if (
        share > 1
        and len({number for _, number, _ in found if wanted is None or number in wanted}) < enough
    ):
        have = {number for _, number, _ in found}
        found += [c for c in _detect_at_scale(grey, name, share // 2) if c[1] not in have]
    return [candidate for candidate in found if wanted is None or candidate[1] in wanted]


def _detect_at_scale(grey: GreyPicture, name: str, share: int) -> list[_Candidate]:
    """Markers read on the picture reduced to one `share`-th."""
    corners, ids, _ = _make_detector(name).detectMarkers(_reduce_picture(grey, share))
    if ids is None:
        return []
    # resize keeps the picture's outer edges in place, and they lie half a pixel outside the outer pixels' centres
    return [
        (
            name,
            int(number),
            (np.reshape(quad, (4, 2)).astype(float) - WHITE_BORDER_PX + 0.5) * share - 0.5,
        )
        for number, quad in zip(np.reshape(ids, -1), corners, strict=True)
    ]


def _reduction_factor(grey: GreyPicture) -> int:
    """To which part of its size the picture is reduced first."""
    return int(max(1, round(max(grey.shape) / DETECTION_SIDE_PX)))


def _reduce_picture(grey: GreyPicture, share: int) -> GreyPicture:
    """The picture reduced to one `share`-th.

    White is laid round it: a card that is cut off by the picture's border has its marker whole.
    """
    height, width = (size // share * share for size in grey.shape)
    size = width // share, height // share
    small = (
        cv2.resize(grey[:height, :width], size, interpolation=cv2.INTER_AREA) if share > 1 else grey
    )
    framed = cv2.copyMakeBorder(
        small,
        WHITE_BORDER_PX,
        WHITE_BORDER_PX,
        WHITE_BORDER_PX,
        WHITE_BORDER_PX,
        cv2.BORDER_CONSTANT,
        value=255,
    )
    return np.asarray(framed, np.uint8)


def _make_detector(name: str) -> cv2.aruco.ArucoDetector:
    return cv2.aruco.ArucoDetector(load_dictionary(name), _detector_parameters())


def _detector_parameters(every: bool = False) -> cv2.aruco.DetectorParameters:
    """How markers are looked for; `every` keeps squares within others, as a marker's in its card's, though unread."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = ERROR_CORRECTION
    parameters.minMarkerPerimeterRate = 0.03
    if every:
        parameters.minMarkerDistanceRate = 0.0
    return parameters


def _fit_marker(
    grey: GreyPicture, name: str, number: int, corners: Array, least_score: float
) -> Marker | None:
    """The marker with its edges fitted, on a patch around it; None where too little of it is seen, or it is none."""
    height, width = grey.shape
    low = np.floor(corners.min(0) - PATCH_MARGIN_PX).astype(int).clip(0)
    high = np.ceil(corners.max(0) + PATCH_MARGIN_PX).astype(int) + 1
    view = grey[low[1] : high[1], low[0] : high[0]].astype(np.float32)
    patch = np.asarray(cv2.GaussianBlur(view, (0, 0), SMOOTHING_SIGMA_PX), np.float32)
    cells = _marker_cells(name, number)
    square = fit_square(patch, corners, cells, (width, height), low.astype(float))
    if square is None or not _is_valid_square(square):
        return None
    means = _cell_means(patch, square.corners_px - low, len(cells))
    seen = _cells_in_picture(square.corners_px, len(cells), (width, height))
    if (
        seen.mean() < MIN_VISIBLE_CELL_SHARE
        or means[seen].std() == 0
        or cells[seen].all()
        or not cells[seen].any()
    ):
        return None
    score = max(0.0, float(np.corrcoef(means[seen], cells[seen])[0, 1]))
    contrast = means[seen & cells].mean() - means[seen & ~cells].mean()
    if score < least_score or _contradicts_code(means[seen], cells[seen]):
        return None
    return Marker(number, name, score, _blur_px(contrast, square.steepness), square)


def _contradicts_code(means: Array, cells: NDArray[np.bool_]) -> bool:
    """Whether cells (K,) contradict a code both ways, white for black and black for white.

    What lies on a marker makes its cells brighter or makes them darker; another marker does both.
    """
    dark, bright = np.percentile(means, (10, 90))
    share = (means - dark) / max(bright - dark, 1e-9)
    return bool(
        (share[cells] < FLIPPED_CELL_TOLERANCE).any()
        and (share[~cells] > 1 - FLIPPED_CELL_TOLERANCE).any()
    )


def _is_valid_square(square: Square) -> bool:
    """Whether the fit is a square's view at all: convex, its corners clockwise as printed, each of them known."""
    sides = np.roll(square.corners_px, -1, 0) - square.corners_px
    following = np.roll(sides, -1, 0)
    turns = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    sure = np.sqrt(np.diag(square.covariance_px2).max()) < MAX_CORNER_SIGMA_SHARE * side_px(
        square.corners_px
    )
    return bool((turns > 0).all() and sure)


def _cells_in_picture(corners: Array, count: int, size_px: tuple[int, int]) -> NDArray[np.bool_]:
    """Which cells (count, count) of a marker have their middle in the picture."""
    middle = (np.arange(count) + 0.5) / count
    place = np.stack(np.meshgrid(middle, middle), -1).reshape(-1, 2)
    xyw = np.column_stack([place, np.ones(len(place))]) @ square_to_quad(corners).T
    at = xyw[:, :2] / xyw[:, 2:]
    return np.asarray(((at > 1) & (at < np.array(size_px) - 2)).all(1).reshape(count, count))


def _cell_means(patch: Floats, corners: Array, count: int) -> Array:
    """Mean brightness (count, count) of the middles of a marker's cells."""
    target = np.array([(0, 0), (count, 0), (count, count), (0, count)], np.float32) * 8 - 0.5
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), target.astype(np.float32))
    cells = cv2.warpPerspective(
        patch, warp, (8 * count, 8 * count), borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cells.reshape(count, 8, count, 8)[:, 2:6, :, 2:6].mean((1, 3)), float)


def _blur_px(contrast: float, steepness: float) -> float:
    """A step blurred by σ climbs by contrast / (σ √2π) a pixel at most; our own smoothing is taken out."""
    whole = contrast / (max(steepness, 1e-9) * np.sqrt(2 * np.pi))
    return float(np.sqrt(max(whole**2 - SMOOTHING_SIGMA_PX**2 - SLOPE_WINDOW_SIGMA_PX**2, 0.0)))


def _reject_odd_sizes(markers: tuple[Marker, ...]) -> tuple[Marker, ...]:
    """Without those of another order of size: gravel and print look like a code now and then."""
    if len(markers) < ENOUGH_MARKERS:
        return markers
    typical = float(np.median([marker.side_px for marker in markers]))
    return tuple(
        m for m in markers if typical / MAX_SIZE_RATIO < m.side_px < typical * MAX_SIZE_RATIO
    )

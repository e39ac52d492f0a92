"""ArUco markers in a picture: their ids on a reduced picture, their edges at full size."""

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.board import Board
from overruler.errors import UnknownName
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.edges import WINDOW_PX, Floats
from overruler.vision.squares import Square, fit_square, side_px

ERROR_CORRECTION = 0.3
"""OpenCV's default of 0.6 finds markers in gravel."""
DETECT_PX = 2000
"""Longer side of the picture that ids are read from first."""
MIN_SCORE = 0.6
"""Of a marker's fit to its code: one with a tenth of it hidden still has 0.8."""
MARGIN_PX, SMOOTHING_PX = 16, 0.6
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
_USUAL = (*(grid + "250" for grid in _GRIDS), "DICT_APRILTAG_36h11", "DICT_APRILTAG_25h9", "DICT_ARUCO_ORIGINAL")
_RARE = tuple(name for name in (*(grid + "1000" for grid in _GRIDS), *_TAGS) if name not in _USUAL)


Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """One marker as seen."""

    id: int
    dictionary: str
    score: float
    """How well its cells match its code: 1 is perfect, 0 is chance."""
    blur_px: float
    """1 σ of the Gaussian that would blur a sharp edge as much."""
    square: Square

    @property
    def corners_px(self) -> Array:
        """(4, 2): the printed top left first, clockwise as printed; without the shift of edges."""
        return self.square.corners_px

    @property
    def side_px(self) -> float:
        """The mean of its four sides."""
        return side_px(self.corners_px)

    @property
    def cell_px(self) -> float:
        """The side of one of its cells."""
        return self.side_px / len(_cells(self.dictionary, self.id))

    @property
    def center_px(self) -> Array:
        """(2,): where its diagonals cross."""
        a, b, c, d = np.column_stack([self.corners_px, np.ones(4)])
        crossing = np.cross(np.cross(a, c), np.cross(b, d))
        return np.asarray(crossing[:2] / crossing[2])


def find_markers(frame: Frame, board: Board) -> tuple[Marker, ...]:
    """The board's markers in the picture, ascending by id, each id once."""
    grey = _grey(frame)
    wanted = set(board.corners_mm) if board.corners_mm is not None else None
    found = _read(grey, board.dictionary, wanted)
    fitted = (_fit(grey, name, number, corners) for name, number, corners in found)
    return _one_each(marker for marker in fitted if marker is not None)


def look_for_marker(frame: Frame, dictionary: str, number: int, corners_px: Array) -> Marker | None:
    """The marker that must lie near `corners_px` (4, 2), though too much of it is hidden for its id to be read."""
    low, high = corners_px.min(0), corners_px.max(0)
    if (low < 1).any() or (high > np.array(frame.size_px) - 2).any():
        return None
    return _fit(_grey(frame), dictionary, number, corners_px)


def _grey(frame: Frame) -> Grey:
    return np.asarray(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY), np.uint8)


def _read(grey: Grey, dictionary: str, wanted: set[int] | None) -> "list[_Candidate]":
    """The readings by a dictionary, or by the one that reads most."""
    if dictionary != "auto":
        return _candidates(grey, _known(dictionary), wanted)
    for names in (_USUAL, _RARE):
        found = max((_candidates(grey, name, wanted) for name in names), key=len)
        if len(found) > 1:
            break
    return found


def _known(name: str) -> str:
    for known in DICTIONARIES:
        if known.lower() == name.lower():
            return known
    raise UnknownName("dictionary", name, DICTIONARIES)


_Candidate = tuple[str, int, Array]


def _candidates(grey: Grey, name: str, wanted: set[int] | None) -> list[_Candidate]:
    """Every reading of a marker, at a reduced size and, where markers that must be there were missed, at full size."""
    largest = max(grey.shape)
    scale = min(1.0, DETECT_PX / largest)
    found = _detect(grey, name, scale)
    missing = wanted is not None and not wanted <= {number for _, number, _ in found}
    if scale < 1 and (missing or len(found) < 4):
        have = {number for _, number, _ in found}
        found += [c for c in _detect(grey, name, min(1.0, 2 * scale)) if c[1] not in have]
    return [candidate for candidate in found if wanted is None or candidate[1] in wanted]


def _detect(grey: Grey, name: str, scale: float) -> list[_Candidate]:
    height, width = grey.shape
    size = round(width * scale), round(height * scale)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    corners, ids, _ = _detector(name).detectMarkers(small)
    if ids is None:
        return []
    ratio = np.array([width / small.shape[1], height / small.shape[0]])
    # resize keeps the picture's outer edges in place, and they lie half a pixel outside the outer pixels' centres
    return [
        (name, int(number), (np.reshape(quad, (4, 2)).astype(float) + 0.5) * ratio - 0.5)
        for number, quad in zip(np.reshape(ids, -1), corners, strict=True)
    ]


def _detector(name: str) -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = ERROR_CORRECTION
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.minMarkerPerimeterRate = 0.03
    return cv2.aruco.ArucoDetector(_dictionary(name), parameters)


def _dictionary(name: str) -> cv2.aruco.Dictionary:
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))


def _cells(name: str, number: int) -> NDArray[np.bool_]:
    """The marker's cells (N, N) with its black frame, True where white."""
    dictionary = _dictionary(name)
    bits = dictionary.generateImageMarker(number, dictionary.markerSize + 2)
    return np.asarray(bits > 127)


def _fit(grey: Grey, name: str, number: int, corners: Array) -> Marker | None:
    """The marker with its edges fitted, on a patch around it; None where it is cut off or hidden."""
    height, width = grey.shape
    low = np.floor(corners.min(0) - MARGIN_PX).astype(int).clip(0)
    high = np.ceil(corners.max(0) + MARGIN_PX).astype(int) + 1
    view = grey[low[1] : high[1], low[0] : high[0]].astype(np.float32)
    patch = np.asarray(cv2.GaussianBlur(view, (0, 0), SMOOTHING_PX), np.float32)
    cells = _cells(name, number)
    square = fit_square(patch, corners, cells, (width, height), low.astype(float))
    if square is None or (square.corners_px < 1).any() or (square.corners_px > np.array([width, height]) - 2).any():
        return None
    means = _cell_means(patch, square.corners_px - low, len(cells))
    score = max(0.0, float(np.corrcoef(means.ravel(), cells.ravel())[0, 1])) if means.std() > 0 else 0.0
    if score < MIN_SCORE:
        return None
    return Marker(number, name, score, _blur_px(means[cells].mean() - means[~cells].mean(), square.steepness), square)


def _cell_means(patch: Floats, corners: Array, count: int) -> Array:
    """Mean brightness (count, count) of the middles of a marker's cells."""
    target = np.array([(0, 0), (count, 0), (count, count), (0, count)], np.float32) * 8 - 0.5
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), target.astype(np.float32))
    cells = cv2.warpPerspective(patch, warp, (8 * count, 8 * count))
    return np.asarray(cells.reshape(count, 8, count, 8)[:, 2:6, :, 2:6].mean((1, 3)), float)


def _blur_px(contrast: float, steepness: float) -> float:
    """A step blurred by σ climbs by contrast / (σ √2π) a pixel at most; our own smoothing is taken out."""
    whole = contrast / (max(steepness, 1e-9) * np.sqrt(2 * np.pi))
    return float(np.sqrt(max(whole**2 - SMOOTHING_PX**2 - WINDOW_PX**2, 0.0)))


def _one_each(markers: Iterable[Marker]) -> tuple[Marker, ...]:
    best: dict[int, Marker] = {}
    for marker in markers:
        if marker.id not in best or marker.score > best[marker.id].score:
            best[marker.id] = marker
    return tuple(best[number] for number in sorted(best))

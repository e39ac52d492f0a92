"""Detect ArUco markers: read their ids on a reduced picture, then fit their edges at full size."""

from collections.abc import Sequence

import cv2
import numpy as np

from overruler.board import Board
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.markers.dictionaries import (
    GreyPicture,
    count_markers_by_dictionary,
    load_dictionary,
)
from overruler.vision.markers.duplicates import resolve_duplicates
from overruler.vision.markers.looks import WHITE_BORDER_PX, Look, changed_looks, plain_looks
from overruler.vision.markers.marker import Marker
from overruler.vision.markers.marker_fit import PATCH_MARGIN_PX, fit_marker
from overruler.vision.markers.square_fit import side_px

ERROR_CORRECTION = 0.3
"""OpenCV's error correction rate. Its default of 0.6 finds markers in gravel."""
MIN_SCORE = 0.6
"""Least correlation of a marker with its code. With a tenth of it hidden it still reaches 0.8."""
MIN_GUIDED_SCORE = 0.5
"""The same where the other markers predict its place. Half of it may be hidden."""
MAX_SQUARES_READ = 600
"""Largest squares that are read to identify the dictionary. Gravel has thousands of small ones."""
ENOUGH_MARKERS = 4
"""From this number of markers on, the search ends and odd sizes are rejected."""
MIN_MARKERS_READ = 3
"""With fewer the search goes on where light, lens or hand may have spoiled the photo."""
MAX_SIZE_RATIO = 8.0
"""A marker larger or smaller than the median one by more than this factor is a false one."""

_GRIDS = ("DICT_4X4_", "DICT_5X5_", "DICT_6X6_", "DICT_7X7_")
_COMMON_TAGS = ("DICT_APRILTAG_36h11", "DICT_APRILTAG_25h9", "DICT_ARUCO_ORIGINAL")
_UNCOMMON_TAGS = ("DICT_APRILTAG_16h5", "DICT_APRILTAG_36h10", "DICT_ARUCO_MIP_36h12")
_COMMON_DICTIONARIES = (*(grid + "250" for grid in _GRIDS), *_COMMON_TAGS)
_UNCOMMON_DICTIONARIES = (*(grid + "1000" for grid in _GRIDS), *_UNCOMMON_TAGS)

_Candidate = tuple[str, int, Array]
"""A reading: the dictionary, the id, and the corners (4, 2) in px."""


def find_markers(frame: Frame, board: Board) -> tuple[Marker, ...]:
    """Find the board's markers in a picture, each id once, in ascending order.

    Markers cut off by the picture's border are fitted to the part that it shows.
    """
    return choose_markers(search_markers(frame, board), board)


def search_markers(frame: Frame, board: Board) -> list[Marker]:
    """All that look like a marker of the board in a picture; one id may be there more than once."""
    grey = _to_grey(frame)
    wanted = set(board.corners_mm) if board.corners_mm is not None else None
    fitted: list[Marker] = []
    for name, number, corners_px in _read_markers(grey, board.dictionary, wanted):
        marker = fit_marker(grey, name, number, corners_px, MIN_SCORE, was_read=True)
        if marker is not None:
            fitted.append(marker)
    return fitted


def choose_markers(found: Sequence[Marker], board: Board) -> tuple[Marker, ...]:
    """Of all that look like one the board's markers, each id once, in ascending order."""
    known = board.corners_mm
    some = [marker for marker in found if known is None or marker.id in known]
    return _reject_odd_sizes(resolve_duplicates(some, known))


def fit_expected_marker(
    frame: Frame, dictionary: str, number: int, corners_px: Array
) -> Marker | None:
    """Fit the marker expected near `corners_px` (4, 2), even if its id cannot be read.

    It may reach beyond the picture, or be half hidden.
    """
    if not np.isfinite(corners_px).all():
        return None
    low, high = corners_px.min(0), corners_px.max(0)
    limit = np.array(frame.size_px) - PATCH_MARGIN_PX
    if (high < PATCH_MARGIN_PX).any() or (low > limit).any():
        return None
    return fit_marker(_to_grey(frame), dictionary, number, corners_px, MIN_GUIDED_SCORE)


def _to_grey(frame: Frame) -> GreyPicture:
    return np.asarray(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY), np.uint8)


def _read_markers(grey: GreyPicture, dictionary: str, wanted: set[int] | None) -> list[_Candidate]:
    """Read markers of a dictionary; "auto" takes the one that reads most squares."""
    if dictionary != "auto":
        return _detect_candidates(grey, dictionary, wanted)
    name = _identify_dictionary(grey)
    return [] if name is None else _detect_candidates(grey, name, wanted)


def _identify_dictionary(grey: GreyPicture) -> str | None:
    """Identify the dictionary that reads most squares; common dictionaries are tried first."""
    for names, looks in (
        (_COMMON_DICTIONARIES, plain_looks),
        (_UNCOMMON_DICTIONARIES, plain_looks),
        (_COMMON_DICTIONARIES, changed_looks),
    ):
        counts = dict.fromkeys(names, 0)
        for look in looks(grey):
            more = _count_by_dictionary(look, names)
            counts = {name: max(counts[name], count) for name, count in more.items()}
            if max(counts.values()) >= ENOUGH_MARKERS:
                break
        best = max(names, key=lambda name: counts[name])
        if counts[best] > 1:
            return best
    return None


def _count_by_dictionary(look: Look, names: Sequence[str]) -> dict[str, int]:
    """Count each dictionary's markers among the largest squares of a picture."""
    small = look.picture
    detector = _make_detector(names[0])
    detector.setDetectorParameters(_detector_parameters(keep_nested=True))
    quads, _, rejected = detector.detectMarkers(small)
    squares = [np.reshape(quad, (4, 2)) for quad in (*quads, *rejected)]
    squares.sort(key=side_px, reverse=True)
    return count_markers_by_dictionary(small, squares[:MAX_SQUARES_READ], names, ERROR_CORRECTION)


def _detect_candidates(grey: GreyPicture, name: str, wanted: set[int] | None) -> list[_Candidate]:
    """Read markers on the reduced picture and, where few are found, on others of it.

    On a board with known places four markers are enough to predict the others.
    """
    enough = ENOUGH_MARKERS if wanted is None else min(ENOUGH_MARKERS, len(wanted))
    found: dict[int, list[_Candidate]] = {}
    for look in plain_looks(grey):
        found = _read_look(look, name, wanted) | found
        if len(found) >= enough:
            break
    for look in changed_looks(grey) if len(found) < min(MIN_MARKERS_READ, enough) else ():
        found = _read_look(look, name, wanted) | found
    return [one for repeated in found.values() for one in repeated]


def _read_look(look: Look, name: str, wanted: set[int] | None) -> dict[int, list[_Candidate]]:
    """The wanted markers of a dictionary on a picture, by their ids; one id may be there more than once."""
    quads, ids, _ = _make_detector(name).detectMarkers(look.picture)
    found: dict[int, list[_Candidate]] = {}
    if ids is None:
        return found
    for number, quad in zip(map(int, np.ravel(ids)), quads, strict=True):
        if wanted is not None and number not in wanted:
            continue
        reduced_px = np.reshape(quad, (4, 2)).astype(float) - WHITE_BORDER_PX
        # resizing keeps the outer borders, half a pixel outside of the outer pixels' centres
        corners_px = (reduced_px + 0.5) * look.scale - 0.5
        found.setdefault(number, []).append((name, number, corners_px))
    return found


def _make_detector(name: str) -> cv2.aruco.ArucoDetector:
    return cv2.aruco.ArucoDetector(load_dictionary(name), _detector_parameters())


def _detector_parameters(keep_nested: bool = False) -> cv2.aruco.DetectorParameters:
    """Return OpenCV's parameters; `keep_nested` keeps unread squares in others, as in a card."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = ERROR_CORRECTION
    parameters.minMarkerPerimeterRate = 0.03
    if keep_nested:
        parameters.minMarkerDistanceRate = 0.0
    return parameters


def _reject_odd_sizes(markers: tuple[Marker, ...]) -> tuple[Marker, ...]:
    """Remove markers of a different order of size: gravel and print sometimes look like a code."""
    if len(markers) < ENOUGH_MARKERS:
        return markers
    typical = float(np.median([marker.side_px for marker in markers]))
    low, high = typical / MAX_SIZE_RATIO, typical * MAX_SIZE_RATIO
    return tuple(marker for marker in markers if low < marker.side_px < high)

"""One board frame for photos of markers that lie anywhere: a map of the markers from all photos."""

from collections.abc import Sequence

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.vision.calibrators.marker_map import MIN_MARKERS, fit_marker_map
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker

MIN_SHARED_MARKERS = 3
"""Least number of markers that a photo shares with the others."""


def map_free_markers(frames: Sequence[Frame], board: Board) -> Board:
    """The board with its markers at the places that the photos show.

    Photos of one camera make the map, those that see most markers in all; the other photos hang on
    it. `CannotMeasure` where a photo shows too few of its markers.
    """
    seen = [find_markers(frame, board) for frame in frames]
    cameras: dict[tuple[tuple[int, int], float | None], list[int]] = {}
    for k, frame in enumerate(frames):
        if len(seen[k]) >= MIN_MARKERS:
            cameras.setdefault((frame.size_px, frame.focal_px), []).append(k)
    if not cameras:
        return board
    most = max(cameras.values(), key=lambda group: len({m.id for k in group for m in seen[k]}))
    views = {f"{k}": (seen[k], lens_prior(frames[k], None)) for k in most}
    layout = fit_marker_map(board, views)
    for k, frame in enumerate(frames):
        _check_shared(frame, seen[k], set(layout.corners_mm))
    dictionary = seen[most[0]][0].dictionary
    size = None
    if board.width_mm and board.height_mm:
        size = (board.width_mm, board.height_mm)
    return layout.board(board.name, board.marker_mm, dictionary, size)


def _check_shared(frame: Frame, markers: Sequence[Marker], known: set[int]) -> None:
    shared = known & {marker.id for marker in markers}
    needed = min(MIN_SHARED_MARKERS, len(known))
    if markers and len(shared) < needed:
        raise CannotMeasure(
            f"{frame.name} shares {len(shared)} markers with the other photos, {needed} are needed: "
            "is it of another table? Else have more markers in every photo"
        )

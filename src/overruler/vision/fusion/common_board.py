"""One board frame for photos of markers that lie anywhere: a map of the markers from all photos."""

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.units import format_count
from overruler.vision.calibrators.marker_map import MIN_MARKERS, MarkerMapFit, fit_marker_map
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker

MIN_SHARED_MARKERS = 3
"""Least number of markers that a photo shares with the others."""
MIN_PHOTOS = 2
"""Least number of photos that share as many."""


def map_free_markers(
    frames: Sequence[Frame], board: Board, seen: Sequence[Sequence[Marker]] | None = None
) -> Board:
    """The board with its markers at the places that the photos show.

    Photos of one camera make a map; that of most markers, and the most precise of these, counts.
    The other photos hang on it. `CannotMeasure` where fewer than two photos show enough of its
    markers; one more that does not is measured by those it shows, or left out.
    `seen` are the markers of each photo, if they are known.
    """
    if seen is None:
        seen = [find_markers(frame, board) for frame in frames]
    cameras: dict[tuple[tuple[int, int], float | None], list[int]] = {}
    for k, frame in enumerate(frames):
        if len(seen[k]) >= MIN_MARKERS:
            cameras.setdefault((frame.size_px, frame.focal_px), []).append(k)
    if not cameras:
        return board
    maps = [_map_by_one_camera(frames, seen, group, board) for group in cameras.values()]
    layout = max(maps, key=_goodness)
    known = set(layout.corners_mm)
    lacking = [k for k in range(len(frames)) if seen[k] and _lacks_shared(seen[k], known)]
    if lacking and len(frames) - len(lacking) < MIN_PHOTOS:
        _refuse(frames[lacking[0]], seen[lacking[0]], known)
    dictionary = next(markers[0].dictionary for markers in seen if markers)
    size = None
    if board.width_mm and board.height_mm:
        size = (board.width_mm, board.height_mm)
    return layout.board(board.name, board, dictionary, size)


def _map_by_one_camera(
    frames: Sequence[Frame], seen: Sequence[Sequence[Marker]], group: Sequence[int], board: Board
) -> MarkerMapFit:
    views = {f"{k}": (seen[k], lens_prior(frames[k], None)) for k in group}
    return fit_marker_map(board, views)


def _goodness(layout: MarkerMapFit) -> tuple[int, float]:
    """How many markers a map has, then how precise it is."""
    return len(layout.places), -float(np.mean(layout.distance_sigmas_mm()))


def _lacks_shared(markers: Sequence[Marker], known: set[int]) -> bool:
    """Whether a photo shows too few of the known markers."""
    return len(known & {marker.id for marker in markers}) < min(MIN_SHARED_MARKERS, len(known))


def _refuse(frame: Frame, markers: Sequence[Marker], known: set[int]) -> NoReturn:
    shared = len(known & {marker.id for marker in markers})
    needed = min(MIN_SHARED_MARKERS, len(known))
    raise CannotMeasure(
        f"{frame.name} shares {format_count(shared, 'marker')} with the other photos, {needed} are needed: "
        "is it of another table? Else have more markers in every photo"
    )

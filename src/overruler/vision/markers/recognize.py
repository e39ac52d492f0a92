"""Which of several known boards a photo shows, by the places and sizes of its markers."""

from collections.abc import Iterable

import numpy as np

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.units import format_count
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.homography import perspective_rms_px
from overruler.vision.markers.marker import Marker
from overruler.vision.markers.unreadable import explain_small

MIN_MARKERS = 3
"""Fewest markers that tell one board from another of the same cards."""
MAX_FIT_SHARE = 0.12
"""Largest RMS error of a plain perspective, as a share of a marker's side.
A lens's distortion alone stays below a tenth. The wrong table of the same cards gives 0.2 or more."""
MIN_RATIO = 2.0
"""How many times worse the second best board must fit."""


def recognize_board(frame: Frame, known: Iterable[Board]) -> Board:
    """The one board whose markers lie as they do in the photo: the first of those with the same places.

    Raises `CannotMeasure` where none does, or more than one.
    """
    boards = list(known)
    seen = {name: _find_all(frame, name) for name in {board.dictionary for board in boards}}
    errors = [_fit_share(board, seen[board.dictionary]) for board in boards]
    order = sorted(range(len(boards)), key=errors.__getitem__)
    if not boards or errors[order[0]] > MAX_FIT_SHARE:
        count = max(map(len, seen.values()), default=0)
        small = explain_small(frame) if count < MIN_MARKERS else None
        raise CannotMeasure(small or _unknown_board_message(count))
    best = boards[order[0]]
    others = [k for k in order[1:] if errors[k] < MIN_RATIO * errors[order[0]]]
    rivals = [boards[k] for k in others if not is_same_layout(best, boards[k])]
    if rivals:
        names = " or ".join(board.name for board in (best, *rivals))
        raise CannotMeasure(f"the markers fit more than one known board: name it, --board {names}")
    return boards[min([order[0], *others])]


def fits_board(frame: Frame, board: Board) -> bool:
    """Whether the markers of a photo lie as on a board."""
    return _fit_share(board, _find_all(frame, board.dictionary)) <= MAX_FIT_SHARE


def _find_all(frame: Frame, dictionary: str) -> dict[int, Marker]:
    return {marker.id: marker for marker in find_markers(frame, Board.free(1.0, dictionary))}


def _fit_share(board: Board, seen: dict[int, Marker]) -> float:
    """RMS error of the board's markers, as a share of a side; infinite where too few are seen."""
    corners_mm = board.corners_mm or {}
    markers = [seen[number] for number in sorted(seen.keys() & corners_mm.keys())]
    if len(markers) < MIN_MARKERS:
        return float("inf")
    on_board = np.stack([corners_mm[marker.id][:, :2] for marker in markers])
    in_photo = np.stack([marker.corners_px for marker in markers])
    side_px = float(np.median([marker.side_px for marker in markers]))
    return perspective_rms_px(on_board, in_photo) / side_px


def is_same_layout(one: Board, other: Board) -> bool:
    """Whether the markers of two boards lie in the same places, to a thousandth of a mm, at whatever height."""
    ours, theirs = one.corners_mm or {}, other.corners_mm or {}
    if ours.keys() != theirs.keys():
        return False
    return all(
        np.allclose(ours[number][:, :2], theirs[number][:, :2], atol=1e-3) for number in ours
    )


def _unknown_board_message(count: int) -> str:
    if count < MIN_MARKERS:
        return (
            f"{format_count(count, 'marker')} of a known board {'is' if count == 1 else 'are'} seen, "
            f"{MIN_MARKERS} are needed: "
            "give --board BOARD.toml, or --marker-mm SIZE"
        )
    return (
        "no known board has its markers where they lie here: give --board BOARD.toml, "
        "or --marker-mm SIZE (the side of the markers' black squares)"
    )

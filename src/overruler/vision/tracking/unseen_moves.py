"""Moves that the camera did not show: inferred from the table before and after it changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np

from overruler.geometry.pose import Array
from overruler.geometry.vectors import distance
from overruler.track import Move
from overruler.vision.tracking.piece_track import PieceTrack

MIN_UNSEEN_MOVE_MM = 4.0
"""Least distance of such a move, in mm. The two places come from two calibrations, whose errors
differ by up to 1 mm on rendered tables."""
MIN_UNSEEN_SIGMAS = 4.0
"""Least distance of such a move, in σ of the distance."""
NEAR_MM = 15.0
"""A piece that was followed to within this of a place is taken to have been there, in mm."""

Sigmas = Mapping[str, float]
"""1 σ of the pieces' places in mm, by id."""


@dataclass(frozen=True, slots=True, eq=False)
class CameraChange:
    """The table before and after the camera changed."""

    before: Sequence[PieceTrack]
    after: Sequence[PieceTrack]
    sigmas_before: Sigmas
    sigmas_after: Sigmas
    lost_s: float
    """Time of the last picture before the change."""

    def infer_moves(self, found_s: float) -> tuple[Move, ...]:
        """Return the moves of pieces that stand elsewhere when the table is measured again."""
        old_by_id = {track.id: track for track in self.before}
        moves = []
        for new in self.after:
            old = old_by_id.get(new.id)
            if old is None:
                continue
            sigma_mm = hypot(
                self.sigmas_before.get(new.id, 0.0), self.sigmas_after.get(new.id, 0.0)
            )
            move = _unseen_move(old, new, sigma_mm, (self.lost_s, found_s))
            if move is not None:
                moves.append(move)
        return tuple(moves)

    def notes(self, moved: int) -> list[str]:
        """Say what the change hid, where `moved` pieces stand elsewhere."""
        known = {track.id for track in self.after}
        lost = sum(track.id not in known for track in self.before)
        found = []
        if moved:
            found.append(f"{_pieces(moved)} moved while the camera did not see the table")
        if lost:
            found.append(f"{_pieces(lost)} that stood there before cannot be found")
        return found


def _pieces(count: int) -> str:
    return "1 piece" if count == 1 else f"{count} pieces"


def _unseen_move(
    old: PieceTrack, new: PieceTrack, sigma_mm: float, times_s: tuple[float, float]
) -> Move | None:
    length_mm = distance(old.home_mm, new.home_mm)
    if length_mm < max(MIN_UNSEEN_MOVE_MM, MIN_UNSEEN_SIGMAS * sigma_mm):
        return None
    start_s, end_s = _seen_times_s(old, new, times_s)
    ends = _to_point(old), _to_point(new)
    lengths = (length_mm, sigma_mm, length_mm, sigma_mm)
    return Move(new.id, start_s, end_s, *ends, *lengths, ends, way_seen=False)


def _seen_times_s(
    old: PieceTrack, new: PieceTrack, times_s: tuple[float, float]
) -> tuple[float, float]:
    """Return when a piece left and arrived, as far as it was followed."""
    start_s, end_s = times_s
    if old.away_s is not None:
        start_s = min(start_s, old.away_s)
    at_home = [spot[0] for spot in old.trail if _is_near(spot, old.home_mm)]
    at_end = [spot[0] for spot in old.trail if _is_near(spot, new.home_mm)]
    if at_home:
        start_s = min(start_s, at_home[-1])
    if at_end and at_end[0] > start_s:
        end_s = at_end[0]
    return start_s, end_s


def _is_near(spot: tuple[float, float, float], xy_mm: Array) -> bool:
    return distance(np.array(spot[1:]), xy_mm) < NEAR_MM


def _to_point(track: PieceTrack) -> tuple[float, float]:
    x, y = track.home_mm.tolist()
    return x, y

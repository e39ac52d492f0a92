"""The move of a piece that was found again: where from, where to, how far and on which path.

A move that the camera did not show is inferred from the table before and after the camera changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import hypot

import numpy as np

from overruler.detections import Detection
from overruler.geometry.batched.vectors import distance
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.assembly.to_scene import rare_covariance
from overruler.vision.rounds.remeasure import shared_error_variance_mm2
from overruler.vision.tracking.hand_path import follow_hand
from overruler.vision.tracking.path import MovePath, estimate_path, excess_sigma_mm
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.table_state import FIGURE_MARGIN_MM, TableState

MIN_MOVE_MM = 0.7
"""A piece that has shifted by less has not been moved, in mm."""
MAX_PATH_SIGMA_MM = 5.0
"""With a larger 1 σ of the path's length, the hand's own path is followed, in mm."""
MIN_UNSEEN_MOVE_MM = 4.0
"""Least distance of a move that was not seen, in mm. The two places come from two calibrations, whose errors
differ by up to 1 mm on rendered tables."""
MIN_UNSEEN_SIGMAS = 4.0
"""Least distance of such a move, in σ of the distance."""
NEAR_MM = 15.0
"""A piece that was followed to within this of a place is taken to have been there, in mm."""

Sigmas = Mapping[str, float]
"""1 σ of the pieces' places in mm, by id."""
Doubts = Mapping[str, tuple[str, float]]
"""Which other piece one may be, and with which probability it is another, by id."""
Trail = list[tuple[float, float, float]]
"""Places at which a piece was seen: time, x, y."""


def build_move(table: TableState, track: PieceTrack, detection: Detection) -> Move | None:
    """Settle a piece where it was found and return its move; None where it stands as before."""
    detection = table.remeasure_base(detection)
    before = track.home_mm
    after = np.asarray(detection.xy_mm, float)
    distance_mm = distance(before, after)
    along = (after - before) / max(distance_mm, 1e-9)
    sigma = _distance_sigma(table, track.rest_detection, detection, along)
    if distance_mm < max(MIN_MOVE_MM, 2 * sigma):
        track.return_to_rest(table.shot.grey, table.camera, light=True)
        return None
    path, trail = _best_path(table, track, detection)
    vacated = track.blocks(FIGURE_MARGIN_MM, home=True)
    table.vacated_blocks[vacated] = table.looks_again
    track.settle_at(detection, table.shot.grey, table.camera)
    return Move(
        piece=track.id,
        start_s=path.start_s,
        end_s=path.end_s,
        from_mm=to_point(before),
        to_mm=to_point(after),
        distance_mm=distance_mm,
        sigma_mm=sigma,
        path_mm=path.length_mm,
        path_sigma_mm=float(np.hypot(sigma, path.sigma_mm)),
        way_mm=tuple(map(to_point, path.corners_mm)),
        trail=tuple(spot for spot in trail if path.start_s <= spot[0] <= path.end_s),
        way_seen=path.seen,
    )


def to_point(xy_mm: Array) -> tuple[float, float]:
    """A place (2,) as two numbers."""
    x, y = xy_mm.tolist()
    return x, y


def _best_path(
    table: TableState, track: PieceTrack, detection: Detection
) -> tuple[MovePath, Trail]:
    """The path of a piece and where it was seen, or those of its hand if they are more certain."""
    after = np.asarray(detection.xy_mm, float)
    trail = _full_trail(table, track, detection)
    hand_share = track.hand_places / max(len(track.trail), 1)
    eye_mm = table.camera.center_mm
    path = estimate_path(np.array(trail), track.home_mm, after, eye_mm, hand_share)
    if path.sigma_mm <= MAX_PATH_SIGMA_MM:
        return path, trail
    by_hand = follow_hand(table, path, track.z_mm)
    if by_hand is None or by_hand[0].sigma_mm >= path.sigma_mm:
        return path, trail
    hand_path, hand_trail = by_hand
    return hand_path, [(float(time_s), float(x), float(y)) for time_s, x, y in hand_trail]


def _full_trail(table: TableState, track: PieceTrack, detection: Detection) -> Trail:
    """Where a piece was seen, from where it stood to where it stands.

    It arrives when half of its blocks that have moved since have become still: over some the hand
    stays longer, and some look as they did before.
    """
    x0, y0 = track.rest_detection.xy_mm.tolist()
    x1, y1 = detection.xy_mm.tolist()
    blocks = table.blocks(detection.xy_mm, detection.z_mm, track.radius_mm)
    moved_s = table.changes.last_moved_s[blocks]
    trail = list(track.trail)
    if not trail:
        last_moved_s = float(moved_s.max())
        left_s = last_moved_s if track.away_s is None else min(track.away_s, last_moved_s)
        trail.append((left_s, x0, y0))
    since = moved_s[moved_s > trail[-1][0]]
    still_s = trail[-1][0] + 1e-3
    if len(since):
        still_s = float(np.quantile(since, 0.5, method="lower"))
    return [*trail, (still_s, x1, y1)]


def _distance_sigma(table: TableState, one: Detection, other: Detection, along: Array) -> float:
    """1 σ of the distance of two places of a piece.

    The camera's error is common to both, and so is a part of the error of the rim.
    """
    joint = rare_covariance(table.calibration, [one, other])
    across = np.concatenate([-along, along])
    shared = shared_error_variance_mm2(table.calibration, one, other, along)
    return float(np.sqrt(across @ joint @ across - shared))


# --- moves that were not seen ---


@dataclass(frozen=True, slots=True, eq=False)
class CameraChange:
    """The table before and after the camera changed."""

    before: Sequence[PieceTrack]
    after: Sequence[PieceTrack]
    sigmas_before: Sigmas
    sigmas_after: Sigmas
    lost_s: float
    """Time of the last picture before the change."""
    doubts: Doubts = field(default_factory=dict)

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
                other, doubt = self.doubts.get(new.id, ("", 0.0))
                moves.append(replace(move, name_probability=1 - doubt, perhaps=other))
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
    ends = to_point(old.home_mm), to_point(new.home_mm)
    by_detour_mm = float(excess_sigma_mm(end_s - start_s, length_mm, 1.0))
    lengths = (length_mm, sigma_mm, length_mm, hypot(sigma_mm, by_detour_mm))
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

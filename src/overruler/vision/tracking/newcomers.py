"""Pieces that no detection has found until they move.

Arrivals are sought in the picture now, departures in the picture at the last rest, both with a
lower bar than usual. A piece has moved only if both are a base of one size, look alike, and neither
is visible at the other time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.batched.vectors import distance
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.tracking.appearance import Patch, align_patch, cut_patch, find_patch
from overruler.vision.tracking.change_detection import (
    CHANGE_THRESHOLD,
    GreyImage,
    Mask,
    differing_blocks,
)
from overruler.vision.tracking.moves import build_move
from overruler.vision.tracking.piece_track import MIN_IN_PLACE_SHARE, PieceTrack
from overruler.vision.tracking.redetect import redetect_rounds
from overruler.vision.tracking.reidentify import TRIED_TURNS_DEG, find_by_appearance, rotate_patch
from overruler.vision.tracking.table_state import (
    FIGURE_MARGIN_MM,
    CoarseShot,
    RestState,
    TableState,
)

MIN_SAME_LOOK_SHARE = 0.6
"""Least share of its look that a moved piece keeps, however turned: figures lean."""
LEAN_SEARCH_MM = 8.0
"""Search range of that look, in mm: a figure leans another way at another place."""
CHANGED_LEVELS = 10
"""Least difference of a pixel where something covers the table, in grey levels."""
MIN_DIFFERING_SHARE = 0.5
"""Least share of a base's pixels that differ when something covers its place."""
MIN_SEPARATION_WIDTHS = 0.3
"""Bases nearer to each other than this are the same, in the sum of their widths."""
MAX_CHANGED_AREAS = 6
"""With more changed areas than this, the light has changed or the picture is damaged."""


def find_newcomer_moves(table: TableState, kinds: Sequence[Base]) -> tuple[Move, ...]:
    """The moves of unknown pieces since the last rest; these pieces are tracked from now on."""
    unexplained = _unexplained_changes(table)
    search = _NewcomerSearch(table, unexplained, table.boxes(unexplained))
    if not 0 < len(search.boxes) <= MAX_CHANGED_AREAS:
        return ()
    moves = []
    for arrival in search.find_arrivals(kinds):
        departure = search.find_departure(arrival)
        if departure is not None:
            moves.append(search.register_move(departure, arrival))
    return tuple(move for move in moves if move is not None)


def _unexplained_changes(table: TableState) -> Mask:
    """The blocks that differ from the last rest, but for known pieces' moves and the light."""
    rest = table.last_rest
    changed = differing_blocks(table.changes.last_means, rest.block_means, CHANGE_THRESHOLD)
    left = changed & table.on_table
    for track in table.tracks:
        home = track.rest_detection.xy_mm
        now = home if track.away_s is None else None
        then = rest.places_mm.get(track.id)
        if then is None and track.arrived_s > -np.inf:
            continue  # new: it may be an unknown piece that has moved
        if now is None or then is None or np.hypot(*(now - then)) > 0:
            for place in (now, then, home):
                if place is not None:
                    reach = track.radius_mm + FIGURE_MARGIN_MM
                    left[table.blocks(place, track.z_mm, reach)] = False
    return left & ~table.relit_blocks(left)


@dataclass(frozen=True, slots=True, eq=False)
class _NewcomerSearch:
    """A search for unknown pieces that have moved since the last rest."""

    table: TableState
    unexplained: Mask
    """The changed blocks that no known piece explains."""
    boxes: Sequence[Array]
    """(2, 2): boxes on the board round these."""

    @property
    def rest(self) -> RestState:
        return self.table.last_rest

    @property
    def now(self) -> GreyImage:
        return self.table.shot.grey

    @property
    def then(self) -> GreyImage:
        return self.rest.shots[-1].grey

    def find_arrivals(self, kinds: Sequence[Base]) -> list[Detection]:
        """The bases in the changed areas that are no known piece, or one that was just added."""
        table, known_before = self.table, self.rest.places_mm
        added = [one for one in table.tracks if one.id not in known_before]
        new = [one.rest_detection for one in added if one.arrived_s > -np.inf]
        known_bases = list(dict.fromkeys(one.rest_detection.base for one in table.tracks))
        for box in self.boxes:
            size = float((box[1] - box[0]).max()) - 2 * FIGURE_MARGIN_MM
            fitting = [base for base in kinds if base.width_mm < size + FIGURE_MARGIN_MM]
            found = redetect_rounds(table, known_bases, box, self.unexplained)
            found = found or redetect_rounds(table, fitting, box, self.unexplained)
            new += found[:1]
        known = [one.rest_detection for one in table.standing if one.id in known_before]
        apart = [one for one in new if _stands_apart_from_all(one, known)]
        return [one for k, one in enumerate(apart) if _stands_apart_from_all(one, apart[:k])]

    def find_departure(self, arrival: Detection) -> Detection | None:
        """Where an arrival stood at the last rest: a base of its size and look, gone by now."""
        if arrival.base.shape != "circle":
            return None
        if self._share_at_other_time(self.now, self.then, arrival) >= MIN_IN_PLACE_SHARE:
            return None  # it stood here at the last rest as well
        candidates = (self._departure_in(box, arrival) for box in self.boxes)
        return next((one for one in candidates if one is not None), None)

    def _departure_in(self, box: Array, arrival: Detection) -> Detection | None:
        """The departure in a box (2, 2)."""
        table = self.table
        by_rim = redetect_rounds(table, [arrival.base], box, self.unexplained, self.rest.shots)
        found = by_rim[0] if by_rim else self._find_by_look(arrival, box)
        if found is None or distance(found.xy_mm, arrival.xy_mm) < arrival.base.width_mm / 4:
            return None
        if self._share_at_other_time(self.then, self.now, found) >= MIN_IN_PLACE_SHARE:
            return None  # it stands there still
        return found if self._looks_alike(arrival, found) else None

    def _look(self, when: GreyImage, detection: Detection) -> Patch:
        """What a base looks like in a picture."""
        radius = detection.base.width_mm / 2
        return cut_patch(when, self.table.camera, detection.xy_mm, detection.z_mm, radius)

    def _share_at_other_time(self, when: GreyImage, other: GreyImage, one: Detection) -> float:
        """Share of a base's look in one picture that is visible in its place in the other."""
        look = self._look(when, one)
        return align_patch(other, self.table.camera, look, one.xy_mm, one.z_mm).share

    def _looks_alike(self, arrival: Detection, departure: Detection) -> bool:
        """Whether the arrival's look, turned in some way, was at the departure."""
        look = self._look(self.now, arrival)
        place, z_mm = departure.xy_mm, departure.z_mm
        for angle in TRIED_TURNS_DEG:
            turned = [rotate_patch(look, angle)]
            match = find_patch(
                self.then, self.table.camera, turned, place, z_mm, LEAN_SEARCH_MM, 1.0
            )
            if match.share >= MIN_SAME_LOOK_SHARE:
                return True
        return False

    def _find_by_look(self, arrival: Detection, box: Array) -> Detection | None:
        """Where the arrival's look was at the last rest, in a box (2, 2)."""
        look = self._look(self.now, arrival)
        side_mm = float((box[1] - box[0]).max())
        reach = side_mm / 2 - arrival.base.width_mm / 2
        shots = self.rest.shots
        return find_by_appearance(self.table, arrival, look, box.mean(0), reach, shots)

    def register_move(self, departure: Detection, arrival: Detection) -> Move | None:
        """Track the piece that has moved, and return its move."""
        table = self.table
        same = (track for track in table.tracks if track.rest_detection is arrival)
        new = next(same, None)
        name = new.id if new is not None else table.next_id()
        rested = table.remeasure_base(departure, self.rest.shots)
        track = PieceTrack.of(name, rested, self.then, table.camera)
        track.away_s = self._departure_s(track, arrival)
        if new is not None:
            table.tracks.remove(new)
        table.tracks.append(track)
        return build_move(table, track, arrival)

    def _departure_s(self, track: PieceTrack, arrival: Detection) -> float:
        """When a piece left its place at the last rest.

        That is when the place changed last. If the piece stands on a part of it again it has
        changed twice, and the first time counts.
        """
        table, rested_s = self.table, self.rest.coarse_shot.time_s
        around = table.blocks(track.rest_detection.xy_mm, track.z_mm, track.radius_mm)
        moved_s = table.changes.last_moved_s[around]
        since = moved_s[self.unexplained[around] & (moved_s > rested_s)]
        last_s = float(since.min(initial=float(moved_s.max())))
        apart_mm = distance(track.rest_detection.xy_mm, arrival.xy_mm)
        if apart_mm > track.radius_mm + arrival.base.width_mm / 2:
            return last_s
        for shot in table.recent_shots:
            if shot.time_s > rested_s and self._place_changed(track, shot):
                return shot.time_s
        return last_s

    def _place_changed(self, track: PieceTrack, now: CoarseShot) -> bool:
        """Whether most of a piece's place at the last rest looks different."""
        then = self.rest.coarse_shot
        if now.grey.shape != then.grey.shape:
            return False
        rest = track.rest_projection
        reach = track.radius_mm * rest.px_per_mm
        corners = now.to_coarse(rest.pixel + reach * np.array([[-1.0], [1.0]]))
        pixels = np.maximum(np.rint(corners).astype(int), 0)
        (left, top), (right, bottom) = pixels
        box = slice(top, bottom + 1), slice(left, right + 1)
        differs = cv2.absdiff(now.grey[box], then.grey[box]) > CHANGED_LEVELS
        return bool(np.mean(differs) > MIN_DIFFERING_SHARE)


def _stands_apart_from_all(one: Detection, others: Sequence[Detection]) -> bool:
    return all(_stands_apart(one, other) for other in others)


def _stands_apart(one: Detection, other: Detection) -> bool:
    widths_mm = one.base.width_mm + other.base.width_mm
    return distance(one.xy_mm, other.xy_mm) > MIN_SEPARATION_WIDTHS * widths_mm

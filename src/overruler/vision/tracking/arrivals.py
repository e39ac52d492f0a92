"""The bases that stand where the picture has changed and come to rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.batched.vectors import distance
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.vision.tracking.change_detection import Mask
from overruler.vision.tracking.piece_track import MIN_IN_PLACE_SHARE, PieceTrack
from overruler.vision.tracking.redetect import redetect_rounds
from overruler.vision.tracking.reidentify import reidentify_piece
from overruler.vision.tracking.table_state import (
    FIGURE_MARGIN_MM,
    MIN_CHANGED_SHARE,
    TABLE_MARGIN_MM,
    BaseMeasurer,
    TableState,
)

SEARCH_MARGIN_MM = 10.0
"""Margin of the search round where a piece was last seen, in mm."""
MIN_SEPARATION_MM = 10
"""Bases nearer to each other than this are the same, in mm."""
MIN_SEPARATION_RADII = 0.6
"""The same in the sum of their radii."""


class TableMeasurer(BaseMeasurer, Protocol):
    """Measures the table; the referee does."""

    def look(self, frame: Frame) -> Report:
        """Measure all of it."""

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """Find bases of these kinds, or of all, in a box (2, 2) or all over a known table."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrivalSearch:
    """A search for bases that have arrived in the settled blocks."""

    table: TableState
    measurer: TableMeasurer
    settled: Mask
    """The changed blocks that have come to rest."""
    missing: Sequence[PieceTrack]
    """The pieces that do not stand where they stood."""
    fresh: bool
    """Whether a hand may still be there: then only missing pieces are sought."""

    def run(self) -> list[Detection]:
        """The bases that have arrived, first where the missing pieces were followed to."""
        found, lost, unexplained = self._find_followed()
        if not lost and self.fresh:
            return found
        where = self.settled if lost else unexplained
        more = self._find_in_areas(lost, where)
        if not more and not self.fresh:
            boxes = self.table.boxes(where)
            more = self._find_by_rim(lost, boxes) or self._find_by_look(lost, boxes)
        followed = list(found)
        for detection in more:
            apart = [distance(detection.xy_mm, other.xy_mm) for other in followed]
            if min(apart, default=np.inf) > MIN_SEPARATION_MM:
                found.append(detection)
        return found

    def _find_followed(self) -> tuple[list[Detection], list[PieceTrack], Mask]:
        """The bases where missing pieces were followed to, the lost pieces, and the blocks left."""
        unexplained = self.settled.copy()
        found: list[Detection] = []
        lost = [track for track in self.missing if not (track.seen and track.is_moving)]
        for track in self.missing:
            if track in lost or not self.settled[track.blocks(0.0)].any():
                continue
            clear = track.seen_share >= MIN_IN_PLACE_SHARE
            needed = 0.0 if clear else MIN_CHANGED_SHARE
            here = self._find_in_box([track.rest_detection.base], _search_box(track), needed)
            radius = track.radius_mm
            near = [one for one in here if distance(one.xy_mm, track.place_mm) < radius]
            found += near
            if not near:
                lost.append(track)
            for home in (True, False):
                unexplained[track.blocks(FIGURE_MARGIN_MM, home)] = False
        return found, lost, unexplained

    def _find_in_areas(self, lost: Sequence[PieceTrack], where: Mask) -> list[Detection]:
        """The bases that the usual detection finds in the changed areas."""
        found = []
        for kinds, part in self._search_plan(lost, where):
            for box in self.table.boxes(part):
                found += self._find_in_box(kinds, box)
        return found

    def _search_plan(
        self, lost: Sequence[PieceTrack], where: Mask
    ) -> list[tuple[Sequence[Base] | None, Mask]]:
        """The bases to seek, None for all, and where.

        While a hand may be there, these are the lost pieces' bases, and later any. Where a piece
        has just left, only bases like others of the table are sought: its place is seldom taken at
        once, and the next search of all of the table would find another base.
        """
        if self.fresh:
            return [(_distinct_bases(lost), where)]
        table = self.table
        new = where & ~table.vacated_blocks
        if not lost:
            new &= ~table.relit_blocks(new)
        return [(None, new), (_distinct_bases(table.tracks), where & table.vacated_blocks)]

    def _find_by_rim(self, lost: Sequence[PieceTrack], boxes: Sequence[Array]) -> list[Detection]:
        """Bases of the lost pieces' sizes that a closer look finds in boxes (2, 2)."""
        kinds = _distinct_bases(lost)
        if not kinds:
            return []
        found = []
        for box in boxes:
            found += redetect_rounds(self.table, kinds, box, self.settled)
        return [detection for detection in found if self._has_arrived(detection)]

    def _find_by_look(self, lost: Sequence[PieceTrack], boxes: Sequence[Array]) -> list[Detection]:
        """The lost pieces where their own look is found in boxes (2, 2)."""
        found = []
        for track, box in product(lost, boxes):
            reach = float((box[1] - box[0]).max()) / 2 - track.radius_mm
            reach = max(reach, SEARCH_MARGIN_MM)
            detection = reidentify_piece(self.table, track, box.mean(0), reach)
            if detection is not None and self._has_arrived(detection):
                found.append(detection)
        return found

    def _find_in_box(
        self, kinds: Sequence[Base] | None, box: Array, needed_share: float = MIN_CHANGED_SHARE
    ) -> list[Detection]:
        part = self.table.average_part(box)
        found = self.measurer.redetect_bases(part.frame, part.report, kinds, box)
        detections = [part.to_whole_picture(detection) for detection in found]
        return [one for one in detections if self._has_arrived(one, needed_share)]

    def _has_arrived(self, detection: Detection, needed_share: float = MIN_CHANGED_SHARE) -> bool:
        """Whether enough of a base has changed, and no known piece stands there.

        Where a piece was seen to go, and is in view, nothing need have changed: the mat can be like
        it.
        """
        radius = detection.base.width_mm / 2
        place = detection.xy_mm[None]
        share = self.table.covered_share(self.settled, place, detection.z_mm, radius)[0]
        if share < needed_share:
            return False
        standing = [track for track in self.table.standing if track not in self.missing]
        return all(_stands_apart(detection, radius, track) for track in standing)


def find_overlooked(table: TableState, measurer: TableMeasurer) -> list[Detection]:
    """Bases anywhere on the table that stand apart from all known pieces."""
    board = np.array([np.zeros(2), table.calibration.board_mm])
    part = table.average_part(board + TABLE_MARGIN_MM * np.array([[-1.0], [1.0]]))
    found = []
    for detection in measurer.redetect_bases(part.frame, part.report, None, None):
        radius = max(detection.base.width_mm, detection.base.length_mm) / 2
        whole = part.to_whole_picture(detection)
        if all(_stands_apart(whole, radius, track) for track in table.tracks):
            found.append(whole)
    return found


def _stands_apart(detection: Detection, radius_mm: float, track: PieceTrack) -> bool:
    apart_mm = distance(track.rest_detection.xy_mm, detection.xy_mm)
    return apart_mm > MIN_SEPARATION_RADII * (track.radius_mm + radius_mm)


def _distinct_bases(tracks: Sequence[PieceTrack]) -> list[Base]:
    return list(dict.fromkeys(track.rest_detection.base for track in tracks))


def _search_box(track: PieceTrack) -> Array:
    """The box (2, 2) round where a piece was last seen."""
    low = track.place_mm - track.radius_mm - SEARCH_MARGIN_MM
    high = track.place_mm + track.radius_mm + SEARCH_MARGIN_MM
    return np.array([low, high])

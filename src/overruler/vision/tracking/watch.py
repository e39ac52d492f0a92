"""Watching a table through a camera that stands still: shots go in, ticks come out.

Most shots show nothing new and cost next to nothing. Where blocks of the picture change, the pieces
there are followed by their looks. Where a changed area has come to rest, the table is measured
again, and only there. Pieces keep their names by standing where they stood, by having been
followed, or by size, look and distance.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field

import numpy as np

from overruler.bases import Base
from overruler.errors import CannotMeasure
from overruler.fixes import Fix
from overruler.frame import Shot
from overruler.geometry.covariance import mean_sigma
from overruler.house_rules import HouseRules
from overruler.pieces import Piece
from overruler.report import Report
from overruler.track import Move, Tick, TrackedPosition
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.tracking.arrivals import TableMeasurer, find_overlooked
from overruler.vision.tracking.change_detection import (
    BackgroundModel,
    Mask,
    block_means,
    build_pyramid,
)
from overruler.vision.tracking.corrections import correct_table
from overruler.vision.tracking.hands import OBJECT_STILL_S, is_disturbed
from overruler.vision.tracking.moves import CameraChange
from overruler.vision.tracking.newcomers import find_newcomer_moves
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.resolve import (
    ALL_STILL_S,
    SETTLE_S,
    follow_pieces,
    match_names,
    resolve_changes,
)
from overruler.vision.tracking.table_part import average_shots
from overruler.vision.tracking.table_state import AVERAGED_SHOTS, CoarseShot, TableState

INITIAL_STILL_S = 0.4
"""The table must be still for this long before its first measurement, in s."""
MAX_WAIT_S = 4.0
"""The first measurement waits for rest no longer than this, in s: people walk round the table."""
SECOND_LOOK_S = 60.0
"""Time from the first measurement to the first search for overlooked pieces, in s."""
LOOK_INTERVAL_FACTOR = 4.0
"""Ratio of the times of such searches."""
RETRY_DELAY_S = 2.0
"""Delay before another try after a failed measurement, in s."""


@dataclass(slots=True, eq=False)
class Watch:
    """One camera over one table: call `look` with its shots in turn, then `close`."""

    measurer: TableMeasurer
    house: HouseRules | None = None
    """Names the pieces' owners."""
    kinds: Sequence[Base] = ()
    """The possible bases."""
    patient: InitVar[bool] = False
    """Whether it searches all of the table for overlooked pieces now and then."""
    _search_after_s: float = np.inf
    """Time from the first measurement to the next such search."""
    _owned: dict[str, Piece] = field(default_factory=dict)
    """Pieces as first reported, by id: they keep their owners."""
    _sigmas: dict[str, float] = field(default_factory=dict)
    """1 σ of the pieces' places in mm, by id, as last reported."""
    _shots: deque[Shot] = field(default_factory=lambda: deque(maxlen=AVERAGED_SHOTS))
    """The last shots."""
    _changes: BackgroundModel | None = None
    """None before the first shot, and when the table must be measured anew."""
    _table: TableState | None = None
    """None until the table has been measured."""
    _before: Sequence[PieceTrack] = ()
    """The pieces that were known when the camera changed."""
    _lost_s: float = 0.0
    """Time of the last shot before the camera changed."""
    _began_s: float = 0.0
    """Time of the first shot of this camera."""
    _opened_s: float = 0.0
    """When the table was first measured with this camera."""
    _retry_s: float = -np.inf
    """No measurement is tried before this time."""
    _refused: CannotMeasure | None = None
    """Why the last measurement failed."""
    _why: str = ""
    """Why the table must be measured anew, if that was asked for."""
    _time_jump: bool = False
    """Whether the source jumped to another time."""
    _disturbed: bool = False
    """Whether something has moved since the last rest."""
    _unreported: bool = False
    """Whether something has changed since the last report."""

    def __post_init__(self, patient: bool) -> None:
        if patient:
            self._search_after_s = SECOND_LOOK_S

    @property
    def table(self) -> TableState | None:
        """The table and its tracked pieces; None until it is measured."""
        return self._table

    def look(self, shot: Shot) -> Tick:
        """Take in a shot. `CannotMeasure` is left to `close`: the next shot may be better."""
        pyramid = build_pyramid(shot.grey)
        means = block_means(pyramid)
        notes = []
        if self._changes is None or means.shape != self._changes.last_means.shape:
            notes = self._restart(shot)
            self._changes = BackgroundModel.of(means, shot.time_s)
        moving = self._changes.update(means, shot.time_s)
        if self._table is None:
            return self._wait_for_rest(shot, self._changes, moving, notes)
        self._shots.append(shot)
        self._table.recent_shots.append(CoarseShot.of(shot.time_s, pyramid))
        return self._track(self._table, moving & self._table.on_table, notes)

    def close(self) -> Tick | None:
        """What the last shots tell at the film's end; `CannotMeasure` if nothing was measured."""
        if self._table is None:
            return self._measure_at_end()
        moves = resolve_changes(self._table, self.measurer, settle_s=0.0)
        if self._disturbed:
            moves += find_newcomer_moves(self._table, self.kinds)
        self._unreported |= bool(moves)
        table = self._table
        still = table.changes.still_blocks(table.shot.time_s, ALL_STILL_S)
        if still[table.on_table].all():
            self._search_overlooked(table)
        rest = self._rest_report()
        if not moves and rest is None:
            return None
        time_s = self._table.shot.time_s
        return Tick(time_s, self._current_spots(time_s), moves, rest)

    def remeasure_table(self, why: str = "the camera was moved", time_jump: bool = False) -> None:
        """Measure the table anew when it is next still; the pieces keep their names.

        After a `time_jump`, pieces that stand elsewhere have not moved.
        """
        self._changes = None
        self._why = why
        self._time_jump = time_jump

    def current_report(self) -> Report | None:
        """The table now, even under a hand, without pieces that are away; None if not measured."""
        return self._owned_report(self._table) if self._table is not None else None

    def correct(self, fixes: Sequence[Fix]) -> None:
        """Correct the table; the next rest reports it. `BadInput` where that is not possible."""
        if self._table is None:
            raise CannotMeasure(
                "the table has not been measured yet: wait until it has come to rest"
            )
        correct_table(self._table, fixes)
        self._unreported = True

    # --- the beginning ---

    def _restart(self, shot: Shot) -> list[str]:
        """Start anew, and note why: the first shot, one of another size, or a moved camera."""
        notes = []
        if self._table is not None:
            why = self._why or "the picture's size has changed"
            notes.append(f"{why}: the table is measured anew")
            self._before = tuple(self._table.tracks)
            self._lost_s = self._table.shot.time_s
        self._table = None
        self._began_s = shot.time_s
        self._retry_s = -np.inf
        self._why = ""
        self._shots.clear()
        return notes

    def _wait_for_rest(
        self, shot: Shot, changes: BackgroundModel, moving: Mask, notes: list[str]
    ) -> Tick:
        """Wait until the table is still, then measure it."""
        restless = shot.time_s - self._began_s > MAX_WAIT_S
        if moving.any() and not restless:
            self._shots.clear()
        self._shots.append(shot)
        still = shot.time_s - float(changes.last_moved_s.max()) >= INITIAL_STILL_S
        if restless and not still:  # the camera may shake: a mean of shots would lie between them
            self._shots = deque([shot], AVERAGED_SHOTS)
        if not (still or restless) or shot.time_s < self._retry_s:
            return Tick(shot.time_s, (), notes=tuple(notes))
        try:
            return self._measure_first(shot, changes, notes)
        except CannotMeasure as error:
            self._refused = error
            self._retry_s = shot.time_s + RETRY_DELAY_S
            return Tick(shot.time_s, (), notes=(*notes, str(error)))

    def _measure_at_end(self) -> Tick:
        """Measure the table by the film's last shots, for the first time."""
        if not self._shots or self._changes is None:
            raise self._refused or CannotMeasure(
                "the film shows no picture that could be measured: is it whole?"
            )
        return self._measure_first(self._shots[-1], self._changes, [])

    def _measure_first(self, shot: Shot, changes: BackgroundModel, notes: list[str]) -> Tick:
        report = self.measurer.look(average_shots(self._shots))
        looks_again = self._search_after_s < np.inf
        table = TableState(report, changes, self._shots, self.measurer, looks_again=looks_again)
        ids, doubts = match_names(table, self._before, report)
        for name, detection in zip(ids, report.detections, strict=True):
            table.add_piece(name, table.remeasure_base(detection))
        changes.background = changes.last_means.copy()
        changes.changed[:] = False
        table.record_rest()
        self._table = table
        self._opened_s = shot.time_s
        self._disturbed = False
        self._unreported = True
        if not self._before:
            self._owned = {piece.id: piece for piece in report.scene.pieces}
        sigmas_before = dict(self._sigmas)
        rest = self._rest_report()
        before = () if self._time_jump else self._before
        change = CameraChange(
            before, table.tracks, sigmas_before, self._sigmas, self._lost_s, doubts
        )
        moves = change.infer_moves(shot.time_s)
        told = (*notes, *change.notes(len(moves)))
        return Tick(shot.time_s, self._current_spots(shot.time_s), moves, rest, told)

    # --- tracking ---

    def _track(self, table: TableState, moving: Mask, notes: Sequence[str]) -> Tick:
        """Track the pieces of a known table."""
        follow_pieces(table, moving)
        before = [track.away_s for track in table.tracks]
        moves = resolve_changes(table, self.measurer)
        moves += self._newcomer_moves(table, moving)
        self._add_overlooked(table)
        after = [track.away_s for track in table.tracks]
        self._unreported |= bool(moves) or before != after
        time_s = table.shot.time_s
        spots = self._current_spots(time_s)
        return Tick(time_s, spots, moves, self._rest_report(moving), tuple(notes))

    def _newcomer_moves(self, table: TableState, moving: Mask) -> tuple[Move, ...]:
        """The moves of unknown pieces, sought once each time that the whole table is at rest."""
        self._disturbed |= bool(moving.any())
        if moving.any() or is_disturbed(table, ALL_STILL_S):
            return ()
        moves = find_newcomer_moves(table, self.kinds) if self._disturbed else ()
        table.record_rest()
        self._disturbed = False
        return moves

    def _add_overlooked(self, table: TableState) -> None:
        """Now and then, at rest, track the pieces that have not moved and were not found before."""
        if self._disturbed or table.shot.time_s < self._opened_s + self._search_after_s:
            return
        self._search_after_s *= LOOK_INTERVAL_FACTOR
        self._search_overlooked(table)

    def _search_overlooked(self, table: TableState) -> None:
        """Track the pieces that were not found before, if it is patient."""
        found = find_overlooked(table, self.measurer) if self._search_after_s < np.inf else ()
        for detection in found:
            table.add_piece(table.next_id(), table.remeasure_base(detection))
            self._unreported = True

    # --- reports ---

    def _current_spots(self, time_s: float) -> tuple[TrackedPosition, ...]:
        tracks = self._table.tracks if self._table is not None else ()
        return tuple(track.to_spot(time_s, self._sigmas.get(track.id, 0.0)) for track in tracks)

    def _rest_report(self, moving: Mask | None = None) -> Report | None:
        """The table as it stands, if something has changed since the last report and nothing is moving now."""
        if self._table is None or not self._unreported:
            return None
        if moving is not None and moving.any():
            return None
        if moving is not None and is_disturbed(self._table, SETTLE_S, OBJECT_STILL_S):
            return None
        self._unreported = False
        return self._owned_report(self._table)

    def _owned_report(self, table: TableState) -> Report:
        report = apply_house_rules(table.report(), self.house or HouseRules(), self._owned)
        self._owned = {piece.id: piece for piece in report.scene.pieces} | self._owned
        for piece in report.scene.pieces:
            if piece.covariance_mm2:
                self._sigmas[piece.id] = mean_sigma(piece.covariance_mm2)
        return report

"""Watching a table through a camera that stands still: a shot in, what it tells out.

Most shots show nothing new and cost next to nothing. Where blocks of the picture change, the pieces there are followed
by their look; where a changed area has come to rest, the table is measured again there, and there alone. Pieces keep
their names: by standing where they stood, by having been followed, by size, look and nearness.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.fixes import Fix, next_piece_id
from overruler.frame import Shot
from overruler.house_rules import HouseRules
from overruler.pieces import Piece
from overruler.report import Report
from overruler.track import Move, Tick, TrackedPosition
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces
from overruler.vision.tracking.change_detection import (
    BackgroundModel,
    Mask,
    block_means,
    build_pyramid,
)
from overruler.vision.tracking.corrections import correct_table
from overruler.vision.tracking.hands import OBJECT_STILL_S, is_disturbed
from overruler.vision.tracking.newcomers import find_newcomer_moves
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.resolve import (
    ALL_STILL_S,
    SETTLE_S,
    TableMeasurer,
    find_overlooked,
    resolve_changes,
)
from overruler.vision.tracking.table_state import (
    AVERAGED_SHOTS,
    CoarseShot,
    TableState,
    average_shots,
)

INITIAL_STILL_S = 0.4
"""The table must be still for so long before it is first measured."""
FOLLOW_MARGIN_MM = 2.0
"""What changes so near a piece may be about to take it."""
MAX_WAIT_S = 4.0
"""After so long it is measured all the same: people walk round the table."""
SECOND_LOOK_S, LOOK_INTERVAL_FACTOR = 60.0, 4.0
"""So long after the first look there is another for what it has overlooked, and each time so many times later."""
RETRY_DELAY_S = 2.0
"""How long to wait before trying once more where it could not be."""


class Watch:
    """One camera over one table: `look` at its shots in turn, then `close`."""

    def __init__(
        self,
        looks: TableMeasurer,
        house: HouseRules | None = None,
        kinds: Sequence[Base] = (),
        patient: bool = False,
    ) -> None:
        """`kinds` are the bases that there may be; `patient` eyes look at all of the table again now and then."""
        self._looks, self._kinds = looks, kinds
        self._each_s = SECOND_LOOK_S if patient else np.inf
        self._house = house or HouseRules()
        self._owned: dict[str, Piece] = {}
        """Pieces as they were first told: whose one is does not change."""
        self._shots: deque[Shot] = deque(maxlen=AVERAGED_SHOTS)
        self._changes: BackgroundModel | None = None
        self._table: TableState | None = None
        self._disturbed = False
        """Whether something has moved since the table last was at rest."""
        self._before: Sequence[PieceTrack] = ()
        """The pieces that were known when the camera changed."""
        self._began_s = self._opened_s = 0.0
        self._retry_s = -np.inf
        self._refused: CannotMeasure | None = None
        self._sigmas: dict[str, float] = {}
        self._why = ""
        """Why the table must be measured anew."""
        self._unsaid = False
        """Whether something has changed since the last rest that was told."""

    def look(self, shot: Shot) -> Tick:
        """What one more shot tells. `CannotMeasure` is kept to `close`: the next shot may be better."""
        stages, notes = build_pyramid(shot.grey), []
        small = block_means(stages)
        if self._changes is None or small.shape != self._changes.last_means.shape:
            notes += self._restart(shot)
            self._changes = BackgroundModel.of(small, shot.time_s)
        moving = self._changes.update(small, shot.time_s)
        if self._table is None:
            return self._wait_for_rest(shot, self._changes, moving, notes)
        self._shots.append(shot)
        self._table.recent_shots.append(CoarseShot.of(shot.time_s, stages))
        moving &= self._table.on_table
        _follow_pieces(self._table, moving)
        before = len(self._table.tracks), [held.away_s for held in self._table.tracks]
        moves = resolve_changes(self._table, self._looks) + self._newcomer_moves(
            self._table, moving
        )
        self._add_overlooked(self._table)
        self._unsaid |= bool(moves) or before != (
            len(self._table.tracks),
            [held.away_s for held in self._table.tracks],
        )
        return Tick(
            shot.time_s,
            self._current_spots(shot.time_s),
            moves,
            self._rest_report(moving),
            tuple(notes),
        )

    def close(self) -> Tick | None:
        """The end of the film: what the last shots tell. `CannotMeasure` where nothing could be measured in it."""
        if self._table is None:
            if not self._shots or self._changes is None:
                raise self._refused or CannotMeasure(
                    "the film shows no picture that could be measured: is it whole?"
                )
            return self._measure_first(self._shots[-1], self._changes, [])
        moves = resolve_changes(self._table, self._looks, settle_s=0.0)
        moves += find_newcomer_moves(self._table, self._kinds) if self._disturbed else ()
        self._unsaid |= bool(moves)
        rest = self._rest_report()
        return (
            Tick(self._table.shot.time_s, self._current_spots(self._table.shot.time_s), moves, rest)
            if moves or rest
            else None
        )

    def remeasure_table(self, why: str = "the camera was moved") -> None:
        """Measure anew when the table is next still: the camera has been moved, say. The pieces keep their names."""
        self._changes, self._why = None, why

    def current_report(self) -> Report | None:
        """The table now, without the pieces that are away, though a hand may be over it; None before it is known."""
        return self._owned_report(self._table) if self._table is not None else None

    def correct(self, fixes: Sequence[Fix]) -> None:
        """Put right what was found on the table as it stands: the next rest tells it; `BadInput` where it cannot be."""
        if self._table is None:
            raise CannotMeasure(
                "the table has not been measured yet: wait until it has come to rest"
            )
        correct_table(self._table, fixes)
        self._unsaid = True

    # --- the beginning ---

    def _restart(self, shot: Shot) -> list[str]:
        """The first shot, one of another size, or the camera was moved: another camera."""
        notes = []
        if self._table is not None:
            why = self._why or "the picture's size has changed"
            notes.append(f"{why}: the table is measured anew")
            self._before = tuple(self._table.tracks)
        self._table, self._began_s, self._retry_s, self._moved = None, shot.time_s, -np.inf, ""
        self._shots.clear()
        return notes

    def _wait_for_rest(
        self, shot: Shot, changes: BackgroundModel, moving: Mask, notes: list[str]
    ) -> Tick:
        """Wait for the table to be still, then measure it."""
        restless = shot.time_s - self._began_s > MAX_WAIT_S
        if moving.any() and not restless:
            self._shots.clear()
        self._shots.append(shot)
        still = shot.time_s - float(changes.last_moved_s.max()) >= INITIAL_STILL_S
        if not (still or restless) or shot.time_s < self._retry_s:
            return Tick(shot.time_s, (), notes=tuple(notes))
        try:
            return self._measure_first(shot, changes, notes)
        except CannotMeasure as error:
            self._refused, self._retry_s = error, shot.time_s + RETRY_DELAY_S
            return Tick(shot.time_s, (), notes=(*notes, str(error)))

    def _measure_first(self, shot: Shot, changes: BackgroundModel, notes: list[str]) -> Tick:
        report = self._looks.look(average_shots(self._shots))
        table = TableState(
            report, changes, self._shots, self._looks, looks_again=self._each_s < np.inf
        )
        detections = dict(
            zip((piece.id for piece in report.scene.pieces), report.detections, strict=True)
        )
        for name, detection in _match_names(self._before, detections, table).items():
            table.tracks.append(
                PieceTrack.of(name, table.remeasure_base(detection), shot.grey, table.camera)
            )
        changes.background = changes.last_means.copy()
        changes.changed[:] = False
        self._table, self._unsaid, self._opened_s = table, True, shot.time_s
        table.record_rest()
        self._disturbed = False
        if not self._before:
            self._owned = {piece.id: piece for piece in report.scene.pieces}
        rest = self._rest_report()
        return Tick(shot.time_s, self._current_spots(shot.time_s), rest=rest, notes=tuple(notes))

    def _newcomer_moves(self, table: TableState, moving: Mask) -> tuple[Move, ...]:
        """Moves of pieces that were not known: asked once each time that all of the table has come to rest."""
        self._disturbed |= bool(moving.any())
        if moving.any() or is_disturbed(table, ALL_STILL_S):
            return ()
        moves = find_newcomer_moves(table, self._kinds) if self._disturbed else ()
        table.record_rest()
        self._disturbed = False
        return moves

    def _add_overlooked(self, table: TableState) -> None:
        """Once in a while, when all is at rest: pieces that stand where nobody has moved, and were not seen so far."""
        if self._disturbed or table.shot.time_s < self._opened_s + self._each_s:
            return
        self._each_s *= LOOK_INTERVAL_FACTOR
        for one in find_overlooked(table, self._looks):
            name = next_piece_id([held.id for held in table.tracks])
            table.tracks.append(
                PieceTrack.of(name, table.remeasure_base(one), table.shot.grey, table.camera)
            )

    # --- what is told ---

    def _current_spots(self, time_s: float) -> tuple[TrackedPosition, ...]:
        held = self._table.tracks if self._table is not None else ()
        return tuple(one.to_spot(time_s, self._sigmas.get(one.id, 0.0)) for one in held)

    def _rest_report(self, moving: Mask | None = None) -> Report | None:
        """The table as it stands, where something has changed since the last time and nothing is `moving` any more."""
        if self._table is None or not self._unsaid:
            return None
        if moving is not None and (
            moving.any() or is_disturbed(self._table, SETTLE_S, OBJECT_STILL_S)
        ):
            return None
        self._unsaid = False
        return self._owned_report(self._table)

    def _owned_report(self, table: TableState) -> Report:
        report = apply_house_rules(table.report(), self._house, self._owned)
        self._owned = {piece.id: piece for piece in report.scene.pieces} | self._owned
        for piece in report.scene.pieces:
            if piece.covariance_mm2:
                (xx, _), (_, yy) = piece.covariance_mm2
                self._sigmas[piece.id] = float(np.sqrt((xx + yy) / 2))
        return report


def _follow_pieces(table: TableState, moving: Mask) -> None:
    """Follow the pieces near which something moves, or has changed for the first time."""
    changed = table.changed_blocks
    busy = moving | changed
    if not busy.any() and all(not held.trail for held in table.tracks):
        return
    before_s = table.shots[-2].time_s if len(table.shots) > 1 else table.shot.time_s
    for held in table.tracks:
        if held.away_s is not None and not held.seen and not held.trail:
            continue
        if (
            held.trail
            and held.away_s is None
            and not busy[held.blocks(busy.shape, 0.0, home=True)].any()
        ):
            held.return_to_rest(
                table.shot.grey, table.camera, light=False
            )  # what hid it is gone, and nothing has changed
            continue
        near = held.blocks(moving.shape, FOLLOW_MARGIN_MM)
        if not busy[near].any():
            continue
        if moving[near].any() or (changed[near].any() and not held.trail):
            held.follow(table.shot.grey, table.camera, table.shot.time_s, before_s)


def _match_names(
    before: Sequence[PieceTrack], found: dict[str, Detection], table: TableState
) -> dict[str, Detection]:
    """What was found, by the names of the pieces that were known before, and new names for the others."""
    if not before:
        return found
    detections, grey = list(found.values()), table.shot.grey
    looks = np.array(
        [[held.similarity_to(one, grey, table.camera) for one in detections] for held in before]
    )
    missing = [MissingPiece(held.rest_detection.base, held.place_mm) for held in before]
    pairs = {
        j: i
        for i, j in assign_pieces(missing, [(one.base, one.xy_mm) for one in detections], looks)
    }
    named: dict[str, Detection] = {}
    for j, one in enumerate(detections):
        name = (
            before[pairs[j]].id
            if j in pairs
            else next_piece_id([*(held.id for held in before), *named])
        )
        named[name] = one
    return named

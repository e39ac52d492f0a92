"""Watching a table through several cameras that stand still: one state of it by all of them.

Each camera follows the pieces by itself. Once all of them see the table at rest, what is new is joined
into one table. A camera that is blocked, or has no pictures any more, holds the others up for a
second at most.
"""

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field, replace

import numpy as np

from overruler.bases import Base
from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.fixes import Fix
from overruler.frame import Shot
from overruler.geometry.covariance import mean_sigma
from overruler.geometry.pose import Array
from overruler.house_rules import HouseRules
from overruler.pieces import Piece
from overruler.report import Report
from overruler.track import Move, Tick
from overruler.vision.fusion.owners import apply_house_rules_by_photo
from overruler.vision.several_cameras.corrections import correct_pieces
from overruler.vision.several_cameras.joint_table import JointTable
from overruler.vision.several_cameras.measurer import (
    CameraMeasurer,
    CommonBoard,
    OneCameraMeasurer,
)
from overruler.vision.several_cameras.report import report_table
from overruler.vision.several_cameras.spots import joint_spots
from overruler.vision.several_cameras.watched_camera import WatchedCamera
from overruler.vision.tracking.watch import MAX_WAIT_S, Watch

JOINT_WAIT_S = 1.0
"""Longest wait for the other cameras once one has something new, in s: a hand may hide it from them."""
FIRST_WAIT_S = MAX_WAIT_S + JOINT_WAIT_S
"""The same before the first measurement, in s."""


@dataclass(frozen=True, slots=True, eq=False)
class TableFacts:
    """What is known of the table beforehand."""

    board: Board | None
    game: str | None
    house: HouseRules
    kinds: Sequence[Base]
    """The possible bases."""
    radii_mm: Array
    """(C,): radii of the round ones."""


@dataclass(slots=True, eq=False)
class WatchSeveral:
    """Several cameras over one table: call `look` with their shots in the order of time, then `close`."""

    measurer: CameraMeasurer
    known: TableFacts
    names: InitVar[Sequence[str]]
    """What the cameras are called in notes."""
    patient: InitVar[bool] = False
    """Whether all of the table is searched for overlooked pieces now and then."""
    cameras: tuple[WatchedCamera, ...] = field(init=False)
    _common: CommonBoard = field(init=False)
    _table: JointTable = field(init=False)
    _notes: list[str] = field(default_factory=list)
    """Notes that no tick has told yet."""
    _waits_since_s: float | None = None
    """Since when a camera has something new; None while none has."""
    _ending: list[WatchedCamera] = field(default_factory=list)
    """Cameras that have just ended and are joined once more."""
    _unreported: bool = False
    """Whether the table has changed since the last report."""
    _owned: dict[str, Piece] = field(default_factory=dict)
    """Pieces as first reported, by id: they keep their owners."""
    _time_s: float = -np.inf
    """Time of the newest shot."""
    _began_s: float | None = None
    """Time of the first shot."""

    def __post_init__(self, names: Sequence[str], patient: bool) -> None:
        self._common = CommonBoard(self.known.board)
        self._table = JointTable(self.known.radii_mm)
        cameras = []
        for index, name in enumerate(names):
            own = OneCameraMeasurer(self.measurer, index, self._common)
            cameras.append(WatchedCamera(index, name, Watch(own, None, self.known.kinds, patient)))
        self.cameras = tuple(cameras)

    # --- shots ---

    def look(self, shots: Iterable[tuple[int, Shot]]) -> Tick:
        """Take in the shots of a moment, each with its camera's number."""
        for index, shot in shots:
            self._time_s = max(self._time_s, shot.time_s)
            if self._began_s is None:
                self._began_s = shot.time_s
            if self._common.is_known:
                self._notes += self.cameras[index].look(shot)
            else:
                self.cameras[index].shot = shot
        if not self._common.is_known:
            self._map_markers()
        moves = self._join() if self._is_time_to_join() else ()
        is_at_rest = self._unreported and any(camera.is_at_rest for camera in self.cameras)
        return self._tick(moves, self._rest_report() if is_at_rest else None)

    def end_camera(self, index: int) -> None:
        """A camera has no more pictures; the others go on with what it last saw."""
        camera = self.cameras[index]
        camera.end()
        self._ending.append(camera)
        self._notes.append(f"{camera.name} has ended: the other cameras go on")

    def close(self) -> Tick | None:
        """What the last shots tell at the end; `CannotMeasure` if no camera measured anything."""
        for camera in self.cameras:
            if not camera.has_ended and camera not in self._ending:
                camera.end()
        has_news = bool(self._ending) or any(camera.has_news for camera in self.cameras)
        moves = self._join() if has_news else ()
        if all(camera.photo is None for camera in self.cameras):
            raise self._refusal()
        rest = self._rest_report() if self._unreported else None
        return self._tick(moves, rest) if moves or rest is not None else None

    def remeasure_table(self, why: str = "the cameras were moved", time_jump: bool = False) -> None:
        """Measure the table anew by all cameras when it is next still; the pieces keep their names."""
        for camera in self.cameras:
            camera.watch.remeasure_table(why, time_jump)

    def current_report(self) -> Report | None:
        """The table as it was last joined; None if not measured."""
        report = report_table(self._table, self.cameras, self.known.game, self._common.is_mapped)
        if report is None:
            return None
        return self._owned_report(replace(report, board=self.known.board))

    def correct(self, fixes: Sequence[Fix]) -> None:
        """Correct the table; the next rest reports it. `BadInput` where that is not possible."""
        correct_pieces(self._table, self.cameras, fixes)

    # --- joining ---

    def _map_markers(self) -> None:
        """Map markers that lie anywhere once all cameras show the table; after a while by those that do."""
        if self._began_s is None or not self._common.is_due(self._time_s):
            return
        shots = [camera.shot for camera in self.cameras if camera.is_able]
        shown = [shot for shot in shots if shot is not None]
        is_late = self._time_s > self._began_s + FIRST_WAIT_S
        if shown and (is_late or len(shown) == len(shots)):
            frames = [shot.frame() for shot in shown]
            self._notes += self._common.map_markers(frames, self._time_s, by_any=is_late)

    def _is_time_to_join(self) -> bool:
        """Whether a camera has something new, and the others see the table at rest or had their time."""
        if self._ending:
            return True
        if not any(camera.has_news and camera.table is not None for camera in self.cameras):
            return False
        if self._waits_since_s is None:
            self._waits_since_s = self._time_s
        is_first = not self._table.pieces
        waited_s = self._time_s - self._waits_since_s
        if waited_s > (FIRST_WAIT_S if is_first else JOINT_WAIT_S):
            return True
        able = [camera for camera in self.cameras if camera.is_able and camera.shot is not None]
        awaited = [one for one in able if is_first or one.table is not None]
        return all(camera.is_at_rest for camera in awaited)

    def _join(self) -> tuple[Move, ...]:
        self._waits_since_s = None
        moves = self._table.update(self.cameras, self._time_s)
        self._notes += self._table.notes
        self._table.notes.clear()
        self._unreported = True
        for camera in self._ending:
            camera.has_ended = True
        self._ending.clear()
        return moves

    def _refusal(self) -> CannotMeasure:
        """Why nothing could be measured."""
        refusals = [f"{one.name}: {one.refusal}" for one in self.cameras if one.refusal]
        if self._common.refusal is not None:
            return self._common.refusal
        return CannotMeasure(next(iter(refusals), "the cameras show no picture"))

    # --- reports ---

    def _tick(self, moves: tuple[Move, ...], rest: Report | None) -> Tick:
        spots = joint_spots(self._table.pieces, self.cameras, self._time_s)
        notes, self._notes = tuple(self._notes), []
        return Tick(self._time_s, spots, moves, rest, notes)

    def _rest_report(self) -> Report | None:
        self._unreported = False
        report = self.current_report()
        if report is None:
            return None
        sigmas_mm = {
            piece.id: mean_sigma(piece.covariance_mm2)
            for piece in report.scene.pieces
            if piece.covariance_mm2
        }
        for piece in self._table.pieces:
            piece.sigma_mm = sigmas_mm.get(piece.id, piece.sigma_mm)
        return report

    def _owned_report(self, report: Report) -> Report:
        """The report with the pieces' owners, by the photo that shows each best, told once."""
        report = apply_house_rules_by_photo(report, self.known.house, self._owned)
        self._owned = {piece.id: piece for piece in report.scene.pieces} | self._owned
        return report

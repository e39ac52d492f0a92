"""The eyes: one thread that watches a source, and says what it knows of the table now."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from overruler.errors import CannotMeasure, OverrulerError
from overruler.fixes import Fix
from overruler.referee import Referee
from overruler.report import Report
from overruler.shot import Shot
from overruler.sources.live import LiveReader
from overruler.track import Tick, TrackedPosition
from overruler.vision.tracking.camera_motion import Landmarks

FRAME_WAIT_S = 0.25
"""How long to wait for a picture before looking after the source."""
BUMP_CONFIRM_S = 1.0
"""Markers that are elsewhere for so long are there to stay: the camera has been moved."""
SAME_PLACE_MM = 0.05
"""A piece stands where its scene says if no farther off."""
STANDING_STATES = ("static", "new")
CORRECTION_TIMEOUT_S = 10.0
"""How long who corrects something waits for it: the table may just be being measured."""


@dataclass(frozen=True, slots=True, eq=False)
class TableStatus:
    """What is known of the table at one moment."""

    report: Report | None = None
    """The table as it last came to rest, or as it stood when a piece had last been moved."""
    spots: tuple[TrackedPosition, ...] = ()
    lost: str | None = "opening"
    """Why there are no pictures."""
    notes: tuple[str, ...] = ()
    """What the caster should know."""
    number: int = 0
    """Of the report: another one, another number."""

    @property
    def standing(self) -> frozenset[str]:
        """The pieces that stand, in full view, where the report has them."""
        if self.report is None or self.lost is not None:
            return frozenset()
        at = {piece.id: (piece.x_mm, piece.y_mm) for piece in self.report.scene.pieces}
        return frozenset(
            spot.id
            for spot in self.spots
            if spot.state in STANDING_STATES and _is_same_place(spot, at.get(spot.id))
        )


def _is_same_place(spot: TrackedPosition, at: tuple[float, float] | None) -> bool:
    return at is not None and max(abs(spot.x_mm - at[0]), abs(spot.y_mm - at[1])) < SAME_PLACE_MM


@dataclass
class TableWatcher:
    """Watch a source in a thread of their own."""

    live: LiveReader
    referee: Referee
    on_status: Callable[[TableStatus], None]
    """Told after every look; runs in the eyes' thread."""
    on_tick: Callable[[Tick], None] = lambda tick: None
    """Told every tick, for the record."""
    shot: Shot | None = None
    """The newest."""
    _status: TableStatus = field(default_factory=TableStatus)
    _landmarks: Landmarks | None = None
    _markers_away_since_s: float | None = None
    """Since when the markers are elsewhere."""
    _cuts: int = 0
    _corrections: SimpleQueue[tuple[Sequence[Fix], Future[None]]] = field(
        default_factory=SimpleQueue
    )
    """Corrections that wait for the eyes' own thread."""
    _stop_event: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._watch = self.referee.watching()
        self._thread = threading.Thread(target=self._run, name="eyes", daemon=True)

    def start(self) -> None:
        self.live.start()
        self._thread.start()

    def stop(self) -> None:
        self._stop_event.set()
        self.live.stop()
        self._thread.join(5.0)

    def correct(self, fixes: Sequence[Fix]) -> None:
        """Put right what was found on the table as it stands; `OverrulerError` where that cannot be done."""
        done: Future[None] = Future()
        self._corrections.put((fixes, done))
        try:
            done.result(CORRECTION_TIMEOUT_S)
        except TimeoutError:
            done.cancel()
            raise CannotMeasure("the table is being measured: try once more") from None

    def _run(self) -> None:
        number = 0
        while not self._stop_event.is_set():
            found = self.live.newest_shot(number, FRAME_WAIT_S)
            if found is not None:
                number, self.shot = found
                self._handle_cut()
                self._status = self._look_at_shot(self.shot)
            self._status = replace(self._status, lost=self.live.loss_reason())
            self.on_status(self._status)
            self._apply_corrections()

    def _handle_cut(self) -> None:
        """Begin anew where the pictures have leapt to another time: what stands elsewhere now has not been moved."""
        if self.live.time_jumps != self._cuts:
            self._cuts, self._landmarks, self._markers_away_since_s = (
                self.live.time_jumps,
                None,
                None,
            )
            self._status = replace(self._status, report=None, spots=(), notes=())
            self._watch.remeasure_table("the film begins again")

    def _apply_corrections(self) -> None:
        while not self._corrections.empty():
            fixes, done = self._corrections.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                if self._markers_away_since_s is not None:
                    raise CannotMeasure(
                        "the camera was moved: wait until the table has been measured again"
                    )
                self._watch.correct(fixes)
                done.set_result(None)
            except Exception as error:  # it is for who asked to hear
                done.set_exception(error)

    def _look_at_shot(self, shot: Shot) -> TableStatus:
        if self._landmarks is not None and self._markers_are_away(shot, self._landmarks):
            return replace(
                self._status,
                spots=(),
                notes=("the markers are not where they were: camera bumped?",),
            )
        try:
            tick = self._watch.look(shot)
        except OverrulerError as error:
            return replace(self._status, spots=(), notes=(str(error),))
        except Exception as error:  # one picture must not end a broadcast: begin anew, and say so
            self._landmarks = None
            self._watch.remeasure_table()
            fault = f"this should not have happened ({type(error).__name__}): measuring again"
            return replace(self._status, report=None, spots=(), notes=(fault,))
        self.on_tick(tick)
        return self._status_after_tick(shot, tick)

    def _status_after_tick(self, shot: Shot, tick: Tick) -> TableStatus:
        report, number = self._status.report, self._status.number
        if (
            tick.rest is not None or tick.moves
        ):  # who has put a piece down may stay beside it: that is no rest yet
            report, number = tick.rest or self._watch.current_report(), number + 1
        if tick.rest is not None and self._landmarks is None:
            self._landmarks = Landmarks.of(tick.rest.calibration, shot.grey)
        covered = self._landmarks.count_hidden(shot.grey) if self._landmarks is not None else 0
        notes = tick.notes or (self._status.notes if self._landmarks is None else ())
        more = (
            (f"{covered} of {len(self._landmarks.first_point)} markers are covered",)
            if covered and self._landmarks
            else ()
        )
        return TableStatus(report, tick.spots, None, (*notes, *more), number)

    def _markers_are_away(self, shot: Shot, marks: Landmarks) -> bool:
        """Whether nothing can be said now, for the camera moves or its markers are hidden; in the end, begin anew."""
        if not marks.camera_moved(shot.grey):
            self._markers_away_since_s = None
            return False
        self._markers_away_since_s = (
            shot.time_s if self._markers_away_since_s is None else self._markers_away_since_s
        )
        if shot.time_s - self._markers_away_since_s < BUMP_CONFIRM_S:
            return True
        self._markers_away_since_s, self._landmarks = None, None
        self._status = replace(
            self._status, report=None, spots=(), notes=("the camera was moved: measuring again",)
        )
        self._watch.remeasure_table()
        return False

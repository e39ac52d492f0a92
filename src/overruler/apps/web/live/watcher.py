"""The watcher: a thread that follows a source of pictures and reports the state of the table."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from overruler.errors import CannotMeasure, OverrulerError
from overruler.fixes import Fix
from overruler.frame import Shot
from overruler.house_rules import telling_lengths
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.live import LiveReader
from overruler.track import Tick, TrackedPosition
from overruler.vision.stabilization.guard import REMEDIES, CameraMotionGuard
from overruler.vision.tracking.watch import Watch

FRAME_WAIT_S = 0.25
"""Longest wait for a picture before the source is checked."""
SAME_PLACE_MM = 0.05
"""A piece stands where its scene says if it is no farther off along x or y."""
STANDING_STATES = ("static", "new")
"""States of a piece that is at rest in full view."""
CORRECTION_TIMEOUT_S = 10.0
"""Longest wait for a correction: the table may be being measured."""
logger = logging.getLogger("overruler.live")
_STOP_TIMEOUT_S = 5.0
"""Longest wait for the thread to end."""


@dataclass(frozen=True, slots=True, eq=False)
class TableStatus:
    """What is known of the table at one moment."""

    report: Report | None = None
    """The table as it last came to rest, or when a piece had last been moved."""
    spots: tuple[TrackedPosition, ...] = ()
    """Every piece's tracked position."""
    lost: str | None = "opening"
    """Why there are no pictures; None if there are."""
    notes: tuple[str, ...] = ()
    """What the caster should know."""
    number: int = 0
    """Counts the reports."""

    @property
    def standing(self) -> frozenset[str]:
        """Ids of the pieces that stand in full view where the report has them."""
        if self.report is None or self.lost is not None:
            return frozenset()
        places = {piece.id: (piece.x_mm, piece.y_mm) for piece in self.report.scene.pieces}
        return frozenset(
            spot.id
            for spot in self.spots
            if spot.state in STANDING_STATES and _is_same_place(spot, places.get(spot.id))
        )


def _is_same_place(spot: TrackedPosition, place: tuple[float, float] | None) -> bool:
    if place is None:
        return False
    x_mm, y_mm = place
    return max(abs(spot.x_mm - x_mm), abs(spot.y_mm - y_mm)) < SAME_PLACE_MM


def _log_news(before: TableStatus, status: TableStatus) -> None:
    """Log what is new since the status before."""
    if status.lost is None and before.lost is not None:
        logger.info("pictures come")
    elif status.lost != before.lost:
        logger.warning("no picture: %s", status.lost)
    for note in status.notes:
        if note not in before.notes:
            logger.info("%s", note)
    if status.report is not None and status.number != before.number:
        logger.info("the table stands still: %d pieces", len(status.report.scene.pieces))


def _ignore_tick(tick: Tick) -> None:
    """Record nothing."""


@dataclass(slots=True)
class TableWatcher:
    """A source that is watched in a thread of its own."""

    live: LiveReader
    referee: Referee
    on_status: Callable[[TableStatus], None]
    """Called in the watcher's thread after every look."""
    on_tick: Callable[[Tick], None] = _ignore_tick
    """Called in the watcher's thread with every tick, for a recording."""
    shot: Shot | None = None
    """The newest shot."""
    _status: TableStatus = field(default_factory=TableStatus)
    _time_jumps: int = 0
    """Jumps of the source's clock that are already handled."""
    _corrections: SimpleQueue[tuple[Sequence[Fix], Future[None]]] = field(
        default_factory=SimpleQueue
    )
    """Corrections that wait for the watcher's thread."""
    _applied: list[Future[None]] = field(default_factory=list)
    """Those that the next look tells: who corrected the table may use a new name then."""
    _stop_event: threading.Event = field(default_factory=threading.Event)
    _watch: Watch = field(init=False)
    _guard: CameraMotionGuard = field(init=False)
    """Looks at the shots by the watch."""
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._watch = self.referee.watching()
        self._guard = CameraMotionGuard(self._watch)
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        self.live.start()
        self._thread.start()

    def stop(self) -> None:
        self._stop_event.set()
        self.live.stop()
        self._thread.join(_STOP_TIMEOUT_S)

    def correct(self, fixes: Sequence[Fix]) -> None:
        """Correct the table as it stands; raise `OverrulerError` if that cannot be done."""
        done: Future[None] = Future()
        self._corrections.put((fixes, done))
        try:
            done.result(CORRECTION_TIMEOUT_S)
        except TimeoutError:
            done.cancel()
            raise CannotMeasure("the table is being measured: try once more") from None

    # --- the watcher's thread ---

    def _run(self) -> None:
        number, told = 0, TableStatus()
        while not self._stop_event.is_set():
            found = self.live.newest_shot(number, FRAME_WAIT_S)
            if found is not None:
                number, self.shot = found
                self._handle_time_jump()
                self._status = self._look_at_shot(self.shot)
            else:
                self._status = self._look_without_shot()
            self._status = replace(self._status, lost=self.live.loss_reason())
            _log_news(told, self._status)
            told = self._status
            self.on_status(self._status)
            self._answer_applied()
            self._apply_corrections()
        self._answer_applied()

    def _handle_time_jump(self) -> None:
        """Measure anew after the source's clock has jumped: pieces that stand elsewhere have not moved."""
        if self.live.time_jumps == self._time_jumps:
            return
        self._time_jumps = self.live.time_jumps
        self._guard.forget()
        self._status = replace(self._status, report=None, spots=(), notes=())
        self._watch.remeasure_table("the film begins again", time_jump=True)

    def _apply_corrections(self) -> None:
        while not self._corrections.empty():
            fixes, done = self._corrections.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                self._apply_fixes(fixes)
            except Exception as error:  # the caller of `correct` gets it
                done.set_exception(error)
            else:
                self._applied.append(done)

    def _answer_applied(self) -> None:
        for done in self._applied:
            done.set_result(None)
        self._applied.clear()

    def _apply_fixes(self, fixes: Sequence[Fix]) -> None:
        change = self._guard.change
        if change is not None:
            raise CannotMeasure(f"{change}; {REMEDIES[change]}")
        with telling_lengths(self.referee):
            self._watch.correct(fixes)

    def _look_at_shot(self, shot: Shot) -> TableStatus:
        try:
            tick = self._guard.look(shot)
        except OverrulerError as error:
            return replace(self._status, spots=(), notes=(str(error),))
        except Exception as error:  # one picture must not end a broadcast
            logger.exception("a picture could not be looked at")
            self._guard.forget()
            self._watch.remeasure_table()
            note = f"this should not have happened ({type(error).__name__}): measuring again"
            return replace(self._status, report=None, spots=(), notes=(note,))
        self.on_tick(tick)
        if self._guard.change is not None:
            return replace(self._status, spots=(), notes=(self._guard.change,))
        return self._status_after_tick(shot, tick)

    def _look_without_shot(self) -> TableStatus:
        """The status where the source gave no new shot for a while."""
        return self._status

    def _status_after_tick(self, shot: Shot, tick: Tick) -> TableStatus:
        report, number = self._status.report, self._status.number
        # a hand may stay beside a piece that it put down: a move without a rest
        if tick.rest is not None or tick.moves or self._applied:
            report = tick.rest or self._watch.current_report()
            number += 1
        if self._guard.marks is None:
            report = None
        notes = self._notes_after_tick(shot, tick)
        return TableStatus(report, tick.spots, None, notes, number)

    def _notes_after_tick(self, shot: Shot, tick: Tick) -> tuple[str, ...]:
        """The tick's notes and the count of covered markers; before the first rest, the last notes stay."""
        if self._guard.marks is None:
            return tuple(tick.notes or self._status.notes)
        notes = tuple(tick.notes)
        covered = self._guard.count_hidden(shot)
        if covered:
            total = len(self._guard.marks.first_point)
            notes += (f"{covered} of {total} markers {'is' if covered == 1 else 'are'} covered",)
        return notes

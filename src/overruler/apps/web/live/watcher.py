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
            spot.id for spot in self.spots if spot.state in STANDING_STATES and _is_same_place(spot, at.get(spot.id))
        )


def _is_same_place(spot: TrackedPosition, at: tuple[float, float] | None) -> bool:
    return at is not None and max(abs(spot.x_mm - at[0]), abs(spot.y_mm - at[1])) < SAME_PLACE_MM


@dataclass
class TableWatcher:
    """Watch a source in a thread of their own."""

    live: LiveReader
    referee: Referee
    heard: Callable[[TableStatus], None]
    """Told after every look; runs in the eyes' thread."""
    ticked: Callable[[Tick], None] = lambda tick: None
    """Told every tick, for the record."""
    shot: Shot | None = None
    """The newest."""
    _seen: TableStatus = field(default_factory=TableStatus)
    _marks: Landmarks | None = None
    _away_s: float | None = None
    """Since when the markers are elsewhere."""
    _cuts: int = 0
    _wishes: SimpleQueue[tuple[Sequence[Fix], Future[None]]] = field(default_factory=SimpleQueue)
    """Corrections that wait for the eyes' own thread."""
    _ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._watch = self.referee.watching()
        self._thread = threading.Thread(target=self._run, name="eyes", daemon=True)

    def start(self) -> None:
        self.live.start()
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self.live.stop()
        self._thread.join(5.0)

    def correct(self, fixes: Sequence[Fix]) -> None:
        """Put right what was found on the table as it stands; `OverrulerError` where that cannot be done."""
        done: Future[None] = Future()
        self._wishes.put((fixes, done))
        try:
            done.result(CORRECTION_TIMEOUT_S)
        except TimeoutError:
            done.cancel()
            raise CannotMeasure("the table is being measured: try once more") from None

    def _run(self) -> None:
        number = 0
        while not self._ended.is_set():
            found = self.live.newest(number, FRAME_WAIT_S)
            if found is not None:
                number, self.shot = found
                self._cut()
                self._seen = self._looked(self.shot)
            self._seen = replace(self._seen, lost=self.live.lost())
            self.heard(self._seen)
            self._granted()

    def _cut(self) -> None:
        """Begin anew where the pictures have leapt to another time: what stands elsewhere now has not been moved."""
        if self.live.cuts != self._cuts:
            self._cuts, self._marks, self._away_s = self.live.cuts, None, None
            self._seen = replace(self._seen, report=None, spots=(), notes=())
            self._watch.again("the film begins again")

    def _granted(self) -> None:
        while not self._wishes.empty():
            fixes, done = self._wishes.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                if self._away_s is not None:
                    raise CannotMeasure("the camera was moved: wait until the table has been measured again")
                self._watch.correct(fixes)
                done.set_result(None)
            except Exception as error:  # it is for who asked to hear
                done.set_exception(error)

    def _looked(self, shot: Shot) -> TableStatus:
        if self._marks is not None and self._elsewhere(shot, self._marks):
            return replace(self._seen, spots=(), notes=("the markers are not where they were: camera bumped?",))
        try:
            tick = self._watch.look(shot)
        except OverrulerError as error:
            return replace(self._seen, spots=(), notes=(str(error),))
        except Exception as error:  # one picture must not end a broadcast: begin anew, and say so
            self._marks = None
            self._watch.again()
            fault = f"this should not have happened ({type(error).__name__}): measuring again"
            return replace(self._seen, report=None, spots=(), notes=(fault,))
        self.ticked(tick)
        return self._noted(shot, tick)

    def _noted(self, shot: Shot, tick: Tick) -> TableStatus:
        report, number = self._seen.report, self._seen.number
        if tick.rest is not None or tick.moves:  # who has put a piece down may stay beside it: that is no rest yet
            report, number = tick.rest or self._watch.as_it_stands(), number + 1
        if tick.rest is not None and self._marks is None:
            self._marks = Landmarks.of(tick.rest.calibration, shot.grey)
        covered = self._marks.covered(shot.grey) if self._marks is not None else 0
        notes = tick.notes or (self._seen.notes if self._marks is None else ())
        more = (f"{covered} of {len(self._marks.first)} markers are covered",) if covered and self._marks else ()
        return TableStatus(report, tick.spots, None, (*notes, *more), number)

    def _elsewhere(self, shot: Shot, marks: Landmarks) -> bool:
        """Whether nothing can be said now, for the camera moves or its markers are hidden; in the end, begin anew."""
        if not marks.moved(shot.grey):
            self._away_s = None
            return False
        self._away_s = shot.time_s if self._away_s is None else self._away_s
        if shot.time_s - self._away_s < BUMP_CONFIRM_S:
            return True
        self._away_s, self._marks = None, None
        self._seen = replace(self._seen, report=None, spots=(), notes=("the camera was moved: measuring again",))
        self._watch.again()
        return False

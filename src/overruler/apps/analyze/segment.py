"""A segment of a film, analysed on its own: the result is plain data, so that any machine can do the work.

A segment reads some seconds more at either end than it answers for. A move that begins in one
segment and ends in the next is therefore complete in one of them.
"""

import hashlib
import json
import pickle
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import overruler
from overruler.apps.analyze.event_log import EventLog
from overruler.apps.analyze.merge import Data
from overruler.apps.analyze.paired import Moment, paired_moments
from overruler.errors import CannotMeasure
from overruler.frame import Shot
from overruler.referee import Referee
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.track import Tick
from overruler.vision.several_cameras.watch import WatchSeveral
from overruler.vision.stabilization.guard import CameraMotionGuard, TableWatcher

SEGMENT_S = 300.0
"""Length of a segment."""
LEAD_S = 15.0
"""Seconds that are read before a segment."""
TAIL_S = 15.0
"""Seconds that are read after a segment."""
_STILL_PATTERN = re.compile(rb'"still":("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class BesideFilm:
    """A film of the same table at the same time, by another camera."""

    video: str
    digest: str
    """Hash of its content."""
    offset_s: float
    """How much later it began."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment to analyse: everything that a worker needs."""

    video: str
    """Path of the film, the same for every worker."""
    digest: str
    """Hash of the film's content."""
    referee: Referee
    from_s: float
    """First time that it answers for."""
    to_s: float
    """End of the times that it answers for, excluded; infinite for the last segment."""
    beside: tuple[BesideFilm, ...] = ()
    """Films of the same table by other cameras."""

    @property
    def read_s(self) -> tuple[float, float]:
        """The times that are read for it."""
        return max(0.0, self.from_s - LEAD_S), self.to_s + TAIL_S

    @property
    def key(self) -> str:
        """Hash of the films' content, the segment, the referee and this program's code."""
        referee = pickle.dumps(self.referee, protocol=4)
        times = f"{self.from_s!r} {self.to_s!r} {LEAD_S} {TAIL_S}"
        beside = [f"{film.digest} {film.offset_s!r}".encode() for film in self.beside]
        parts = (self.digest.encode(), times.encode(), referee, _program_digest(), *beside)
        return hashlib.blake2b(b"\0".join(parts), digest_size=12).hexdigest()


@cache
def _program_digest() -> bytes:
    """Hash of this program's code."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(overruler.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def file_digest(path: Path) -> str:
    """Hash of a file's content, which is read once as long as it does not change."""
    state = path.stat()
    return _digest_of(path, state.st_size, state.st_mtime_ns)


@cache
def _digest_of(path: Path, size: int, changed_ns: int) -> str:
    """Hash of a file's content; its size and the time of its last change tell one content from the next."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def split_film(
    film: Path, referee: Referee, each_s: float = SEGMENT_S, beside: Sequence[BesideFilm] = ()
) -> list[Segment]:
    """Split a film into segments of about `each_s`; one segment if the film does not say its length.

    The longest of the films counts where others of the same table go `beside` it.
    """
    length_s = declared_length_s(film)
    for other in beside:
        length_s = max(length_s, declared_length_s(Path(other.video)) + other.offset_s)
    digest = file_digest(film)
    count = max(1, round(length_s / each_s))
    starts = [k * each_s for k in range(count)]
    ends = [*starts[1:], float("inf")]
    pairs = zip(starts, ends, strict=True)
    return [Segment(str(film), digest, referee, a, b, tuple(beside)) for a, b in pairs]


def declared_length_s(film: Path) -> float:
    """The length that a film states, in s; 0 where it states none."""
    with Film(film) as opened:
        return opened.duration_s or 0.0


def _ignore_progress(time_s: float) -> None:
    """Show nothing."""


def analyze_segment(
    segment: Segment, on_progress: Callable[[float], None] = _ignore_progress
) -> Data:
    """Analyse a segment and return its JSON; `on_progress` gets the seconds of film done."""
    if segment.beside:
        return _analyze_together(segment, on_progress)
    begin_s, end_s = segment.read_s
    log = EventLog(begin_s)
    watch = CameraMotionGuard(segment.referee.watching(patient=True))
    film = Film(Path(segment.video), from_s=begin_s, to_s=end_s)
    with film, prefetch_items(film) as shots:
        refusal = watch_shots(log, watch, shots, lambda tick: on_progress(tick.time_s))
        return log.data() | _frame_of(segment, film.read_to_s, film.problems(), refusal)


def _frame_of(segment: Segment, read_to_s: float, problems: list[str], refusal: str | None) -> Data:
    """What a segment's file says beside the events."""
    return {
        "from_s": segment.from_s,
        "to_s": None if segment.to_s == float("inf") else segment.to_s,
        "read_to_s": read_to_s,
        "problems": problems,
        "refused": refusal,
    }


def _analyze_together(segment: Segment, on_progress: Callable[[float], None]) -> Data:
    """Analyse a segment of several films of one table, by the first one's time."""
    begin_s, end_s = segment.read_s
    log = EventLog(begin_s)
    offsets_s = [0.0, *(film.offset_s for film in segment.beside)]
    paths = [Path(segment.video), *(Path(film.video) for film in segment.beside)]
    watch = segment.referee.watching_several([str(path) for path in paths], patient=True)
    with ExitStack() as opened:
        films, shots = [], []
        for path, offset_s in zip(paths, offsets_s, strict=True):
            from_s = max(0.0, begin_s - offset_s)
            film = Film(path, from_s=from_s, to_s=end_s - offset_s)
            films.append(opened.enter_context(film))
            shots.append(opened.enter_context(prefetch_items(film)))
        refusal = _watch_moments(log, watch, paired_moments(shots, offsets_s), on_progress)
        read_to_s = max(film.read_to_s + at for film, at in zip(films, offsets_s, strict=True))
        problems = [f"{film.path.name}: {text}" for film in films for text in film.problems()]
    return log.data() | _frame_of(segment, read_to_s, problems, refusal)


def _watch_moments(
    log: EventLog,
    watch: WatchSeveral,
    moments: Iterable[Moment],
    on_progress: Callable[[float], None],
) -> str | None:
    """Record all moments; return why nothing could be measured, or None."""
    for moment in moments:
        for number in moment.ended:
            watch.end_camera(number)
        tick = watch.look(moment.shots)
        log.record_tick(tick)
        on_progress(tick.time_s)
    return _record_end(log, watch)


def watch_shots(
    log: EventLog,
    watch: TableWatcher | CameraMotionGuard,
    shots: Iterable[Shot],
    on_tick: Callable[[Tick], None],
) -> str | None:
    """Record all shots; return why nothing could be measured, or None."""
    for shot in shots:
        tick = watch.look(shot)
        log.record_tick(tick)
        on_tick(tick)
    return _record_end(log, watch)


def _record_end(
    log: EventLog, watch: TableWatcher | CameraMotionGuard | WatchSeveral
) -> str | None:
    """Record what the end tells; return why nothing could be measured, or None."""
    try:
        last = watch.close()
    except CannotMeasure as error:
        return str(error)
    if last is not None:
        log.record_tick(last)
    return None


# --- files ---


@dataclass(frozen=True, slots=True)
class StoredStill:
    """A small picture in a segment's file; `str` reads it."""

    path: Path
    begin: int
    """Offset of its JSON text in the file."""
    end: int
    """Offset behind that text."""

    def __str__(self) -> str:
        with self.path.open("rb") as file:
            file.seek(self.begin)
            return str(json.loads(file.read(self.end - self.begin)))


def encode_json(data: Data) -> bytes:
    """Encode data as JSON; the same data give the same bytes."""
    return json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":")).encode()


def load_segment(path: Path) -> Data:
    """Load what `encode_json` wrote of a segment; its pictures stay in the file, as `StoredStill`s."""
    content = path.read_bytes()
    data: Data = json.loads(content)
    stills = _STILL_PATTERN.finditer(content)
    for rest, still in zip(data["rests"], stills, strict=True):
        rest["still"] = StoredStill(path, *still.span(1))
    return data

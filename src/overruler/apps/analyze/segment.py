"""A segment of a film, analysed on its own: the result is plain data, so that any machine can do the work.

A segment reads some seconds more at either end than it answers for. A move that begins in one
segment and ends in the next is therefore complete in one of them.
"""

import hashlib
import json
import pickle
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import overruler
from overruler.apps.analyze.event_log import EventLog
from overruler.apps.analyze.merge import Data
from overruler.errors import CannotMeasure
from overruler.frame import Shot
from overruler.referee import Referee
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.track import Tick
from overruler.vision.tracking.camera_motion import CameraMotionGuard, TableWatcher

SEGMENT_S = 300.0
"""Length of a segment."""
LEAD_S = 15.0
"""Seconds that are read before a segment."""
TAIL_S = 15.0
"""Seconds that are read after a segment."""
DECODER_THREADS = 2
"""Threads of the decoder. They do not change what it decodes, except perhaps for a damaged film."""
_STILL_PATTERN = re.compile(rb'"still":("(?:[^"\\]|\\.)*")')


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

    @property
    def key(self) -> str:
        """Hash of the film's content, the segment, the referee and this program's code."""
        referee = pickle.dumps(self.referee, protocol=4)
        times = f"{self.from_s!r} {self.to_s!r} {LEAD_S} {TAIL_S}"
        parts = (self.digest.encode(), times.encode(), referee, _program_digest())
        return hashlib.blake2b(b"\0".join(parts), digest_size=12).hexdigest()


@cache
def _program_digest() -> bytes:
    """Hash of this program's code."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(overruler.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def file_digest(path: Path) -> str:
    """Hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def split_film(film: Path, referee: Referee, each_s: float = SEGMENT_S) -> list[Segment]:
    """Split a film into segments of about `each_s`; one segment if the film does not say its length."""
    with Film(film) as opened:
        length_s = opened.duration_s or 0.0
    digest = file_digest(film)
    count = max(1, round(length_s / each_s))
    starts = [k * each_s for k in range(count)]
    ends = [*starts[1:], float("inf")]
    return [Segment(str(film), digest, referee, a, b) for a, b in zip(starts, ends, strict=True)]


def _ignore_progress(time_s: float) -> None:
    """Show nothing."""


def analyze_segment(
    segment: Segment, on_progress: Callable[[float], None] = _ignore_progress
) -> Data:
    """Analyse a segment and return its JSON; `on_progress` gets the seconds of film done."""
    begin_s = max(0.0, segment.from_s - LEAD_S)
    end_s = segment.to_s + TAIL_S
    log = EventLog(begin_s)
    watch = CameraMotionGuard(segment.referee.watching(patient=True))
    film = Film(Path(segment.video), from_s=begin_s, to_s=end_s, threads=DECODER_THREADS)
    with film, prefetch_items(film) as shots:
        refusal = watch_shots(log, watch, shots, lambda tick: on_progress(tick.time_s))
        return log.data() | {
            "from_s": segment.from_s,
            "to_s": None if segment.to_s == float("inf") else segment.to_s,
            "read_to_s": film.read_to_s,
            "problems": film.problems(),
            "refused": refusal,
        }


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

"""A segment of a film, analysed on its own: the result is plain data, so that any machine can do the work.

A segment reads some seconds more at either end than it answers for. A move that begins in one segment and ends in the
next is therefore complete in one of them.
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
from overruler.apps.analyze.merge import Data
from overruler.errors import CannotMeasure
from overruler.referee import Referee
from overruler.report import Report
from overruler.shot import Shot
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.track import Move, Tick, TrackedPosition
from overruler.vision.tracking.camera_motion import CameraMotionGuard, TableWatcher

SEGMENT_S = 300.0
"""Length of a segment."""
LEAD_S = 15.0
"""Seconds that are read before a segment."""
TAIL_S = 15.0
"""Seconds that are read after a segment."""
VISIBILITY_INTERVAL_S = 1.0
"""Time between two records of which pieces are visible."""
DECODER_THREADS = 2
"""Threads of the decoder. They do not change what it decodes, except perhaps for a damaged film."""
SAME_PLACE_MM = 1e-6
"""A position that differs by more, along x or y, was measured anew."""
STILL_LONGER_SIDE_PX = 800
"""Longer side of the stored pictures."""
_STILL_PATTERN = re.compile(rb'"still":("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
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
    log: "EventLog",
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


class EventLog:
    """The events of a film, as plain data."""

    __slots__ = (
        "_bases",
        "_begin_s",
        "_is_measured",
        "_marks",
        "_moves",
        "_notes",
        "_rests",
        "_stays",
    )

    def __init__(self, begin_s: float) -> None:
        self._begin_s = begin_s
        self._is_measured = False
        self._stays: dict[str, list[Data]] = {}
        self._bases: dict[str, Data] = {}
        self._marks: list[Data] = []
        self._moves: list[Data] = []
        self._rests: list[Data] = []
        self._notes: list[Data] = []

    def record_tick(self, tick: Tick) -> None:
        for move in tick.moves:
            if move.piece not in self._stays:
                spot = next(spot for spot in tick.spots if spot.id == move.piece)
                self._add_first_stay(move, spot)
            self._record_move(move)
        if tick.rest is not None:
            self._record_remeasured(tick.rest, tick.time_s)
        for spot in tick.spots:
            self._extend_stay(spot, tick.time_s)
        self._is_measured |= bool(tick.spots)
        self._record_visibility(tick)
        if tick.rest is not None:
            self._rests.append(rest_data(tick.time_s, tick.rest))
        self._notes += [{"time_s": tick.time_s, "text": text} for text in tick.notes]

    def _record_visibility(self, tick: Tick) -> None:
        """Record which pieces are visible, once in `VISIBILITY_INTERVAL_S`."""
        if not tick.spots:
            return
        if self._marks:
            due_s = self._marks[-1]["time_s"] + VISIBILITY_INTERVAL_S - 1e-6
            if tick.time_s < due_s:
                return
        seen = [spot.id for spot in tick.spots if spot.seen]
        self._marks.append({"time_s": tick.time_s, "seen": seen})

    def _add_first_stay(self, move: Move, spot: TrackedPosition) -> None:
        """Add the stay of a piece that was found by its move: it stood where it came from all the time."""
        self._bases[spot.id] = spot.base.to_json()
        stay = _stay(self._begin_s, move.start_s, move.from_mm, move.sigma_mm)
        self._stays[spot.id] = [stay]

    def _record_move(self, move: Move) -> None:
        self._moves.append(move_data(move))
        stays = self._stays[move.piece]
        last = stays[-1]
        last["to_s"] = min(last["to_s"], move.start_s)
        stays.append(_stay(move.end_s, move.end_s, move.to_mm, last["sigma_mm"]))

    def _extend_stay(self, spot: TrackedPosition, time_s: float) -> None:
        """Extend a piece's stay; one that is on its way stands where it stood until its move is recorded."""
        if spot.id not in self._stays:
            self._bases[spot.id] = spot.base.to_json()
            start_s = time_s if self._is_measured else self._begin_s
            place = (spot.x_mm, spot.y_mm)
            self._stays[spot.id] = [_stay(start_s, time_s, place, spot.sigma_mm)]
        stay = self._stays[spot.id][-1]
        if spot.sigma_mm:
            stay["sigma_mm"] = spot.sigma_mm
        if spot.state not in ("lifted", "gone"):
            stay["to_s"] = max(stay["to_s"], time_s)

    def _record_remeasured(self, report: Report, time_s: float) -> None:
        """Start a new stay for each piece that was measured anew elsewhere without a move.

        That happens after the camera was bumped, or after a correction.
        """
        for piece, detection in zip(report.scene.pieces, report.detections, strict=True):
            stays = self._stays.get(piece.id)
            if not stays:
                continue
            x_mm, y_mm = detection.xy_mm.tolist()
            last = stays[-1]
            shift_mm = max(abs(x_mm - last["x_mm"]), abs(y_mm - last["y_mm"]))
            if shift_mm > SAME_PLACE_MM:
                stays.append(_stay(time_s, time_s, (x_mm, y_mm), last["sigma_mm"]))

    def data(self) -> Data:
        """The events as JSON."""
        return {
            "bases": self._bases,
            "stays": self._stays,
            "marks": self._marks,
            "moves": self._moves,
            "rests": self._rests,
            "notes": self._notes,
        }


def _stay(from_s: float, to_s: float, place_mm: tuple[float, float], sigma_mm: float) -> Data:
    x_mm, y_mm = place_mm
    return {"from_s": from_s, "to_s": to_s, "x_mm": x_mm, "y_mm": y_mm, "sigma_mm": sigma_mm}


def move_data(move: Move) -> Data:
    """A move as JSON: the columns of the table of moves, and its path."""
    return {
        "piece": move.piece,
        "start_s": move.start_s,
        "end_s": move.end_s,
        "from_x_mm": move.from_mm[0],
        "from_y_mm": move.from_mm[1],
        "to_x_mm": move.to_mm[0],
        "to_y_mm": move.to_mm[1],
        "distance_mm": move.distance_mm,
        "path_mm": move.path_mm,
        "sigma_mm": move.sigma_mm,
        "path_sigma_mm": move.path_sigma_mm,
        "way_seen": move.way_seen,
        "way_mm": [list(corner) for corner in move.way_mm],
        "trail": [list(spot) for spot in move.trail],
    }


def rest_data(time_s: float, report: Report) -> Data:
    """The table at rest as JSON: its scene and a small picture."""
    return {"time_s": time_s, "scene": report.scene.to_json(), "still": still_uri(report)}


def still_uri(report: Report) -> str:
    """A small picture of the table as a `data:` URI."""
    from overruler.picture.raster import data_uri, shrink_quickly

    small = shrink_quickly(report.frame.pixels, STILL_LONGER_SIDE_PX)
    return data_uri(small, (small.shape[1], small.shape[0]))


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

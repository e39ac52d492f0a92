"""A segment of a film, analysed on its own: plain data out, so that any engine can run it on any machine.

A segment reads some seconds more at either end than it answers for: what begins in one and ends in the next is whole in
one of them.
"""

import hashlib
import json
import pickle
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import overruler
from overruler.errors import CannotMeasure
from overruler.referee import Referee
from overruler.report import Report
from overruler.shot import Shot
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.track import Move, Tick, TrackedPosition
from overruler.vision.tracking.camera_motion import CameraMotionGuard, TableWatcher

SEGMENT_S = 300.0
"""A film is cut into segments so long."""
LEAD_S, TAIL_S = 15.0, 15.0
"""So much more is read before and after."""
VISIBILITY_INTERVAL_S = 1.0
"""How often it is noted whether a piece at rest is in sight."""
DECODER_THREADS = 2
"""A film is decoded with so many: what comes out does not depend on it, but a damaged film's damage may."""
SAME_PLACE_MM = 1e-6
"""A place that differs by more was measured anew."""
STILL_LONGER_SIDE_PX = 800
"""The longer side of the pictures that are kept."""

Data = dict[str, Any]


@dataclass(frozen=True)
class Segment:
    """What is to be analysed, and how: all that a worker needs."""

    video: str
    """The film's path; every worker must see it there."""
    digest: str
    """The film's content."""
    referee: Referee
    from_s: float
    to_s: float
    """What it answers for: times from `from_s` on and before `to_s`."""

    @property
    def key(self) -> str:
        """A name made of the film's content, the segment, what is known of the table, and this program's own code."""
        known = pickle.dumps(self.referee, protocol=4)
        times = f"{self.from_s!r} {self.to_s!r} {LEAD_S} {TAIL_S}"
        parts = (self.digest.encode(), times.encode(), known, _program_digest())
        return hashlib.blake2b(b"\0".join(parts), digest_size=12).hexdigest()


@cache
def _program_digest() -> bytes:
    """The content of all of this program."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(overruler.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def file_digest(path: Path) -> str:
    """A digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def split_film(film: Path, referee: Referee, each_s: float = SEGMENT_S) -> list[Segment]:
    """The segments of a film, about `each_s` long; one for all of it where it does not say how long it is."""
    with Film(film) as opened:
        length = opened.duration_s or 0.0
    digest = file_digest(film)
    count = max(1, round(length / each_s))
    starts = [k * each_s for k in range(count)]
    ends = [*starts[1:], float("inf")]
    return [Segment(str(film), digest, referee, a, b) for a, b in zip(starts, ends, strict=True)]


def analyze_segment(segment: Segment, seen: Callable[[float], None] = lambda time_s: None) -> Data:
    """All that the segment tells, ready for JSON; `seen` is told how far it has come, in seconds of film."""
    begin = max(0.0, segment.from_s - LEAD_S)
    log, watch = EventLog(begin), CameraMotionGuard(segment.referee.watching(patient=True))
    film = Film(
        Path(segment.video), from_s=begin, to_s=segment.to_s + TAIL_S, threads=DECODER_THREADS
    )
    with film, prefetch_items(film) as shots:
        refused = watch_shots(log, watch, shots, lambda tick: seen(tick.time_s))
        return log.data() | {
            "from_s": segment.from_s,
            "to_s": None if segment.to_s == float("inf") else segment.to_s,
            "read_to_s": film.read_to_s,
            "problems": film.problems(),
            "refused": refused,
        }


def watch_shots(
    log: "EventLog",
    watch: TableWatcher | CameraMotionGuard,
    shots: Iterable[Shot],
    told: Callable[[Tick], None],
) -> str | None:
    """Note everything that the shots tell; why nothing could be measured, where that is so."""
    for shot in shots:
        tick = watch.look(shot)
        log.record_tick(tick)
        told(tick)
    try:
        last = watch.close()
    except CannotMeasure as error:
        return str(error)
    if last is not None:
        log.record_tick(last)
    return None


class EventLog:
    """What happened, as plain data."""

    def __init__(self, begin_s: float) -> None:
        self._begin_s = begin_s
        self._stays: dict[str, list[Data]] = {}
        self._bases: dict[str, Data] = {}
        self._marks: list[Data] = []
        self._moves: list[Data] = []
        self._rests: list[Data] = []
        self._notes: list[Data] = []
        self._opened = False

    def record_tick(self, tick: Tick) -> None:
        for move in tick.moves:
            if move.piece not in self._stays:
                self._add_first_stay(
                    move, next(spot for spot in tick.spots if spot.id == move.piece)
                )
            self._record_move(move)
        if tick.rest is not None:
            self._record_remeasured(tick.rest, tick.time_s)
        for spot in tick.spots:
            self._extend_stay(spot, tick.time_s)
        self._opened |= bool(tick.spots)
        if tick.spots and (
            not self._marks
            or tick.time_s >= self._marks[-1]["time_s"] + VISIBILITY_INTERVAL_S - 1e-6
        ):
            self._marks.append(
                {"time_s": tick.time_s, "seen": [spot.id for spot in tick.spots if spot.seen]}
            )
        if tick.rest is not None:
            self._rests.append(rest_data(tick.time_s, tick.rest))
        self._notes += [{"time_s": tick.time_s, "text": text} for text in tick.notes]

    def _add_first_stay(self, move: Move, spot: TrackedPosition) -> None:
        """A piece that was found by its move has been where it came from all along."""
        (x, y), base = move.from_mm, spot.base.to_json()
        self._bases[spot.id] = base
        self._stays[spot.id] = [
            {
                "from_s": self._begin_s,
                "to_s": move.start_s,
                "x_mm": x,
                "y_mm": y,
                "sigma_mm": move.sigma_mm,
            }
        ]

    def _record_move(self, move: Move) -> None:
        self._moves.append(move_data(move))
        stays = self._stays[move.piece]
        stays[-1]["to_s"] = min(stays[-1]["to_s"], move.start_s)
        x, y = move.to_mm
        stays.append(
            {
                "from_s": move.end_s,
                "to_s": move.end_s,
                "x_mm": x,
                "y_mm": y,
                "sigma_mm": stays[-1]["sigma_mm"],
            }
        )

    def _extend_stay(self, spot: TrackedPosition, time_s: float) -> None:
        """A piece that is on its way stands where it stood until its move says otherwise."""
        if spot.id not in self._stays:
            self._bases[spot.id] = spot.base.to_json()
            start = time_s if self._opened else self._begin_s
            place = {"x_mm": spot.x_mm, "y_mm": spot.y_mm, "sigma_mm": spot.sigma_mm}
            self._stays[spot.id] = [{"from_s": start, "to_s": time_s, **place}]
        stay = self._stays[spot.id][-1]
        if spot.sigma_mm:
            stay["sigma_mm"] = spot.sigma_mm
        if spot.state not in ("lifted", "gone"):
            stay["to_s"] = max(stay["to_s"], time_s)

    def _record_remeasured(self, report: Report, time_s: float) -> None:
        """Where a piece was measured anew without a move, the camera bumped or a person's doing, its stay says so."""
        for piece, found in zip(report.scene.pieces, report.detections, strict=True):
            (x, y), stays = found.xy_mm.tolist(), self._stays.get(piece.id)
            if (
                stays
                and max(abs(x - stays[-1]["x_mm"]), abs(y - stays[-1]["y_mm"])) > SAME_PLACE_MM
            ):
                stays.append(stays[-1] | {"from_s": time_s, "to_s": time_s, "x_mm": x, "y_mm": y})

    def data(self) -> Data:
        return {
            "bases": self._bases,
            "stays": self._stays,
            "marks": self._marks,
            "moves": self._moves,
            "rests": self._rests,
            "notes": self._notes,
        }


def move_data(move: Move) -> Data:
    """A move as the table of moves has it, and its way."""
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
    """The table at rest: its scene, and a small picture."""
    return {"time_s": time_s, "scene": report.scene.to_json(), "still": still_uri(report)}


def still_uri(report: Report) -> str:
    """A small picture of the table, as a `data:` address."""
    from overruler.picture.raster import data_uri, shrink_quickly

    small = shrink_quickly(report.frame.pixels, STILL_LONGER_SIDE_PX)
    return data_uri(small, (small.shape[1], small.shape[0]))


@dataclass(frozen=True, slots=True)
class StoredStill:
    """A small picture that stays in a segment's file until somebody asks for its text."""

    path: Path
    begin: int
    end: int

    def __str__(self) -> str:
        with self.path.open("rb") as file:
            file.seek(self.begin)
            return str(json.loads(file.read(self.end - self.begin)))


def encode_json(data: Data) -> bytes:
    """The same bytes for the same data."""
    return json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":")).encode()


def load_segment(path: Path) -> Data:
    """A segment's data as it was `encode_json` into a file, its pictures as `StoredStill`s."""
    content = path.read_bytes()
    data: Data = json.loads(content)
    for rest, found in zip(
        data["rests"], re.finditer(rb'"still":("(?:[^"\\]|\\.)*")', content), strict=True
    ):
        rest["still"] = StoredStill(path, *found.span(1))
    return data

"""The events of a film or a broadcast as plain data: stays, moves, rests, notes."""

from collections import Counter

from overruler.apps.analyze.merge import Data
from overruler.errors import CannotMeasure
from overruler.report import Report
from overruler.track import Move, Tick, TrackedPosition

VISIBILITY_INTERVAL_S = 1.0
"""Time between two records of which pieces are visible."""
SAME_PLACE_MM = 1e-6
"""A position that differs by more, along x or y, was measured anew."""
FIRST_SEEN_TEXT = "is seen for the first time; a move of it may be missing before"
"""Note on a piece that was not there, or not found, when the table was first measured."""
STILL_LONGER_SIDE_PX = 800
"""Longer side of the stored pictures."""
GROWING_LISTS = ("marks", "moves", "rests", "notes")
"""What a log only adds to."""


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
        "_told",
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
        self._told: Counter[str] = Counter()

    @property
    def is_measured(self) -> bool:
        """Whether anything was measured yet."""
        return self._is_measured

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
            if self._is_measured:
                note = {"time_s": time_s, "piece": spot.id, "text": FIRST_SEEN_TEXT}
                self._notes.append(note)
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

    def take_news(self) -> Data:
        """What was recorded since the last call, as `add_news` reads it; nothing in it changes later."""
        data, told = self.data(), self._told
        news: Data = {name: data[name][told[name] :] for name in GROWING_LISTS}
        news["stays"] = {}
        for piece, stays in self._stays.items():
            begin = max(0, told[f"of {piece}"] - 1)  # the last one that was told may have changed
            news["stays"][piece] = [begin, [dict(stay) for stay in stays[begin:]]]
            told[f"of {piece}"] = len(stays)
        for name in GROWING_LISTS:
            told[name] = len(data[name])
        news["bases"] = dict(self._bases)
        return news


def no_events() -> Data:
    """The data of a log that recorded nothing, for `add_news`."""
    return EventLog(0.0).data()


def add_news(data: Data, news: Data) -> None:
    """Add to the data of a log what it recorded next."""
    for name in GROWING_LISTS:
        data[name] += news[name]
    data["bases"] |= news["bases"]
    for piece, (begin, stays) in news["stays"].items():
        data["stays"].setdefault(piece, [])[begin:] = stays


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
        "name_probability": move.name_probability,
        "perhaps": move.perhaps,
        "way_mm": [list(corner) for corner in move.way_mm],
        "trail": [list(spot) for spot in move.trail],
    }


def rest_data(time_s: float, report: Report) -> Data:
    """The table at rest as JSON: its scene, and a picture of it from above."""
    return {"time_s": time_s, "scene": report.scene.to_json(), "still": still_uri(report)}


def still_uri(report: Report) -> str:
    """The board from above as a `data:` URI, rectified from the photo; empty where none can be made."""
    from overruler.picture.raster import data_uri
    from overruler.vision.imaging.orthophoto import rectify_photo

    width, height = report.calibration.board_mm
    mm_per_px = max(width, height) / STILL_LONGER_SIDE_PX
    box = (0.0, 0.0, width, height)
    try:
        view = rectify_photo(report.frame.shown, report.calibration.camera, box, mm_per_px)
    except CannotMeasure:  # a board larger than any table
        return "data:,"
    return data_uri(view.pixels, (view.pixels.shape[1], view.pixels.shape[0]))

"""Segments of a film, merged: pieces keep their names from one to the next, and no moment comes twice."""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot, inf
from typing import Any

from overruler.errors import CannotMeasure
from overruler.fixes import next_piece_id
from overruler.games import facts_of

SAME_PLACE_MM = 15.0
"""Largest distance of a piece, at the seam, from where the segment before saw it."""
SAME_SIZE_SHARE = 0.09
"""Largest difference of its base, as a share: the two segments may have chosen different catalogue sizes."""
IN_MOTION_SIGMA_MM = 1.5
"""1 σ of a position on the way: the height at which the piece is carried is not known."""

Data = dict[str, Any]
"""A row of a table, or the JSON of a segment."""


class PackedRests(Sequence[Data]):
    """Rests, each with `time_s`, its `scene` and a picture, `still`.

    They are stored pickled, and unpickled at each access: as objects they would need ten times
    the memory.
    """

    __slots__ = ("_packed",)

    def __init__(self) -> None:
        self._packed: list[bytes] = []

    def append(self, rest: Data) -> None:
        self._packed.append(pickle.dumps(rest))

    def __getitem__(self, index: Any) -> Any:  # an integer: slices are not supported
        return pickle.loads(self._packed[index])

    def __len__(self) -> int:
        return len(self._packed)


@dataclass(slots=True)
class FilmResults:
    """Everything that was found in a film."""

    name: str
    bases: dict[str, Data] = field(default_factory=dict)
    """Base of each piece, as JSON."""
    stays: dict[str, list[Data]] = field(default_factory=dict)
    """Where each piece stood, from when to when, in order of time."""
    moves: list[Data] = field(default_factory=list)
    """Moves, by their ends."""
    rests: PackedRests | list[Data] = field(default_factory=PackedRests)
    """The table at each moment of rest."""
    positions: list[Data] = field(default_factory=list)
    """Rows of the table of positions."""
    notes: list[Data] = field(default_factory=list)
    """Remarks of the tracker, with their times."""
    problems: list[str] = field(default_factory=list)
    """What could not be read or measured."""
    read_to_s: float = 0.0
    """Time of the last picture."""

    @property
    def unit(self) -> str:
        """The unit that lengths are told in, one of `UNITS`, as the last rest has it; mm without one."""
        scene = self.rests[-1]["scene"] if self.rests else {}
        return facts_of(scene.get("game")).unit_told(scene.get("state", {}))


def merge_segments(name: str, parts: Iterable[Data]) -> FilmResults:
    """Merge the segments of a film, each read once; `CannotMeasure` if none of them could be measured."""
    film = FilmResults(name)
    refusals: list[str | None] = []
    for part in parts:
        refusals.append(part["refused"])
        _add_segment(film, part)
    if None not in refusals:
        raise CannotMeasure(f"{name}: {next(iter(refusals), 'holds no picture')}")
    film.problems = list(dict.fromkeys(film.problems))
    film.moves.sort(key=lambda move: (move["end_s"], move["piece"]))
    unique = {(row["time_s"], row["piece"]): row for row in film.positions}
    film.positions = [unique[key] for key in sorted(unique)]
    return film


def _add_segment(film: FilmResults, part: Data) -> None:
    begin_s = part["from_s"]
    end_s = part["to_s"] if part["to_s"] is not None else inf
    read_to_s = min(part["read_to_s"], end_s)
    film.read_to_s = max(film.read_to_s, read_to_s)
    film.problems += part["problems"]
    if part["refused"] is not None:
        if part["read_to_s"] > begin_s:
            film.problems.append(f"from {begin_s:.0f} s to {read_to_s:.0f} s: {part['refused']}")
        return
    names = _match_names(film, part, begin_s)
    for own_name, name in names.items():
        film.bases.setdefault(name, part["bases"][own_name])
        _extend_stays(film.stays.setdefault(name, []), part["stays"][own_name], begin_s)
    _add_events(film, part, names, end_s)


def _add_events(film: FilmResults, part: Data, names: Mapping[str, str], end_s: float) -> None:
    """Add what happened in the times that a segment answers for."""
    begin_s = part["from_s"]
    moves = []
    for move in part["moves"]:
        if begin_s <= move["end_s"] < end_s:
            moves.append(_rename_move(move, names))
    film.moves += moves
    for rest in part["rests"]:
        if begin_s <= rest["time_s"] < end_s:
            film.rests.append(_rename_pieces(rest, names))
    for note in part["notes"]:
        if begin_s <= note["time_s"] < end_s:
            film.notes.append(_name_note(note, names))
    film.positions += _rest_rows(part, names, begin_s, end_s)
    for move in moves:
        film.positions += _move_rows(move)


# --- names ---


def _match_names(film: FilmResults, part: Data, begin_s: float) -> dict[str, str]:
    """Map a segment's names to the film's, by the places at the seam; others get new names."""
    names: dict[str, str] = {}
    for own_name, stays in part["stays"].items():
        time_s = max(begin_s, stays[0]["from_s"])
        here = _stay_at(stays, time_s)
        taken = set(names.values())
        candidates = []
        for name, film_stays in film.stays.items():
            if name in taken or not _similar_bases(film.bases[name], part["bases"][own_name]):
                continue
            there = _stay_at(film_stays, time_s)
            distance = hypot(there["x_mm"] - here["x_mm"], there["y_mm"] - here["y_mm"])
            candidates.append((distance, name))
        distance, nearest = min(candidates, default=(inf, ""))
        if distance < SAME_PLACE_MM:
            names[own_name] = nearest
        elif not film.stays:
            names[own_name] = own_name
        else:
            names[own_name] = next_piece_id([*film.stays, *taken])
    return names


def _stay_at(stays: Sequence[Data], time_s: float) -> Data:
    """Where a piece stood at a time, or last stood before it."""
    return next((stay for stay in reversed(stays) if stay["from_s"] <= time_s), stays[0])


def _similar_bases(one: Data, other: Data) -> bool:
    if one["shape"] != other["shape"]:
        return False
    sizes = zip(_base_sizes(one), _base_sizes(other), strict=True)
    return all(abs(a - b) <= SAME_SIZE_SHARE * a for a, b in sizes)


def _base_sizes(base: Data) -> list[float]:
    return [value for key, value in base.items() if key != "shape"]


def _rename_pieces(rest: Data, names: Mapping[str, str]) -> Data:
    """The rest with the film's names for its pieces."""
    scene = rest["scene"]
    pieces = [piece | {"id": names[piece["id"]]} for piece in scene["pieces"]]
    scene = scene | {"pieces": pieces}
    if "covariance" in scene:
        order = [names[own_name] for own_name in scene["covariance"]["order"]]
        scene = scene | {"covariance": scene["covariance"] | {"order": order}}
    return rest | {"scene": scene}


def _rename_move(move: Data, names: Mapping[str, str]) -> Data:
    """The move with the film's names; a broadcast that an older program recorded told no doubt of them."""
    known: Data = {"name_probability": 1.0, "perhaps": ""} | move
    return known | {"piece": names[move["piece"]], "perhaps": names.get(known["perhaps"], "")}


def _name_note(note: Data, names: Mapping[str, str]) -> Data:
    """A note with the film's name of the piece that it is about, if it is about one."""
    subject = f"{names[note['piece']]} " if "piece" in note else ""
    return {"time_s": note["time_s"], "text": subject + note["text"]}


# --- stays and positions ---


def _extend_stays(stays: list[Data], more: Sequence[Data], begin_s: float) -> None:
    """Add the stays from the seam on to those before it; one that overlaps the last extends it."""
    for stay in more:
        if stay["to_s"] < begin_s:
            continue
        if stays and stay["from_s"] <= stays[-1]["to_s"]:
            stays[-1]["to_s"] = max(stays[-1]["to_s"], stay["to_s"])
        else:
            stays.append(dict(stay))


def _rest_rows(part: Data, names: Mapping[str, str], begin_s: float, end_s: float) -> list[Data]:
    """A row for each piece at rest at each mark."""
    rows = []
    for mark in part["marks"]:
        time_s = mark["time_s"]
        if not begin_s <= time_s < end_s:
            continue
        seen = set(mark["seen"])
        for own_name, stays in part["stays"].items():
            stay = _stay_during(stays, time_s)
            if stay is not None:
                place = (stay["x_mm"], stay["y_mm"])
                is_seen = own_name in seen
                row = _position_row(names[own_name], time_s, place, stay["sigma_mm"], is_seen)
                rows.append(row)
    return rows


def _stay_during(stays: Sequence[Data], time_s: float) -> Data | None:
    for stay in stays:
        if stay["from_s"] <= time_s <= stay["to_s"]:
            return stay
    return None


def _move_rows(move: Data) -> list[Data]:
    """Rows for a piece on its way, both ends included."""
    piece = move["piece"]
    sigma_mm = move["sigma_mm"]
    from_mm = (move["from_x_mm"], move["from_y_mm"])
    to_mm = (move["to_x_mm"], move["to_y_mm"])
    rows = [_position_row(piece, move["start_s"], from_mm, sigma_mm)]
    for time_s, x_mm, y_mm in move["trail"]:
        if move["start_s"] < time_s < move["end_s"]:
            rows.append(_position_row(piece, time_s, (x_mm, y_mm), IN_MOTION_SIGMA_MM))
    rows.append(_position_row(piece, move["end_s"], to_mm, sigma_mm))
    return rows


def _position_row(
    piece: str, time_s: float, place_mm: tuple[float, float], sigma_mm: float, seen: bool = True
) -> Data:
    x_mm, y_mm = place_mm
    return {
        "piece": piece,
        "time_s": time_s,
        "x_mm": x_mm,
        "y_mm": y_mm,
        "sigma_mm": sigma_mm,
        "seen": seen,
    }

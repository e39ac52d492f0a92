"""Segments of a film put together: pieces keep their names from one to the next, and each moment is told once."""

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import hypot, inf
from typing import Any

from overruler.errors import CannotMeasure
from overruler.fixes import next_piece_id

SAME_PLACE_MM = 15.0
"""A piece at the seam stands within so much of where the segment before saw it."""
SAME_SIZE_SHARE = 0.09
"""And its base differs by no larger share: the two may have chosen different catalogue sizes."""
IN_MOTION_SIGMA_MM = 1.5
"""1 σ of a place on the way: how high the piece was carried is not known at each."""

Data = dict[str, Any]


class PackedRests(Sequence[Data]):
    """The table at each moment of rest, with `time_s`, its `scene` and a picture, `still`: added once, read often.

    They are kept packed, and made anew for whoever asks: as objects they would need ten times the memory.
    """

    def __init__(self) -> None:
        self._packed: list[bytes] = []

    def append(self, rest: Data) -> None:
        self._packed.append(pickle.dumps(rest))

    def __getitem__(self, which: Any) -> Any:  # nobody asks for a slice
        return pickle.loads(self._packed[which])

    def __len__(self) -> int:
        return len(self._packed)


@dataclass
class FilmResults:
    """All that is known of a film."""

    name: str
    bases: dict[str, Data] = field(default_factory=dict)
    stays: dict[str, list[Data]] = field(default_factory=dict)
    """Where each piece stood, from when to when, in order."""
    moves: list[Data] = field(default_factory=list)
    rests: PackedRests | list[Data] = field(default_factory=PackedRests)
    positions: list[Data] = field(default_factory=list)
    notes: list[Data] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    read_to_s: float = 0.0


def merge_segments(name: str, parts: Iterable[Data]) -> FilmResults:
    """The film that its segments tell, each asked for once; `CannotMeasure` where none of them could be measured."""
    film, refused = FilmResults(name), list[str | None]()
    for part in parts:
        refused.append(part["refused"])
        _add_segment(film, part)
    if None not in refused:
        raise CannotMeasure(f"{name}: {next(iter(refused), 'holds no picture')}")
    film.problems = list(dict.fromkeys(film.problems))
    film.moves.sort(key=lambda move: (move["end_s"], move["piece"]))
    once = {(row["time_s"], row["piece"]): row for row in film.positions}
    film.positions = [once[key] for key in sorted(once)]
    return film


def _add_segment(film: FilmResults, part: Data) -> None:
    begin, end = part["from_s"], part["to_s"] if part["to_s"] is not None else inf
    film.read_to_s = max(film.read_to_s, min(part["read_to_s"], end))
    film.problems += part["problems"]
    if part["refused"] is not None:
        if part["read_to_s"] > begin:
            film.problems.append(
                f"from {begin:.0f} s to {min(end, part['read_to_s']):.0f} s: {part['refused']}"
            )
        return
    names = _match_names(film, part, begin)
    for own, name in names.items():
        film.bases.setdefault(name, part["bases"][own])
        _extend_stays(film.stays.setdefault(name, []), part["stays"][own], begin)
    moves = [
        move | {"piece": names[move["piece"]]}
        for move in part["moves"]
        if begin <= move["end_s"] < end
    ]
    film.moves += moves
    for rest in part["rests"]:
        if begin <= rest["time_s"] < end:
            film.rests.append(_rename_pieces(rest, names))
    film.notes += [note for note in part["notes"] if begin <= note["time_s"] < end]
    film.positions += _rest_rows(part, names, begin, end)
    film.positions += [row for move in moves for row in _move_rows(move)]


def _match_names(film: FilmResults, part: Data, begin: float) -> dict[str, str]:
    """The film's names for the segment's pieces: those at the same place at the seam, new ones for the others."""
    names: dict[str, str] = {}
    for own in part["stays"]:
        here = _stay_at(part["stays"][own], max(begin, part["stays"][own][0]["from_s"]))
        taken = set(names.values())
        near = [
            (hypot(there["x_mm"] - here["x_mm"], there["y_mm"] - here["y_mm"]), name)
            for name, stays in film.stays.items()
            if name not in taken and _similar_bases(film.bases[name], part["bases"][own])
            for there in [_stay_at(stays, max(begin, part["stays"][own][0]["from_s"]))]
        ]
        apart, name = min(near, default=(inf, ""))
        names[own] = (
            name
            if apart < SAME_PLACE_MM
            else own
            if not film.stays
            else next_piece_id([*film.stays, *taken])
        )
    return names


def _stay_at(stays: Sequence[Data], time_s: float) -> Data:
    """Where a piece stood at a time, or last stood before it."""
    return next((stay for stay in reversed(stays) if stay["from_s"] <= time_s), stays[0])


def _similar_bases(one: Data, other: Data) -> bool:
    if one["shape"] != other["shape"]:
        return False
    sizes = ([value for key, value in base.items() if key != "shape"] for base in (one, other))
    return all(abs(a - b) <= SAME_SIZE_SHARE * a for a, b in zip(*sizes, strict=True))


def _extend_stays(stays: list[Data], more: Sequence[Data], begin: float) -> None:
    """Add what a piece did from the seam on to what it did before."""
    for stay in more:
        if stay["to_s"] < begin:
            continue
        if stays and stay["from_s"] <= stays[-1]["to_s"]:
            stays[-1]["to_s"] = max(stays[-1]["to_s"], stay["to_s"])
        else:
            stays.append(dict(stay))


def _rename_pieces(rest: Data, names: dict[str, str]) -> Data:
    """A scene with the film's names for its pieces."""
    scene = rest["scene"]
    pieces = [piece | {"id": names[piece["id"]]} for piece in scene["pieces"]]
    scene = scene | {"pieces": pieces}
    if "covariance" in scene:
        order = [names[own] for own in scene["covariance"]["order"]]
        scene = scene | {"covariance": scene["covariance"] | {"order": order}}
    return rest | {"scene": scene}


def _rest_rows(part: Data, names: dict[str, str], begin: float, end: float) -> list[Data]:
    """A row for each piece at rest at each mark."""
    rows = []
    for mark in part["marks"]:
        time_s, seen = mark["time_s"], set(mark["seen"])
        for own, stays in part["stays"].items():
            stay = next((stay for stay in stays if stay["from_s"] <= time_s <= stay["to_s"]), None)
            if stay is not None and begin <= time_s < end:
                rows.append(
                    _position_row(
                        names[own],
                        time_s,
                        stay["x_mm"],
                        stay["y_mm"],
                        stay["sigma_mm"],
                        own in seen,
                    )
                )
    return rows


def _move_rows(move: Data) -> list[Data]:
    """Rows for a piece on its way, both ends included."""
    ends = [
        _position_row(
            move["piece"],
            move[f"{which}_s"],
            move[f"{end}_x_mm"],
            move[f"{end}_y_mm"],
            move["sigma_mm"],
            True,
        )
        for which, end in (("start", "from"), ("end", "to"))
    ]
    between = [
        _position_row(move["piece"], time_s, x, y, IN_MOTION_SIGMA_MM, True)
        for time_s, x, y in move["trail"]
        if move["start_s"] < time_s < move["end_s"]
    ]
    return [ends[0], *between, ends[1]]


def _position_row(
    piece: str, time_s: float, x_mm: float, y_mm: float, sigma_mm: float, seen: bool
) -> Data:
    return {
        "piece": piece,
        "time_s": time_s,
        "x_mm": x_mm,
        "y_mm": y_mm,
        "sigma_mm": sigma_mm,
        "seen": seen,
    }

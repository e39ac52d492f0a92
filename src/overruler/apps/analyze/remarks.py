"""What to know of a film besides its tables, with times."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.calibration import Problem
from overruler.units import format_count

LEAST_DOUBT_TOLD = 0.05
"""Least probability that a move was another piece's at which a remark says so."""

Remark = tuple[float, str]
"""A time in s, and what is to be known of it."""


def remarks_on(film: FilmResults) -> list[str]:
    """The tracker's notes, names in doubt, and what makes the film's places worse."""
    told = [(note["time_s"], note["text"]) for note in film.notes]
    told += _doubtful_names(film.moves)
    told += _problems_of_cameras(film.rests, film.unit)
    told.sort(key=lambda remark: remark[0])
    return [_timed(list(those)) for _, those in groupby(told, key=lambda remark: remark[1])]


def _timed(same: Sequence[Remark]) -> str:
    """One remark that was made at one time or at several, with nothing else between."""
    (first_s, text), more = same[0], len(same) - 1
    again = f", and {format_count(more, 'more time')} until {same[-1][0]:.1f} s" if more else ""
    return f"{first_s:.1f} s{again}: {text}"


def _doubtful_names(moves: Iterable[Data]) -> Iterator[Remark]:
    """Which moves may be another piece's: both left unseen, and they look alike."""
    for move in moves:
        doubt, other = 1 - move["name_probability"], move["perhaps"] or "another piece"
        if doubt >= LEAST_DOUBT_TOLD:
            yield move["end_s"], f"{move['piece']} may be {other} ({doubt:.0%}): it moved unseen"


def _problems_of_cameras(rests: Iterable[Data], unit: str) -> list[Remark]:
    """What makes the places of the rests worse, in a unit: each kind once of each camera."""
    told: list[Remark] = []
    known: set[tuple[str, str]] = set()
    for rest in rests:
        for name, problems in _problems_by_camera(rest["scene"]).items():
            for problem in problems:
                if (name, problem["flag"]) not in known:
                    known.add((name, problem["flag"]))
                    told.append((rest["time_s"], name + Problem(**problem).sentence(unit)))
    return told


def _problems_by_camera(scene: Data) -> dict[str, list[Data]]:
    """The problems of all cameras together, by an empty name, and each one's of several by its own."""
    of_all = scene.get("calibration", {}).get("problems", [])
    photos = scene.get("photos", [])
    own = {f"{Path(one['file']).name}: ": one["calibration"]["problems"] for one in photos}
    told = [problem for problems in own.values() for problem in problems]
    return {"": [problem for problem in of_all if problem not in told], **own}

"""When each film of one table began: told by the user, or found by the times at which things move."""

import math
from collections.abc import Sequence
from pathlib import Path

from overruler.apps.analyze.segment import BesideFilm, declared_length_s, file_digest
from overruler.apps.process.memory import give_back_memory
from overruler.errors import BadInput, CannotMeasure
from overruler.geometry.pose import Array
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.vision.several_cameras.alignment import align, motion_of

ALIGNED_S = 180.0
"""Time at the beginning of each film in which its offset is found, in s."""
MAX_OFFSET_S = 86_400.0
"""Largest offset that may be told, in s: a day."""


def find_readable(films: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The films that can be opened, and why the others cannot; `CannotMeasure` where none can."""
    readable, problems = [], []
    for film in films:
        try:
            with Film(film):
                readable.append(film)
        except CannotMeasure as error:
            problems.append(f"{error}; the other cameras go on without it")
            refusal = error
    if not readable:
        raise refusal
    return readable, problems


def films_beside(films: Sequence[Path], offsets_s: Sequence[float]) -> list[BesideFilm]:
    """The films beside the first one, for its segments."""
    pairs = list(zip(films, offsets_s, strict=True))[1:]
    return [BesideFilm(str(film), file_digest(film), offset_s) for film, offset_s in pairs]


def find_offsets(
    films: Sequence[Path], told: Sequence[str], readable: Sequence[Path] | None = None
) -> list[float]:
    """How much later each readable film began than the first of them, in s.

    `BadInput` where what moves in a film does not tell.
    """
    kept = [number for number, film in enumerate(films) if readable is None or film in readable]
    known = _read_offsets(films, told)
    first = kept[0]
    if first not in known:  # the others' are told against a film that cannot be read
        known = {first: 0.0}
    offsets = {number: known[number] - known[first] for number in kept if number in known}
    if len(offsets) < len(kept):
        reference = _motion(films[first])
        for number in kept:
            if number not in offsets:
                offsets[number] = _find_offset(films[number], films[first], reference)
    return [offsets[number] for number in kept]


def tell_apart(films: Sequence[Path], offsets_s: Sequence[float]) -> list[str]:
    """A sentence for each film that shows no moment of the first one: its offset may be wrong."""
    first, *others = films
    if not others:
        return []
    first_s = declared_length_s(first)
    told = []
    for film, offset_s in zip(others, offsets_s[1:], strict=True):
        length_s = declared_length_s(film)
        if first_s and offset_s >= first_s:
            told.append(
                f"{film} begins after {first} has ended, at {first_s:.1f} s: check --offset"
            )
        elif length_s and offset_s + length_s <= 0:
            told.append(f"{film} ends before {first} begins: check --offset")
    return told


def _find_offset(film: Path, first: Path, reference: Array) -> float:
    found = align(_motion(film), reference)
    if found is None or not found.is_sure:
        raise BadInput(
            f"{film}: what moves in it does not tell how much later it began than {first}: "
            f"give --offset {film.stem}=SECONDS"
        )
    return found.offset_s


def _motion(film: Path) -> Array:
    with (
        Film(film, to_s=ALIGNED_S) as opened,
        prefetch_items(opened) as shots,
    ):
        motion = motion_of(shots)
    give_back_memory()
    return motion


def _read_offsets(films: Sequence[Path], told: Sequence[str]) -> dict[int, float]:
    """Read `RIGHT=+1.5` for each text; the first film's own is 0."""
    known = {0: 0.0}
    for text in told:
        name, _, seconds = text.rpartition("=")
        try:
            value = float(seconds)
        except ValueError:
            value = math.nan
        if not name or not abs(value) <= MAX_OFFSET_S:
            raise BadInput(f"--offset: expected FILM=SECONDS, right=+1.5 say, found {text!r}")
        number = _film_number(films, name)
        if number in known:
            raise BadInput(f"--offset: {name} has two offsets: give one")
        known[number] = value
    return known


def _film_number(films: Sequence[Path], name: str) -> int:
    numbers = [k for k, film in enumerate(films) if name in (film.stem, film.name, str(film))]
    if len(numbers) != 1:
        names = ", ".join(film.stem for film in films[1:])
        problem = "is no film that was given" if not numbers else "is the name of several films"
        raise BadInput(f"--offset: {name!r} {problem}: name one of {names}")
    if numbers[0] == 0:
        raise BadInput(
            f"--offset: {name} is the first film, whose time counts: "
            "tell how much later the others began"
        )
    return numbers[0]

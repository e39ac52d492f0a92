#!/usr/bin/env python3
"""What do lamps, clouds and unsteady cameras cost? Analyse films whose truth is known, edited in many ways, and count.

    uv run tools/evaluate/film_edits.py out/films/film_003.mkv
    uv run tools/evaluate/film_edits.py out/films/*.mkv --only "shaking,bands"

Beside each film lie its truth (.json) and its board file (.toml), as for films.py. Pieces move in an edited film as
they do in the film: as many moves should be found, and no others. A film takes minutes.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluate.films import Row, analysed, measures, moves_in, paired
from overruler.errors import OverrulerError
from overruler.sources.video import Film
from synthetic.arrays import Picture
from synthetic.film_edits import FILM_EDITS
from synthetic.filming import step_of, write


@dataclass(slots=True)
class Count:
    """The moves of films that were edited in one way."""

    true: int = 0
    invented: int = 0
    found: list[Row] = field(default_factory=list)
    """How far each move that was found is off."""

    def add(self, told: Sequence[Row], moves: Sequence[Row]) -> None:
        pairs = paired(told, moves)
        self.true += len(moves)
        self.invented += len(told) - len(pairs)
        self.found += [measures(*pair) for pair in pairs]

    def cells(self) -> list[str]:
        """Found, invented, and how far lengths and ways are off."""
        counted = [f"{len(self.found)}/{self.true}", str(self.invented)]
        if not self.found:
            return [*counted, "", "", ""]
        off = np.abs([row["distance_mm"] for row in self.found])
        shares = [
            np.mean([row[key] for row in self.found]) for key in ("distance_in95", "path_in95")
        ]
        return [*counted, f"{np.median(off):.2f}", *(f"{share:.2f}" for share in shares)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("films", type=Path, nargs="+")
    parser.add_argument("--only", help=f"some of: {', '.join(FILM_EDITS)}")
    options = parser.parse_args(arguments)
    names = [name.strip() for name in options.only.split(",")] if options.only else [*FILM_EDITS]
    if unknown := [name for name in names if name not in FILM_EDITS]:
        print(f"{unknown[0]!r} is none of: {', '.join(FILM_EDITS)}", file=sys.stderr)
        return 2
    for film in options.films:
        if missing := [one for one in (film, *_beside(film)) if not one.is_file()]:
            print(
                f"{missing[0]}: is missing: a film's truth and board lie beside it", file=sys.stderr
            )
            return 2
    rows = {name: Count() for name in names}
    work = [(name, film) for name in names for film in options.films]
    for name, film in track(work, "analysing", console=Console(stderr=True)):
        try:
            rows[name].add(*edited_and_analysed(film, name))
        except OverrulerError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        print(f"{film.name}, {name}: {', '.join(rows[name].cells())}", file=sys.stderr)
    table = Table("", "found", "invented", "length off, mm", "length in95", "way in95")
    for name, count in rows.items():
        table.add_row(name, *count.cells())
    Console(width=max(Console().width, 100)).print(table)
    return 0


def edited_and_analysed(film: Path, edit: str) -> tuple[Sequence[Row], Sequence[Row]]:
    """The moves that are found in an edited film, and the true ones."""
    with Film(film) as opened:
        size_px = next(iter(opened)).size_px
        length_s = opened.duration_s or 0.0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        for path in _beside(film):
            shutil.copy(path, out)
        write(out / film.name, size_px, edited_pictures(film, edit, length_s))
        told = moves_in(analysed([out / film.name], out / "results", []))
    truth = json.loads(film.with_suffix(".json").read_text(encoding="utf-8"))
    return told, truth["moves"]


def edited_pictures(film: Path, edit: str, length_s: float) -> Iterator[Picture]:
    """The pictures of a film, red green blue, one for each step of its truth."""
    next_step = 0
    with Film(film) as opened:
        for shot in opened:
            if step_of(shot.time_s) < next_step:
                continue
            next_step = step_of(shot.time_s) + 1
            picture = FILM_EDITS[edit](shot.colours(None), shot.time_s, length_s)
            yield np.ascontiguousarray(picture[..., ::-1])


def _beside(film: Path) -> tuple[Path, Path]:
    return film.with_suffix(".json"), film.with_suffix(".toml")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How often is a print on the mat taken for a base?

    uv run tools/evaluate/lookalikes.py sample_images --each 4 --form disc

Every photo of a folder with its truth beside it is measured as it is, and again with so many prints on its mat:
planets, signs, lids, rings, patches of ground, of any size, round (`disc`, `oval`) or with corners (`square`,
`oblong`). One row a kind of print:

    prints   how many lie in sight
    told     of these, how many are told as a base
    sure     of those, how many with a probability over 0.9

Below it, of the bases that are found without prints, how many are found with them.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluate.accuracy import board_of
from overruler.errors import CannotMeasure, OverrulerError
from overruler.geometry.pose import Array
from overruler.pieces import Piece
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from synthetic.from_above.sheet import camera_of
from synthetic.printed_mats import FORMS, KINDS, print_on_mat

BASES = "bases"
"""The row of the bases among the counts."""
SURE = 0.9
SAME_MM = 8.0
"""A base found again is no farther from where it was found."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("sample_images"))
    parser.add_argument("--each", type=int, default=4, help="prints on a photo")
    parser.add_argument("--form", choices=tuple(FORMS), default="disc")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    photos = [one for one in sorted(options.folder.glob("*.jpg")) if _truth(one).exists()]
    if not photos:
        print(f"{options.folder}: holds no NAME.jpg with NAME.json beside it", file=sys.stderr)
        return 2
    tally: Counter[tuple[str, str]] = Counter()
    for number, photo in enumerate(track(photos, "measuring", console=Console(stderr=True))):
        rng = np.random.default_rng([options.seed, number])
        try:
            tally += _counted(rng, photo, options.each, options.form)
        except CannotMeasure as error:
            print(f"{photo.name}: {error}", file=sys.stderr)
        except OverrulerError as error:
            print(error, file=sys.stderr)
            return error.exit_code
    Console().print(
        _table(tally), f"bases found with prints: {tally[BASES, 'told']} of {tally[BASES, 'all']}"
    )
    return 0


def _truth(photo: Path) -> Path:
    return photo.with_suffix(".json")


def _counted(
    rng: np.random.Generator, photo: Path, each: int, form: str
) -> Counter[tuple[str, str]]:
    """How many prints of each kind there are, are told and are told surely; the same of bases."""
    truth = json.loads(_truth(photo).read_text(encoding="utf-8"))
    referee, frame = Referee(board_of(photo, truth)), load_photo(photo)
    before = referee.look(frame).scene.pieces
    pixels, prints = print_on_mat(rng, frame.pixels, camera_of(truth["camera"]), truth, each, form)
    after = referee.look(replace(frame, pixels=pixels)).scene.pieces
    tally: Counter[tuple[str, str]] = Counter()
    for one in prints:
        there = [piece for piece in after if one.holds(_place(piece))]
        likely = max((piece.extra.get("probability", 1.0) for piece in there), default=0.0)
        tally[one.kind, "all"] += 1
        tally[one.kind, "told"] += bool(there)
        tally[one.kind, "sure"] += likely > SURE
    for piece in before:
        if any(one.holds(_place(piece)) for one in prints):
            continue
        apart_mm = [np.hypot(*(_place(piece) - _place(other))) for other in after]
        tally[BASES, "all"] += 1
        tally[BASES, "told"] += min(apart_mm, default=np.inf) < SAME_MM
    return tally


def _place(piece: Piece) -> Array:
    return np.array([piece.x_mm, piece.y_mm])


def _table(tally: Counter[tuple[str, str]]) -> Table:
    table = Table("kind", "prints", "told", "sure")
    for kind in KINDS:
        table.add_row(kind, *(str(tally[kind, what]) for what in ("all", "told", "sure")))
    table.add_section()
    totals = [sum(tally[kind, what] for kind in KINDS) for what in ("all", "told", "sure")]
    table.add_row("all", *map(str, totals))
    return table


if __name__ == "__main__":
    sys.exit(main())

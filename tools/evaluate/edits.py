#!/usr/bin/env python3
"""What do light, lenses and apps cost? Measure photos whose truth is known, edited in many ways, and count.

    uv run tools/evaluate/edits.py sample_images
    uv run tools/evaluate/edits.py sample_images --only "haze,lamp in view"

A folder holds NAME.jpg, NAME.json (the truth) and NAME.toml (the board file), as for accuracy.py, whose columns the
table has: one row for each way. Nothing in a picture moves, so all should be found as in the photo as it is.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from evaluate.accuracy import board_of, table
from evaluate.counting.tally import LEAST_RIM, Tally, tally
from overruler.errors import CannotMeasure, OverrulerError
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from synthetic.edits import EDITS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("sample_images"))
    parser.add_argument("--only", help=f"some of: {', '.join(EDITS)}")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    names = [name.strip() for name in options.only.split(",")] if options.only else list(EDITS)
    photos = [one for one in sorted(options.folder.glob("*.jpg")) if _truth(one).exists()]
    if not photos:
        print(f"{options.folder}: holds no NAME.jpg with NAME.json beside it", file=sys.stderr)
        return 2
    if unknown := [name for name in names if name not in EDITS]:
        print(f"{unknown[0]!r} is none of: {', '.join(EDITS)}", file=sys.stderr)
        return 2
    rows = {name: Tally() for name in names}
    for number, photo in enumerate(track(photos, "measuring", console=Console(stderr=True))):
        try:
            for name in names:
                rows[name].add(counted(photo, name, np.random.default_rng([options.seed, number])))
        except OverrulerError as error:
            print(error, file=sys.stderr)
            return error.exit_code
    Console(width=max(Console().width, 120)).print(table(rows))
    return 0


def counted(photo: Path, edit: str, rng: np.random.Generator) -> Tally:
    """What is found in an edited photo; where it cannot be measured, all is missed."""
    truth = json.loads(_truth(photo).read_text(encoding="utf-8"))
    frame = load_photo(photo)
    edited = replace(frame, pixels=EDITS[edit](frame.pixels, rng))
    try:
        return tally(Referee(board_of(photo, truth)).look(edited).scene, truth)
    except CannotMeasure as error:
        print(f"{photo.name}, {edit}: {error}", file=sys.stderr)
        seen = [one["visible_rim"] for one in truth["pieces"] if one.get("in_frame", 1) > 0.5]
        return Tally(wanted=sum(share >= LEAST_RIM for share in seen))


def _truth(photo: Path) -> Path:
    return photo.with_suffix(".json")


if __name__ == "__main__":
    sys.exit(main())

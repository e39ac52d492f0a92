#!/usr/bin/env python3
"""Tables photographed from several sides: measured together, and photo by photo, side by side.

    uv run tools/evaluate/views.py FOLDER [--only TABLE]... [--json OUT.json]

FOLDER holds what `tools/synthetic/render_views.py` writes. Two rows a table: all photos together, and
the mean over its photos, each by itself. The columns:

    recall     pieces found, of those that at least one photo shows
    hidden     the same of those that at least one photo hides
    raised     the same of those that stand on something
    precision  true pieces of those found; size: pieces of the right size of the true ones
    mm50 mm95  median and 95 % quantile of the errors of distances between edges
    in95       share of these errors within 1.96 stated σ
    z z95      root mean square error of heights in mm; share within 1.96 stated σ
    wrong      rulings that are certain and false / certain ones / all asked: those nearest to a line
    moved      moved pieces that were named / moved / invented
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from evaluate.several.judged import Judged, judge
from evaluate.several.tables import PhotoTable, tables_in
from overruler.errors import CannotMeasure

COLUMNS = (
    "table", "photos", "recall", "hidden", "raised", "precision", "size", "mm50", "mm95", "in95",
    "z", "z95", "wrong", "moved", "s",
)  # fmt: skip


def measure_together(table: PhotoTable) -> Judged:
    return judge(table, table.look(table.photos))


def measure_alone(table: PhotoTable) -> Judged:
    """What each photo of a table shows by itself, added up."""
    counted = Judged()
    for shown in table.photos:
        try:
            counted.add(judge(table, table.look_alone(shown)))
        except CannotMeasure:
            nothing = Judged()
            nothing.wanted = sum(one["best_visible_rim"] >= 0.25 for one in table.whole["pieces"])
            counted.add(nothing)
    return counted


def row(name: str, photos: str, one: Judged, took_s: float) -> list[str]:
    errors, sigmas = np.abs(one.errors_mm), np.abs(one.errors_sigmas)
    heights, heights_sigmas = np.array(one.heights_mm), np.abs(one.heights_sigmas)
    return [
        name, photos,
        _share(one.found, one.wanted), _share(one.hidden_found, one.hidden),
        _share(one.raised_found, one.raised), _share(one.true, one.pieces),
        _share(one.sized, one.true), _quantile(errors, 0.5), _quantile(errors, 0.95),
        _share(int((sigmas <= 1.96).sum()), len(sigmas)),
        f"{np.sqrt(np.mean(heights**2)):.2f}" if len(heights) else "-",
        _share(int((heights_sigmas <= 1.96).sum()), len(heights_sigmas)),
        f"{one.wrong}/{one.certain}/{one.rulings}",
        f"{one.named}/{one.moves}/{one.invented}", f"{took_s:.0f}",
    ]  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _quantile(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", share: float) -> str:
    return f"{np.quantile(values, share):.2f}" if len(values) else "-"


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    shown = Table(*COLUMNS, box=None)
    all_of = {"together": Judged(), "alone": Judged()}
    for table in tables_in(options.folder, options.only):
        for kind in all_of:
            begin = time.monotonic()
            counted = measure_together(table) if kind == "together" else measure_alone(table)
            all_of[kind].add(counted)
            cells = row(table.name, kind, counted, time.monotonic() - begin)
            shown.add_row(*cells)
            print(" ".join(cells), file=sys.stderr, flush=True)
    for kind, counted in all_of.items():
        shown.add_row(*row("all", kind, counted, 0.0))
    Console(width=160).print(shown)
    if options.json:
        options.json.write_text(json.dumps({k: vars(v) for k, v in all_of.items()}))
    return int(all_of["together"].wrong > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], help="a table")
    parser.add_argument("--json", type=Path, help="write the counts")
    return parser


if __name__ == "__main__":
    sys.exit(main())

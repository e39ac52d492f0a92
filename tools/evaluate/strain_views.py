#!/usr/bin/env python3
"""Hold certainty against faults among several photos: none may make a false ruling certain.

    uv run tools/evaluate/strain_views.py FOLDER [--only TABLE]... [--fault NAME]...

FOLDER holds what `tools/synthetic/render_views.py` writes. One row a table and fault:

    wrong   rulings that are certain and false / certain ones / all asked: those nearest to a line
    beyond  distances off by more than 4 stated σ, of all
    σ       median stated σ of a distance, against that of the photos without the fault; of one photo
            given again, against that of this photo alone: below 1 is false precision
    said    the flags of what was said about the photos, or why they were refused
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from evaluate.several.faults import FAULTS, with_other_table
from evaluate.several.judged import Judged, judge
from evaluate.several.tables import PhotoTable, Shown, tables_in
from overruler.errors import OverrulerError
from overruler.report import Report

BEYOND_SIGMAS = 4.0
"""An error beyond this many σ contradicts the stated doubt."""
ONE_AGAIN = ("twice", "encoded again", "scaled", "brightened", "turned", "cut")
"""Faults with two photos of which one is the other again."""


def strained(table: PhotoTable, fault: str, photos: Sequence[Shown]) -> tuple[list[str], int]:
    """A row for one fault on one table; also how many rulings are certain and false."""
    try:
        report = table.look(photos)
    except OverrulerError as error:
        return [table.name, fault, "-", "-", "-", f"refused: {error}"], 0
    counted = judge(table, report)
    plain = table.look(table.photos[:1] if fault in ONE_AGAIN else table.photos)
    ratio = _usual_sigma(counted) / _usual_sigma(judge(table, plain))
    beyond = int((np.abs(counted.errors_sigmas) > BEYOND_SIGMAS).sum())
    return [
        table.name,
        fault,
        f"{counted.wrong}/{counted.certain}/{counted.rulings}",
        f"{beyond}/{len(counted.errors_sigmas)}",
        f"{ratio:.2f}",
        _said(report),
    ], counted.wrong


def _usual_sigma(counted: Judged) -> float:
    errors, sigmas = np.abs(counted.errors_mm), np.abs(counted.errors_sigmas)
    return float(np.median(errors / np.maximum(sigmas, 1e-9)))


def _said(report: Report) -> str:
    flags = sorted({problem.flag for problem in report.calibration.problems})
    moved = len(report.scene.extra.get("moved", []))
    return ", ".join([*flags, *([f"{moved} moved"] if moved else [])])


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    tables = list(tables_in(options.folder, options.only))
    shown, wrong = Table("table", "fault", "wrong", "beyond", "σ", "said", box=None), 0
    for k, table in enumerate(tables):
        cases = {name: fault(table) for name, fault in FAULTS.items()}
        if len(tables) > 1:
            cases["another table"] = with_other_table(table, tables[k - 1])
        for name, photos in cases.items():
            if not photos or (options.fault and name not in options.fault):
                continue
            cells, false = strained(table, name, photos)
            wrong += false
            shown.add_row(*cells)
            print(" | ".join(cells), file=sys.stderr, flush=True)
    Console(width=180).print(shown)
    return int(wrong > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], help="a table")
    parser.add_argument("--fault", action="append", default=[], help="a fault, by its name")
    return parser


if __name__ == "__main__":
    sys.exit(main())

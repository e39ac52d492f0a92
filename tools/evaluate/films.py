#!/usr/bin/env python3
"""How well are recorded games analysed? Moves found and invented, and how far times, ends and lengths are off.

    uv run tools/evaluate/films.py out/clips/*.mp4

Beside each film lie its truth (.json) and its board file (.toml), as tools/synthetic/render_film.py writes them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

Row = dict[str, Any]
NEAR_MM, NEAR_S = 25.0, 3.0
"""A move found this near to a true one, at either end and in time, is that one."""


def analysed(film: Path, out: Path, more: Sequence[str]) -> list[Row]:
    """The moves that the program finds in a film."""
    command = [
        sys.executable,
        "-m",
        "overruler",
        "analyze",
        str(film),
        "--board",
        str(film.with_suffix(".toml")),
    ]
    done = subprocess.run(
        [*command, "--out", str(out), *more], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        return []
    rows: list[Row] = pyarrow.parquet.read_table(out / film.stem / "moves.parquet").to_pylist()
    return rows


def paired(found: Sequence[Row], truth: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The moves found and the true ones that they are, each at most once."""
    left, pairs = list(found), []
    for true in truth:
        best = min(left, key=lambda row: _apart(row, true), default=None)
        if best is not None and _apart(best, true) < 1:
            left.remove(best)
            pairs.append((best, true))
    return pairs


def _apart(row: Row, true: Row) -> float:
    ends = max(_miss(row, true))
    return max(ends / NEAR_MM, float(abs(row["end_s"] - true["t_end_s"])) / NEAR_S)


def _miss(row: Row, true: Row) -> tuple[float, float]:
    """How far, in mm, either end is off."""
    start = np.hypot(row["from_x_mm"] - true["from_mm"][0], row["from_y_mm"] - true["from_mm"][1])
    end = np.hypot(row["to_x_mm"] - true["to_mm"][0], row["to_y_mm"] - true["to_mm"][1])
    return float(start), float(end)


def measures(row: Row, true: Row) -> Row:
    """How far one move is off."""
    straight = float(np.hypot(*np.subtract(true["to_mm"], true["from_mm"])))
    return {
        "start_s": row["start_s"] - true["t_start_s"],
        "end_s": row["end_s"] - true["t_end_s"],
        "from_mm": _miss(row, true)[0],
        "to_mm": _miss(row, true)[1],
        "distance_mm": row["distance_mm"] - straight,
        "path_mm": row["path_mm"] - true["path_length_mm"],
        "distance_in95": abs(row["distance_mm"] - straight) < 1.96 * row["sigma_mm"],
        "path_in95": abs(row["path_mm"] - true["path_length_mm"]) < 1.96 * row["path_sigma_mm"],
    }


LIMITS = {
    "start_s": 0.3,
    "end_s": 0.3,
    "from_mm": 0.5,
    "to_mm": 0.5,
    "distance_mm": 0.7,
    "path_mm": 0.7,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("films", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="print every move")
    args, more = parser.parse_known_args()
    for missing in (
        path for film in args.films if not (path := film.with_suffix(".json")).is_file()
    ):
        parser.error(f"{missing}: is missing: the truth of a film lies beside it")
    rows, missed, invented = [], 0, 0
    with tempfile.TemporaryDirectory() as out:
        for film in args.films:
            truth = json.loads(film.with_suffix(".json").read_text())["moves"]
            found = analysed(film, Path(out), more)
            pairs = paired(found, truth)
            rows += [measures(*pair) for pair in pairs]
            missed, invented = missed + len(truth) - len(pairs), invented + len(found) - len(pairs)
            print(
                f"{film.name}: {len(pairs)} of {len(truth)} found, {len(found) - len(pairs)} invented"
            )
            for row, true in pairs if args.each else ():
                told = ", ".join(f"{key} {value:.2f}" for key, value in measures(row, true).items())
                print(
                    f"  {true['t_start_s']:.1f} s {true['piece']} legs {len(true['path_mm']) - 1}: {told}"
                )
    show(rows, missed, invented)


def show(rows: Sequence[Row], missed: int, invented: int) -> None:
    table = Table(
        "",
        "median",
        "95 %",
        "worst",
        "within",
        title=f"{len(rows)} moves found, {missed} missed, {invented} invented",
    )
    for key, limit in LIMITS.items():
        off = np.abs([row[key] for row in rows])
        if len(off):
            worst = [
                f"{value:.2f}" for value in (np.median(off), np.quantile(off, 0.95), off.max())
            ]
            table.add_row(key, *worst, f"{np.mean(off <= limit):.0%} of {limit}")
    for key in ("distance_in95", "path_in95"):
        if rows:
            table.add_row(key, "", "", "", f"{np.mean([row[key] for row in rows]):.0%}")
    Console().print(table)


if __name__ == "__main__":
    main()

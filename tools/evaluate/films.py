#!/usr/bin/env python3
"""How well are recorded games analysed? Moves found and invented, and how far times, ends and lengths are off.

    uv run tools/evaluate/films.py out/clips/*.mp4
    uv run tools/evaluate/films.py --together out/films/film_003.mkv

Beside each film lie its truth (.json) and its board file (.toml), as tools/synthetic/render_film.py writes them. With
--together the films of its other cameras (film_003_2.mkv, ...) are analysed with it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from synthetic.arrays import Array

Row = dict[str, Any]
NEAR_MM, NEAR_S = 25.0, 3.0
"""A move found this near to a true one, at either end and in time, is that one."""


SAME_PLACE_MM = 5.0
"""A piece found this near to a true one is that one."""
CHI2_95 = 5.99
"""Squared distance in σ, in the plane, within which 95 % lie."""


def analysed(films: Sequence[Path], out: Path, more: Sequence[str]) -> Path | None:
    """The folder of what the program finds in the films of one table."""
    start = [sys.executable, "-m", "overruler", "analyze", *map(str, films)]
    options = ["--board", str(films[0].with_suffix(".toml")), "--out", str(out), *more]
    if len(films) > 1:
        options.append("--together")
    done = subprocess.run([*start, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        return None
    return out / "+".join(film.stem for film in films)


def moves_in(results: Path | None) -> list[Row]:
    """The moves that were found."""
    if results is None:
        return []
    rows: list[Row] = pyarrow.parquet.read_table(results / "moves.parquet").to_pylist()
    return rows


def pieces_at_first(results: Path, true_pieces: Sequence[Row]) -> Row:
    """How the pieces of the first scene compare with the true ones."""
    with (results / "scenes.jsonl").open(encoding="utf-8") as scenes:
        left: list[Row] = json.loads(next(scenes))["pieces"]
    found, inside, errors_mm = len(left), 0, []
    for true in true_pieces:
        best = min(left, key=lambda one: float(np.hypot(*_off(one, true))), default=None)
        if best is None or np.hypot(*_off(best, true)) > SAME_PLACE_MM:
            continue
        left.remove(best)
        off = _off(best, true)
        errors_mm.append(float(np.hypot(*off)))
        inside += bool(off @ np.linalg.solve(best["covariance_mm2"], off) < CHI2_95)
    right = len(errors_mm)
    return {"true": len(true_pieces), "right": right, "false": found - right, "inside": inside,
            "error_mm": float(np.median(errors_mm)) if errors_mm else np.nan}  # fmt: skip


def _off(one: Row, true: Row) -> Array:
    return np.array([one["x_mm"] - true["x_mm"], one["y_mm"] - true["y_mm"]])


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
    together = "each film with those of its other cameras"
    parser.add_argument("--together", action="store_true", help=together)
    args, more = parser.parse_known_args()
    for missing in (
        path for film in args.films if not (path := film.with_suffix(".json")).is_file()
    ):
        parser.error(f"{missing}: is missing: the truth of a film lies beside it")
    rows, missed, invented = [], 0, 0
    with tempfile.TemporaryDirectory() as out:
        for film in args.films:
            truth = json.loads(film.with_suffix(".json").read_text())
            beside = sorted(film.parent.glob(f"{film.stem}_*.mkv")) if args.together else []
            began_s = time.monotonic()
            results = analysed([film, *beside], Path(out), more)
            took_s = time.monotonic() - began_s
            found = moves_in(results)
            pairs = paired(found, truth["moves"])
            rows += [measures(*pair) for pair in pairs]
            lacking, extra = len(truth["moves"]) - len(pairs), len(found) - len(pairs)
            missed, invented = missed + lacking, invented + extra
            print(
                f"{film.name}, {1 + len(beside)} cameras, {took_s:.0f} s: "
                f"{len(pairs)} of {len(truth['moves'])} moves found, {extra} invented"
            )
            if results is not None:
                print(f"  first scene: {pieces_at_first(results, truth['pieces'])}")
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

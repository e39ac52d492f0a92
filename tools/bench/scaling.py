#!/usr/bin/env python3
"""How does an analysis scale with workers? The work of a film's segments is timed; many workers are simulated.

    uv run tools/bench/scaling.py game.mkv --hours 3

Beside the film lies its board file (.toml). CPU time of one segment tells what a segment costs: finding the table once,
and watching every second. Segments do not wait for each other, so a longer film's are handed to workers one after
another as `--engine dask` does it; what is joined at the end is timed too. Nothing here was run on that many machines.
"""

import argparse
import heapq
import json
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from overruler.apps.analyze.merge import Data, merge_segments
from overruler.apps.analyze.segment import (
    LEAD_S,
    SEGMENT_S,
    TAIL_S,
    analyze_segment,
    encode_json,
    split_film,
)
from overruler.apps.analyze.tables import MOVE_COLUMNS, POSITION_COLUMNS, encode_parquet
from overruler.board import Board
from overruler.referee import Referee

WORKERS = (1, 2, 4, 8, 16, 36, 72)
SPREAD = 0.2
"""1 σ of how much more or less there is to do in a segment, as a share."""


def timed(film: Path) -> tuple[float, float, float, Data]:
    """CPU seconds to find the table, and for each second of film after; the film's length; what it tells."""
    segment = split_film(film, Referee(Board.load(film.with_suffix(".toml"))), 1e9)[0]
    marks: list[tuple[float, float]] = []
    told = analyze_segment(segment, lambda time_s: marks.append((time_s, time.process_time())))
    opened = max(range(1, len(marks)), key=lambda k: marks[k][1] - marks[k - 1][1])
    opening_s = marks[opened][1] - marks[opened - 1][1]
    rate = (marks[-1][1] - marks[0][1] - opening_s) / (marks[-1][0] - marks[0][0])
    return opening_s, rate, marks[-1][0], told


def joined_s(told: Data, copies: int) -> float:
    """CPU seconds to join so many segments and write their tables."""
    parts = [
        json.loads(encode_json(told)) | {"from_s": k * SEGMENT_S, "to_s": (k + 1) * SEGMENT_S}
        for k in range(copies)
    ]
    begin = time.process_time()
    film = merge_segments("film", parts)
    encode_parquet(film.positions, POSITION_COLUMNS)
    encode_parquet(film.moves, MOVE_COLUMNS)
    return time.process_time() - begin


def makespan(costs: list[float], workers: int) -> float:
    """When the last of the workers is done, each taking the next segment as soon as it is free."""
    free = [0.0] * workers
    for cost in costs:
        heapq.heappush(free, heapq.heappop(free) + cost)
    return max(free)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("--hours", type=float, default=3.0)
    args = parser.parse_args()
    opening_s, rate, long_s, told = timed(args.film)
    count = max(1, round(args.hours * 3600 / SEGMENT_S))
    draw = np.random.default_rng(1).normal(1, SPREAD, count).clip(0.5)
    costs = [opening_s + rate * (SEGMENT_S + LEAD_S + TAIL_S) * float(share) for share in draw]
    after_s, work_s = joined_s(told, count), sum(costs)
    title = f"{args.hours:g} hours as {count} segments, by {long_s:.0f} s of {args.film.name}"
    table = Table("workers", "hours", "faster than one", "of what N times would be", title=title)
    for workers in WORKERS:
        took = makespan(costs, workers) + after_s
        faster = (work_s + after_s) / took
        table.add_row(
            str(workers), f"{took / 3600:.2f}", f"{faster:.1f} ×", f"{faster / workers:.0%}"
        )
    Console().print(table)
    print(
        f"finding the table {opening_s:.1f} s, then {rate:.2f} s of CPU a second of film; joining {after_s:.1f} s"
    )
    chain_s, all_s = max(costs) + after_s, work_s + after_s
    print(f"all work {all_s:.0f} s, longest chain {chain_s:.0f} s: at most {all_s / chain_s:.0f} ×")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How fast is it? Stages of a measurement beside things that everybody knows, in one run.

    uv run tools/bench.py measure sample_images/legion_desert.jpg

Seconds are this machine's and its load's; the ratios can be compared. Every row is the median of several rounds
in which all rows take turns.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table

from overruler.bases import catalogue
from overruler.board import Board
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from overruler.vision.calibrate import calibrate
from overruler.vision.detect import detect


def measure(photo: Path, rounds: int) -> Table:
    """A photo's stages, against decoding its JPEG and against OpenCV's circle detector."""
    board = Board.load(photo.with_suffix(".toml"))
    frame = load_photo(photo)
    calibration = calibrate(frame, board)
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY)
    data = np.frombuffer(photo.read_bytes(), np.uint8)
    tasks: dict[str, Callable[[], object]] = {
        "decode the JPEG": lambda: cv2.imdecode(data, cv2.IMREAD_COLOR),
        "HoughCircles (ALT)": lambda: cv2.HoughCircles(grey, cv2.HOUGH_GRADIENT_ALT, 1.5, 20, None, 300, 0.8, 8, 300),
        "calibrate": lambda: calibrate(frame, board),
        "detect": lambda: detect(frame, calibration, catalogue()),
        "look (all of it)": lambda: Referee(board).look(load_photo(photo)),
    }
    return _table(photo.name, side_by_side(tasks, rounds))


def side_by_side(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each task; the tasks take turns, so that a busy moment hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            begin = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - begin)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def _table(title: str, seconds: dict[str, float]) -> Table:
    table = Table("", "s", "× decode", "× HoughCircles", title=title)
    decode, hough = seconds["decode the JPEG"], seconds["HoughCircles (ALT)"]
    for name, value in seconds.items():
        table.add_row(name, f"{value:.3f}", f"{value / decode:.1f}", f"{value / hough:.2f}")
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure"])
    parser.add_argument("photo", type=Path, help="NAME.jpg with its board file NAME.toml beside it")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    Console().print(measure(args.photo, args.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How much faster a batch is than one process after another: `overruler measure FOLDER` against single runs.

uv run tools/bench/batch.py [--photos 40] [--jobs N]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
"""Seconds on the clock, and of the processors."""
SAMPLES = Path(__file__).parents[2] / "sample_images"
SAMPLE = "legion_desert"
"""The sample that is measured again and again: its board file knows the table."""
MEASURE = (sys.executable, "-m", "overruler", "measure", "--json", "--game", "legion")
BOARD = ("--board", str(SAMPLES / f"{SAMPLE}.toml"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=40, help="photos to measure (40)")
    parser.add_argument(
        "--jobs", type=int, help="processes of the batch (the program's own choice)"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        photos = copy_samples(Path(folder), args.photos)
        jobs = ["--jobs", str(args.jobs)] if args.jobs else []
        half = args.photos // 2
        alone = time_each(photos[:half])  # half before and half after: the machine may be busy
        batch = time_command([*MEASURE, *BOARD, *jobs, folder], args.photos)
        alone += time_each(photos[half:])
    print(f"{args.photos} photos, {os.cpu_count()} processors")
    print(f"a process each: {describe_times(alone, args.photos)}")
    print(f"one batch:      {describe_times(batch, args.photos)}")
    print(f"the batch is {alone[0] / batch[0]:.2f} times as fast")


def copy_samples(folder: Path, count: int) -> list[Path]:
    """Copy the sample as so many photos."""
    photos = [folder / f"photo{number:02}.jpg" for number in range(count)]
    for photo in photos:
        shutil.copy(SAMPLES / f"{SAMPLE}.jpg", photo)
    return photos


def time_each(photos: list[Path]) -> Times:
    """The times of a process for each photo."""
    times = [time_command([*MEASURE, *BOARD, str(photo)], 1) for photo in photos]
    total: Times = np.sum(times, axis=0, dtype=float)
    return total


def describe_times(times: Times, photos: int) -> str:
    wall_s, processor_s = times
    return f"{wall_s:.1f} s, {wall_s / photos:.2f} s a photo; {processor_s:.1f} s of processor time"


def children_s() -> float:
    """Processor time of all processes that have ended, in s; 0 on Windows."""
    return os.times().children_user + os.times().children_system


def time_command(command: list[str], lines: int) -> Times:
    """The seconds on the clock and of the processors that a command takes; it must print so many scenes."""
    before_s, start_s = children_s(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    took_s = time.perf_counter() - start_s
    if done.stdout.count("\n") != lines or '"error"' in done.stdout:
        raise SystemExit(f"not all photos were measured: {done.stderr}")
    return np.array([took_s, children_s() - before_s])


if __name__ == "__main__":
    main()

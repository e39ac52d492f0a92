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
        batch_s = time_command([*MEASURE, *BOARD, *jobs, folder], args.photos)
        alone_s = sum(time_command([*MEASURE, *BOARD, str(photo)], 1) for photo in photos)
    print(f"{args.photos} photos, {os.cpu_count()} processors")
    print(f"a process each: {alone_s:.1f} s, {alone_s / args.photos:.2f} s a photo")
    print(f"one batch:      {batch_s:.1f} s, {batch_s / args.photos:.2f} s a photo")
    print(f"the batch is {alone_s / batch_s:.2f} times as fast")


def copy_samples(folder: Path, count: int) -> list[Path]:
    """Copy the sample as so many photos."""
    photos = [folder / f"photo{number:02}.jpg" for number in range(count)]
    for photo in photos:
        shutil.copy(SAMPLES / f"{SAMPLE}.jpg", photo)
    return photos


def time_command(command: list[str], lines: int) -> float:
    """The seconds that a command takes; it must print so many scenes."""
    start_s = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    took_s = time.perf_counter() - start_s
    if done.stdout.count("\n") != lines or '"error"' in done.stdout:
        raise SystemExit(f"not all photos were measured: {done.stderr}")
    return took_s


if __name__ == "__main__":
    main()

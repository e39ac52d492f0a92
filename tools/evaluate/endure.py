#!/usr/bin/env python3
"""Does an analysis that is killed again and again end as one that nothing disturbed?

    uv run tools/evaluate/endure.py game.mkv --kills 20 --worker-kills 5 --segment-s 5

Beside the film lies its board file (.toml). The command is killed (SIGKILL) at random moments and started again, until
it has been killed so often and may end; then, as often as asked, on two of Dask's workers, of which one is killed.
Tables and scenes must be the same to the byte.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

FILES = (
    "moves.parquet",
    "positions.parquet",
    "scenes.jsonl",
    "moves.csv",
    "positions.csv",
    "chapters.vtt",
)


def started(film: Path, out: Path, more: Sequence[str]) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "overruler",
        "analyze",
        str(film),
        "--board",
        str(film.with_suffix(".toml")),
    ]
    silent = subprocess.DEVNULL
    return subprocess.Popen(
        [*command, "--out", str(out), *more], stdout=silent, stderr=silent, text=True
    )


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def killed(
    film: Path, out: Path, more: Sequence[str], kills: int, long_s: float, chance: random.Random
) -> Iterator[str]:
    """Kill it so often, each time later than it has got so far at most; what each kill met."""
    while kills:
        running = started(film, out, more)
        try:
            running.wait(chance.uniform(0, long_s))
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
            kills -= 1
            kept = len(list((out / film.stem / ".segments").glob("*.json")))
            yield f"killed with {kept} segments kept, {len(results(out / film.stem))} results written"
        else:
            for path in sorted(
                (out / film.stem).rglob("*"), reverse=True
            ):  # it was done: from the beginning again
                path.rmdir() if path.is_dir() else path.unlink()


def workers_of(process: int) -> list[int]:
    """The processes below a process that do Dask's work."""
    found = []
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        words = Path(f"/proc/{child}/cmdline").read_bytes()
        found += [int(child)] if b"spawn_main" in words else []
        found += workers_of(int(child))
    return found


def worker_killed(film: Path, out: Path, more: Sequence[str], after_s: float) -> int:
    """Run it on two workers, kill one; the exit status."""
    running = started(film, out, [*more, "--engine", "dask", "--workers", "2"])
    while running.poll() is None and len(workers_of(running.pid)) < 2:
        time.sleep(0.05)
    time.sleep(after_s)
    if running.poll() is None:
        os.kill(workers_of(running.pid)[-1], signal.SIGKILL)
    return running.wait()


def worker_kill_is_mended(
    film: Path, out: Path, more: Sequence[str], chance: random.Random, wanted: dict[str, bytes]
) -> bool:
    """Kill one of two workers; whether the results are the wanted ones nevertheless."""
    after_s = chance.uniform(0, 6)
    status = worker_killed(film, out, more, after_s)
    same = results(out / film.stem) == wanted
    words = "the same" if same else "NOT the same"
    print(
        f"a worker killed after {after_s:.1f} s: exit status {status}, {words} to the byte",
        flush=True,
    )
    shutil.rmtree(out)
    return same


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--worker-kills", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args, more = parser.parse_known_args()
    chance, name = random.Random(args.seed), args.film.stem
    with tempfile.TemporaryDirectory() as folder:
        whole, broken, shared = (Path(folder) / part for part in ("whole", "broken", "shared"))
        begin = time.monotonic()
        started(args.film, whole, more).wait()
        long_s, wanted = time.monotonic() - begin, results(whole / name)
        if not wanted:
            parser.error(f"nothing comes of {args.film}: overruler analyze says why")
        print(f"undisturbed: {long_s:.1f} s, {len(wanted)} files", flush=True)
        for text in killed(args.film, broken, more, args.kills, long_s, chance):
            print(f"  {text}", flush=True)
        status = started(args.film, broken, more).wait()
        same = results(broken / name) == wanted
        print(
            f"killed {args.kills} times: exit status {status}, {'the same' if same else 'NOT the same'} to the byte"
        )
        also = all(
            worker_kill_is_mended(args.film, shared, more, chance, wanted)
            for _ in range(args.worker_kills)
        )
    return 0 if same and also else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Does the server keep every photo and answer everybody while all goes wrong that can?

    uv run tools/evaluate/crowd_server.py                       # 200 clients, an hour
    sudo uv run tools/evaluate/crowd_server.py --minutes 20     # root: with a disk that fills up

Most clients tap bases, some stall in the middle of their headers or photos, some upload photos and
wait for their results, and one corrects a table. Each minute the disk of the store fills up and is
freed, the clock jumps, a second server is started on the same store, and the server is killed and
started again. Printed: the 95th percentile of the taps, what became of every photo that was taken
and of every correction that was made, tracebacks, memory.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evaluate.crowd.clients import MAX_RESULT_S, Crowd
from evaluate.server_process import Server, call, serving, upload, wait_for

MAX_TAP_S = 0.15
"""What the 95th percentile of the taps may be."""
DISK_MB = 40
"""Size of the disk that fills up."""
FULL_S = 8.0
"""How long the disk stays full."""
JUMPS_S = (0.0, 3.2e9, -1.6e9, 86_400.0)
"""How far off the clock is, in turn: right, a century ahead, in 1976, a day ahead."""


# --- what goes wrong ---


def fill_disk(crowd: Crowd) -> None:
    """Fill the disk of the store, and free it again."""
    ballast = crowd.server.store / "ballast"
    with suppress(OSError), ballast.open("wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()
    with suppress(OSError):
        crowd.counts[f"health while the disk is full: {call('GET', '/api/health')[0]}"] += 1
    time.sleep(FULL_S)
    ballast.unlink()


def jump_clock(crowd: Crowd) -> None:
    crowd.server.jump_clock(JUMPS_S[crowd.counts["clock jumps"] % len(JUMPS_S)])
    crowd.counts["clock jumps"] += 1


def start_second(crowd: Crowd) -> None:
    said = crowd.server.start_second()
    is_refused = "another server uses it" in said and len(said.splitlines()) == 1
    crowd.counts["second server refused" if is_refused else f"second server: {said[-200:]}"] += 1


def kill_server(crowd: Crowd) -> None:
    crowd.down.set()
    crowd.server.kill()
    crowd.server.start()
    crowd.down.clear()
    crowd.counts["kills"] += 1


def run_crowd(
    crowd: Crowd,
    clients: int,
    stalled: int,
    faults: list[Callable[[Crowd], None]],
    period_s: float,
) -> None:
    """Let the crowd in, and let something go wrong every so often."""
    tappers = clients - stalled - 3
    jobs = [threading.Thread(target=crowd.tap) for _ in range(tappers)]
    jobs += [threading.Thread(target=crowd.stall, args=(k,)) for k in range(stalled)]
    jobs += [threading.Thread(target=crowd.upload) for _ in range(2)]
    jobs.append(threading.Thread(target=crowd.correct))
    for job in jobs:
        job.start()
    number, next_s = 0, time.monotonic() + period_s / len(faults)
    while not crowd.is_over():
        time.sleep(0.2)
        if time.monotonic() > next_s:
            faults[number % len(faults)](crowd)
            number += 1
            crowd.loads.append(os.getloadavg()[0])
            if number % (5 * len(faults)) == 0:
                print_progress(crowd)
            next_s = max(next_s + period_s / len(faults), time.monotonic() + 1)
    for job in jobs:
        job.join()


def print_progress(crowd: Crowd) -> None:
    """Print where the run is."""
    taps = sorted(crowd.taps_s)
    print(
        f"  {len(taps)} taps, p95 {1000 * taps[len(taps) * 95 // 100]:.0f} ms, "
        f"load {crowd.loads[-1]:.1f}, {crowd.counts['kills']} kills, "
        f"{crowd.counts['photo done']} photos, {crowd.server.tracebacks()} tracebacks",
        flush=True,
    )


@contextmanager
def small_disk(server: Server) -> Iterator[None]:
    """Put the server's store on a disk of its own, which can be filled."""
    server.store.mkdir()
    size = f"size={DISK_MB}m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(server.store)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(server.store)], check=True)


# --- the run ---


def print_figures(crowd: Crowd, args: argparse.Namespace) -> bool:
    """Print what came of it; whether all is well."""
    server, taps = crowd.server, sorted(crowd.taps_s)
    p95_s = statistics.quantiles(taps, n=20)[-1] if len(taps) > 1 else 99.0
    print(f"{args.clients} clients, {args.stalled} of them stalled, {args.minutes:g} min")
    print(
        f"  {len(taps)} taps: p50 {1000 * statistics.median(taps):.0f} ms, "
        f"p95 {1000 * p95_s:.0f} ms, slowest {1000 * taps[-1]:.0f} ms"
    )
    if crowd.loads:
        mean = statistics.fmean(crowd.loads)
        print(f"  load of the machine: {mean:.1f} on average, {os.cpu_count()} processors")
    print(f"  {dict(sorted(crowd.counts.items()))}", flush=True)
    states = wait_for(list(crowd.accepted), MAX_RESULT_S)
    late = crowd.counts["photo late"]
    print(f"  photos without a result at the end: {dict(states)}; late: {late}")
    unasked = call("GET", f"/api/measurements/{crowd.name}/table")[0]
    print(f"  the first photo, after all that: {unasked}")
    print(f"  {server.tracebacks()} tracebacks, memory {server.memory_mb():.0f} MB")
    if server.tracebacks():
        print(server.log()[-3000:])
    lost = sum(states[state] for state in states if state != "done")
    lost += crowd.counts["photo failed"] + crowd.counts["photo gone"]
    fine = {f"correction {what}" for what in ("200", "503", "while killed")}
    lost += sum(crowd.counts[key] for key in crowd.counts if key[:4] == "corr" and key not in fine)
    return not (lost or late or server.tracebacks() or unasked != 200 or p95_s > MAX_TAP_S)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=60.0)
    period = "time in which each thing goes wrong once (60)"
    parser.add_argument("--period", type=float, default=60.0, metavar="SECONDS", help=period)
    think = "mean time between two taps of a client (3)"
    parser.add_argument("--think", type=float, default=3.0, metavar="SECONDS", help=think)
    parser.add_argument("--photo", type=Path, help="the photo to upload (the sample)")
    parser.add_argument("--calm", action="store_true", help="nothing goes wrong but the stalling")
    args = parser.parse_args()
    faults: list[Callable[[Crowd], None]] = [jump_clock, start_second, kill_server]
    is_root = os.geteuid() == 0
    faults[:0] = [fill_disk] if is_root else []
    if not is_root and not args.calm:
        print("the disk does not fill up: only root may mount a small one")
    with serving(small_disk if is_root else None) as server:
        names = [str(upload()), str(upload())]
        assert wait_for(names, MAX_RESULT_S) == {"done": 2}
        photo = args.photo.read_bytes() if args.photo else small_photo()
        crowd = Crowd(
            server, names[0], names[1], photo, time.monotonic() + 60 * args.minutes, args.think
        )
        calm: list[Callable[[Crowd], None]] = [lambda crowd: None]
        run_crowd(crowd, args.clients, args.stalled, calm if args.calm else faults, args.period)
        return 0 if print_figures(crowd, args) else 1


def small_photo() -> bytes:
    """The sample photo at half its size, which is measured soon."""
    import io

    from PIL import Image

    from evaluate.server_process import PHOTO

    file = io.BytesIO()
    with Image.open(io.BytesIO(PHOTO)) as image:
        image.reduce(2).save(file, "JPEG", quality=85)
    return file.getvalue()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Does the server keep every photo and answer everybody while all goes wrong that can?

    uv run tools/evaluate/crowd_server.py                       # 200 clients, an hour
    sudo uv run tools/evaluate/crowd_server.py --minutes 20     # root: with a disk that fills up

Most clients tap bases, some stall in the middle of their headers or photos, some upload photos and
wait for their results. Each minute the disk of the store fills up and is freed, the clock jumps, a
second server is started on the same store, and the server is killed and started again. Printed:
the 95th percentile of the taps, what became of every photo that was taken, tracebacks, memory.
"""

import argparse
import http.client
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from evaluate.server_process import (
    HOST,
    PORT,
    QUESTION,
    TIMEOUT_S,
    UPLOAD,
    Server,
    call,
    look_up,
    serving,
    upload,
    wait_for,
)

MAX_TAP_S = 0.15
"""What the 95th percentile of the taps may be."""
KEPT_S = 15.0
"""For how long a client takes an idle connection for open: the server ends it after 20 s."""
DISK_MB = 40
"""Size of the disk that fills up."""
FULL_S = 8.0
"""How long the disk stays full."""
MAX_RESULT_S = 600.0
"""Longest time that a photo may wait for its result, in all."""
JUMPS_S = (0.0, 3.2e9, -1.6e9, 86_400.0)
"""How far off the clock is, in turn: right, a century ahead, in 1976, a day ahead."""


# --- clients ---


@dataclass
class Crowd:
    """Clients that tap, stall and upload at once."""

    server: Server
    name: str
    """A measurement whose bases are tapped."""
    photo: bytes
    """The photo that is uploaded."""
    end_s: float
    think_s: float
    """Mean time between two taps of a client."""
    taps_s: list[float] = field(default_factory=list)
    accepted: dict[str, float] = field(default_factory=dict)
    """When each photo was taken whose result has not been seen yet."""
    counts: Counter[str] = field(default_factory=Counter)
    down: threading.Event = field(default_factory=threading.Event)
    """Set while the server is killed."""

    def is_over(self) -> bool:
        return time.monotonic() >= self.end_s

    def tap(self) -> None:
        """Ask for a ruling again and again, on one connection, as a phone does."""
        draw = random.Random()
        line = http.client.HTTPConnection(HOST, PORT, timeout=TIMEOUT_S)
        starts = self.server.starts
        while not self.is_over():
            pause_s = draw.expovariate(1 / self.think_s)
            time.sleep(pause_s)
            if pause_s > KEPT_S or starts != self.server.starts:
                line.close()
                starts = self.server.starts
            self.tap_once(line)
        line.close()

    def tap_once(self, line: http.client.HTTPConnection) -> None:
        begin, was_down = time.monotonic(), self.down.is_set()
        try:
            line.request("POST", f"/api/measurements/{self.name}/ask", QUESTION)
            answer = line.getresponse()
            answer.read()
            kind = f"tap {answer.status}"
            if not was_down and not self.down.is_set():
                self.taps_s.append(time.monotonic() - begin)
        except (OSError, http.client.HTTPException):
            line.close()
            is_excused = was_down or self.down.is_set()
            kind = "tap while killed" if is_excused else "tap without answer"
        self.counts[kind] += 1

    def stall(self, number: int) -> None:
        """Send half a request and wait, again and again."""
        halves = (
            b"GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Half: ",
            f"POST {UPLOAD} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n".encode()
            + self.photo[:5000],
        )
        while not self.is_over():
            with suppress(OSError), socket.create_connection((HOST, PORT), 5) as line:
                line.sendall(halves[number % 2])
                line.settimeout(max(0.1, min(20.0, self.end_s - time.monotonic())))
                line.recv(4096)
                self.counts["stall ended"] += 1
            time.sleep(0.2)

    def upload(self) -> None:
        """Send a photo, wait for its result, delete it; again and again."""
        while not self.is_over():
            try:
                name = upload(self.photo)
            except (OSError, ValueError):
                self.counts["upload without answer"] += 1
                time.sleep(1)
                continue
            self.counts["upload accepted" if name else "upload told to wait"] += 1
            if name:
                self.accepted[name] = time.monotonic()
                self.await_result(name)
            time.sleep(1)

    def await_result(self, name: str) -> None:
        while not self.is_over():
            time.sleep(1)
            with suppress(OSError, ValueError):
                state, step = look_up(name)
                if state in ("queued", "measuring"):
                    continue
                self.counts[f"photo {state}"] += 1
                if state != "done":
                    self.counts[f"  {step}"] += 1
                waited_s = time.monotonic() - self.accepted.pop(name)
                self.counts["photo late"] += waited_s > MAX_RESULT_S
                with suppress(OSError):
                    call("DELETE", f"/api/measurements/{name}")
                return


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
    tappers = clients - stalled - 2
    jobs = [threading.Thread(target=crowd.tap) for _ in range(tappers)]
    jobs += [threading.Thread(target=crowd.stall, args=(k,)) for k in range(stalled)]
    jobs += [threading.Thread(target=crowd.upload) for _ in range(2)]
    for job in jobs:
        job.start()
    number, next_s = 0, time.monotonic() + period_s / len(faults)
    while not crowd.is_over():
        time.sleep(0.2)
        if time.monotonic() > next_s:
            faults[number % len(faults)](crowd)
            number += 1
            next_s = max(next_s + period_s / len(faults), time.monotonic() + 1)
    for job in jobs:
        job.join()


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
        name = upload()
        assert name is not None
        assert wait_for([name], MAX_RESULT_S) == {"done": 1}
        photo = args.photo.read_bytes() if args.photo else small_photo()
        crowd = Crowd(server, name, photo, time.monotonic() + 60 * args.minutes, args.think)
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

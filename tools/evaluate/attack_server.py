#!/usr/bin/env python3
"""Does the server answer everybody while many stall, and whatever is sent to it?

    uv run tools/evaluate/attack_server.py                              # 10 000 requests, 200 clients, 60 s
    uv run tools/evaluate/attack_server.py --clients 20 --stalled 5 --seconds 10 --requests 500

It starts a server of its own on this machine alone, with a store of its own, and ends it. Part one: good requests are
damaged and sent raw; every answer is HTTP below 500 (or a 503 that says when to come again), or the connection ends.
Part two: most clients tap bases, some stall in the middle of their headers or photos, some upload; the server is
killed and started again. Printed: the 95th percentile of the taps, what was lost, the tracebacks in the log, memory.
"""

import argparse
import http.client
import json
import random
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_images"
PHOTO = (SAMPLES / "legion_desert.jpg").read_bytes()
QUESTION = json.dumps({"question": "range", "from": "p01", "to": "p02"}).encode()
UPLOAD = "/api/measurements?game=legion&table=legion%20desert"
PORT = 18_321
HOST = "127.0.0.1"
MAX_TAP_S = 0.15
"""What the 95th percentile of the taps may be."""
KEPT_S = 15.0
"""For how long a client takes an idle connection for open: the server ends it after 20 s."""
TIMEOUT_S = 30.0
"""A request that takes longer counts as one that hangs."""

# --- the server ---


@dataclass
class Server:
    """A server that is killed and started again."""

    folder: Path
    starts: int = 0
    process: "subprocess.Popen[bytes]" = field(init=False)

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        command = [sys.executable, "-m", "overruler", "serve", "--port", str(PORT)]
        options = ["--board", str(SAMPLES / "legion_desert.toml"), "--store", "store"]
        self.process = subprocess.Popen(
            [*command, *options], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=log
        )
        log.close()
        self.starts += 1
        end_s = time.monotonic() + 60
        while time.monotonic() < end_s:
            with suppress(OSError):
                if call("GET", "/api/about")[0] == 200:
                    return
            time.sleep(0.1)
        raise SystemExit("the server does not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1000

    def tracebacks(self) -> int:
        return (self.folder / "log").read_text(errors="replace").count("Traceback")


@contextmanager
def serving() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()


def call(method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Ask the server for something; the status and the body."""
    line = http.client.HTTPConnection(HOST, PORT, timeout=TIMEOUT_S)
    try:
        line.request(method, path, body)
        answer = line.getresponse()
        return answer.status, answer.read()
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from None
    finally:
        line.close()


def upload() -> str | None:
    """Send a photo; its id, or None where the server asks to come again."""
    status, body = call("POST", UPLOAD, PHOTO)
    return str(json.loads(body)["id"]) if status == 202 else None


def state_of(name: str) -> str:
    return str(json.loads(call("GET", f"/api/measurements/{name}")[1])["state"])


def wait_for(names: list[str], most_s: float) -> Counter[str]:
    """Wait until measurements have ended; the count of each state."""
    end_s = time.monotonic() + most_s
    while True:
        states = Counter(state_of(name) for name in names)
        if not states.keys() & {"queued", "measuring"} or time.monotonic() > end_s:
            return states
        time.sleep(0.5)


# --- damaged requests ---


def good_requests(name: str) -> list[bytes]:
    at = f"/api/measurements/{name}"
    fixes = json.dumps({"schema": "overruler/fix/1", "fix": [{"do": "remove", "id": "p99"}]})
    parts = [
        ("GET", "/", b""),
        ("GET", "/api/about", b""),
        ("GET", "/api/health", b""),
        ("GET", "/api/measurements", b""),
        ("GET", at, b""),
        ("GET", f"{at}/table", b""),
        ("GET", f"{at}/bands?piece=p01&lines_mm=1,2", b""),
        ("GET", f"{at}/bundle?question=%7B%7D", b""),
        ("GET", f"{at}/watch", b""),
        ("POST", f"{at}/ask", QUESTION),
        ("PUT", f"{at}/fixes", fixes.encode()),
        ("POST", UPLOAD, b"\xff\xd8\xff\xe0" + bytes(60)),
        ("DELETE", "/api/measurements/234567892345", b""),
    ]
    return [_raw(*part) for part in parts]


def _raw(method: str, path: str, body: bytes) -> bytes:
    socket_words = ""
    if path.endswith("/watch"):
        socket_words = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        )
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{socket_words}"
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{head}{length}\r\n".encode() + body


def damaged(request: bytes, draw: random.Random) -> bytes:
    found = bytearray(request)
    for _ in range(draw.choice([0, 1, 1, 2, 5])):
        at = draw.randrange(len(found) + 1)
        change = draw.randrange(4)
        if change == 0 and at < len(found):
            found[at] = draw.randrange(256)
        elif change == 1:
            del found[at : at + draw.choice([1, 3, 20])]
        elif change == 2:
            evil = [b"\r\n", b"\0", b"%00", b"../", b"{", b"[" * 500, b"\xff", b": ", b"1e999"]
            found[at:at] = draw.choice(evil)
        else:
            found[at:at] = found[at : at + draw.choice([4, 40])]
    return bytes(found)


def send_raw(data: bytes) -> str:
    """Send bytes; the status of the first answer, `ended`, or `hung`."""
    with socket.create_connection((HOST, PORT), TIMEOUT_S) as line:
        with suppress(OSError):
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
        if not select.select([line], [], [], TIMEOUT_S)[0]:
            return "hung"
        try:
            head = line.recv(4096)
        except OSError:
            return "ended"
    return head.split(b" ", 2)[1].decode("latin-1") if head.startswith(b"HTTP/") else "ended"


def attack(count: int, seed: int, name: str) -> tuple[Counter[str], float]:
    """Send damaged requests; how many of each end, and the seconds of the slowest."""
    draw, good = random.Random(seed), good_requests(name)
    counts: Counter[str] = Counter()
    slowest_s = 0.0
    for _ in range(count):
        begin = time.monotonic()
        counts[send_raw(damaged(draw.choice(good), draw))] += 1
        slowest_s = max(slowest_s, time.monotonic() - begin)
    return counts, slowest_s


# --- the crowd ---


@dataclass
class Crowd:
    """Clients that tap, stall and upload at once."""

    name: str
    """A measurement whose bases are tapped."""
    end_s: float
    think_s: float
    """Mean time between two taps of a client."""
    server: Server
    taps_s: list[float] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    down: threading.Event = field(default_factory=threading.Event)
    """Set while the server is killed."""

    def tap(self) -> None:
        draw = random.Random()
        line = http.client.HTTPConnection(HOST, PORT, timeout=TIMEOUT_S)
        starts = self.server.starts
        while time.monotonic() < self.end_s:
            pause_s = draw.expovariate(1 / self.think_s)
            time.sleep(pause_s)
            if pause_s > KEPT_S:
                line.close()
            begin, was_down = time.monotonic(), self.down.is_set()
            if starts != self.server.starts:  # the old connection went with the old server
                line.close()
                starts = self.server.starts
            try:
                line.request("POST", f"/api/measurements/{self.name}/ask", QUESTION)
                answer = line.getresponse()
                answer.read()
                kind = f"tap {answer.status}"
                if not was_down and not self.down.is_set():
                    self.taps_s.append(time.monotonic() - begin)
            except (OSError, http.client.HTTPException):
                line.close()
                kind = "tap while down" if was_down or self.down.is_set() else "tap without answer"
            self.counts[kind] += 1
        line.close()

    def stall(self, number: int) -> None:
        halves = (
            b"GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Half: ",
            f"POST {UPLOAD} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n".encode()
            + PHOTO[:5000],
        )
        while time.monotonic() < self.end_s:
            with suppress(OSError), socket.create_connection((HOST, PORT), 5) as line:
                line.sendall(halves[number % 2])
                line.settimeout(max(0.1, min(20.0, self.end_s - time.monotonic())))
                line.recv(4096)
                self.counts["stall ended"] += 1
            time.sleep(0.2)

    def upload(self) -> None:
        while time.monotonic() < self.end_s:
            try:
                name = upload()
            except (OSError, ValueError):
                self.counts["upload without answer"] += 1
                time.sleep(1)
                continue
            self.counts["upload accepted" if name else "upload told to wait"] += 1
            self.accepted += [name] if name else []
            time.sleep(5)


def run_crowd(server: Server, crowd: Crowd, clients: int, stalled: int, kill_s: float) -> None:
    """Let the crowd in, and kill the server every so often."""
    tappers = clients - stalled - 2
    jobs = [threading.Thread(target=crowd.tap) for _ in range(tappers)]
    jobs += [threading.Thread(target=crowd.stall, args=(k,)) for k in range(stalled)]
    jobs += [threading.Thread(target=crowd.upload) for _ in range(2)]
    for job in jobs:
        job.start()
    next_s = time.monotonic() + kill_s
    while time.monotonic() < crowd.end_s:
        time.sleep(0.2)
        if time.monotonic() > next_s:
            crowd.down.set()
            server.kill()
            server.start()
            crowd.down.clear()
            next_s = time.monotonic() + kill_s
    for job in jobs:
        job.join()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kill-every", type=float, default=25.0, metavar="SECONDS")
    think = "mean time between two taps of a client (3)"
    parser.add_argument("--think", type=float, default=3.0, metavar="SECONDS", help=think)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with serving() as server:
        name = upload()
        assert name is not None
        wait_for([name], 120)
        begin = time.monotonic()
        counts, slowest_s = attack(args.requests, args.seed, name)
        print(
            f"{args.requests} damaged requests in {time.monotonic() - begin:.0f} s: {dict(counts)}"
        )
        print(f"  slowest {slowest_s:.2f} s, {server.tracebacks()} tracebacks", flush=True)
        crowd = Crowd(name, time.monotonic() + args.seconds, args.think, server)
        run_crowd(server, crowd, args.clients, args.stalled, args.kill_every)
        states = wait_for(crowd.accepted, 600)
        p95_s = statistics.quantiles(crowd.taps_s, n=20)[-1] if len(crowd.taps_s) > 1 else 99.0
        print(f"{args.clients} clients, {args.stalled} of them stalled, {args.seconds:g} s")
        print(
            f"  {len(crowd.taps_s)} taps: p50 {1000 * statistics.median(crowd.taps_s):.0f} ms",
            end="",
        )
        print(f", p95 {1000 * p95_s:.0f} ms, slowest {1000 * max(crowd.taps_s):.0f} ms")
        print(f"  {dict(crowd.counts)}")
        print(f"  {server.starts - 1} kills; of {len(crowd.accepted)} photos taken: {dict(states)}")
        print(f"  {server.tracebacks()} tracebacks, memory {server.memory_mb():.0f} MB")
        if server.tracebacks():
            print((server.folder / "log").read_text(errors="replace")[-3000:])
        bad = [status for status in counts if status == "hung" or status in ("500", "501", "502")]
        lost = sum(states[state] for state in states if state != "done")
        return 1 if bad or lost or server.tracebacks() or p95_s > MAX_TAP_S else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Does the server answer, whatever is sent to it?

    uv run tools/evaluate/attack_server.py                              # 10 000 requests and frames
    uv run tools/evaluate/attack_server.py --count 500 --seed 7

It starts a server of its own on this machine alone, with a store of its own, and ends it. Good
requests are damaged and sent raw; every answer is HTTP below 500 (or a 503 that says when to come
again), or the connection ends. WebSockets are opened and get frames that are damaged, forbidden or
never finished; every socket ends, and the server goes on. Printed: what came of each, the slowest,
the tracebacks in the log, memory.
"""

import argparse
import json
import random
import select
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from evaluate.server_process import (
    HOST,
    PORT,
    QUESTION,
    TIMEOUT_S,
    UPLOAD,
    call,
    serving,
    upload,
    wait_for,
)

HANDSHAKE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
"""Headers that ask for a WebSocket (RFC 6455, 1.3)."""
READ_S = 0.05
"""How long an answer to frames is read before the socket is left."""

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
    return [_raw(*part, HANDSHAKE * part[1].endswith("/watch")) for part in parts]


def _raw(method: str, path: str, body: bytes, more: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}"
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


# --- damaged frames ---


def frame(draw: random.Random) -> bytes:
    """A WebSocket frame (RFC 6455, 5.2), more often wrong than right."""
    opcode = draw.choice([0, 1, 1, 2, 3, 7, 8, 8, 9, 9, 10, 15])
    first = draw.choice([0x80, 0x80, 0, 0xC0, 0xF0]) | opcode
    body = draw.choice([b"", b"{}", b"\xff\xfe", b"\x03\xe8", b"\x00\x01", draw.randbytes(130)])
    if draw.random() < 0.03:
        body = bytes(70_000)
    stated = draw.choice([len(body)] * 4 + [len(body) + 9, 126, 1 << 62, (1 << 64) - 1])
    masked = 0x80 * (draw.random() < 0.8)
    if stated < 126:
        head = bytes([first, masked | stated])
    elif stated < 1 << 16:
        head = bytes([first, masked | 126]) + stated.to_bytes(2, "big")
    else:
        head = bytes([first, masked | 127]) + stated.to_bytes(8, "big")
    mask = draw.randbytes(4) if masked else b""
    return head + mask + (_masked(body, mask) if mask else body)


def _masked(body: bytes, mask: bytes) -> bytes:
    return bytes(byte ^ mask[at % 4] for at, byte in enumerate(body))


def frames(draw: random.Random) -> bytes:
    """One frame or several; now and then cut off, or with bytes changed."""
    data = b"".join(frame(draw) for _ in range(draw.choice([1, 1, 2, 5])))
    return damaged(data, draw) if draw.random() < 0.3 else data


def send_frames(path: str, draw: random.Random) -> str:
    """Open a WebSocket and send frames; how the socket ends, or `hung` where it does not open."""
    with socket.create_connection((HOST, PORT), TIMEOUT_S) as line:
        shake = _raw("GET", path, b"", HANDSHAKE)
        at_once = draw.random() < 0.3
        line.sendall(shake + frames(draw) if at_once else shake)
        if not select.select([line], [], [], TIMEOUT_S)[0]:
            return "hung"
        head = line.recv(4096)
        if b" 101 " not in head.partition(b"\r\n")[0]:
            return "not opened"
        with suppress(OSError):
            line.sendall(frames(draw))
            line.settimeout(READ_S)
            while line.recv(4096):
                pass
            return "ended"
    return "left"


# --- the attack ---


def attack(count: int, send: Callable[[], str]) -> tuple[Counter[str], float]:
    """Send `count` times; how many of each end, and the seconds of the slowest."""
    counts: Counter[str] = Counter()
    slowest_s = 0.0
    for _ in range(count):
        begin = time.monotonic()
        try:
            counts[send()] += 1
        except ConnectionResetError:
            counts["ended"] += 1
        slowest_s = max(slowest_s, time.monotonic() - begin)
    return counts, slowest_s


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="requests, and as many frames")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    with serving() as server:
        name = upload()
        assert name is not None
        wait_for([name], 120)
        good = good_requests(name)
        kinds: dict[str, Callable[[], str]] = {
            "requests": lambda: send_raw(damaged(draw.choice(good), draw)),
            "sockets with damaged frames": lambda: send_frames(
                f"/api/measurements/{name}/watch", draw
            ),
        }
        is_bad = False
        for kind, send in kinds.items():
            begin = time.monotonic()
            counts, slowest_s = attack(args.count, send)
            seconds = time.monotonic() - begin
            print(f"{args.count} {kind} in {seconds:.0f} s: {dict(counts)}")
            print(f"  slowest {slowest_s:.2f} s, {server.tracebacks()} tracebacks", flush=True)
            is_bad |= bool(counts.keys() & {"hung", "500", "501", "502"})
        alive = call("GET", "/api/health")[0]
        print(f"memory {server.memory_mb():.0f} MB, health {alive}")
        if server.tracebacks():
            print(server.log()[-3000:])
        return 1 if is_bad or server.tracebacks() or alive != 200 else 0


if __name__ == "__main__":
    sys.exit(main())

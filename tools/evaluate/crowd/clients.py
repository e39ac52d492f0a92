"""The clients of a crowd: they tap, stall, upload and correct at once, and count what they are told."""

import http.client
import json
import random
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evaluate.server_process import (
    HOST,
    PORT,
    QUESTION,
    TIMEOUT_S,
    UPLOAD,
    Server,
    call,
    look_up,
    upload,
)

KEPT_S = 15.0
"""For how long a client takes an idle connection for open: the server ends it after 20 s."""
MAX_CORRECTION_S = 240.0
"""A correction that takes longer counts as one that hangs: the photo may have to be measured first."""
CORRECTION_INTERVAL_S = 5.0
"""Time between two corrections."""
CORRECTIONS: tuple[list[Any], ...] = ([], [{"do": "remove", "id": "p01"}])
"""The corrections of the table that is corrected, in turn."""
MAX_RESULT_S = 600.0
"""Longest time that a photo may wait for its result, in all."""


@dataclass
class Crowd:
    """Clients that tap, stall and upload at once."""

    server: Server
    name: str
    """A measurement whose bases are tapped."""
    corrected: str
    """A measurement that is corrected."""
    photo: bytes
    """The photo that is uploaded."""
    end_s: float
    think_s: float
    """Mean time between two taps of a client."""
    taps_s: list[float] = field(default_factory=list)
    accepted: dict[str, float] = field(default_factory=dict)
    """When each photo was taken whose result has not been seen yet."""
    counts: Counter[str] = field(default_factory=Counter)
    loads: list[float] = field(default_factory=list)
    """The machine's load, now and then: how many processes wanted a processor."""
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

    def correct(self) -> None:
        """Correct a table again and again; each correction that was confirmed must stand."""
        confirmed: list[Any] | None = []
        path = f"/api/measurements/{self.corrected}"
        number = 0
        while not self.is_over():
            time.sleep(CORRECTION_INTERVAL_S)
            number += 1
            try:
                found = json.loads(call("GET", f"{path}/table")[1])["fixes"]
                self.counts["correction lost"] += confirmed is not None and found != confirmed
                confirmed = None  # where no answer comes it may be made or not
                confirmed = self.correct_once(path, found, CORRECTIONS[number % len(CORRECTIONS)])
            except (OSError, ValueError, KeyError):
                kind = "while killed" if self.down.is_set() else "without answer"
                self.counts[f"correction {kind}"] += 1

    def correct_once(self, path: str, before: list[Any], fixes: list[Any]) -> list[Any]:
        """Correct the table; the corrections that are in force then."""
        text = json.dumps({"schema": "overruler/fix/1", "fix": fixes}).encode()
        status, body = call("PUT", f"{path}/fixes", text, MAX_CORRECTION_S)
        self.counts[f"correction {status}"] += 1
        if status not in (200, 503):
            self.counts[f"  {json.loads(body)['error']}"] += 1
        return fixes if status == 200 else before

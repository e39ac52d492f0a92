#!/usr/bin/env python3
"""How quick is the server? One photo from upload to drawn table, then twenty at once while somebody taps.

    uv run tools/bench/phone.py sample_images/legion_grass.jpg --photos 20

Prints seconds and megabytes of this machine; run it with nothing else going on. Needs Chromium for the first part.
"""

import argparse
import json
import statistics
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.phone_server import chromium, phone, server

ENDED = ("done", "failed")
PHOTOGRAPHING_S = 5.0
"""A person who has opened the page takes so long to photograph a table; the server gets ready meanwhile."""


class Server:
    """The questions that a server is asked."""

    def __init__(self, home: str, process: int) -> None:
        self.home, self.process = home, process
        self.table = next(name for name in self.get("about")["tables"])

    def get(self, path: str, body: bytes | None = None) -> Any:
        with urllib.request.urlopen(f"{self.home}api/{path}", body, timeout=900) as answer:
            return json.load(answer)

    def send(self, photo: bytes) -> str:
        query = urllib.parse.urlencode({"game": "legion", "table": self.table})
        name: str = self.get(f"measurements?{query}", photo)["id"]
        return name

    def ended(self, name: str) -> dict[str, Any]:
        while (found := self.get(f"measurements/{name}"))["state"] not in ENDED:
            time.sleep(0.5)
        state: dict[str, Any] = found
        return state

    def megabytes(self) -> float:
        """The memory of the server and its processes, shared pages counted once."""
        found = [self.process, *_children(self.process)]
        return sum(_pss_kb(pid) for pid in found) / 1000


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    own = [int(child) for child in path.read_text().split()] if path.exists() else []
    return own + [other for child in own for other in _children(child)]


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def first_photo(asked: Server, photo: Path) -> None:
    """In a browser: from the moment the photo is chosen until its bases are drawn."""
    with chromium() as browser:
        page = phone(browser)
        page.goto(asked.home)
        page.wait_for_selector("html[data-ready]")
        paint = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        )
        weight = page.evaluate("""() => ["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind))
            .filter((one) => !one.name.includes("/photo")).reduce((sum, one) => sum + one.transferSize, 0)""")
        print(f"page: {weight / 1000:.0f} kB, first paint after {paint:.0f} ms")
        time.sleep(PHOTOGRAPHING_S)
        for attempt in range(3):
            page.goto(asked.home)
            page.wait_for_selector("html[data-ready]")
            page.select_option("#table", asked.table)
            begin = time.perf_counter()
            page.set_input_files("#choose", photo)
            page.wait_for_selector("#drawing .base", timeout=600_000)
            print(
                f"photo {attempt + 1}: drawn {time.perf_counter() - begin:.2f} s after it was chosen"
            )


def at_once(asked: Server, photo: bytes, photos: int) -> None:
    """Many photos at once, and somebody who taps meanwhile."""
    ready = asked.send(photo)
    pieces = [
        piece["id"]
        for piece in asked.get(f"measurements/{asked.ended(ready)['id']}/table")["pieces"]
    ]
    states: list[str] = []
    begin = time.perf_counter()
    threads = [threading.Thread(target=lambda: states.append(asked.ended(asked.send(photo))["state"]))
               for _ in range(photos)]  # fmt: skip
    for thread in threads:
        thread.start()
    taps, most = tapped(asked, ready, pieces, threads)
    seconds = time.perf_counter() - begin
    print(
        f"{photos} photos at once: {states.count('done')} measured in {seconds:.1f} s, {most:.0f} MB at most"
    )
    print(
        f"{len(taps)} taps meanwhile: median {_ms(taps, 0.5):.0f} ms, 95 % within {_ms(taps, 0.95):.0f} ms"
    )


def tapped(
    asked: Server, name: str, pieces: Sequence[str], threads: Sequence[threading.Thread]
) -> tuple[list[float], float]:
    """How long each tap took, and the most memory there was, until all threads have ended."""
    taps: list[float] = []
    most = 0.0
    while any(thread.is_alive() for thread in threads):
        start, end = pieces[len(taps) % len(pieces)], pieces[(len(taps) + 7) % len(pieces)]
        question = json.dumps({"question": "range", "from": start, "to": end}).encode()
        begin = time.perf_counter()
        asked.get(f"measurements/{name}/ask", question)
        taps.append(time.perf_counter() - begin)
        most = max(most, asked.megabytes())
        time.sleep(0.1)
    return taps, most


def _ms(seconds: list[float], share: float) -> float:
    return 1000 * statistics.quantiles(seconds, n=100)[round(100 * share) - 1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photo", type=Path, help="a photo with its board file beside it")
    parser.add_argument("--photos", type=int, default=20, help="how many at once (20)")
    args = parser.parse_args()
    for missing in (
        path for path in (args.photo, args.photo.with_suffix(".toml")) if not path.is_file()
    ):
        parser.error(f"{missing}: is missing")
    with server([args.photo.with_suffix(".toml")]) as started:
        asked = Server(*started)
        print(f"idle: {asked.megabytes():.0f} MB")
        first_photo(asked, args.photo)
        at_once(asked, args.photo.read_bytes(), args.photos)


if __name__ == "__main__":
    main()

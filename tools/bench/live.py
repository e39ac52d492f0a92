"""How live is live? A film as if it were a camera, looked at by the eyes of `overruler live`, without the server."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import TableWatcher
from overruler.board import Board
from overruler.frame import Shot
from overruler.referee import Referee
from overruler.sources.live import LiveReader, parse_source
from overruler.track import Tick


class Timed(TableWatcher):
    """Eyes that note how long each look takes, and when after a hand has left the table is told anew."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.still_s: list[float] = []
        self.still_cpu_s: list[float] = []
        self.rests: list[tuple[float, float]] = []
        self._quiet = False

    def _look_at_shot(self, shot: Shot) -> Any:
        begin, cpu = time.perf_counter(), time.thread_time()
        self._tick: Tick | None = None
        seen = super()._look_at_shot(shot)
        took = time.perf_counter() - begin
        if self._tick is not None and self._tick.rest is not None:
            self.rests.append((float(shot.name.rpartition(" at ")[2].removesuffix(" s")), took))
        elif (
            self._tick is not None
            and self._tick.spots
            and all(spot.state == "static" for spot in self._tick.spots)
        ):
            self.still_s.append(took)
            self.still_cpu_s.append(time.thread_time() - cpu)
        return seen

    def note(self, tick: Tick) -> None:
        self._tick = tick


def live(film: Path, minutes: float) -> Table:
    """Run a film round and round for some minutes; beside it lie its board (.toml) and its truth (.json)."""
    desk = Desk()
    eyes = Timed(
        LiveReader(parse_source(str(film), loop=True)),
        Referee(Board.load(film.with_suffix(".toml"))),
        lambda seen: None,
    )
    eyes.on_status, eyes.on_tick = lambda seen: desk.update_table(seen, eyes.shot), eyes.note
    eyes.start()
    while not eyes.still_s:
        time.sleep(0.1)
    begin, cpu, memory = time.monotonic(), time.process_time(), [megabytes()]
    while time.monotonic() - begin < 60 * minutes:
        time.sleep(5)
        memory.append(megabytes())
    cpu, took = time.process_time() - cpu, time.monotonic() - begin
    eyes.stop()
    return _told(eyes, film, cpu / took, memory)


def _told(eyes: Timed, film: Path, share: float, memory: list[float]) -> Table:
    moves = json.loads(film.with_suffix(".json").read_text())["moves"]
    late = [
        at + looked - move["hand_to_s"]
        for move in moves
        for at, looked in eyes.rests
        if 0 < at - move["hand_to_s"] < 1.5
    ]
    table = Table("what", "figure")
    table.add_row("looks while nothing moves", str(len(eyes.still_s)))
    table.add_row(
        "  median, p95 of the clock",
        "{:.1f}, {:.1f} ms".format(*np.percentile(eyes.still_s, (50, 95)) * 1e3),
    )
    table.add_row(
        "  median, p95 of CPU",
        "{:.1f}, {:.1f} ms".format(*np.percentile(eyes.still_cpu_s, (50, 95)) * 1e3),
    )
    if late:
        told = f"{np.median(late):.2f} s, at most {max(late):.2f} s ({len(late)})"
        table.add_row("from the hand's leaving to the new scene", told)
    table.add_row("CPU, decoding and moves included", f"{share:.2f} of a core")
    parts = ", ".join(
        f"{np.mean(part):.0f}" for part in np.array_split(memory, min(6, len(memory)))
    )
    table.add_row("memory, sixth by sixth of the time", f"{parts} MB")
    return table


def megabytes() -> float:
    """What this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

"""What `tools/bench/speed.py analyze` prints: watching a film against decoding it."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bench.live import megabytes
from overruler.apps.analyze.event_log import EventLog
from overruler.apps.analyze.segment_task import prepare_process
from overruler.board import Board
from overruler.referee import Referee
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.vision.stabilization.guard import CameraMotionGuard


def analyze(film: Path, minutes: float) -> Table:
    """Watching a film that is played over and over, against decoding it: the processors' time, and what a clock says.

    Every beginning anew is a cut, after which many pieces stand elsewhere at once. A game has none: so it is also
    played forwards and backwards. Each is watched in a process of its own, which begins as the command's does.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    columns = (
        "played",
        "minutes",
        "decode, s",
        "analyze, s",
        "×",
        "decode, clock",
        "analyze, clock",
        "×",
        "memory, MB",
    )
    table = Table(*columns, title=film.name)
    board = Board.load(film.with_suffix(".toml"))
    with tempfile.TemporaryDirectory() as folder:
        both = Path(folder) / "both.mp4"
        subprocess.run(
            [
                sys.executable,
                Path(__file__).parents[1] / "synthetic" / "there_and_back.py",
                film,
                both,
            ],
            check=True,
        )
        for name, played in (("there and back", both), ("over and over", film)):
            with ProcessPoolExecutor(1, get_context("spawn"), prepare_process) as alone:
                for row in alone.submit(_played, played, board, minutes).result():
                    table.add_row(name, *(f"{value:.2f}" for value in row))
    return table


def _played(film: Path, board: Board, minutes: float) -> list[tuple[float, ...]]:
    return list(_watched(film, board, minutes))


def _watched(film: Path, board: Board, minutes: float) -> Iterator[tuple[float, ...]]:
    watch, log = CameraMotionGuard(Referee(board).watching(patient=True)), EventLog(0.0)
    decoding, watching, played_s = np.zeros(2), np.zeros(2), 0.0
    marks = [minutes * share for share in (0.1, 0.5, 1.0)]
    while marks:
        begin = _clocks()
        length_s = decoded_s(film)
        middle = _clocks()
        with Film(film) as opened, prefetch_items(opened) as shots:
            for shot in shots:
                log.record_tick(watch.look(replace(shot, time_s=played_s + shot.time_s)))
        decoding, watching = decoding + middle - begin, watching + _clocks() - middle
        played_s += length_s + 0.1
        if played_s / 60 >= marks[0]:
            marks.pop(0)
            ours, theirs = watching.tolist(), decoding.tolist()
            pairs = ((b, a, a / b) for a, b in zip(ours, theirs, strict=True))
            yield played_s / 60, *chain(*pairs), megabytes()


def _clocks() -> NDArray[np.float64]:
    """The processors' time that this process has used, and the time of day; in seconds."""
    return np.array([time.process_time(), time.perf_counter()])


def decoded_s(film: Path) -> float:
    """Decode every picture of a film as PyAV does it; the time of the last one."""
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        return max(
            float(picture.time) for picture in container.decode(stream) if picture.time is not None
        )

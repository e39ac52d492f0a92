"""The work on a segment, and how far it has come."""

import argparse
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from overruler.apps.analyze.segment import LEAD_S, Segment, analyze_segment, encode_json
from overruler.apps.process.memory import give_back_memory, limit_malloc_arenas
from overruler.apps.process.progress import is_progress_shown
from overruler.vision.imaging.opencv_threads import limit_opencv_to_one_thread
from overruler.writing import write_atomically

ASSUMED_FILM_S = 60.0
"""Length of a film that does not state its own, for the progress bar."""
logger = logging.getLogger("overruler.steps")


@dataclass(frozen=True, slots=True)
class SegmentTask:
    """A segment to analyse."""

    segment: Segment
    path: Path
    """File for its result."""

    @property
    def is_done(self) -> bool:
        """Whether its result is stored, and whole: a power cut may leave a file without its end."""
        try:
            with self.path.open("rb") as file:
                file.seek(-1, os.SEEK_END)
                return file.read() == b"}"
        except OSError:  # none, or an empty one
            return False


def _ignore_progress(time_s: float) -> None:
    """Show nothing."""


def run_task(task: SegmentTask, on_progress: Callable[[float], None] = _ignore_progress) -> None:
    """Analyse a segment and store its result; `on_progress` gets the seconds of film done."""
    prepare_process()
    write_atomically(task.path, encode_json(analyze_segment(task.segment, on_progress)))
    give_back_memory()


def prepare_process() -> None:
    """Set the memory and the threads of a process that works on films."""
    limit_malloc_arenas()
    limit_opencv_to_one_thread()


# --- progress ---


@contextmanager
def show_progress(
    name: str,
    tasks: Sequence[SegmentTask],
    waiting: Sequence[SegmentTask],
    args: argparse.Namespace,
) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Yield the function that does a task and the one to call when it is done, with a bar on a terminal.

    With the serial engine the tasks run in this process, and the bar moves within a task too.
    """
    if not (waiting and is_progress_shown(args.quiet)):
        yield run_task, lambda task: logger.info("%s: done from %g s on", name, task.segment.from_s)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        finished = len(tasks) - len(waiting)
        row = bar.add_task(name, total=len(tasks), completed=finished)

        def run_with_progress(task: SegmentTask) -> None:
            start_s = max(0.0, task.segment.from_s - LEAD_S)
            length_s = _length_s(task)

            def on_progress(time_s: float) -> None:
                share = (time_s - start_s) / length_s
                bar.update(row, completed=finished + min(max(share, 0.0), 1.0))

            run_task(task, on_progress)

        def on_done(_: SegmentTask) -> None:
            nonlocal finished
            finished += 1
            bar.update(row, completed=finished)

        yield (run_with_progress if args.engine == "serial" else run_task), on_done


def _length_s(task: SegmentTask) -> float:
    """Length of a segment; for the last one, by what the film says of its own."""
    segment = task.segment
    if segment.to_s != float("inf"):
        return segment.to_s - segment.from_s
    from overruler.sources.video import Film

    with Film(Path(segment.video)) as film:
        return max(1.0, (film.duration_s or ASSUMED_FILM_S) - segment.from_s)

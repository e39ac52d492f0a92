"""A recorder of broadcasts: what the watcher saw, written as the results of a film."""

import time
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import IO

from overruler.apps.analyze.event_log import EventLog
from overruler.apps.analyze.merge import Data, FilmResults, merge_segments
from overruler.apps.analyze.pipeline import write_results
from overruler.apps.analyze.result_folders import check_no_results, write_source
from overruler.apps.analyze.tables import check_tables
from overruler.apps.process.file_lock import hold_file
from overruler.apps.process.log import say
from overruler.apps.recording.journal import Part, PartWriter, find_parts, read_part
from overruler.errors import BadInput, CannotMeasure
from overruler.track import Tick
from overruler.writing import WriteFailed, check_writable, make_folder

JOURNAL_FOLDER = ".recording"
"""Folder inside the results' own for what is recorded until they are written."""
LOCK_FILE = "in-use"
"""File in it that a running broadcast holds locked."""
NEWS_INTERVAL_S = 5.0
"""Time between two writes of what is new: what a power cut may lose."""
MAX_BREAK_S = 3600.0
"""Longest break after which a broadcast goes on in one recording; after a longer one it is another game."""
NOT_MEASURED = "nothing was recorded: the table was never measured"
"""Why a recording, or a part of it, is empty."""


class Recorder:
    """Records every tick, and writes the results when the broadcast ends.

    What it records goes into a journal meanwhile. A broadcast that was cut off goes on in the same folder.
    """

    __slots__ = (
        "_begin_s",
        "_due_s",
        "_earlier",
        "_game",
        "_journal",
        "_last_s",
        "_lock",
        "_log",
        "_out",
        "_part",
    )

    def __init__(self, out: Path, game: bool) -> None:
        """Record into the folder `out`; with `game`, write rulings too.

        Raises `BadInput` where it holds other results, or a broadcast is recorded into it.
        """
        check_tables()
        self._out = out
        self._journal = out / JOURNAL_FOLDER
        if not find_parts(self._journal):
            check_no_results("--record", out)
        make_folder("--record", out)
        check_writable(out / "report.html")
        make_folder("--record", self._journal)
        self._earlier = _read_parts(self._journal)
        self._lock = _lock_journal(out)
        self._game = game or any(part.game for part in self._earlier)
        self._log = EventLog(0.0)
        self._part: PartWriter | None = None
        self._begin_s = self._last_s = self._due_s = 0.0

    def go_on(self) -> float:
        """Go on where an earlier broadcast was cut off; return the time to count from, in s of the recording.

        The clock of the day tells the break; one that was set back counts as none. Raises `BadInput` after a
        long break.
        """
        if not self._earlier:
            return self._begin_s
        last = self._earlier[-1]
        break_s = max(0.0, time.time() - last.ended_s)
        if break_s > MAX_BREAK_S:
            self.close()
            raise BadInput(
                f"--record: {self._out}: holds a recording that was cut off: name another folder; "
                f"`overruler live --record {self._out}` writes its results"
            )
        say(f"goes on with the recording in {self._out}, which was cut off {break_s:.0f} s ago")
        self._begin_s = self._last_s = last.read_to_s + break_s
        self._log = EventLog(self._begin_s)
        return self._begin_s

    def record_tick(self, tick: Tick) -> None:
        self._log.record_tick(tick)
        self._last_s = tick.time_s
        if not self._log.is_measured or tick.time_s < self._due_s:
            return
        if self._part is None:
            self._part = self._begin_part(tick.time_s)
        self._part.add(self._log.take_news() | {"read_to_s": tick.time_s})
        self._due_s = tick.time_s + NEWS_INTERVAL_S

    def _begin_part(self, time_s: float) -> PartWriter:
        path = self._journal / f"part-{len(find_parts(self._journal)) + 1:04}.jsonl"
        begun_s = time.time() - (time_s - self._begin_s)
        return PartWriter(path, begun_s, self._begin_s, self._game)

    def finish(self) -> None:
        """Write the tables and the page; `CannotMeasure` if the table was never measured.

        Where the folder cannot be written to they go to a temporary one: nobody can play a broadcast again.
        Then `WriteFailed` names it, and the journal stays.
        """
        if self._part is not None:
            self._part.close()
        try:
            segments = self._segments()
            if not all(segment["refused"] for segment in segments):
                self._write_anywhere(merge_segments(self._out.name, segments))
            for path in find_parts(self._journal):
                path.unlink(missing_ok=True)
        finally:
            self.close()
        if all(segment["refused"] for segment in segments):
            raise CannotMeasure(f"{self._out}: {NOT_MEASURED}")

    def close(self) -> None:
        """Let other broadcasts have the folder; a journal that holds nothing goes."""
        self._lock.close()
        if not find_parts(self._journal):
            rmtree(self._journal, ignore_errors=True)

    def _segments(self) -> list[Data]:
        """What was recorded, as the segments of a film."""
        parts = [(part.from_s, part.read_to_s, part.events) for part in self._earlier]
        if self._last_s > self._begin_s:
            parts.append((self._begin_s, self._last_s, self._log.data()))
        ends_s = [*(from_s for from_s, _, _ in parts[1:]), None]
        before_s = [None, *(read_to_s for _, read_to_s, _ in parts[:-1])]
        return [
            _segment(part, to_s, cut_s)
            for part, to_s, cut_s in zip(parts, ends_s, before_s, strict=True)
        ]

    def _write_anywhere(self, film: FilmResults) -> None:
        try:
            self._write(film, self._out)
        except WriteFailed as error:
            raise self._written_elsewhere(film, error) from None

    def _write(self, film: FilmResults, out: Path) -> None:
        write_results(film, out, self._game, {})
        write_source(out, ())

    def _written_elsewhere(self, film: FilmResults, error: WriteFailed) -> WriteFailed:
        """Write the results into a temporary folder; the error that says where, or the one given."""
        folder = Path(mkdtemp(prefix="overruler-"))
        try:
            self._write(film, folder)
        except WriteFailed:
            rmtree(folder, ignore_errors=True)
            return error
        return WriteFailed(self._out, f"{error.reason}: the recording is in {folder} instead")


def finish_recording(out: Path) -> None:
    """Write the results of a broadcast that was cut off; `BadInput` where the folder holds none."""
    if not find_parts(out / JOURNAL_FOLDER):
        raise BadInput(f"--record: {out}: holds no recording that was cut off: name a SOURCE")
    Recorder(out, game=False).finish()


def _segment(part: tuple[float, float, Data], to_s: float | None, cut_s: float | None) -> Data:
    """A part as a segment of a film; `cut_s` is when the part before it was cut off."""
    from_s, read_to_s, events = part
    problems = []
    if cut_s is not None:
        problems.append(
            f"from {cut_s:.0f} s to {from_s:.0f} s: nothing was recorded: it was cut off"
        )
    refused = None if events["stays"] else NOT_MEASURED
    times = {"from_s": from_s, "to_s": to_s, "read_to_s": read_to_s}
    return events | times | {"problems": problems, "refused": refused}


def _read_parts(journal: Path) -> list[Part]:
    return [part for part in map(read_part, find_parts(journal)) if part is not None]


def _lock_journal(out: Path) -> IO[bytes]:
    """Lock the journal for this process; `BadInput` where another one records into it."""
    try:
        file = hold_file(out / JOURNAL_FOLDER / LOCK_FILE)
    except OSError as error:
        raise WriteFailed(out, str(error.strerror or error)) from None
    if file is None:
        raise BadInput(f"--record: {out}: a broadcast is recorded into it: name another folder")
    return file

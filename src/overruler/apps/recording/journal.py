"""What a broadcast records, on the disk while it runs: a crash or a power cut loses its last seconds alone.

Each start of a broadcast writes a part of its own: a line about it, and a line of news every few seconds.
"""

import json
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from overruler.apps.analyze.event_log import add_news, no_events
from overruler.apps.analyze.merge import Data
from overruler.apps.analyze.segment import encode_json
from overruler.errors import BadInput

PART_SCHEMA = "overruler/recording/1"
"""What the first line of a part says that it is."""
PART_PATTERN = "part-*.jsonl"
"""Names of the parts; in the order of the alphabet they are in the order of time."""
logger = logging.getLogger("overruler.live")


@dataclass(frozen=True, slots=True)
class Part:
    """What a broadcast recorded from one start to the next."""

    begun_s: float
    """When it began, in s since 1970."""
    from_s: float
    """When it began, in s of the recording."""
    read_to_s: float
    """Time of its last news, in s of the recording."""
    game: bool
    """Whether rulings are wanted."""
    events: Data
    """As `EventLog.data` gives them."""

    @property
    def ended_s(self) -> float:
        """When it ended, in s since 1970."""
        return self.begun_s + self.read_to_s - self.from_s


def find_parts(folder: Path) -> list[Path]:
    """The parts in a folder, in the order of time."""
    return sorted(folder.glob(PART_PATTERN))


def read_part(path: Path) -> Part | None:
    """A part as far as it was written; None where not even its first line was.

    Raises `BadInput` where it cannot be read, or another version of the program wrote it.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # what no line's end follows was cut off
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    told: list[Data] = []
    for line in lines:
        try:
            told.append(json.loads(line))
        except ValueError:  # a power cut leaves any bytes
            break
    if not told:
        return None
    about, *news = told
    if about.get("schema") != PART_SCHEMA:
        raise BadInput(f"{path}: is no recording that this version of the program can read")
    events, read_to_s = no_events(), about["from_s"]
    for one in news:
        add_news(events, one)
        read_to_s = one["read_to_s"]
    return Part(about["begun_s"], about["from_s"], read_to_s, about["game"], events)


class PartWriter:
    """Writes a part, line by line, in a thread of its own: a slow disk keeps nobody waiting."""

    __slots__ = ("_end", "_is_told", "_lines", "_path", "_thread", "_waiting")

    def __init__(self, path: Path, begun_s: float, from_s: float, game: bool) -> None:
        self._path = path
        self._end = 0
        self._waiting: list[bytes] = []
        self._is_told = False
        self._lines: SimpleQueue[Data | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()
        about = {"schema": PART_SCHEMA, "begun_s": begun_s, "from_s": from_s, "game": game}
        self._lines.put(about)

    def add(self, news: Data) -> None:
        """Add a line; nothing in it may change later."""
        self._lines.put(news)

    def close(self) -> None:
        """Return once all lines are written."""
        self._lines.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            self._waiting.append(encode_json(line) + b"\n")
            try:
                self._write_waiting()
            except OSError as error:
                self._tell(error)

    def _write_waiting(self) -> None:
        """Write what waits, behind what was written whole: a full disk may have cut a line off."""
        with self._path.open("r+b" if self._end else "wb") as file:
            file.seek(self._end)
            file.truncate()
            file.write(b"".join(self._waiting))
            file.flush()
            os.fsync(file.fileno())
            self._end = file.tell()
        self._waiting.clear()

    def _tell(self, error: OSError) -> None:
        if self._is_told:
            return
        self._is_told = True
        reason = error.strerror or error
        logger.warning(
            "--record: %s: cannot be written: %s: a power cut would lose what is recorded now",
            self._path,
            reason,
        )

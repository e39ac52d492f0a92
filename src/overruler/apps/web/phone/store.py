"""Storage of the server: a row and a folder for each measurement, under ids that the server makes."""

import json
import secrets
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overruler.apps.measure.recorded_arguments import parse_arguments
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.faults import StoreUnavailable
from overruler.apps.web.phone.store_lock import OWNER_ALONE_MODE, SteadyClock, lock_folder
from overruler.apps.web.several_photos import with_photo_numbers
from overruler.errors import BadInput
from overruler.writing import WriteFailed, make_folder, write_atomically

ID_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
"""Digits and letters of an id: none that are mistaken for one another."""
ID_LENGTH = 12
"""Characters of an id: 59 bits."""
DAY_S = 86_400
"""Seconds in a day."""
EARLIEST_S = 1_735_689_600
"""The beginning of 2025, in s since 1970: no server of this kind is older."""

QUEUED = "queued"
"""State of a measurement that waits for a worker."""
MEASURING = "measuring"
"""State of a measurement that a worker is at."""
DONE = "done"
"""State of a measurement that has a scene."""
FAILED = "failed"
"""State of a measurement that ended without a scene."""
INTERRUPTED_TEXT = "the server was stopped while it measured: measure the photo again"
"""Step of a measurement that a stopped server left unfinished."""
START_PATIENCE_S = 10.0
"""How long a starting server waits for another program that holds the database."""
BUSY_PATIENCE_S = 0.05
"""How long one statement waits for another program: the server answers nobody meanwhile."""
PROBE_FILE = "probe"
"""Name of the file that is written to see whether the disk takes anything."""
PROBE_BYTES = 65_536
"""Size of that file."""
RESULT_BYTES = 4_000_000
"""Room in bytes that the results of a photo need: a scene of 40 pieces and the photo for screens take 1.1 MB."""
RESUMES_KEY = "resumes"
"""Key of `found`: how often a measurement was taken up again after its server had been stopped."""
BEFORE_KEY = "before"
"""Key of `found`: the measurement to which a photo was added."""
AFTER_KEY = "after"
"""Key of `found`: the measurement with one photo more."""
BY_MARKERS_KEY = "by_markers"
"""Key of `found`: whether the photo's markers tell which board it shows."""
PUBLIC_FIELDS = ("id", "created_s", "state", "step", "game", "table", "version")
"""Attributes of a measurement that clients see."""

_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS measurements (
    id TEXT PRIMARY KEY, created_s REAL NOT NULL, state TEXT NOT NULL, step TEXT NOT NULL, game TEXT NOT NULL,
    table_name TEXT NOT NULL, arguments TEXT NOT NULL, found TEXT NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A photo and the state of its measurement."""

    id: str
    created_s: float
    """Seconds since 1970."""
    state: str
    """`queued`, `measuring`, `done` or `failed`."""
    step: str
    """The step that is being done, or why it failed, for people."""
    game: str
    table: str
    """What is known of the table, for people: a board's name, `markers of 60 mm`."""
    request: MeasureRequest
    """How it is measured; files by their names in the measurement's folder."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """Results for lists of measurements, such as the number of pieces."""

    @property
    def version(self) -> int:
        """Number of corrections; a client that corrects an older version is refused."""
        return int(self.found.get("version", 0))

    @property
    def resumes(self) -> int:
        """How often it was taken up again after its server had been stopped."""
        return int(self.found.get(RESUMES_KEY, 0))

    @property
    def before(self) -> str:
        """Id of the measurement with one photo less; empty where there is none."""
        return str(self.found.get(BEFORE_KEY, ""))

    @property
    def after(self) -> str:
        """Id of the measurement with one photo more; empty where there is none."""
        return str(self.found.get(AFTER_KEY, ""))

    @property
    def photo_files(self) -> list[str]:
        """Names of its photos, the first one first."""
        return [self.request.photo.name, *(path.name for path in self.request.more)]

    def in_state(self, state: str, step: str, found: Mapping[str, Any]) -> "Measurement":
        """The same in another state; people know the photos by their numbers."""
        return replace(self, state=state, step=with_photo_numbers(step), found=found)

    def to_json(self) -> dict[str, Any]:
        shown = {key: getattr(self, key) for key in PUBLIC_FIELDS}
        return {**shown, "photos": len(self.photo_files), **self.found}


class Store:
    """Measurements in one folder that only its owner can read."""

    __slots__ = ("_clock", "_database", "_lock", "folder", "interrupted")

    def __init__(self, folder: Path) -> None:
        """Raise `BadInput` if the folder cannot be used, or another server uses it."""
        self.folder = folder.absolute()  # the workers have working directories of their own
        self._clock = SteadyClock()
        try:
            make_folder("--store", self.folder, OWNER_ALONE_MODE)
            self._lock = lock_folder(self.folder)
            self._database = _open_database(self.folder / "measurements.sqlite")
            self._mend_times()
            self.interrupted = self._mark_interrupted()
        except (OSError, sqlite3.Error, StoreUnavailable) as error:
            raise BadInput(f"--store: {folder}: cannot be used: {error}") from None

    def close(self) -> None:
        self._database.close()
        self._lock.close()

    def now_s(self) -> float:
        """Seconds since 1970, by a clock that no setting of the machine's clock moves."""
        return self._clock.now_s()

    def _mend_times(self) -> None:
        """Take for new what a server stored whose clock was not set: its age is unknown."""
        now_s = self.now_s()
        self._execute(
            "UPDATE measurements SET created_s = ? WHERE created_s < ? OR created_s > ?",
            (now_s, EARLIEST_S, now_s + DAY_S),
        )

    def _mark_interrupted(self) -> tuple[str, ...]:
        """Mark as failed what a stopped server left unfinished, the first come first; return the ids."""
        unfinished = (QUEUED, MEASURING)
        rows = self._execute(
            "SELECT id FROM measurements WHERE state IN (?, ?) ORDER BY created_s", unfinished
        )
        names = tuple(row[0] for row in rows)
        if names:
            self._execute(
                "UPDATE measurements SET state = ?, step = ? WHERE state IN (?, ?)",
                (FAILED, INTERRUPTED_TEXT, *unfinished),
            )
        return names

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement and return its rows; `StoreUnavailable` if the database does not let us."""
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreUnavailable(str(error)) from None

    def probe_database(self) -> None:
        """Try to begin to write; `StoreUnavailable` says what is in the way."""
        self._execute("BEGIN IMMEDIATE")
        self._execute("ROLLBACK")

    def probe_disk(self, photo_bytes: int = 0) -> None:
        """Look for room for a photo and its results, in any thread; `StoreUnavailable` says what is in the way."""
        path, needed = self.folder / PROBE_FILE, photo_bytes + RESULT_BYTES
        try:
            if shutil.disk_usage(self.folder).free < needed:
                raise StoreUnavailable(f"less than {needed / 1e6:.0f} MB are left on the disk")
            write_atomically(path, bytes(PROBE_BYTES))
            path.unlink(missing_ok=True)
        except WriteFailed as error:
            raise StoreUnavailable(error.reason) from None
        except OSError as error:
            raise StoreUnavailable(str(error.strerror)) from None

    # --- folders ---

    def path_of(self, measurement: str, name: str = "") -> Path:
        """Path of a file in a measurement's folder; `ValueError` if `measurement` is no id."""
        if not is_id(measurement):
            raise ValueError("not an id of the store")
        return self.folder / "measurements" / measurement / name

    def new_id(self) -> str:
        """Make a random id and its folder."""
        name = "".join(secrets.choice(ID_ALPHABET) for _ in range(ID_LENGTH))
        try:
            self.path_of(name).mkdir(parents=True, mode=OWNER_ALONE_MODE)
        except OSError as error:
            raise StoreUnavailable(str(error.strerror)) from None
        return name

    # --- rows ---

    def add(self, measurement: Measurement) -> None:
        """Insert a measurement, or replace the one of its id."""
        self._execute(
            "INSERT OR REPLACE INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            _row_of_measurement(measurement),
        )

    def find(self, name: str) -> Measurement | None:
        if not is_id(name):
            return None
        rows = self._execute("SELECT * FROM measurements WHERE id = ?", (name,))
        return _measurement_of_row(rows[0]) if rows else None

    def newest(self, most: int) -> list[Measurement]:
        rows = self._execute("SELECT * FROM measurements ORDER BY created_s DESC LIMIT ?", (most,))
        return [_measurement_of_row(row) for row in rows]

    def followers(self, name: str) -> list[Measurement]:
        """The measurements made by adding a photo to that of an id, the first come first."""
        statement = "SELECT * FROM measurements WHERE instr(found, ?) ORDER BY created_s"
        found = map(_measurement_of_row, self._execute(statement, (name,)))
        return [one for one in found if one.before == name]

    def discard_folder(self, name: str) -> None:
        """Remove a folder that has no row."""
        shutil.rmtree(self.path_of(name), ignore_errors=True)

    def remove(self, name: str) -> None:
        """Remove a measurement, its folder first: a full disk has no room for the row's removal before."""
        shutil.rmtree(self.path_of(name), ignore_errors=True)
        self._execute("DELETE FROM measurements WHERE id = ?", (name,))

    def remove_expired(self, keep_days: float) -> int:
        """Remove measurements older than `keep_days` and folders without a row; count the former."""
        limit_s = self._clock.least_s() - keep_days * DAY_S
        rows = self._execute("SELECT id FROM measurements WHERE created_s < ?", (limit_s,))
        expired = [row[0] for row in rows]
        for name in expired:
            self.remove(name)
        self._remove_orphans()
        return len(expired)

    def _remove_orphans(self) -> None:
        """Remove folders that have had no row for a day."""
        known = {row[0] for row in self._execute("SELECT id FROM measurements")}
        limit_s = self._clock.least_s() - DAY_S
        for folder in (self.folder / "measurements").glob("*"):
            with suppress(OSError):  # it may have gone meanwhile
                if folder.name not in known and folder.stat().st_mtime < limit_s:
                    shutil.rmtree(folder, ignore_errors=True)


def _open_database(path: Path) -> sqlite3.Connection:
    """Open the database and make its table; wait for a program that holds it, but only now."""
    database = sqlite3.connect(path, isolation_level=None, timeout=START_PATIENCE_S)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")  # no wait for the disk at each row
        database.execute(_CREATE_TABLE)
        database.execute(f"PRAGMA busy_timeout={round(1000 * BUSY_PATIENCE_S)}")
    except BaseException:
        database.close()
        raise
    return database


def is_id(name: str) -> bool:
    """Whether a text has the form of an id; nothing else becomes part of a path."""
    return len(name) == ID_LENGTH and all(letter in ID_ALPHABET for letter in name)


def _row_of_measurement(measurement: Measurement) -> tuple[Any, ...]:
    one = measurement
    texts = json.dumps(one.request.to_json()), json.dumps(dict(one.found))
    return (one.id, one.created_s, one.state, one.step, one.game, one.table, *texts)


def _measurement_of_row(row: tuple[Any, ...]) -> Measurement:
    name, created_s, state, step, game, table, request_text, found_text = row
    request = _request_of_json(json.loads(request_text))
    found = json.loads(found_text)
    return Measurement(name, created_s, state, step, game, table, request, found)


def _request_of_json(value: Any) -> MeasureRequest:
    """Read a stored request; older servers stored the arguments of `overruler measure` instead."""
    return parse_arguments(value) if isinstance(value, list) else MeasureRequest.from_json(value)

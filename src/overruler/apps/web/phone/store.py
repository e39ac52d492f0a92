"""What the server keeps: a row and a folder for each measurement, and nothing under a name that a client chose."""

import json
import secrets
import shutil
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overruler.errors import BadInput

ID_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
"""Digits and letters that nobody takes for one another."""
ID_LENGTH = 12
DAY_S = 86_400

QUEUED, MEASURING, DONE, FAILED = "queued", "measuring", "done", "failed"

_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS measurements (
    id TEXT PRIMARY KEY, created_s REAL NOT NULL, state TEXT NOT NULL, step TEXT NOT NULL, game TEXT NOT NULL,
    table_name TEXT NOT NULL, arguments TEXT NOT NULL, found TEXT NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One photo and what became of it."""

    id: str
    created_s: float
    """Seconds since 1970."""
    state: str
    """`queued`, `measuring`, `done` or `failed`."""
    step: str
    """What is being done, or why it failed, for people."""
    game: str
    table: str
    """What was said of the table, for people: a board's name, `markers of 60 mm`, `four corners`."""
    arguments: tuple[str, ...]
    """Of `overruler measure`, the photo first; files by their names in the measurement's folder."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """What a list of measurements shows: how many pieces, say."""

    @property
    def ended(self) -> bool:
        return self.state in (DONE, FAILED)

    @property
    def version(self) -> int:
        """How often it was corrected: who corrects what somebody else has corrected meanwhile is told."""
        return int(self.found.get("version", 0))

    def to_json(self) -> dict[str, Any]:
        shown = {
            key: getattr(self, key)
            for key in ("id", "created_s", "state", "step", "game", "table", "version")
        }
        return {**shown, **self.found}


class Store:
    """Measurements under one folder, which nobody but its owner may read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._rows = sqlite3.connect(folder / "measurements.sqlite", isolation_level=None)
            self._rows.execute("PRAGMA journal_mode=WAL")
            self._rows.execute(_CREATE_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise BadInput(f"--store: {folder}: cannot be used: {error}") from None
        self._mark_interrupted()

    def close(self) -> None:
        self._rows.close()

    def _mark_interrupted(self) -> None:
        """What a server that went away left unfinished."""
        said = "the server was stopped while it measured: measure the photo again"
        self._rows.execute(
            "UPDATE measurements SET state = ?, step = ? WHERE state IN (?, ?)",
            (FAILED, said, QUEUED, MEASURING),
        )

    # --- folders ---

    def path_of(self, measurement: str, name: str = "") -> Path:
        """A file in a measurement's folder; `measurement` is an id that `find` or `new_id` gave."""
        if not is_id(measurement):
            raise ValueError("not an id of the store")
        return self.folder / "measurements" / measurement / name

    def new_id(self) -> str:
        """An id that nobody guesses, with its folder made."""
        name = "".join(secrets.choice(ID_ALPHABET) for _ in range(ID_LENGTH))
        self.path_of(name).mkdir(parents=True, mode=0o700)
        return name

    # --- rows ---

    def add(self, measurement: Measurement) -> None:
        values = (
            measurement.id,
            measurement.created_s,
            measurement.state,
            measurement.step,
            measurement.game,
            measurement.table,
            json.dumps(measurement.arguments),
            json.dumps(dict(measurement.found)),
        )
        self._rows.execute(
            "INSERT OR REPLACE INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values
        )

    def find(self, name: str) -> Measurement | None:
        rows = (
            self._rows.execute("SELECT * FROM measurements WHERE id = ?", (name,)).fetchall()
            if is_id(name)
            else []
        )
        return _measurement_of_row(rows[0]) if rows else None

    def newest(self, most: int) -> list[Measurement]:
        rows = self._rows.execute(
            "SELECT * FROM measurements ORDER BY created_s DESC LIMIT ?", (most,)
        )
        return [_measurement_of_row(row) for row in rows]

    def remove(self, name: str) -> None:
        """Forget a measurement and everything of it."""
        self._rows.execute("DELETE FROM measurements WHERE id = ?", (name,))
        shutil.rmtree(self.path_of(name), ignore_errors=True)

    def remove_expired(self, keep_days: float) -> int:
        """Remove what is older than that, and folders without a row; the number of measurements removed."""
        before_s = time.time() - keep_days * DAY_S
        old = [
            row[0]
            for row in self._rows.execute(
                "SELECT id FROM measurements WHERE created_s < ?", (before_s,)
            )
        ]
        for name in old:
            self.remove(name)
        known = {row[0] for row in self._rows.execute("SELECT id FROM measurements")}
        for folder in (self.folder / "measurements").glob("*"):
            if folder.name not in known and folder.stat().st_mtime < time.time() - DAY_S:
                shutil.rmtree(folder, ignore_errors=True)
        return len(old)


def is_id(name: str) -> bool:
    """Whether a name has the form of an id: nothing else ever becomes part of a path."""
    return len(name) == ID_LENGTH and all(letter in ID_ALPHABET for letter in name)


def _measurement_of_row(row: tuple[Any, ...]) -> Measurement:
    name, created_s, state, step, game, table, arguments, found = row
    return Measurement(
        name, created_s, state, step, game, table, tuple(json.loads(arguments)), json.loads(found)
    )

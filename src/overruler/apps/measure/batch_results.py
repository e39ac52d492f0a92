"""What the photos of a batch came to: a line each, and one table of all pieces."""

import json
import logging
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overruler.apps.process.log import say
from overruler.errors import BadInput, CannotMeasure, printable
from overruler.units import format_count
from overruler.writing import WriteFailed, write_atomically

MOST_SHOWN = 10
"""Most photos that nobody measured of which all are named in the line for people."""
FIRST_SHOWN = 3
"""How many are named where there are more."""

logger = logging.getLogger("overruler.batch")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a photo came to."""

    photo: Path
    error: str = ""
    """Why it could not be measured; empty where it was."""
    line: str = ""
    """The result in one line."""
    scene: str = ""
    """What `--json` prints, where it is asked for."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Its rows for `--csv`."""
    lacks_answers: bool = False
    """Whether a question that was asked has no answer in its scene."""
    trace: str = ""
    """Where the program failed, for the log; empty where it did not."""


@dataclass(slots=True)
class Results:
    """Prints each outcome as it comes, and keeps the CSV file up to date."""

    as_json: bool
    csv: Path | None
    answers_only: bool = False
    """Whether nothing is printed but the answers to what was asked."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    measured: int = 0
    failed: int = 0
    lacks_answers: bool = False
    """Whether a question has no answer in some photo's scene."""
    csv_is_stale: bool = False
    """Whether the CSV file could not be written when it was last due."""
    started_s: float = field(default_factory=time.monotonic)

    def take(self, outcome: Outcome) -> None:
        """Print an outcome; a photo that failed is told on standard error."""
        others = [row for row in self.rows if row["photo"] != str(outcome.photo)]
        self.rows = others + outcome.rows  # it may have been replaced, and measured again
        if outcome.error:
            self._tell_failure(outcome)
        else:
            self._tell_result(outcome)
        if self.csv:
            self._write_csv(self.csv, outcome.photo)

    def take_unmeasured(self, photos: Sequence[Path]) -> None:
        """Tell which photos nobody measured before the watch ended, to be pasted; they count as failed."""
        if not photos:
            return
        count = format_count(len(photos), "photo")
        were, them = ("was", "it") if len(photos) == 1 else ("were", "them")
        shown = photos if len(photos) <= MOST_SHOWN else photos[:FIRST_SHOWN]
        listed = shlex.join(map(str, shown))
        more = "" if shown is photos else f" and {len(photos) - len(shown)} more"
        logger.warning(
            "%s %s not measured when the watch ended, and a new start may take %s for old: "
            "overruler measure --each %s%s",
            *(count, were, them, listed, more),
        )
        for photo in photos:
            logger.info("%s: was not measured", photo)
            self._count_failure(photo, "was not measured when the watch ended")

    def _tell_failure(self, outcome: Outcome) -> None:
        logger.warning("%s: %s", outcome.photo, outcome.error)
        for line in outcome.trace.splitlines():
            logger.info("%s", line)
        self._count_failure(outcome.photo, outcome.error)

    def _count_failure(self, photo: Path, error: str) -> None:
        self.failed += 1
        if self.as_json:
            print(json.dumps({"file": str(photo), "error": error}), flush=True)

    def _tell_result(self, outcome: Outcome) -> None:
        self.measured += 1
        self.lacks_answers |= outcome.lacks_answers
        line = printable(f"{outcome.photo}: {outcome.line}")
        if self.as_json or self.answers_only:
            logger.info("%s", line)
            print(outcome.scene if self.as_json else line, flush=True)
        else:
            say(line)

    def _write_csv(self, path: Path, photo: Path) -> None:
        """Write all rows; where that fails, the next photo writes them."""
        from overruler.apps.measure.outputs import csv_text

        try:
            write_atomically(path, csv_text(self.rows))
        except WriteFailed as error:
            self.csv_is_stale = True
            logger.warning("%s: %s: make room, or name another file", photo, error)
        else:
            self.csv_is_stale = False

    def finish(self) -> int:
        """Print the count; the exit status."""
        if not self.as_json:
            took_s = time.monotonic() - self.started_s
            count = self.measured + self.failed
            say(f"{self.measured} of {format_count(count, 'photo')} measured in {took_s:.0f} s")
        if self.failed:
            return CannotMeasure.exit_code
        if self.lacks_answers:
            return BadInput.exit_code
        return WriteFailed.exit_code if self.csv_is_stale else 0

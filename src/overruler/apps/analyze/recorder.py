"""A broadcast as a recorded game: what the eyes see, written as a film's results are."""

from pathlib import Path
from typing import Any

from overruler.apps.analyze.merge import merge_segments
from overruler.apps.analyze.pipeline import write_results
from overruler.apps.analyze.segment import EventLog
from overruler.errors import CannotMeasure
from overruler.track import Tick
from overruler.writing import check_writable


class Recorder:
    """Notes every tick, and writes it all when the broadcast ends."""

    def __init__(self, out: Path, game: bool) -> None:
        out.mkdir(parents=True, exist_ok=True)
        check_writable(out / "report.html")
        self._out, self._game = out, game
        self._log, self._last_s, self._opened = EventLog(0.0), 0.0, False

    def record_tick(self, tick: Tick) -> None:
        self._log.record_tick(tick)
        self._last_s, self._opened = tick.time_s, self._opened or bool(tick.spots)

    def finish(self) -> None:
        """Write the tables and the page; `CannotMeasure` where nothing was ever measured."""
        if not self._opened:
            raise CannotMeasure(f"{self._out}: nothing was recorded: the table was never measured")
        part: dict[str, Any] = {
            "from_s": 0.0,
            "to_s": None,
            "read_to_s": self._last_s,
            "problems": [],
            "refused": None,
        }
        write_results(
            merge_segments(self._out.name, [self._log.data() | part]), self._out, self._game, {}
        )

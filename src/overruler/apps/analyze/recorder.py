"""A recorder of broadcasts: what the watcher saw, written as the results of a film."""

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from overruler.apps.analyze.event_log import EventLog
from overruler.apps.analyze.merge import FilmResults, merge_segments
from overruler.apps.analyze.pipeline import write_results
from overruler.apps.analyze.result_folders import check_no_results, write_source
from overruler.apps.analyze.tables import check_tables
from overruler.errors import CannotMeasure
from overruler.track import Tick
from overruler.writing import WriteFailed, check_writable, make_folder


class Recorder:
    """Records every tick, and writes the results when the broadcast ends."""

    __slots__ = ("_game", "_is_measured", "_last_s", "_log", "_out")

    def __init__(self, out: Path, game: bool) -> None:
        """Record into the folder `out`; with `game`, write rulings too."""
        check_tables()
        check_no_results("--record", out)
        make_folder("--record", out)
        check_writable(out / "report.html")
        self._out = out
        self._game = game
        self._log = EventLog(0.0)
        self._last_s = 0.0
        self._is_measured = False

    def record_tick(self, tick: Tick) -> None:
        self._log.record_tick(tick)
        self._last_s = tick.time_s
        self._is_measured = self._is_measured or bool(tick.spots)

    def finish(self) -> None:
        """Write the tables and the page; `CannotMeasure` if the table was never measured.

        Where the folder cannot be written to they go to a temporary one: nobody can play a broadcast again.
        Then `WriteFailed` names it.
        """
        if not self._is_measured:
            raise CannotMeasure(f"{self._out}: nothing was recorded: the table was never measured")
        times: dict[str, Any] = {"from_s": 0.0, "to_s": None, "read_to_s": self._last_s}
        segment = self._log.data() | times | {"problems": [], "refused": None}
        film = merge_segments(self._out.name, [segment])
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

"""The watcher of several cameras over one table; graphics are drawn over the first one's picture."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from overruler.apps.web.live.watcher import TableStatus, TableWatcher
from overruler.errors import OverrulerError
from overruler.fixes import Fix
from overruler.frame import Shot
from overruler.house_rules import telling_lengths
from overruler.report import Report
from overruler.sources.live import LiveReader
from overruler.track import Tick
from overruler.vision.several_cameras.watch import WatchSeveral

logger = logging.getLogger("overruler.live")


@dataclass(slots=True, kw_only=True)
class SeveralCamerasWatcher(TableWatcher):
    """Sources that are watched in one thread, their pictures paired by the time of their arrival."""

    others: Sequence[LiveReader]
    """The sources beside the first."""
    _numbers: list[int] = field(default_factory=list)
    """Numbers of the others' newest shots."""
    _several: WatchSeveral = field(init=False)

    def __post_init__(self) -> None:
        super(SeveralCamerasWatcher, self).__post_init__()
        names = [reader.source.name for reader in (self.live, *self.others)]
        self._several = self.referee.watching_several(names)
        self._numbers = [0] * len(self.others)

    def start(self) -> None:
        for reader in self.others:
            reader.start()
        super(SeveralCamerasWatcher, self).start()

    def stop(self) -> None:
        super(SeveralCamerasWatcher, self).stop()
        for reader in self.others:
            reader.stop()

    # --- the watcher's thread ---

    def _look_at_shot(self, shot: Shot) -> TableStatus:
        return self._look_at_all([(0, shot)])

    def _look_without_shot(self) -> TableStatus:
        return self._look_at_all([])

    def _look_at_all(self, shots: list[tuple[int, Shot]]) -> TableStatus:
        """Look at the first source's shot, if there is one, and at the others' new ones."""
        for k, reader in enumerate(self.others):
            found = reader.newest_shot(self._numbers[k], 0.0)
            if found is not None:
                self._numbers[k] = found[0]
                shots.append((k + 1, found[1]))
        for camera, reader in zip(self._several.cameras, self._readers, strict=True):
            camera.is_lost = reader.loss_reason() is not None
        try:
            tick = self._several.look(shots)
        except OverrulerError as error:
            return replace(self._status, spots=(), notes=(str(error),))
        except Exception as error:  # one picture must not end a broadcast
            logger.exception("a picture could not be looked at")
            self._several.remeasure_table()
            note = f"this should not have happened ({type(error).__name__}): measuring again"
            return replace(self._status, report=None, spots=(), notes=(note,))
        self.on_tick(tick)
        return self._status_of(tick)

    @property
    def _readers(self) -> Sequence[LiveReader]:
        return (self.live, *self.others)

    def _status_of(self, tick: Tick) -> TableStatus:
        report, number = self._status.report, self._status.number
        if tick.rest is not None or tick.moves:
            report = self._drawable(tick.rest or self._several.current_report())
            number += 1
        sees_table = self._several.cameras[0].table is not None
        spots = tick.spots if sees_table else ()
        told = tick.notes or (() if report is not None else self._status.notes)
        notes = (*told, *self._troubles())
        return TableStatus(report, spots, None, tuple(dict.fromkeys(notes)), number)

    def _drawable(self, report: Report | None) -> Report | None:
        """A report that is drawn on the first camera's picture; None where that was not measured."""
        return report if self._several.cameras[0].photo is not None else None

    def _troubles(self) -> list[str]:
        """Why cameras do not see the table now."""
        found = []
        for number, reader in enumerate(self._readers):
            camera = self._several.cameras[number]
            lost = (
                reader.loss_reason() if number else None
            )  # the first one's has a place of its own
            reason = lost or camera.trouble
            if reason:
                found.append(f"{camera.name}: {reason}")
        return found

    def _apply_fixes(self, fixes: Sequence[Fix]) -> None:
        with telling_lengths(self.referee):
            self._several.correct(fixes)

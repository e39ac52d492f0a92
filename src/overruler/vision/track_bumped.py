"""A film's camera that is bumped: nothing is told while its markers are elsewhere, then the table is measured anew."""

from typing import Protocol

from overruler.shot import Shot
from overruler.track import Tick
from overruler.vision.landmarks import Landmarks

BUMPED_S = 1.0
"""Markers that are elsewhere for so long are there to stay."""
NOTE = "the camera was moved, or its markers are hidden"


class Watching(Protocol):
    """Eyes over a table, as `track.Watch` has them."""

    def look(self, shot: Shot) -> Tick: ...

    def close(self) -> Tick | None: ...

    def again(self) -> None: ...


class Steady:
    """Eyes that know when the camera is bumped; shots in, ticks out, as theirs are."""

    def __init__(self, watch: Watching) -> None:
        self._watch = watch
        self._marks: Landmarks | None = None
        self._away_s: float | None = None

    def look(self, shot: Shot) -> Tick:
        if self._marks is not None and self._marks.moved(shot.grey):
            first, self._away_s = self._away_s is None, shot.time_s if self._away_s is None else self._away_s
            if shot.time_s - self._away_s < BUMPED_S:
                return Tick(shot.time_s, (), notes=(NOTE,) if first else ())
            self._marks = None
            self._watch.again()
        self._away_s = None
        tick = self._watch.look(shot)
        if tick.rest is not None and self._marks is None:
            self._marks = Landmarks.of(tick.rest.calibration, shot.grey)
        return tick

    def close(self) -> Tick | None:
        return self._watch.close()

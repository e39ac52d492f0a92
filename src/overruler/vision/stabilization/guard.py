"""A watch whose pictures show the table as it was measured: the camera's shake and the light's changes are out."""

from dataclasses import replace
from typing import Protocol

import numpy as np

from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.track import Tick
from overruler.vision.stabilization.camera_shake import as_at_rest
from overruler.vision.stabilization.landmarks import Landmarks

CAMERA_MOVED_S = 1.0
"""Once its markers have been elsewhere for this long, the camera has moved, in s."""
CAMERA_MOVED_NOTE = "the camera was moved, or its markers are hidden"
PINNED_NOTE = "the camera was moved, or the table is hidden: --point holds only for where it stood"
LIGHT_CHANGED_NOTE = "the light or the camera's exposure has changed"
SHAKES_NOTE = "the camera shakes: its pictures are aligned"
SHAKES_PX = 0.5
"""Median shift of the markers from which that is told, in pixels."""
STAYED_PX, STAYED_S = 2.0, 5.0
"""A camera that has been aside by more than so many pixels for so long, in s, was moved."""
BUSY = ("moving", "lifted", "occluded")
"""States of pieces that a hand is at: a camera that was moved is measured anew once there are none."""
SAME_PX = 0.5
"""Its markers have not moved meanwhile if they are within this of where they were, in pixels."""
REMEASURED = "wait until the table has been measured again"
REMEDIES = {
    CAMERA_MOVED_NOTE: REMEASURED,
    LIGHT_CHANGED_NOTE: REMEASURED,
    PINNED_NOTE: "put it back, or start again with new --point",
}
"""What to do about a change before a piece can be corrected."""
REASONS = {CAMERA_MOVED_NOTE: "the camera was moved", LIGHT_CHANGED_NOTE: LIGHT_CHANGED_NOTE}
"""Why the table is measured anew once a change has lasted."""


class TableWatcher(Protocol):
    """Watches a table, as `Watch` does."""

    def look(self, shot: Shot) -> Tick: ...

    def close(self) -> Tick | None: ...

    def remeasure_table(self, why: str = ...) -> None: ...


class CameraMotionGuard:
    """A watch that sees each picture as the camera at rest would take it in the light at rest.

    Where that cannot be, it measures anew."""

    __slots__ = (
        "_aside",
        "_aside_s",
        "_first",
        "_is_quiet",
        "_shakes_told",
        "_since_s",
        "_step",
        "_watch",
        "change",
        "marks",
    )

    def __init__(self, watch: TableWatcher) -> None:
        self._watch = watch
        self.marks: Landmarks | None = None
        """None until the table has been measured, and when it must be measured anew."""
        self.change: str | None = None
        """What is unlike the picture at rest, in words, and nothing is tracked; None where nothing is."""
        self._since_s = 0.0
        """Time of the first shot with the change."""
        self._step: Array = np.zeros(6)
        """By how much the camera's pose differs from that at rest, as last seen."""
        self._first: Landmarks | None = None
        """The first shot since the camera is not known."""
        self._shakes_told = False
        self._aside: Array = np.zeros(6)
        """The step from which the camera has not moved since `_aside_s`."""
        self._aside_s = 0.0
        self._is_quiet = False
        """Whether no hand was at a piece in the last shot."""

    def look(self, shot: Shot) -> Tick:
        """The tick of one more shot; while something is unlike the picture at rest, nothing is tracked."""
        if self.marks is not None and self.marks.size_px != shot.size_px:
            self.forget()
            self._watch.remeasure_table("the picture's size has changed")
        before = self.change
        aligned = self._without_shake(shot)
        if self.change is not None:
            if before is None:
                self._since_s = shot.time_s
            is_lasting = shot.time_s - self._since_s >= CAMERA_MOVED_S
            if self.change == PINNED_NOTE or not is_lasting:
                return Tick(shot.time_s, (), notes=(self.change,) if before is None else ())
        elif self._has_moved(shot.time_s):
            self.change = CAMERA_MOVED_NOTE
        if self.change is not None:
            self._watch.remeasure_table(REASONS[self.change])
            self.forget()
            aligned = self._without_shake(shot)
        tick = self._watch.look(self._in_light_at_rest(aligned))
        self._is_quiet = not any(spot.state in BUSY for spot in tick.spots)
        if tick.rest is not None and self.marks is None:
            self.marks = Landmarks.of(tick.rest.calibration, aligned.grey, tick.rest.detections)
            self._first = None
        return self._with_notes(tick)

    def _has_moved(self, time_s: float) -> bool:
        """Whether the camera has come to rest aside of where it stood."""
        marks = self.marks
        if marks is None or marks.is_pinned or marks.shift_px(self._step) < STAYED_PX:
            self._aside_s = time_s
            return False
        if marks.shift_px(self._step - self._aside) > SAME_PX:
            self._aside, self._aside_s = self._step, time_s
        return self._is_quiet and time_s - self._aside_s > STAYED_S

    def count_hidden(self, shot: Shot) -> int:
        """The number of markers that are not visible in the last shot."""
        if self.marks is None or not self.marks.are_markers:
            return 0
        return self.marks.count_hidden(shot.grey, self._step)

    def _without_shake(self, shot: Shot) -> Shot:
        """The shot as the camera at rest would see it; `change` is what prevents it or tracking."""
        self.change = None
        if self.marks is None:
            return self._steady_before(shot)
        step = self.marks.camera_step(shot.grey, self._step)
        if step is None:
            self.change = PINNED_NOTE if self.marks.is_pinned else CAMERA_MOVED_NOTE
            return shot
        self._step = step
        if step.any():
            shot = as_at_rest(shot, self.marks.shake.homography(step))
        if self.marks.light.has_changed(shot.grey):
            self.change = LIGHT_CHANGED_NOTE
        return shot

    def _steady_before(self, shot: Shot) -> Shot:
        """The shot as the first one since the camera is not known, so that it can come to rest."""
        first = self._first
        step = None
        if first is not None and first.size_px == shot.size_px:
            step = first.camera_step(shot.grey, self._step)
        if first is None or step is None:
            self._first, self._step = Landmarks.of_unknown(shot.grey), np.zeros(6)
            return shot
        self._step = step
        return as_at_rest(shot, first.shake.homography(step)) if step.any() else shot

    def _in_light_at_rest(self, shot: Shot) -> Shot:
        if self.marks is None:
            return shot
        grey = self.marks.light.as_at_rest(shot.grey)
        return shot if grey is shot.grey else replace(shot, grey=grey)

    def _with_notes(self, tick: Tick) -> Tick:
        """The tick, which tells once that the camera shakes."""
        if self._shakes_told or self.marks is None or self.marks.shift_px(self._step) < SHAKES_PX:
            return tick
        self._shakes_told = True
        return replace(tick, notes=(*tick.notes, SHAKES_NOTE))

    def forget(self) -> None:
        """Forget how the markers look: the table is to be measured anew."""
        self.marks = None
        self.change = None
        self._first = None
        self._step = np.zeros(6)

    def close(self) -> Tick | None:
        """The tick of the film's end."""
        return self._watch.close()

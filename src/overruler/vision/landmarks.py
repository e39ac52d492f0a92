"""Markers as landmarks: whether the camera still stands where it stood, asked of every shot at next to no cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.geometry.pose import Array

SHIFT_PX = 0.8
"""A camera whose markers seem to lie farther off than so has been moved."""
ALIKE = 0.75
"""Least correlation of a marker with its look; below, something covers it, or it is elsewhere."""
MOST_PX = 48
"""Points looked at along a marker's side."""
CARD = 1.3
"""A marker with some of its white card."""

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Landmark:
    """One marker's look."""

    rows: slice
    columns: slice
    look: NDArray[np.float32]
    """As it was, its mean 0."""
    slopes: NDArray[np.float32]
    """(2, ...): how its look changes from pixel to pixel, along x and along y."""

    def shift_px(self, grey: Grey) -> Array | None:
        """How far it seems to lie from its place (2,), good for a pixel or two; None where it is not seen there."""
        seen = _level(grey[self.rows, self.columns])
        strength = float(np.sqrt((self.look**2).sum() * (seen**2).sum()))
        if not strength or (self.look * seen).sum() / strength < ALIKE:
            return None
        gain = float((self.look * seen).sum() / (self.look**2).sum())
        off, slopes = (seen / gain - self.look).ravel(), self.slopes.reshape(2, -1)
        return np.asarray(-np.linalg.solve(slopes @ slopes.T, slopes @ off), float)


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """All markers that a calibration rests on."""

    marks: tuple[Landmark, ...]

    @classmethod
    def of(cls, calibration: Calibration, grey: Grey) -> "Landmarks":
        found = (_landmark(calibration, square, grey) for square in calibration.squares_mm)
        return cls(tuple(mark for mark in found if mark is not None))

    def covered(self, grey: Grey) -> int:
        """How many of them are not to be seen."""
        return sum(mark.shift_px(grey) is None for mark in self.marks)

    def moved(self, grey: Grey) -> bool:
        """Whether most of them lie elsewhere, or none can be found where they should be."""
        if not self.marks:
            return False
        shifts = [shift for mark in self.marks if (shift := mark.shift_px(grey)) is not None]
        if 2 * len(shifts) < len(self.marks):
            return True
        return float(np.median([np.hypot(*shift) for shift in shifts])) > SHIFT_PX


def _landmark(calibration: Calibration, square_mm: Array, grey: Grey) -> Landmark | None:
    middle = square_mm.mean(0)
    corners = np.column_stack([middle + CARD * (square_mm - middle), np.zeros(4)])
    pixels = calibration.camera.project(corners)
    low, high = np.floor(pixels.min(0)).astype(int), np.ceil(pixels.max(0)).astype(int)
    if (low < 1).any() or (high > np.array(grey.shape[::-1]) - 1).any() or (high - low < 8).any():
        return None
    step = max(1, int((high - low).max()) // MOST_PX)
    rows, columns = (slice(int(low[axis]), int(high[axis]), step) for axis in (1, 0))
    whole = grey[rows.start - 1 : rows.stop + 1, columns.start - 1 : columns.stop + 1].astype(np.float32)
    across, down = whole[1:-1, 2:] - whole[1:-1, :-2], whole[2:, 1:-1] - whole[:-2, 1:-1]
    slopes = np.stack([across, down])[:, ::step, ::step] / 2
    return Landmark(rows, columns, _level(grey[rows, columns]), np.asarray(slopes, np.float32))


def _level(part: Grey) -> NDArray[np.float32]:
    seen = part.astype(np.float32)
    return np.asarray(seen - seen.mean(), np.float32)

"""Markers as landmarks: whether the camera still stands where it stood, asked of every shot at next to no cost."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.geometry.pose import Array

SHIFT_PX = 0.8
"""A camera whose markers seem to lie farther off than so has been moved."""
ALIKE = 0.75
"""Least correlation of a marker with its look; below, something covers it, or it is elsewhere."""
MOST_PX = 24
"""Points looked at along a marker's side."""
CARD = 1.3
"""A marker with some of its white card."""

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """The looks of all markers that a calibration rests on, point after point of one marker after the other."""

    at: tuple[NDArray[np.intp], NDArray[np.intp]]
    """The points' (N,) rows and columns in the picture."""
    marker: NDArray[np.intp]
    """(N,): whose point it is."""
    first: NDArray[np.intp]
    """(M,): each marker's first point."""
    look: NDArray[np.float32]
    """(N,): as they were, each marker's mean 0."""
    slopes: NDArray[np.float32]
    """(2, N): how that changes from pixel to pixel, along x and along y."""

    @classmethod
    def of(cls, calibration: Calibration, grey: Grey) -> "Landmarks":
        spans = [span for square in calibration.squares_mm if (span := _span(calibration, square, grey)) is not None]
        grids = [np.mgrid[slice(*rows), slice(*columns)].reshape(2, -1) for rows, columns in spans]
        rows, columns = np.concatenate([np.zeros((2, 0), int), *grids], axis=1)
        sizes = [grid.shape[1] for grid in grids]
        right, left, below, above = (
            grey[rows + down, columns + across].astype(np.float32)
            for down, across in ((0, 1), (0, -1), (1, 0), (-1, 0))
        )
        slopes = np.asarray(np.stack([right - left, below - above]) / 2, np.float32)
        marker, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum([0, *sizes])[:-1]
        bare = cls((rows, columns), marker, first, np.zeros(0, np.float32), slopes)
        return replace(bare, look=bare._level(grey))

    def covered(self, grey: Grey) -> int:
        """How many of them are not to be seen."""
        return int(np.isnan(self.shifts_px(grey)[:, 0]).sum())

    def moved(self, grey: Grey) -> bool:
        """Whether most of them lie elsewhere, or none can be found where they should be."""
        if not len(self.first):
            return False
        shifts = self.shifts_px(grey)
        seen = ~np.isnan(shifts[:, 0])
        if 2 * seen.sum() < len(seen):
            return True
        return float(np.median(np.hypot(*shifts[seen].T))) > SHIFT_PX

    def shifts_px(self, grey: Grey) -> Array:
        """How far each seems to lie from its place (M, 2), good for a pixel or two; NaN where it is not seen there."""
        if not len(self.first):
            return np.zeros((0, 2))
        seen = self._level(grey)
        both, strength, own = (self._sums(a * b) for a, b in ((self.look, seen), (seen, seen), (self.look, self.look)))
        alike = both / np.sqrt(np.maximum(strength * own, 1e-9))
        gain = np.where(alike < ALIKE, np.nan, both / np.maximum(own, 1e-9))
        off, (x, y) = seen / gain[self.marker] - self.look, self.slopes
        a, b, d, along, down = (self._sums(one) for one in (x * x, x * y, y * y, x * off, y * off))
        return np.stack([b * down - d * along, b * along - a * down], -1) / (a * d - b * b)[:, None]

    def _level(self, grey: Grey) -> NDArray[np.float32]:
        seen = grey[self.at].astype(np.float32)
        return np.asarray(seen - (self._sums(seen) / self._sums(np.ones_like(seen)))[self.marker], np.float32)

    def _sums(self, values: NDArray[np.float32]) -> Array:
        """(M,): over each marker's points."""
        return np.add.reduceat(values, self.first) if len(self.first) else np.zeros(0)


def _span(
    calibration: Calibration, square_mm: Array, grey: Grey
) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """A marker's rows and columns: from where, to where, in what steps; None where not all of it is in the picture."""
    middle = square_mm.mean(0)
    corners = np.column_stack([middle + CARD * (square_mm - middle), np.zeros(4)])
    pixels = calibration.camera.project(corners)
    low, high = np.floor(pixels.min(0)).astype(int), np.ceil(pixels.max(0)).astype(int)
    if (low < 1).any() or (high > np.array(grey.shape[::-1]) - 1).any() or (high - low < 8).any():
        return None
    step = max(1, int((high - low).max()) // MOST_PX)
    return (int(low[1]), int(high[1]), step), (int(low[0]), int(high[0]), step)

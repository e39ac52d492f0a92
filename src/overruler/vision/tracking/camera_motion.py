"""Markers as landmarks: whether the camera still stands where it stood, asked of every shot at next to no cost."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.track import Tick

MAX_SHIFT_PX = 0.8
"""A camera whose markers seem to lie farther off than so has been moved."""
MIN_CORRELATION = 0.75
"""Least correlation of a marker with its look; below, something covers it, or it is elsewhere."""
MAX_POINTS_PER_SIDE = 12
"""Points looked at along a marker's side."""
CARD_SCALE = 1.3
"""A marker with some of its white card."""

CAMERA_MOVED_S = 1.0
"""Markers that are elsewhere for so long are there to stay."""
CAMERA_MOVED_NOTE = "the camera was moved, or its markers are hidden"

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """The looks of all markers that a calibration rests on, point after point of one marker after the other."""

    points_px: tuple[NDArray[np.intp], NDArray[np.intp]]
    """The points' (N,) rows and columns in the picture."""
    marker: NDArray[np.intp]
    """(N,): whose point it is."""
    first_point: NDArray[np.intp]
    """(M,): each marker's first point."""
    templates: Array
    """(3, N): how they were, and how that changes from pixel to pixel along x and along y; each marker's mean 0."""
    template_sums: Array
    """(7, M): the points of each marker; sums over them of their look squared, of its products with the slopes along x
    and y, of x squared, x y and y squared."""

    @classmethod
    def of(cls, calibration: Calibration, grey: Grey) -> "Landmarks":
        spans = [
            span
            for corners in calibration.corners_px
            if (span := _marker_grid(corners, grey)) is not None
        ]
        grids = [np.mgrid[slice(*rows), slice(*columns)].reshape(2, -1) for rows, columns in spans]
        rows, columns = np.concatenate([np.zeros((2, 0), int), *grids], axis=1)
        sizes = [grid.shape[1] for grid in grids]
        look, right, left, below, above = (
            grey[rows + down, columns + across].astype(float)
            for down, across in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
        )
        marker, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum([0, *sizes])[:-1]
        looks = np.stack([look, (right - left) / 2, (below - above) / 2])
        count = np.array(sizes)
        looks -= (_sum_per_marker(looks, first) / count)[:, marker]
        (v, x, y) = looks
        own = _sum_per_marker(np.stack([v * v, v * x, v * y, x * x, x * y, y * y]), first)
        return cls((rows, columns), marker, first, looks, np.vstack([count, own]))

    def count_hidden(self, grey: Grey) -> int:
        """How many of them are not to be seen."""
        return int(np.isnan(self.shifts_px(grey)[:, 0]).sum())

    def camera_moved(self, grey: Grey) -> bool:
        """Whether most of them lie elsewhere, or none can be found where they should be."""
        if not len(self.first_point):
            return False
        shifts = self.shifts_px(grey)
        seen = ~np.isnan(shifts[:, 0])
        if 2 * seen.sum() < len(seen):
            return True
        return float(np.median(np.hypot(*shifts[seen].T))) > MAX_SHIFT_PX

    def shifts_px(self, grey: Grey) -> Array:
        """How far each seems to lie from its place (M, 2), good for a pixel or two; NaN where it is not seen there."""
        seen = grey[self.points_px].astype(float)
        total, strength, both, along, down = _sum_per_marker(
            np.vstack([seen, seen * seen, self.templates * seen]), self.first_point
        )
        count, own, own_x, own_y, a, b, d = self.template_sums
        alike = both / np.sqrt(np.maximum((strength - total * total / count) * own, 1e-9))
        gain = np.where(alike < MIN_CORRELATION, np.nan, both / np.maximum(own, 1e-9))
        along, down = along / gain - own_x, down / gain - own_y
        return np.asarray(
            np.stack([b * down - d * along, b * along - a * down], -1) / (a * d - b * b)[:, None]
        )


def _sum_per_marker(values: Array, first: NDArray[np.intp]) -> Array:
    """(K, M): over each marker's points, of values (K, N)."""
    return np.add.reduceat(values, first, axis=1) if len(first) else np.zeros((len(values), 0))


def _marker_grid(
    corners_px: Array, grey: Grey
) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """A marker's rows and columns: from where, to where, in what steps; None where not all of it is in the picture."""
    middle = corners_px.mean(0)
    pixels = middle + CARD_SCALE * (corners_px - middle)
    low, high = np.floor(pixels.min(0)).astype(int), np.ceil(pixels.max(0)).astype(int)
    if (low < 1).any() or (high > np.array(grey.shape[::-1]) - 1).any() or (high - low < 8).any():
        return None
    step = -(-int((high - low).max()) // MAX_POINTS_PER_SIDE)
    return (int(low[1]), int(high[1]), step), (int(low[0]), int(high[0]), step)


class TableWatcher(Protocol):
    """Eyes over a table, as `track.Watch` has them."""

    def look(self, shot: Shot) -> Tick: ...

    def close(self) -> Tick | None: ...

    def remeasure_table(self) -> None: ...


class CameraMotionGuard:
    """Eyes that know when the camera is bumped; shots in, ticks out, as theirs are."""

    def __init__(self, watch: TableWatcher) -> None:
        self._watch = watch
        self._marks: Landmarks | None = None
        self._away_s: float | None = None

    def look(self, shot: Shot) -> Tick:
        if self._marks is not None and self._marks.camera_moved(shot.grey):
            first, self._away_s = (
                self._away_s is None,
                shot.time_s if self._away_s is None else self._away_s,
            )
            if shot.time_s - self._away_s < CAMERA_MOVED_S:
                return Tick(shot.time_s, (), notes=(CAMERA_MOVED_NOTE,) if first else ())
            self._marks = None
            self._watch.remeasure_table()
        self._away_s = None
        tick = self._watch.look(shot)
        if tick.rest is not None and self._marks is None:
            self._marks = Landmarks.of(tick.rest.calibration, shot.grey)
        return tick

    def close(self) -> Tick | None:
        return self._watch.close()

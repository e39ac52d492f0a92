"""Markers as landmarks: a cheap check of every shot that the camera has not moved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.track import Tick
from overruler.vision.imaging.light_at_rest import LightAtRest, Pixels
from overruler.vision.tracking.change_detection import GreyImage

MAX_SHIFT_PX = 0.8
"""Largest shift of the markers while the camera stands still, in pixels."""
MIN_CORRELATION = 0.75
"""Least correlation of a marker with its template: below, it is covered or elsewhere."""
MAX_POINTS_PER_SIDE = 12
"""Largest number of points along a marker's side."""
CARD_SCALE = 1.3
"""Size of a template, which has some white card round the marker, in sizes of the marker."""
CAMERA_MOVED_S = 1.0
"""Once its markers have been elsewhere for this long, the camera has moved, in s."""
CAMERA_MOVED_NOTE = "the camera was moved, or its markers are hidden"
BASE_PERCENTILE = 75
"""Percentile of the brightness in a base's square that is the base's: its corners show the mat."""
LIGHT_CHANGED_NOTE = "the light or the camera's exposure has changed"
REASONS = {CAMERA_MOVED_NOTE: "the camera was moved", LIGHT_CHANGED_NOTE: LIGHT_CHANGED_NOTE}
"""Why the table is measured anew once a change has lasted."""


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """The looks of a calibration's M markers at N points, which are ordered by marker."""

    size_px: tuple[int, int]
    """Width and height of the picture."""
    light: LightAtRest | None
    """None where no marker is whole."""
    points_px: Pixels
    """(N,) each: the points' rows and columns in the picture."""
    first_point: NDArray[np.intp]
    """(M,): each marker's first point."""
    templates: Array
    """(3, N): brightness and its derivatives along x and y, each with a mean of 0 over a marker."""
    template_sums: Array
    """(7, M): each marker's number of points, and sums over them.

    With v, x and y for the rows of `templates`, these are of v², v x, v y, x², x y and y²."""

    @classmethod
    def of(
        cls, calibration: Calibration, grey: GreyImage, bases: Sequence[Detection] = ()
    ) -> "Landmarks":
        """The landmarks of a picture, without markers that the picture's edge cuts off."""
        grids = []
        for corners in calibration.corners_px:
            spans = _marker_grid(corners, grey)
            if spans is not None:
                grids.append(np.mgrid[slice(*spans[0]), slice(*spans[1])].reshape(2, -1))
        rows, columns = np.concatenate([np.zeros((2, 0), int), *grids], axis=1)
        sizes = [grid.shape[1] for grid in grids]
        marker = np.repeat(np.arange(len(sizes)), sizes)
        first = np.cumsum([0, *sizes])[:-1]
        count = np.array(sizes)
        templates = _brightness_and_slopes(grey, rows, columns)
        points_px = rows, columns
        light = LightAtRest.of(grey, points_px, _brightest_base(grey, bases)) if sizes else None
        templates -= (_sum_per_marker(templates, first) / count)[:, marker]
        v, x, y = templates
        with_v = v * templates
        products = np.stack([*with_v, x * x, x * y, y * y])
        sums = np.vstack([count, _sum_per_marker(products, first)])
        size_px = grey.shape[1], grey.shape[0]
        return cls(size_px, light, points_px, first, templates, sums)

    def count_hidden(self, grey: GreyImage) -> int:
        """The number of markers that are not visible in a picture."""
        return int(np.isnan(self.shifts_px(grey)[:, 0]).sum())

    def camera_moved(self, grey: GreyImage) -> bool:
        """Whether most markers are elsewhere in a picture, or not visible where they should be."""
        if not len(self.first_point):
            return False
        shifts = self.shifts_px(grey)
        seen = ~np.isnan(shifts[:, 0])
        if 2 * seen.sum() < len(seen):
            return True
        return float(np.median(np.hypot(*shifts[seen].T))) > MAX_SHIFT_PX

    def change(self, grey: GreyImage) -> str | None:
        """What is unlike the picture at rest, in words; None where nothing is."""
        if self.camera_moved(grey):
            return CAMERA_MOVED_NOTE
        is_lit_otherwise = self.light is not None and self.light.has_changed(grey)
        return LIGHT_CHANGED_NOTE if is_lit_otherwise else None

    def shifts_px(self, grey: GreyImage) -> Array:
        """The shifts (M, 2) of the markers in a picture, good for a pixel or two; NaN where hidden.

        They follow from one step of least squares (Lucas and Kanade, 1981), with a gain by
        correlation. In a picture of another size all are hidden.
        """
        if (grey.shape[1], grey.shape[0]) != self.size_px:
            return np.full((len(self.first_point), 2), np.nan)
        seen = grey[self.points_px].astype(float)
        products = np.vstack([seen, seen * seen, self.templates * seen])
        total, squares, seen_v, seen_x, seen_y = _sum_per_marker(products, self.first_point)
        count, vv, vx, vy, xx, xy, yy = self.template_sums
        norm = np.sqrt(np.maximum((squares - total * total / count) * vv, 1e-9))
        visible = seen_v / norm >= MIN_CORRELATION
        gain = np.where(visible, seen_v / np.maximum(vv, 1e-9), np.nan)
        right_x = seen_x / gain - vx
        right_y = seen_y / gain - vy
        shift_x = xy * right_y - yy * right_x
        shift_y = xy * right_x - xx * right_y
        determinant = xx * yy - xy * xy
        return np.stack([shift_x / determinant, shift_y / determinant], -1)


def _brightest_base(grey: GreyImage, bases: Sequence[Detection]) -> float:
    """The grey level of the brightest base; 0 without one."""
    brightest = 0.0
    for base in bases:
        low = np.maximum(np.floor(base.outline_px.min(0)).astype(int), 0)
        high = np.ceil(base.outline_px.max(0)).astype(int) + 1
        square = grey[low[1] : high[1], low[0] : high[0]]
        if square.size:
            brightest = max(brightest, float(np.percentile(square, BASE_PERCENTILE)))
    return brightest


def _brightness_and_slopes(
    grey: GreyImage, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> Array:
    """(3, N): the brightness of pixels and its derivatives along x and y."""
    center = grey[rows, columns].astype(float)
    right, left = grey[rows, columns + 1].astype(float), grey[rows, columns - 1].astype(float)
    below, above = grey[rows + 1, columns].astype(float), grey[rows - 1, columns].astype(float)
    return np.stack([center, (right - left) / 2, (below - above) / 2])


def _sum_per_marker(values: Array, first: NDArray[np.intp]) -> Array:
    """(K, M): the sums of values (K, N) over each marker's points."""
    return np.add.reduceat(values, first, axis=1) if len(first) else np.zeros((len(values), 0))


def _marker_grid(
    corners_px: Array, grey: GreyImage
) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """Start, end and step of a template's rows and columns; None if it is too small or cut off."""
    center = corners_px.mean(0)
    card = center + CARD_SCALE * (corners_px - center)
    low = np.floor(card.min(0)).astype(int)
    high = np.ceil(card.max(0)).astype(int)
    last = np.array(grey.shape[::-1]) - 1
    if (low < 1).any() or (high > last).any() or (high - low < 8).any():
        return None
    step = -(-int((high - low).max()) // MAX_POINTS_PER_SIDE)
    (left, top), (right, bottom) = low.tolist(), high.tolist()
    return (top, bottom, step), (left, right, step)


class TableWatcher(Protocol):
    """Watches a table, as `Watch` does."""

    def look(self, shot: Shot) -> Tick: ...

    def close(self) -> Tick | None: ...

    def remeasure_table(self, why: str = ...) -> None: ...


class CameraMotionGuard:
    """A watch that notices when the camera is bumped or the light changes, and then measures anew."""

    __slots__ = ("_since_s", "_watch", "change", "marks")

    def __init__(self, watch: TableWatcher) -> None:
        self._watch = watch
        self.marks: Landmarks | None = None
        """None until the table has been measured, and when it must be measured anew."""
        self.change: str | None = None
        """What is unlike the picture at rest, in words, and nothing is tracked; None where nothing is."""
        self._since_s = 0.0
        """Time of the first shot with the change."""

    def look(self, shot: Shot) -> Tick:
        """The tick of one more shot; while something is unlike the picture at rest, nothing is tracked."""
        if self.marks is not None and self.marks.size_px != shot.size_px:
            self.forget()
            self._watch.remeasure_table("the picture's size has changed")
        before = self.change
        self.change = self.marks.change(shot.grey) if self.marks is not None else None
        if self.change is not None:
            if before is None:
                self._since_s = shot.time_s
            if shot.time_s - self._since_s < CAMERA_MOVED_S:
                return Tick(shot.time_s, (), notes=(self.change,) if before is None else ())
            self._watch.remeasure_table(REASONS[self.change])
            self.forget()
        tick = self._watch.look(self._in_light_at_rest(shot))
        if tick.rest is not None and self.marks is None:
            self.marks = Landmarks.of(tick.rest.calibration, shot.grey, tick.rest.detections)
        return tick

    def _in_light_at_rest(self, shot: Shot) -> Shot:
        if self.marks is None or self.marks.light is None:
            return shot
        grey = self.marks.light.as_at_rest(shot.grey)
        return shot if grey is shot.grey else replace(shot, grey=grey)

    def forget(self) -> None:
        """Forget how the markers look: the table is to be measured anew."""
        self.marks = None
        self.change = None

    def close(self) -> Tick | None:
        """The tick of the film's end."""
        return self._watch.close()

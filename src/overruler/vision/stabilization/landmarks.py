"""Landmarks: where the camera is in every shot, beside where it was at rest.

They are the markers. On a table without markers they are corners of whatever lies on it, but for
the bases.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import CAMERA_SIZE, Calibration, Covariances
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.stabilization.camera_shake import (
    MAX_SHIFT_PX,
    STILL_PX,
    CoarseLook,
    ShakeModel,
)
from overruler.vision.stabilization.corners import find_corners
from overruler.vision.stabilization.light_at_rest import EvenLight, LightAtRest, Pixels
from overruler.vision.stabilization.light_bands import GreyImage, cell_means

MAX_MISFIT_PX = 0.8
"""Median distance of the markers from where a step of the camera puts them, at most, in pixels."""
MAX_STEPS = 4
"""Number of least-squares steps in which the markers are followed: each is good for a pixel or two."""
CONVERGED_PX = 0.3
"""A change of the markers' shifts by less than this ends that, in pixels."""
MIN_CORRELATION = 0.75
"""Least correlation of a marker with its template: below, it is covered or elsewhere."""
MAX_POINTS_PER_SIDE = 12
"""Largest number of points along a marker's side."""
CARD_SCALE = 1.3
"""Size of a template, which has some white card round the marker, in sizes of the marker."""
VIEW_MM = 1000.0
"""Width of what a camera is taken to see that is not known yet, and its distance, in mm."""
MIN_SIDE_PX = 8
"""Least side of a template, in pixels."""
BASE_PERCENTILE = 75
"""Percentile of the brightness in a base's square that is the base's: its corners show the mat."""


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """The looks of a calibration's M markers, or of other corners, at N points, ordered by these."""

    size_px: tuple[int, int]
    """Width and height of the picture."""
    are_markers: bool
    """Whether they are markers."""
    is_pinned: bool
    """Whether the camera is known by pixels that a person named: these hold for no other camera."""
    light: LightAtRest | EvenLight
    """The latter where no marker is whole."""
    shake: ShakeModel
    """How the markers move with the camera."""
    look: CoarseLook
    """All of the picture at rest."""
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
        squares = [_grown(corners) for corners in calibration.corners_px]
        at_markers = _grids(squares, grey)
        found = at_markers or _grids(find_corners(grey, calibration, bases), grey)
        centers = np.array([grid.mean(1)[::-1] for grid in found]).reshape(-1, 2)
        shake = ShakeModel.of(calibration.camera, centers, calibration.board_mm)
        rows, columns = np.concatenate([np.zeros((2, 0), int), *found], axis=1)
        sizes = [grid.shape[1] for grid in found]
        marker = np.repeat(np.arange(len(sizes)), sizes)
        first = np.cumsum([0, *sizes])[:-1]
        count = np.array(sizes)
        templates = _brightness_and_slopes(grey, rows, columns)
        points_px = rows, columns
        light: LightAtRest | EvenLight = EvenLight(cell_means(grey))
        if at_markers:
            light = LightAtRest.of(grey, points_px, _brightest_base(grey, bases))
        templates -= (_sum_per_marker(templates, first) / count)[:, marker]
        v, x, y = templates
        with_v = v * templates
        products = np.stack([*with_v, x * x, x * y, y * y])
        sums = np.vstack([count, _sum_per_marker(products, first)])
        return cls(
            size_px=(grey.shape[1], grey.shape[0]),
            are_markers=bool(at_markers),
            is_pinned=not calibration.corners_px,
            light=light,
            shake=shake,
            look=CoarseLook.of(grey),
            points_px=points_px,
            first_point=first,
            templates=templates,
            template_sums=sums,
        )

    @classmethod
    def of_unknown(cls, grey: GreyImage) -> "Landmarks":
        """Corners of a picture whose camera is not known yet: as if it looked straight at a plane."""
        height, width = grey.shape
        middle = np.array([width / 2, height / 2])
        matrix = np.array([[width, 0, middle[0]], [0, width, middle[1]], [0, 0, 1.0]])
        center_mm = VIEW_MM * middle / width
        rotation = np.diag([1.0, -1.0, -1.0])
        pose = Pose(rotation, -rotation @ np.array([*center_mm, VIEW_MM]))
        camera = Camera(matrix, np.zeros(5), pose)
        board_mm = float(2 * center_mm[0]), float(2 * center_mm[1])
        nothing = Covariances.same(np.zeros((CAMERA_SIZE, CAMERA_SIZE)))
        return cls.of(Calibration(camera, nothing, (width, height), 0.0, (), board_mm), grey)

    def count_hidden(self, grey: GreyImage, step: Array) -> int:
        """The number of markers that are not visible in a picture after a step (6,) of the camera."""
        return int(np.isnan(self.shifts_px(grey, self._whole_px(step))[:, 0]).sum())

    def camera_step(self, grey: GreyImage, last: Array) -> Array | None:
        """The step (6,) of the camera's pose since rest; 0 where it stands still.

        It is sought near that of the last shot, and near where all of the picture seems to have
        jumped. None where most of the markers are hidden or elsewhere. Without a marker it is 0."""
        still = np.zeros(6)
        if not len(self.first_point):
            return still
        step = self._step_near(grey, last)
        if step is None and last.any():
            step = self._step_near(grey, still)
        if step is None and (grey.shape[1], grey.shape[0]) == self.size_px:
            jump = np.tile(self.look.shift_px(grey), (len(self.first_point), 1))
            step = self._step_near(grey, self.shake.fit(jump, still))
        return step

    def _step_near(self, grey: GreyImage, step: Array) -> Array | None:
        """The step (6,) of the camera's pose, followed from a nearby one; None where it is not."""
        for _ in range(MAX_STEPS):
            expected = self.shake.marker_shifts_px(step)
            shifts = self.shifts_px(grey, self._whole_px(step))
            seen = ~np.isnan(shifts[:, 0])
            if 2 * seen.sum() < len(seen):
                return None
            shift_px = float(np.median(np.hypot(*shifts[seen].T)))
            if shift_px <= STILL_PX:
                return np.zeros(6)
            step = self.shake.fit(shifts, step)
            fitted = self.shake.marker_shifts_px(step)
            if np.abs(fitted - expected).max() < CONVERGED_PX:
                break
        misfit = float(np.median(np.hypot(*(shifts - fitted)[seen].T)))
        return step if misfit <= MAX_MISFIT_PX and shift_px <= MAX_SHIFT_PX else None

    def _whole_px(self, step: Array) -> NDArray[np.intp]:
        """(M, 2): the shifts of the markers by a step (6,) of the camera, in whole pixels."""
        return np.rint(self.shake.marker_shifts_px(step)).astype(int)

    def shift_px(self, step: Array) -> float:
        """The median shift of the markers by a step (6,) of the camera."""
        if not step.any():
            return 0.0
        return float(np.median(np.hypot(*self.shake.marker_shifts_px(step).T)))

    def shifts_px(self, grey: GreyImage, about: NDArray[np.intp] | None = None) -> Array:
        """The shifts (M, 2) of the markers in a picture; NaN where hidden.

        They are good within a pixel or two of `about` (M, 2), whole pixels, by default 0. They
        follow from one step of least squares (Lucas and Kanade, 1981), with a gain by correlation.
        In a picture of another size all are hidden.
        """
        if (grey.shape[1], grey.shape[0]) != self.size_px:
            return np.full((len(self.first_point), 2), np.nan)
        begin = np.zeros((len(self.first_point), 2), int) if about is None else about
        seen = self._brightness_about(grey, begin)
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
        return np.asarray(begin + np.stack([shift_x, shift_y], -1) / determinant[:, None])

    def _brightness_about(self, grey: GreyImage, about: NDArray[np.intp]) -> Array:
        """(N,): the brightness at the markers' points, moved by whole pixels (M, 2)."""
        rows, columns = self.points_px
        if about.any():
            count = self.template_sums[0].astype(int)
            right, down = about.repeat(count, axis=0).T
            rows = (rows + down).clip(0, grey.shape[0] - 1)
            columns = (columns + right).clip(0, grey.shape[1] - 1)
        return grey[rows, columns].astype(float)


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


def _grown(corners_px: Array) -> Array:
    """The corners (4, 2) of a marker with some of its white card."""
    center = corners_px.mean(0)
    return np.asarray(center + CARD_SCALE * (corners_px - center))


def _grids(squares_px: Iterable[Array], grey: GreyImage) -> list[NDArray[np.intp]]:
    """(2, K) each: rows and columns of points in those squares (4, 2) that the picture holds whole."""
    last = np.array(grey.shape[::-1]) - 1
    found = []
    for square in squares_px:
        low, high = np.floor(square.min(0)).astype(int), np.ceil(square.max(0)).astype(int)
        if (low < 1).any() or (high > last).any() or (high - low < MIN_SIDE_PX).any():
            continue
        step = -(-int((high - low).max()) // MAX_POINTS_PER_SIDE)
        (left, top), (right, bottom) = low.tolist(), high.tolist()
        found.append(np.mgrid[top:bottom:step, left:right:step].reshape(2, -1))
    return found

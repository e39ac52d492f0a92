"""A camera that was bumped is noticed, a hand over a marker is no bump."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from overruler.vision.stabilization.landmarks import Landmarks
from synthetic.flat_table import render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers, exact

CAMERA = camera_over(10.0)
STILL = np.zeros(6)
MARKERS = eight_markers()


def grey(
    seed: int = 1, step: tuple[float, ...] = (0.0,) * 6
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The table as the camera sees it, moved by a step of its pose."""
    camera = CAMERA.moved([0.0] * 9 + list(step))
    pixels = render_table(camera, SIZE_PX, BOARD_MM, [], MARKERS, noise=2.0, seed=seed)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)


@pytest.fixture(scope="module")
def marks() -> Landmarks:
    corners = tuple(CAMERA.project(corners) for corners in MARKERS.values())
    return Landmarks.of(replace(exact(CAMERA), corners_px=corners), grey())


def mean_mm_per_px() -> float:
    return float(CAMERA.mm_per_px(np.array([350.0, 250.0, 0.0])))


def test_a_camera_that_stands_still_has_not_moved(marks: Landmarks) -> None:
    assert len(marks.first_point) >= 6
    assert not np.any(marks.camera_step(grey(seed=2), STILL))
    assert marks.count_hidden(grey(seed=2), STILL) == 0
    darker = (grey(seed=3) * 0.7).astype(np.uint8)
    assert not np.any(marks.camera_step(darker, STILL))


@pytest.mark.parametrize("step_mm", [0.5, 1.0, 3.0, 7.0, -7.0])
@pytest.mark.parametrize("axis", [3, 4])
def test_a_camera_bumped_aside_is_followed(marks: Landmarks, axis: int, step_mm: float) -> None:
    """Without a hint of how far: a jump of all of the picture tells where the markers are."""
    step = np.zeros(6)
    step[axis] = step_mm
    found = marks.camera_step(grey(seed=4, step=tuple(step)), STILL)
    assert found is not None
    off = marks.shake.marker_shifts_px(found) - marks.shake.marker_shifts_px(step)
    assert np.abs(off).max() < 0.2
    assert marks.shift_px(found) == pytest.approx(abs(step_mm) / mean_mm_per_px(), rel=0.1)


def test_a_camera_that_turns_about_each_axis_is_followed_from_its_last_step(
    marks: Landmarks,
) -> None:
    step = np.array([0.006, -0.004, 0.008, 1.0, -2.0, 3.0])
    found = marks.camera_step(grey(seed=8, step=tuple(step)), 0.8 * step)
    assert found is not None
    off = marks.shake.marker_shifts_px(found) - marks.shake.marker_shifts_px(step)
    assert np.abs(off).max() < 0.2


@pytest.mark.parametrize("axis", [3, 4])
def test_a_camera_bumped_far_aside_is_not_where_it_was(marks: Landmarks, axis: int) -> None:
    step = [0.0] * 6
    step[axis] = 20.0
    assert marks.camera_step(grey(seed=4, step=tuple(step)), STILL) is None


def test_a_shift_is_measured_while_it_is_small(marks: Landmarks) -> None:
    seen = grey(seed=5, step=(0, 0, 0, 1.0, 0, 0))
    truth = 1.0 / mean_mm_per_px()
    assert np.median(marks.shifts_px(seen)[:, 0]) == pytest.approx(truth, rel=0.25)


def test_a_hand_over_a_marker_is_no_bump_and_a_cloth_over_all_hides_where_it_is(
    marks: Landmarks,
) -> None:
    covered = grey(seed=6)
    rows, columns = (at[: marks.first_point[1]] for at in marks.points_px)
    covered[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = 150
    assert marks.count_hidden(covered, STILL) == 1
    assert not np.any(marks.camera_step(covered, STILL))
    assert marks.camera_step(np.full_like(covered, 120), STILL) is None

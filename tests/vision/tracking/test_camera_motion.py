"""A camera that was bumped is noticed, a hand over a marker is no bump."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from overruler.vision.tracking.camera_motion import Landmarks
from synthetic.flat_table import render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers, exact

CAMERA = camera_over(10.0)
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


def test_a_camera_that_stands_still_has_not_moved(marks: Landmarks) -> None:
    assert len(marks.first_point) >= 6
    assert not marks.camera_moved(grey(seed=2))
    assert marks.count_hidden(grey(seed=2)) == 0
    darker = (grey(seed=3) * 0.7).astype(np.uint8)
    assert not marks.camera_moved(darker)


@pytest.mark.parametrize("step_mm", [1.0, 2.0, 20.0])
@pytest.mark.parametrize("axis", [3, 4])
def test_a_camera_bumped_aside_has_moved(marks: Landmarks, axis: int, step_mm: float) -> None:
    step = [0.0] * 6
    step[axis] = step_mm
    assert marks.camera_moved(grey(seed=4, step=tuple(step)))


def test_a_shift_is_measured_while_it_is_small(marks: Landmarks) -> None:
    seen = grey(seed=5, step=(0, 0, 0, 1.0, 0, 0))
    truth = 1.0 / float(CAMERA.mm_per_px(np.array([350.0, 250.0, 0.0])))
    assert np.median(marks.shifts_px(seen)[:, 0]) == pytest.approx(truth, rel=0.25)


def test_a_hand_over_a_marker_is_no_bump_and_a_cloth_over_all_hides_where_it_is(
    marks: Landmarks,
) -> None:
    covered = grey(seed=6)
    rows, columns = (at[: marks.first_point[1]] for at in marks.points_px)
    covered[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = 150
    assert marks.count_hidden(covered) == 1
    assert not marks.camera_moved(covered)
    assert marks.camera_moved(np.full_like(covered, 120))

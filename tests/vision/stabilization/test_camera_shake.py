"""The step of a shaking camera, and the picture without it."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.vision.stabilization.camera_shake import ShakeModel, as_at_rest
from synthetic.flat_table import render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers

CAMERA = camera_over(10.0)
MARKERS_PX = np.array([CAMERA.project(corners).mean(0) for corners in eight_markers().values()])
MODEL = ShakeModel.of(CAMERA, MARKERS_PX, BOARD_MM)
turns, shifts = st.floats(-0.008, 0.008), st.floats(-4.0, 4.0)
steps = st.tuples(turns, turns, turns, shifts, shifts, shifts).map(np.array)


def fitted(shifts_px: Array) -> Array:
    step = np.zeros(6)
    for _ in range(4):
        step = MODEL.fit(shifts_px, step)
    return step


@given(steps)
@settings(max_examples=50, deadline=None)
def test_the_markers_tell_where_every_point_of_the_table_has_gone(step: Array) -> None:
    found = fitted(MODEL.marker_shifts_px(step))
    moved = CAMERA.moved(np.concatenate([np.zeros(9), step]))
    points = np.array([(x, y, 0.0) for x in (50, 350, 650) for y in (50, 250, 450)])
    rest, now = CAMERA.project(points), moved.project(points)
    there = cv2.perspectiveTransform(rest[None], MODEL.homography(found))[0]
    assert np.abs(there - now).max() < 0.02 + 0.015 * np.abs(now - rest).max()


@given(steps, st.integers(0, 7), st.floats(-3, 3))
@settings(max_examples=30, deadline=None)
def test_a_marker_that_somebody_moved_does_not_take_the_camera_along(
    step: Array, which: int, off_px: float
) -> None:
    shifts_px = MODEL.marker_shifts_px(step)
    wrong = shifts_px.copy()
    wrong[which] += off_px
    others = np.arange(len(wrong)) != which
    error = MODEL.marker_shifts_px(fitted(wrong)) - shifts_px
    assert np.abs(error[others]).max() < 0.15


def test_hidden_markers_tell_nothing_and_three_are_enough() -> None:
    step = np.array([0.0, 0.0, 0.0, 2.0, -1.0, 0.0])
    shifts_px = MODEL.marker_shifts_px(step)
    few = shifts_px.copy()
    few[3:] = np.nan
    assert np.abs(MODEL.marker_shifts_px(fitted(few)) - shifts_px).max() < 0.2


def test_a_box_of_the_aligned_picture_is_that_part_of_all_of_it() -> None:
    step = np.array([0.004, 0.002, 0.006, 3.0, -2.0, 0.0])
    moved = CAMERA.moved(np.concatenate([np.zeros(9), step]))
    pixels = render_table(moved, SIZE_PX, BOARD_MM, [], eight_markers(), noise=0.0, seed=1)
    shot = as_at_rest(Shot.of(Frame(pixels, "moved")), MODEL.homography(step))
    whole = shot.colours(None)
    assert whole.shape == pixels.shape
    u, v = MARKERS_PX[0].astype(int).tolist()
    across = (u - 25, v - 20, u + 5, v + 4)
    for box in (across, (100, 80, 420, 300), (0, 0, 50, 40), (1150, 860, 1200, 900), (7, 5, 8, 6)):
        left, top, right, bottom = box
        part = shot.colours(box)
        assert part.shape == (bottom - top, right - left, 3)
        off = np.abs(part.astype(int) - whole[top:bottom, left:right])
        assert np.quantile(off, 0.99) <= 2
        assert np.concatenate([off[[0, -1]].ravel(), off[:, [0, -1]].ravel()]).mean() < 1


def test_the_aligned_picture_shows_the_table_at_rest() -> None:
    step = np.array([0.004, -0.003, 0.006, 3.0, -2.0, 4.0])
    moved = CAMERA.moved(np.concatenate([np.zeros(9), step]))
    rest, now = (
        render_table(camera, SIZE_PX, BOARD_MM, [], eight_markers(), noise=0.0, seed=1)
        for camera in (CAMERA, moved)
    )
    shot = as_at_rest(Shot.of(Frame(now, "moved")), MODEL.homography(step))
    inner = np.s_[40:-40, 40:-40]
    off = np.abs(shot.colours(None)[inner].astype(int) - rest[inner])
    raw = np.abs(now[inner].astype(int) - rest[inner])
    assert off.mean() < 0.5 < 0.2 * raw.mean()
    assert shot.grey.shape == Shot.of(Frame(rest, "rest")).grey.shape
    assert pytest.approx(0, abs=1) == float(
        np.median(shot.grey[inner].astype(int) - Shot.of(Frame(rest, "rest")).grey[inner])
    )

"""A camera that is bumped while a film runs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from overruler.frame import Frame, Shot
from overruler.track import Tick
from overruler.vision.imaging.light_at_rest import KNOWN_LIGHT_RATIO, MAX_LIGHT_RATIO
from overruler.vision.tracking.camera_motion import (
    CAMERA_MOVED_NOTE,
    CAMERA_MOVED_S,
    LIGHT_CHANGED_NOTE,
    CameraMotionGuard,
    Landmarks,
)
from synthetic.flat_table import render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers, exact
from tests.vision.tracking.fake_watch import FakeWatch

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


@pytest.fixture(scope="module")
def table() -> Pixels:
    return render_table(camera_over(10.0), SIZE_PX, BOARD_MM, [], eight_markers(), noise=1.0)


def told(table: Pixels, bumped_s: tuple[float, float]) -> tuple[FakeWatch, list[Tick]]:
    """Four seconds; between two times all is shown some pixels aside."""
    watch = FakeWatch()
    steady, aside = CameraMotionGuard(watch), np.roll(table, (-6, 9), (0, 1))
    times = np.arange(40) / 10
    frames = [aside if bumped_s[0] <= time_s < bumped_s[1] else table for time_s in times]
    shots = (
        Shot.of(Frame(pixels, "film", time_s=float(at)))
        for pixels, at in zip(frames, times, strict=True)
    )
    return watch, [steady.look(shot) for shot in shots]


def test_after_a_bump_nothing_is_told_until_it_is_sure_and_then_all_is_measured_anew(
    table: Pixels,
) -> None:
    watch, ticks = told(table, (1.0, 9.0))
    assert len(watch.again_s) == 1
    assert not [time_s for time_s in watch.looked_s if 1.0 <= time_s < 1.0 + CAMERA_MOVED_S - 0.05]
    assert [tick.time_s for tick in ticks if tick.notes] == [1.0]
    assert [tick.time_s for tick in ticks if tick.rest] == pytest.approx([0.0, 2.0])
    assert watch.looked_s[-1] == pytest.approx(3.9)


def test_markers_that_come_back_soon_were_only_hidden(table: Pixels) -> None:
    watch, ticks = told(table, (1.0, 1.6))
    assert not watch.again_s
    assert [note for tick in ticks for note in tick.notes] == [CAMERA_MOVED_NOTE]
    assert watch.looked_s[-1] == pytest.approx(3.9)


def shots_of(frames: list[Pixels]) -> list[Shot]:
    return [Shot.of(Frame(pixels, "film", time_s=step / 10)) for step, pixels in enumerate(frames)]


def test_a_jump_of_the_exposure_is_told_and_the_table_is_measured_anew(table: Pixels) -> None:
    dark = (table * 0.4).astype(np.uint8)
    watch = FakeWatch()
    steady = CameraMotionGuard(watch)
    ticks = [steady.look(shot) for shot in shots_of([table] * 10 + [dark] * 30)]
    assert [tick.notes for tick in ticks if tick.notes] == [(LIGHT_CHANGED_NOTE,)]
    assert len(watch.again_s) == 1
    assert [tick.time_s for tick in ticks if tick.rest] == pytest.approx([0.0, 2.0])


def test_a_little_more_light_is_no_change(table: Pixels) -> None:
    lighter = np.clip(table * 1.3, 0, 255).astype(np.uint8)
    watch = FakeWatch()
    steady = CameraMotionGuard(watch)
    ticks = [steady.look(shot) for shot in shots_of([table] * 10 + [lighter] * 10)]
    assert not watch.again_s
    assert not any(tick.notes for tick in ticks)


@pytest.mark.parametrize("gain", [0.65, 0.9, 1.08, 1.5])
def test_trackers_see_nearly_the_light_at_rest(table: Pixels, gain: float) -> None:
    """Else the mat under a plain base that has left, once brighter, looks as the base did."""
    relit = np.clip(table * gain, 0, 255).astype(np.uint8)
    watch = FakeWatch()
    steady = CameraMotionGuard(watch)
    for shot in shots_of([table] * 3 + [relit] * 3):
        steady.look(shot)
    before, after = watch.levels[0], watch.levels[-1]
    wanted = min(max(gain, 1 / KNOWN_LIGHT_RATIO), KNOWN_LIGHT_RATIO)
    assert after / before == pytest.approx(wanted, abs=0.02)


def test_a_table_that_turns_white_between_its_cards_is_told(table: Pixels) -> None:
    """What is white can get no whiter: it tells less light than there is."""
    bright = np.clip(table * 2.2, 0, 255).astype(np.uint8)
    marks, light = marks_of(table), shots_of([bright])[0].grey
    assert marks.light is not None
    assert marks.light.ratio_of(light) < MAX_LIGHT_RATIO
    assert marks.change(light) == LIGHT_CHANGED_NOTE


def marks_of(table: Pixels, *bases: Any) -> Landmarks:
    camera = camera_over(10.0)
    corners = tuple(camera.project(corners) for corners in eight_markers().values())
    return Landmarks.of(
        replace(exact(camera), corners_px=corners), shots_of([table])[0].grey, bases
    )


@pytest.mark.parametrize("white", [235, 255])
@pytest.mark.parametrize(("gain", "is_told"), [(0.65, False), (1.05, False), (1.4, True)])
def test_a_bright_base_that_turns_white_loses_its_look(
    table: Pixels, gain: float, white: int, is_told: bool
) -> None:
    """White is 235 in most films and 255 in other pictures. Cards turn white, too: that is no matter."""
    before = np.asarray(cv2.circle(table.copy(), (300, 250), 40, (212,) * 3, -1), np.uint8)
    before = np.minimum(before, white)
    base = SimpleNamespace(outline_px=np.array([[260.0, 210.0], [340.0, 290.0]]))
    (after,) = shots_of([np.clip(before * gain, 0, white).astype(np.uint8)])
    assert marks_of(before, base).change(after.grey) == (LIGHT_CHANGED_NOTE if is_told else None)
    assert marks_of(before).change(after.grey) is None


def test_a_hand_over_some_markers_is_no_light(table: Pixels) -> None:
    marks = marks_of(table)
    covered = table.copy()
    camera = camera_over(10.0)
    for quad in [camera.project(corners) for corners in eight_markers().values()][:3]:
        low, high = quad.min(0).astype(int) - 20, quad.max(0).astype(int) + 20
        covered[low[1] : high[1], low[0] : high[0]] = 190
    (shot,) = shots_of([covered])
    assert marks.count_hidden(shot.grey) == 3
    assert marks.change(shot.grey) is None


def test_a_picture_of_another_size_is_measured_anew_at_once(table: Pixels) -> None:
    watch = FakeWatch()
    steady = CameraMotionGuard(watch)
    smaller = np.ascontiguousarray(table[::2, ::2])
    ticks = [steady.look(shot) for shot in shots_of([table] * 5 + [smaller] * 5)]
    assert len(watch.again_s) == 1
    assert [tick.time_s for tick in ticks if tick.rest] == pytest.approx([0.0, 0.5])
    marks = Landmarks.of(
        replace(exact(camera_over(10.0)), corners_px=()), shots_of([smaller])[0].grey
    )
    assert not marks.camera_moved(shots_of([table])[0].grey)


def test_landmarks_of_another_size_are_all_hidden(table: Pixels) -> None:
    grey = shots_of([table])[0].grey
    marks = marks_of(table)
    assert marks.count_hidden(grey[:-1]) == len(marks.first_point) > 4
    assert marks.camera_moved(grey[:-1])
    assert not marks.camera_moved(grey)

"""A camera that is bumped while a film runs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from overruler.frame import Frame, Shot
from overruler.track import Tick
from overruler.vision.stabilization.guard import (
    CAMERA_MOVED_NOTE,
    CAMERA_MOVED_S,
    LIGHT_CHANGED_NOTE,
    PINNED_NOTE,
    SHAKES_NOTE,
    STAYED_S,
    CameraMotionGuard,
)
from overruler.vision.stabilization.landmarks import Landmarks
from overruler.vision.stabilization.light_at_rest import (
    KNOWN_LIGHT_RATIO,
    MAX_LIGHT_RATIO,
    LightAtRest,
)
from overruler.vision.stabilization.light_bands import GreyImage
from synthetic.flat_table import render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers, exact
from tests.vision.stabilization.fake_watch import FakeWatch

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
STILL = np.zeros(6)


@pytest.fixture(scope="module")
def table() -> Pixels:
    return render_table(camera_over(10.0), SIZE_PX, BOARD_MM, [], eight_markers(), noise=1.0)


def told(table: Pixels, bumped_s: tuple[float, float]) -> tuple[FakeWatch, list[Tick]]:
    """Four seconds; between two times all is shown some pixels aside."""
    watch = FakeWatch()
    steady, aside = CameraMotionGuard(watch), np.roll(table, (-16, 19), (0, 1))
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
    assert isinstance(marks.light, LightAtRest)
    assert marks.light.ratio_of(light) < MAX_LIGHT_RATIO
    assert marks.light.has_changed(light)


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
    for marks, told in ((marks_of(before, base), is_told), (marks_of(before), False)):
        assert marks.light.has_changed(after.grey) == told


def test_a_hand_over_some_markers_is_no_light(table: Pixels) -> None:
    marks = marks_of(table)
    covered = table.copy()
    camera = camera_over(10.0)
    for quad in [camera.project(corners) for corners in eight_markers().values()][:3]:
        low, high = quad.min(0).astype(int) - 20, quad.max(0).astype(int) + 20
        covered[low[1] : high[1], low[0] : high[0]] = 190
    (shot,) = shots_of([covered])
    assert marks.count_hidden(shot.grey, STILL) == 3
    assert not np.any(marks.camera_step(shot.grey, STILL))
    assert not marks.light.has_changed(shot.grey)


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
    assert not np.any(marks.camera_step(shots_of([table])[0].grey, STILL))


def test_landmarks_of_another_size_are_all_hidden(table: Pixels) -> None:
    grey = shots_of([table])[0].grey
    marks = marks_of(table)
    assert marks.count_hidden(grey[:-1], STILL) == len(marks.first_point) > 4
    assert marks.camera_step(grey[:-1], STILL) is None
    assert not np.any(marks.camera_step(grey, STILL))


# --- a camera that shakes ---


def tilted(step: tuple[float, ...], seed: int = 1) -> Pixels:
    camera = camera_over(10.0).moved([0.0] * 9 + list(step))
    return render_table(camera, SIZE_PX, BOARD_MM, [], eight_markers(), noise=1.0, seed=seed)


def test_a_camera_that_shakes_shows_the_table_as_it_was_and_that_is_told_once(
    table: Pixels,
) -> None:
    steps = [
        (0.003 * k, -0.002 * k, 0.002 * k, 0.5 * k, 0.0, 0.0) for k in (0.25, 0.5, 1, 0.5, 0, -1)
    ]
    watch = FakeWatch()
    guard = CameraMotionGuard(watch)
    frames = [tilted(step, seed) for seed, step in enumerate(steps)]
    ticks = [guard.look(shot) for shot in shots_of([table, table, *frames])]
    assert [tick.notes for tick in ticks if tick.notes] == [(SHAKES_NOTE,)]
    assert not watch.again_s
    assert max(edges_off(seen, watch.pictures[0]) for seen in watch.pictures) < 40
    taken = [shot.grey for shot in shots_of(frames)]
    assert edges_off(taken[2], watch.pictures[0]) > 80


def edges_off(one: GreyImage, other: GreyImage) -> float:
    """By how much two pictures differ where they differ most: at the edges of the markers."""
    inner = np.s_[40:-40, 40:-40]
    return float(np.quantile(np.abs(one[inner].astype(int) - other[inner]), 0.9995))


@pytest.mark.parametrize("step_mm", [1.0, 4.0])
def test_a_camera_that_stays_aside_is_followed_and_measured_anew_when_no_hand_is_there(
    table: Pixels, step_mm: float
) -> None:
    aside = tilted((0, 0, 0, step_mm, 0, 0))
    watch = FakeWatch()
    guard = CameraMotionGuard(watch)
    shots = shots_of([table] * 5 + [aside] * 70)
    for shot in shots:
        watch.state = "moving" if shot.time_s < 6.5 else "static"
        guard.look(shot)
    assert watch.looked_s == pytest.approx(np.arange(75) / 10)
    begun_s = [] if step_mm < 2 else [max(0.5 + STAYED_S, 6.5)]
    assert watch.again_s == pytest.approx(begun_s, abs=0.25)


def test_markers_are_counted_where_the_shaking_camera_sees_them(table: Pixels) -> None:
    watch = FakeWatch()
    guard = CameraMotionGuard(watch)
    shot = shots_of([tilted((0, 0, 0, 5.0, 0, 0))])[0]
    for one in (*shots_of([table] * 3), shot):
        guard.look(one)
    assert guard.count_hidden(shot) == 0
    covered = shot.grey.copy()
    assert guard.marks is not None
    rows, columns = (at[: guard.marks.first_point[1]] for at in guard.marks.points_px)
    covered[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = 150
    assert guard.count_hidden(replace(shot, grey=covered)) == 1


def test_bands_of_a_flickering_lamp_are_no_change(table: Pixels) -> None:
    rows = np.arange(table.shape[0])[:, None, None]
    frames = [
        np.clip(table * (1 + 0.15 * np.sin(rows / 60 + phase)), 0, 255).astype(np.uint8)
        for phase in (0.0, 2.0, 4.0)
    ]
    watch = FakeWatch()
    guard = CameraMotionGuard(watch)
    for shot in shots_of([table, table, *frames]):
        guard.look(shot)
    for raw, seen in zip(shots_of(frames), watch.pictures[2:], strict=True):
        rest = watch.pictures[0].astype(int)
        assert np.median(np.abs(seen - rest)) <= 2 < np.median(np.abs(raw.grey - rest))


# --- a table without markers ---


class PinnedWatch(FakeWatch):
    """Knows its camera by pixels that somebody named."""

    def look(self, shot: Shot) -> Tick:
        tick = super().look(shot)
        if tick.rest is None:
            return tick
        calibration = replace(tick.rest.calibration, corners_px=())
        return replace(tick, rest=replace(tick.rest, calibration=calibration))


def test_without_markers_a_shaking_camera_is_followed_by_what_lies_on_the_table(
    table: Pixels,
) -> None:
    steps = [(0.003 * k, -0.002 * k, 0.002 * k, 0.5 * k, 0.0, 0.0) for k in (0.5, 1, 0.5, -1)]
    watch = PinnedWatch()
    guard = CameraMotionGuard(watch)
    frames = [tilted(step, seed) for seed, step in enumerate(steps)]
    ticks = [guard.look(shot) for shot in shots_of([table, table, *frames])]
    assert [tick.notes for tick in ticks if tick.notes] == [(SHAKES_NOTE,)]
    assert max(edges_off(seen, watch.pictures[0]) for seen in watch.pictures) < 40
    assert guard.count_hidden(shots_of([np.zeros_like(table)])[0]) == 0


def test_pixels_that_were_named_hold_for_no_other_camera(table: Pixels) -> None:
    """To measure anew by them would put every piece in a wrong place."""
    watch = PinnedWatch()
    guard = CameraMotionGuard(watch)
    aside = np.roll(table, (-40, 90), (0, 1))
    ticks = [guard.look(shot) for shot in shots_of([table] * 5 + [aside] * 80 + [table] * 5)]
    assert [tick.notes for tick in ticks if tick.notes] == [(PINNED_NOTE,)]
    assert not watch.again_s
    assert watch.looked_s == pytest.approx([*np.arange(5) / 10, *np.arange(85, 90) / 10])
    other = PinnedWatch()
    guard = CameraMotionGuard(other)
    little = tilted((0, 0, 0, 3.0, 0, 0))
    for shot in shots_of([table] * 5 + [little] * 80):
        guard.look(shot)
    assert len(other.looked_s) == 85
    assert not other.again_s


def test_without_markers_bands_of_light_are_taken_out(table: Pixels) -> None:
    rows = np.arange(table.shape[0])[:, None, None]
    banded = np.clip(table * (1 + 0.15 * np.sin(rows / 60)), 0, 255).astype(np.uint8)
    watch = PinnedWatch()
    guard = CameraMotionGuard(watch)
    for shot in shots_of([table, table, banded]):
        guard.look(shot)
    rest = watch.pictures[0].astype(int)
    assert np.median(np.abs(watch.pictures[2] - rest)) <= 2


# --- before the camera is known ---


class LateWatch(FakeWatch):
    """Measures at its sixth look."""

    def look(self, shot: Shot) -> Tick:
        tick = super().look(shot)
        self._due = len(self.looked_s) == 5
        return tick if len(self.looked_s) == 6 else replace(tick, rest=None)


def test_a_camera_that_shakes_from_the_first_shows_a_table_at_rest(table: Pixels) -> None:
    steps = [(0.0, 0.0, 0.002 * k, 2.0 * k, -1.0 * k, 0.0) for k in (0, 0.5, 1, 0.5, 0, -1, -0.5)]
    frames = [tilted(step, seed) for seed, step in enumerate(steps)]
    watch = LateWatch()
    guard = CameraMotionGuard(watch)
    ticks = [guard.look(shot) for shot in shots_of(frames)]
    assert [tick.rest is not None for tick in ticks] == [False] * 5 + [True, False]
    assert max(edges_off(seen, watch.pictures[0]) for seen in watch.pictures) < 45
    assert edges_off(shots_of(frames)[2].grey, watch.pictures[0]) > 80


def test_a_cut_before_the_camera_is_known_starts_with_the_new_picture(table: Pixels) -> None:
    other = np.ascontiguousarray(table[::-1, ::-1])
    watch = LateWatch()
    guard = CameraMotionGuard(watch)
    frames = [table, table, other, other, other]
    for shot in shots_of(frames):
        guard.look(shot)
    for seen, shot in zip(watch.pictures, shots_of(frames), strict=True):
        assert np.array_equal(seen, shot.grey)

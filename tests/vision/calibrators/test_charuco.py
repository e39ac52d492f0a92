"""The sheet's corners lie where an exact renderer put them, whatever the tone curve, and what is of no use says why."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from overruler.chart import Chart
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.calibrators.charuco import ChartCorners, find_chart, stored_size_px
from tests.vision.charts import POSES, SMALL, over, photo
from tests.vision.table import Look

TRIED = (1, 3)


@cache
def seen(pose: int, gamma: float = 1.0, blur_px: float = 0.8, chart: Chart = SMALL) -> Frame:
    return photo(POSES[pose], chart, look=Look(blur_px, 1.0, gamma, pose))


def errors(sighting: ChartCorners, pose: int) -> Array:
    """(N, 2) in px."""
    return np.asarray(sighting.xy_px - POSES[pose].project(sighting.xyz_mm))


@pytest.mark.parametrize(("pose", "gamma"), [(1, 1.0), (3, 1.0), (1, 2.2)])
def test_corners_are_found_without_bias(pose: int, gamma: float) -> None:
    sighting = find_chart(seen(pose, gamma), SMALL)
    off = errors(sighting, pose)
    assert len(off) >= 22
    assert np.sqrt(np.mean(off**2)) < 0.02
    assert np.abs(off.mean(0)).max() < 0.006


@pytest.mark.parametrize("pose", TRIED)
def test_no_smooth_error_is_left_that_a_lens_would_be_bent_by(pose: int) -> None:
    """Regressed on x, y, x y, x² and y² over the sheet, errors hold next to nothing of each."""
    sighting = find_chart(seen(pose), SMALL)
    x, y = ((sighting.xyz_mm[:, :2] - [87.5, -62.5]) / 62.5).T
    slopes = np.linalg.lstsq(
        np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], 1), errors(sighting, pose)
    )[0]
    assert np.abs(slopes).max() < 0.012


def test_opencv_s_own_detector_names_the_same_corners_and_is_less_exact() -> None:
    frame, truth = seen(1), POSES[1]
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    detector = cv2.aruco.CharucoDetector(cv2.aruco.CharucoBoard((7, 5), 25.0, 18.0, family))
    corners, ids, _, _ = detector.detectBoard(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY))
    theirs = np.reshape(corners, (-1, 2)) - truth.project(SMALL.corners_mm[np.ravel(ids)])
    assert np.abs(theirs).max() < 0.5
    assert (
        np.sqrt(np.mean(errors(find_chart(frame, SMALL), 1) ** 2)) < np.sqrt(np.mean(theirs**2)) / 2
    )


def test_doubts_are_of_the_size_of_the_errors() -> None:
    for pose in TRIED:
        sighting = find_chart(seen(pose), SMALL)
        off = errors(sighting, pose)
        squares = np.einsum("ni,nij,nj->n", off, np.linalg.inv(sighting.covariance_px2), off) / 2
        assert 0.03 < squares.mean() < 1.5  # the floor is for real paper


def test_blur_is_measured() -> None:
    assert find_chart(seen(1, blur_px=0.8), SMALL).blur_px == pytest.approx(0.8, abs=0.15)
    assert find_chart(seen(1, blur_px=1.6), SMALL).blur_px == pytest.approx(1.6, abs=0.25)


def test_a_plain_chessboard_serves_too() -> None:
    plain = replace(SMALL, marker_mm=None)
    off = find_chart(seen(0, chart=plain), plain)
    truth = POSES[0].project(plain.corners_mm)
    apart = np.linalg.norm(off.xy_px[:, None] - truth, axis=-1).min(1)
    assert len(apart) == 24
    assert apart.max() < 0.05


def test_a_hidden_corner_is_left_out_and_those_with_three_arms_stay_unbiased() -> None:
    frame = seen(
        1, 2.2
    )  # a tone curve that shifts edges: an arm that is missing leaves that out of balance
    spot = np.rint(POSES[1].project(SMALL.corners_mm[8])).astype(int)
    pixels = frame.pixels.copy()
    cv2.circle(pixels, (int(spot[0]), int(spot[1])), 66, (90, 120, 150), -1)
    sighting = find_chart(replace(frame, pixels=pixels), SMALL)
    assert 15 <= len(sighting.xy_px) < 24
    assert np.linalg.norm(sighting.xy_px - spot, axis=1).min() > 20
    assert np.abs(errors(sighting, 1)).max() < 0.1


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_turned_photo_gives_the_corners_as_they_were_stored(orientation: int) -> None:
    turns = {
        1: 0,
        3: 2,
        6: 3,
        8: 1,
    }  # quarters counter-clockwise that numpy turns what was stored by
    stored = seen(3)
    shown = np.ascontiguousarray(np.rot90(stored.pixels, turns[orientation]))
    frame = Frame(shown, "turned", orientation=orientation)
    assert stored_size_px(frame) == stored.size_px
    sighting = find_chart(frame, SMALL).in_stored_pixels(frame)
    assert np.abs(errors(sighting, 3)).max() < 0.1


def test_a_mirrored_photo_is_refused() -> None:
    sighting = find_chart(seen(1), SMALL)
    with pytest.raises(CannotMeasure, match="mirrored"):
        sighting.in_stored_pixels(replace(seen(1), orientation=5))


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (lambda: Frame(np.full((400, 500, 3), 120, np.uint8), "blank"), "no marker of the sheet"),
        (
            lambda: Frame(cv2.GaussianBlur(seen(1).pixels, (0, 0), 6).astype(np.uint8), "soft"),
            "marker|blurred",
        ),
        (lambda: photo(over(0, 0, distance_mm=1500), size_px=(400, 300)), "marker|small|corners"),
    ],
    ids=["blank", "blurred", "far"],
)
def test_what_shows_too_little_says_why(frame: Callable[[], Frame], said: str) -> None:
    with pytest.raises(CannotMeasure, match=said):
        find_chart(frame(), SMALL)


def test_a_photo_blurred_by_a_shaking_hand_is_refused() -> None:
    shaken = cv2.blur(seen(1).pixels, (15, 1)).astype(np.uint8)
    with pytest.raises(CannotMeasure, match=r"blurred|marker"):
        find_chart(Frame(shaken, "shaken"), SMALL)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": 2},
        {"square_mm": 0.0},
        {"square_mm": float("nan")},
        {"marker_mm": 25.0},
        {"marker_mm": -1.0},
    ],
)
def test_an_impossible_sheet_is_bad_input(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        replace(Chart(), **wrong)  # type: ignore[arg-type]


def test_the_shorter_sheet_is_the_upper_part_of_the_longer() -> None:
    long, short = Chart(), Chart(rows=9)
    assert np.array_equal(long.corners_mm[: len(short.corners_mm)], short.corners_mm)
    assert all(
        np.array_equal(long.markers_mm[number], corners)
        for number, corners in short.markers_mm.items()
    )


def test_a_sheet_with_other_counts_of_squares_is_refused() -> None:
    """Some of its markers in line always lie as printed: those must not pass for the sheet."""
    long = Chart()
    frame = photo(over(20, 30, distance_mm=330, chart=long), long)
    with pytest.raises(CannotMeasure, match=r"looks like one of 7x10 squares, not 10x7: give"):
        find_chart(frame, Chart(10, 7))
    for columns in (5, 6, 8, 9):
        with pytest.raises(CannotMeasure, match="do not lie as they were printed"):
            find_chart(frame, Chart(columns, 10))
    assert len(find_chart(frame, Chart(7, 12)).xy_px) == len(long.corners_mm)

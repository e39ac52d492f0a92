"""The size of the markers, told by the bases: a scale is the same share of all of them, a look the same millimetres."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import ROUND_DIAMETERS_MM, Base
from overruler.calibration import Calibration, Light
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.refinement.lit_side import LOW_LIGHT_STRENGTH
from overruler.vision.refinement.marker_scale import (
    MIN_LOG_LIKELIHOOD_GAIN,
    PRINT_SCALE_SIGMA,
    SCALE_OFFSETS,
    flag_marker_size,
    flag_marker_size_of_all,
    rim_shares_by_scale,
    scale_log_likelihoods,
)
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

RADII = np.array(sorted(ROUND_DIAMETERS_MM)) / 2
SIZES = (25.0, 32.0, 50.0, 100.0)
CAMERA = camera_over(8.0)
PLACES = [
    (150.0, 120.0),
    (300.0, 150.0),
    (450.0, 130.0),
    (180.0, 330.0),
    (340.0, 320.0),
    (560.0, 330.0),
]
MADE_MM = (25.0, 32.0, 50.0, 25.0, 32.0, 60.0)


def rims(
    share: float, aside_mm: float = 0.0, sizes: tuple[float, ...] = SIZES
) -> Mapping[float, list[Array]]:
    """What is seen of rims that look so much larger, under the size of the catalogue that is nearest to each."""
    seen: dict[float, list[Array]] = {}
    for size in sizes:
        looks = size / 2 * (1 + share) + aside_mm
        under = float(RADII[np.abs(RADII - looks).argmin()])
        off = (looks / under - 1 - SCALE_OFFSETS) * under / 0.25
        seen.setdefault(under, []).extend([0.8 * np.exp(-0.5 * off**2)] * 3)
    return seen


def gain(nats: Array) -> float:
    return float(nats.max() - nats[len(SCALE_OFFSETS) // 2])


@pytest.mark.parametrize("share", [-0.06, -0.03, 0.03, 0.06])
def test_all_sizes_off_by_one_share_are_a_scale(share: float) -> None:
    nats = scale_log_likelihoods(rims(share), RADII, 0.5)
    assert SCALE_OFFSETS[nats.argmax()] == pytest.approx(share, abs=0.006)
    assert gain(nats) > MIN_LOG_LIKELIHOOD_GAIN


@settings(max_examples=40)
@given(st.floats(-0.3, 0.3))
def test_all_sizes_off_by_as_many_millimetres_are_none(aside_mm: float) -> None:
    """Rims that taper, or that light from above moves."""
    assert gain(scale_log_likelihoods(rims(0.0, aside_mm), RADII, 0.0)) < MIN_LOG_LIKELIHOOD_GAIN


def test_a_coarse_photo_draws_all_rims_aside_by_a_share_of_a_pixel() -> None:
    """0.6 mm would be much of 25 mm, but at 2 mm a pixel it is blur."""
    drawn = rims(0.0, 0.6, sizes=(25.0, 32.0))
    assert gain(scale_log_likelihoods(drawn, RADII, 0.2)) > MIN_LOG_LIKELIHOOD_GAIN
    assert gain(scale_log_likelihoods(drawn, RADII, 2.0)) < MIN_LOG_LIKELIHOOD_GAIN


def test_the_fewer_sizes_are_played_the_more_a_base_of_none_says() -> None:
    """27 mm, 6 % too small, may be 25: not where that is not played."""
    few = rims(-0.06, sizes=(27.0,))
    assert (
        gain(scale_log_likelihoods(few, np.array([13.5, 25.0]), 0.5))
        > gain(scale_log_likelihoods(few, RADII, 0.5)) + 1
    )


def test_a_print_is_seldom_off_by_a_tenth() -> None:
    nats = scale_log_likelihoods({}, RADII, 0.5)
    assert nats[[0, -1]] - nats[len(SCALE_OFFSETS) // 2] == pytest.approx(
        -0.5 * (0.1 / PRINT_SCALE_SIGMA) ** 2
    )


def table(scale: float) -> tuple[Frame, list[Detection]]:
    """Bases drawn so many times as large as made, found under the sizes that are nearest to what they look like."""
    frame = photo(
        CAMERA,
        [
            Plinth(*at, size * scale, rim=(0.03,) * 3)
            for at, size in zip(PLACES, MADE_MM, strict=True)
        ],
    )
    return frame, [_found(at, size * scale) for at, size in zip(PLACES, MADE_MM, strict=True)]


def _found(at: tuple[float, float], looks_mm: float) -> Detection:
    under = 2 * float(RADII[np.abs(2 * RADII - looks_mm).argmin()])
    none = np.zeros((2, 15))
    return Detection(Base.circle(under), np.array(at), 0.0, 0.0, np.eye(2) * 0.01, none, 0.99, 1.0)


def doubted(found: Calibration) -> list[str]:
    return [problem.text for problem in found.problems if problem.flag == "marker_size"]


@pytest.mark.parametrize(("scale", "word"), [(0.94, "smaller"), (1.05, "larger")])
def test_a_print_of_another_size_is_told_and_all_lengths_are_in_doubt_by_as_much(
    scale: float, word: str
) -> None:
    frame, found = table(scale)
    told = flag_marker_size(frame, replace(exact(CAMERA), markers=(0, 1)), found, RADII)
    (text,) = doubted(told)
    assert f"{word} than they are made: measure the markers' printed size" in text
    assert (
        "check the points' places"
        in doubted(flag_marker_size(frame, exact(CAMERA), found, RADII))[0]
    )
    assert told.budget.scale_share == pytest.approx(abs(scale - 1), abs=0.011)


def test_several_photos_doubt_a_print_together_or_not_at_all() -> None:
    """A photo in which bases look larger is wrong, not the print, where the others show their sizes."""
    wrong, right = ((frame, exact(CAMERA), found) for frame, found in (table(1.05), table(1.0)))
    assert [bool(doubted(one)) for one in flag_marker_size_of_all([wrong] * 3, RADII)] == [True] * 3
    told = flag_marker_size_of_all([right, wrong, right, right], RADII)
    assert [doubted(one) for one in told] == [[]] * 4
    few = (*wrong[:2], wrong[2][:2])
    assert doubted(flag_marker_size_of_all([few, wrong], RADII)[0])


def test_the_right_size_is_not_doubted_and_few_bases_say_nothing() -> None:
    frame, found = table(1.0)
    right = exact(CAMERA)
    assert flag_marker_size(frame, right, found, RADII) is right
    frame, found = table(0.94)
    assert flag_marker_size(frame, right, found[:4], RADII) is right
    assert (
        flag_marker_size(frame, right, [replace(one, score=0.5) for one in found], RADII) is right
    )
    assert (
        flag_marker_size(frame, right, [replace(one, z_mm=30.0) for one in found], RADII) is right
    )
    assert flag_marker_size(frame, right, [], RADII) is right


@pytest.mark.parametrize(
    ("scale", "strength", "told"),
    [(0.94, LOW_LIGHT_STRENGTH, False), (0.94, LOW_LIGHT_STRENGTH - 0.1, True), (1.05, 1.0, True)],
)
def test_under_a_low_lamp_bases_look_smaller_than_they_are(
    scale: float, strength: float, told: bool
) -> None:
    frame, found = table(scale)
    lit = replace(exact(CAMERA), light=Light(np.array([5000.0, 250.0]), strength))
    assert bool(doubted(flag_marker_size(frame, lit, found, RADII))) == told


def test_bases_on_hills_say_nothing_for_their_height_may_be_another() -> None:
    frame = photo(CAMERA, [Plinth(*at, 50.0, 50.0, rim=(0.03,) * 3) for at in PLACES])
    seem = [reproject_to_height(CAMERA, np.array(at), 50.0, 10.0) for at in PLACES]
    found = [replace(_found((float(x), float(y)), 50.0), z_mm=10.0) for x, y in seem]
    assert flag_marker_size(frame, exact(CAMERA), found, RADII).problems == ()


def test_a_rim_is_seen_most_where_it_is() -> None:
    frame, found = table(1.03)
    for one, size in zip(found, MADE_MM, strict=True):
        seen = rim_shares_by_scale(frame, exact(CAMERA), one)
        assert seen is not None
        true = size * 1.03 / one.base.width_mm - 1
        assert abs(SCALE_OFFSETS[seen.argmax()] - true) * size / 2 < 0.3
        assert 0.5 < seen.max() <= 1


@pytest.mark.parametrize(("times", "is_told"), [(0.1, True), (1.0, False), (20.0, True)])
def test_a_size_many_times_off_is_told_where_no_base_is_found(times: float, is_told: bool) -> None:
    frame, _ = table(1.0)
    pose = CAMERA.T_camera_board
    camera = replace(
        CAMERA, T_camera_board=replace(pose, translation_mm=times * pose.translation_mm)
    )
    calibration = replace(exact(camera), markers=(0, 1))
    told = flag_marker_size(frame, calibration, [], RADII)
    assert [problem.flag for problem in told.problems] == is_told * ["marker_size"]
    assert all("printed size" in problem.text for problem in told.problems)

"""Every flag has its effect on the doubt, or says where its doubt is."""

import itertools

import numpy as np
import pytest

from overruler.calibration import Problem
from overruler.vision.assembly.flag_doubts import (
    DOUBT_ELSEWHERE,
    RARE_PROBABILITY,
    RARE_PROBABILITY_BY_FLAG,
    SURE,
    rare_probability,
)
from overruler.vision.assembly.to_scene import position_covariance
from overruler.vision.camera.problems import FLAGS_BY_SEVERITY
from tests.tables import camera_over, exact

ABOUT_SCALE_LENS_OR_FIT = (
    "large_residuals", "uneven_picture", "lens_disagrees", "cropped", "scale_disagrees",
    "marker_size", "ruler_disagrees", "markers_not_flat", "marker_left_out", "markers_hidden",
)  # fmt: skip


def problem(flag: str) -> Problem:
    return Problem(flag, "not as it should be")


def test_every_flag_stands_in_one_table() -> None:
    assert sorted([*RARE_PROBABILITY_BY_FLAG, *DOUBT_ELSEWHERE]) == sorted(FLAGS_BY_SEVERITY)


@pytest.mark.parametrize("flag", ABOUT_SCALE_LENS_OR_FIT)
def test_a_flag_about_scale_lens_or_fit_makes_the_rare_case_likelier(flag: str) -> None:
    assert rare_probability([problem(flag)]) > RARE_PROBABILITY


@pytest.mark.parametrize("flag", FLAGS_BY_SEVERITY)
def test_the_scene_of_a_flagged_photo_has_the_flag_s_probability(flag: str) -> None:
    calibration = exact(camera_over())
    object.__setattr__(calibration, "problems", (problem(flag),))
    covariance = position_covariance(calibration, [])
    chance = RARE_PROBABILITY_BY_FLAG.get(flag, RARE_PROBABILITY)
    if chance == SURE:
        assert covariance.rare_alternative is None
    else:
        assert covariance.rare_alternative is not None
        assert covariance.rare_alternative.probability == chance


def test_the_worst_flag_counts_and_no_flag_makes_surer() -> None:
    assert rare_probability([]) == RARE_PROBABILITY
    for first, second in itertools.product(FLAGS_BY_SEVERITY, repeat=2):
        both = rare_probability([problem(first), problem(second)])
        each = [rare_probability([problem(flag)]) for flag in (first, second)]
        assert both == np.max(each)

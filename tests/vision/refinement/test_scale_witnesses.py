"""The scale's witnesses: those that agree make it sure, those that contradict make it doubtful and are named."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.board import Board
from overruler.detections import DetectedRuler
from overruler.geometry.plane_doubt import MarkerContrast
from overruler.vision.camera.marker_layout import UNMEASURED_PRINT_SIGMA
from overruler.vision.refinement.base_scale import RimMeasurement
from overruler.vision.refinement.scale_doubt import scale_problems
from overruler.vision.refinement.scale_estimate import COVERED_SIGMAS, Hypothesis, ScaleEstimate
from overruler.vision.refinement.scale_witnesses import (
    _strain_prior,
    estimate_scale,
)

CORNERS = np.array([(0, 60, 0), (60, 60, 0), (60, 0, 0), (0, 0, 0.0)])
KNOWN = Board("known", 60.0, width_mm=1828.8, height_mm=914.4, corners_mm={0: CORNERS})
FREE = Board.free(60.0)
SURE_MM = 2.576
"""A ruling is certain where the rare case leaves half a per cent: so many σ."""


def contrast(x: float, y: float | None = None) -> MarkerContrast:
    strain = np.array([x, x if y is None else y, 0.0])
    return MarkerContrast(strain, np.eye(3) * 5e-4**2)


def ruler(reads: float, direction: tuple[float, float] = (1.0, 0.0)) -> DetectedRuler:
    """A ruler whose segments of 152.4 mm read longer by a share."""
    path = np.outer(np.arange(6) * 152.4, direction)
    return DetectedRuler("legion", 152.4, 152.4 * (1 + reads), 0.1, path, 25.0, 9.0)


def rims(share: float, count: int = 20) -> list[RimMeasurement]:
    """Bases of two sizes that look larger by a share."""
    return [
        RimMeasurement(share * d / 2, 0.05, np.zeros(15), d, 0.4, np.zeros(2))
        for d in np.where(np.arange(count) % 2, 27.0, 100.0)
    ]


def sigma_share(estimate: ScaleEstimate, axis: int = 0) -> float:
    return float(np.sqrt(estimate.second_moment[axis, axis]))


def words(estimate: ScaleEstimate) -> str:
    return " ".join(problem.text for problem in scale_problems(estimate))


def test_unmeasured_witnesses_that_agree_are_surer_than_a_print_alone() -> None:
    both = estimate_scale(KNOWN, contrast(0.0), [], [])
    assert (
        UNMEASURED_PRINT_SIGMA
        < sigma_share(both)
        < 0.7 * sigma_share(estimate_scale(FREE, None, [], []))
    )
    assert not scale_problems(both)


def test_a_mat_that_was_printed_as_a_whole_may_be_one_per_cent_off() -> None:
    assert SURE_MM * sigma_share(estimate_scale(KNOWN, contrast(0.0), [], [])) > 0.01


def test_places_by_an_unmeasured_print_are_no_surer_than_the_print() -> None:
    """Photos of markers on a page made to fit give places that are as wrong, and agree with them."""
    by_print = replace(KNOWN, scale_share=UNMEASURED_PRINT_SIGMA, scale_by_print=True)
    found = estimate_scale(by_print, contrast(0.0), [], [])
    alone = sigma_share(estimate_scale(FREE, None, [], []))
    assert sigma_share(found) == pytest.approx(alone, rel=1e-3)
    assert not scale_problems(found)
    accused = estimate_scale(by_print, contrast(0.0), [ruler(0.02)], rims(0.02))
    assert "the cards look printed at 98.0 ± 0.4 %" in words(accused)


def test_a_print_alone_may_have_been_made_to_fit_the_page() -> None:
    alone = estimate_scale(FREE, None, [], [])
    assert SURE_MM * sigma_share(alone) > 0.02
    assert not scale_problems(alone)


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0)])
def test_a_ruler_tells_the_scale_along_itself_best(direction: tuple[float, float]) -> None:
    found = estimate_scale(KNOWN, contrast(0.0), [ruler(0.0, direction)], [])
    axis = int(direction[1])
    assert sigma_share(found, axis) < 0.0016
    assert sigma_share(found, axis) < sigma_share(found, 1 - axis)


def test_what_was_measured_earns_its_small_doubt() -> None:
    print_measured = replace(FREE, sides_mm=(60.0, 60.0), scale_share=3e-4)
    layout_measured = replace(KNOWN, scale_share=3e-4)
    assert sigma_share(estimate_scale(print_measured, None, [], [])) < 5e-4
    assert sigma_share(estimate_scale(layout_measured, contrast(0.0), [], [])) < 5e-4


@pytest.mark.parametrize("share", [-0.02, -0.016, -0.012, 0.012, 0.016, 0.02])
def test_no_certainty_stands_that_one_witness_denies(share: float) -> None:
    found = estimate_scale(KNOWN, contrast(share), [], [])
    for axis in (0, 1):
        assert SURE_MM * sigma_share(found, axis) > abs(share)


def test_a_table_in_other_units_and_its_ruler_are_named() -> None:
    found = estimate_scale(KNOWN, contrast(-0.016), [ruler(-0.016)], [])
    assert sigma_share(found) > 0.012
    assert "1.6 % farther apart along x" in words(found)
    assert "cards" not in words(found)


def test_a_print_that_was_made_to_fit_is_named_with_its_size() -> None:
    found = estimate_scale(FREE, None, [ruler(0.02)], rims(0.02))
    assert "the cards look printed at 98.0 ± 0.4 %" in words(found)
    assert found.second_moment[0, 0] ** 0.5 > 0.02 / COVERED_SIGMAS


def test_where_two_may_be_wrong_both_are_named() -> None:
    found = estimate_scale(KNOWN, contrast(0.025), [], [])
    assert "cards look printed at 102." in words(found)
    assert "closer together" in words(found)


def test_a_longer_mat_shows_along_one_axis() -> None:
    found = estimate_scale(KNOWN, contrast(0.0, -0.012), [ruler(0.0)], [])
    assert sigma_share(found, 1) > 3 * sigma_share(found, 0)


def test_bases_alone_widen_the_doubt_of_a_print() -> None:
    right, wrong = (estimate_scale(FREE, None, [], rims(share)) for share in (0.0, 0.02))
    assert sigma_share(right) < sigma_share(wrong)
    assert SURE_MM * sigma_share(wrong) > 0.02


def test_a_ruler_of_another_make_does_not_carry_the_scale_away() -> None:
    found = estimate_scale(replace(KNOWN, scale_share=3e-4), contrast(0.0), [ruler(0.03)], [])
    assert "the ruler (legion) reads 2.9 % long" in words(found)
    assert sigma_share(found) < 2e-3


@pytest.mark.parametrize(("weight", "covered"), [(0.03, True), (0.01, False)])
def test_an_unlikely_hypothesis_is_covered_and_a_far_fetched_one_is_not(
    weight: float, covered: bool
) -> None:
    mean = np.array([0.02, 0.015, 0.0])
    far = Hypothesis(("print",), weight, np.append(mean, np.zeros(6)), np.eye(9) * 1e-8)
    near = Hypothesis((), 1 - weight, np.zeros(9), np.eye(9) * 1e-8)
    moment = ScaleEstimate((near, far), ()).second_moment
    along = mean / np.linalg.norm(mean)
    sigma = float(np.sqrt(along @ moment @ along))
    assert (sigma >= 0.999 * np.linalg.norm(mean) / COVERED_SIGMAS) == covered
    assert np.linalg.eigvalsh(moment - weight * np.outer(mean, mean)).min() > -1e-12


def test_weights_are_probabilities() -> None:
    found = estimate_scale(KNOWN, contrast(0.004), [ruler(0.002)], rims(0.0))
    weights = [one.weight for one in found.hypotheses]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)
    assert len(weights) == 2 ** len(found.witnesses)


def test_the_sigmas_of_a_strain_are_those_of_its_mean_and_of_its_two_sides_difference() -> None:
    covariance = _strain_prior(3e-3, 2e-3, 1e-3)
    for weights, sigma in (((0.5, 0.5, 0), 3e-3), ((1, -1, 0), 2e-3), ((0, 0, 1), 1e-3)):
        assert np.sqrt(np.array(weights) @ covariance @ weights) == pytest.approx(sigma)

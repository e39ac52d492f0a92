"""How sure a photo is of the place of one base."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, Truth, camera_from, see
from overruler.geometry.pose import Array
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.rounds.uncertainty import add_misfit_covariance

BASE: Truth = (450.0, 350.0, 0.0, 27.0)
PHOTO = see(0, camera_from(0.0), [BASE])


def axes_mm(one: Sighting, rare: bool = False) -> tuple[float, float]:
    """1 σ along the view and across it."""
    along = one.relief_at(0.0) / np.hypot(*one.relief_at(0.0))
    covariance = one.own_covariance_mm2(rare)
    sigmas = [float(np.sqrt(way @ covariance @ way)) for way in (along, _across(along))]
    return sigmas[0], sigmas[1]


def _across(along: Array) -> Array:
    return np.array([-along[1], along[0]])


def _with_misfit(photo: SeenPhoto) -> SeenPhoto:
    camera = photo.calibration.camera
    return replace(
        photo, detections=tuple(add_misfit_covariance(camera, one) for one in photo.detections)
    )


def with_score(score: float) -> Sighting:
    stated = replace(PHOTO.detections[0], score=score, covariance_mm2=0.5 * np.eye(2))
    return Sighting(PHOTO, add_misfit_covariance(PHOTO.calibration.camera, stated))


def test_a_base_that_looks_less_like_one_is_less_surely_where_its_fit_says() -> None:
    sigmas = [axes_mm(with_score(score)) for score in (1.0, 0.995, 0.9, 0.3)]
    for axis in (0, 1):
        values = [pair[axis] for pair in sigmas]
        assert values == sorted(values)
        assert values[3] > 2 * values[0]


@pytest.mark.parametrize("score", [1.0, 0.9, 0.1])
def test_the_rare_alternative_is_never_surer(score: float) -> None:
    usual, rare = axes_mm(with_score(score)), axes_mm(with_score(score), rare=True)
    assert rare[0] >= usual[0]
    assert rare[1] >= usual[1]


def test_a_base_measured_by_its_lit_side_is_no_surer_across_the_view() -> None:
    whole = with_score(1.0)
    half = whole.with_detection(replace(whole.detection, measured_on_lit_side=True))
    assert axes_mm(half)[1] > 1.5 * axes_mm(whole)[1]
    assert axes_mm(half)[0] == pytest.approx(axes_mm(half)[1], rel=0.3)


@pytest.mark.parametrize(("score", "is_raised"), [(0.9999, True), (0.7, False)])
def test_a_bad_fit_in_one_photo_lifts_no_base_off_the_board(score: float, is_raised: bool) -> None:
    """Aside by as much as a base 5 mm high would be, it may as well be a fit gone astray."""
    low: list[Truth] = [(450.0, 350.0, 5.0, 27.0)]
    photos = [
        _with_misfit(see(0, camera_from(0.0), low, score=0.9999)),
        _with_misfit(see(1, camera_from(120.0), low, score=score)),
    ]
    (one,) = associate(photos, BOARD_MM)
    assert one.is_raised == is_raised

"""Covariance of misfits: pixels by the score, and rare errors where a base is not plain to see."""

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.learned.logits import sigmoid
from overruler.vision.rounds.uncertainty import (
    CIRCLE_MISFIT,
    CONFIDENT_SCORE,
    OVAL_MISFIT,
    add_misfit_covariance,
    misfit_covariances,
)
from tests.tables import camera_over

CIRCLE = Base.circle(27.0)
PLACE_MM = np.array([250.0, 120.0])
MEASURED_PX = ((1.0, 1.06), (2.5, 0.70), (3.5, 0.68), (4.3, 0.41), (5.5, 0.39))
"""Log odds of the score and the error along each axis of 213 bases on rendered photos."""


def scored(score: float, z_mm: float = 0.0, base: Base = CIRCLE) -> Detection:
    return Detection(base, PLACE_MM, z_mm, 0.0, np.eye(2) * 0.01, np.zeros((2, 15)), score, 1.0)


@pytest.mark.parametrize(("logit", "error_px"), MEASURED_PX)
@pytest.mark.parametrize("tilt", [0.0, 40.0])
def test_the_misfit_is_what_was_measured_in_pixels(
    tilt: float, logit: float, error_px: float
) -> None:
    camera = camera_over(tilt)
    mm_per_px = float(camera.mm_per_px(np.array([*PLACE_MM, 0.0])))
    usual, _ = misfit_covariances(camera, scored(float(sigmoid(logit))))
    assert usual == pytest.approx(np.eye(2) * usual[0, 0])
    assert np.sqrt(usual[0, 0]) == pytest.approx(error_px * mm_per_px, rel=0.45)


def test_what_is_surely_a_base_has_next_to_none() -> None:
    camera = camera_over()
    mm_per_px = float(camera.mm_per_px(np.array([*PLACE_MM, 0.0])))
    usual, rare = misfit_covariances(camera, scored(1.0))
    assert np.sqrt(rare[0, 0]) < 0.001 * mm_per_px
    assert (rare >= usual).all()


def test_nearer_to_the_camera_a_pixel_of_misfit_is_less() -> None:
    camera = camera_over()
    board, raised = (misfit_covariances(camera, scored(0.95, z))[0] for z in (0.0, 100.0))
    assert raised[0, 0] < board[0, 0]


def test_only_a_base_that_is_not_plain_to_see_may_be_far_off() -> None:
    camera = camera_over()
    doubtful, plain = (
        misfit_covariances(camera, scored(score))
        for score in (CONFIDENT_SCORE - 1e-6, CONFIDENT_SCORE)
    )
    assert doubtful[0] == pytest.approx(plain[0], rel=1e-3)
    assert plain[1] == pytest.approx(plain[0])
    far = np.diag(doubtful[1] - CIRCLE_MISFIT.rare_factor**2 * doubtful[0])
    assert far == pytest.approx((CIRCLE_MISFIT.rare_mm / RARE_WITHIN_SIGMAS) ** 2, rel=1e-3)


def test_it_counts_beside_the_covariance_of_the_fit() -> None:
    camera, seen = camera_over(), scored(0.9)
    usual, rare = misfit_covariances(camera, seen)
    told = add_misfit_covariance(camera, seen)
    assert told.covariance_mm2 == pytest.approx(seen.covariance_mm2 + usual)
    assert told.unmodelled_mm2 == pytest.approx(usual)
    assert told.unmodelled_mm2 + told.rare_excess_mm2 == pytest.approx(rare)


OVALS = [Base.oval(60.0, 35.0), Base.oval(105.0, 70.0), Base.stadium(25.0, 70.0)]


@pytest.mark.parametrize("base", OVALS)
def test_a_doubtful_oval_may_lie_on_its_neighbours_edges(base: Base) -> None:
    """One of seven below log odds of 3 was several pixels off, the worst by 0.27 lengths; none above."""
    camera = camera_over()
    mm_per_px = float(camera.mm_per_px(np.array([*PLACE_MM, 0.0])))
    usual, rare = misfit_covariances(camera, scored(float(sigmoid(1.5)), base=base))
    assert 1.5 < np.sqrt(usual[0, 0]) / mm_per_px < 3.0
    assert RARE_WITHIN_SIGMAS * np.sqrt(rare[0, 0]) >= OVAL_MISFIT.rare_lengths * base.length_mm
    usual, rare = misfit_covariances(camera, scored(float(sigmoid(5.0)), base=base))
    assert np.sqrt(rare[0, 0]) < 0.1 * mm_per_px

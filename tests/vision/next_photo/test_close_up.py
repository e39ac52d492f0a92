"""A close-up that is not there yet is as sure as a fit to the ground that it would show."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, SIZE_PX, blank_frame, camera_from, see
from overruler.calibration import Calibration
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.hanging.ground_fit import fit_to_ground, start_on_ground
from overruler.vision.hanging.ground_matches import Matches
from overruler.vision.next_photo import close_up as module
from overruler.vision.next_photo.close_up import imagine_close_up

ENDS = np.array([[420.0, 280.0, 0.0], [520.0, 310.0, 0.0]])
FRAME = blank_frame("photo.jpg")


def photo(tilt_deg: float = 32.0) -> Calibration:
    return see(0, camera_from(0.0, tilt_deg), []).calibration


def imagined(known: Calibration) -> Calibration:
    found = imagine_close_up(known, FRAME, ENDS)
    assert found is not None
    return found


def test_it_shows_both_bases_much_larger_from_the_same_side() -> None:
    known = photo()
    camera = imagined(known).camera
    seen = camera.project(ENDS)
    assert ((seen > 0.2 * np.array(SIZE_PX)) & (seen < 0.8 * np.array(SIZE_PX))).all()
    first, close = known.camera.mm_per_px(ENDS[0]), camera.mm_per_px(ENDS[0])
    assert 3 < first / close < 8
    out, before = camera.center_mm - ENDS.mean(0), known.camera.center_mm - ENDS.mean(0)
    assert np.arctan2(*out[:2]) == pytest.approx(np.arctan2(*before[:2]))


def test_its_covariance_is_that_of_a_fit_to_the_ground() -> None:
    """Truth from outside: the fit that a hung photo gets, to as many places that err as expected."""
    known = photo()
    close = imagined(known)
    prior = lens_prior(FRAME, None)
    shares = (np.arange(module.GROUND_STEPS) + 0.5) / module.GROUND_STEPS
    u, v = np.meshgrid(shares * SIZE_PX[0], shares * SIZE_PX[1])
    pixels = np.column_stack([u.ravel(), v.ravel()])
    places = close.camera.unproject(pixels)
    assert ((places > 0) & (places < BOARD_MM)).all()
    ratio = known.camera.mm_per_px(ENDS.mean(0)) / close.camera.mm_per_px(ENDS.mean(0))
    noise = np.random.default_rng(1).normal(0, module.GROUND_SIGMA_PX * ratio, pixels.shape)
    matches = Matches(places, pixels + noise)
    fit = fit_to_ground(prior, {0: matches}, (), start_on_ground(prior, matches, None))
    jacobian = np.concatenate([close.camera.board_point_jacobian(end) for end in ENDS])
    along = np.array([-0.957, -0.287, 0.957, 0.287]) @ jacobian
    promised = along @ close.covariances.usual[:15, :15] @ along
    fitted = along @ fit.bundle.covariance(fit.state)[:15, :15] @ along
    assert 0.7 < np.sqrt(promised / fitted) < 1.4


def test_a_photo_from_close_by_needs_none() -> None:
    known = photo()
    near = replace(known, camera=imagined(known).camera)
    assert imagine_close_up(near, FRAME, ENDS) is None


def test_one_at_the_edge_shows_too_little_ground() -> None:
    outside = ENDS + np.array([700.0, 500.0, 0.0])
    assert imagine_close_up(photo(), FRAME, outside) is None


def test_its_camera_is_tilted_even_if_the_photo_looks_straight_down() -> None:
    camera = imagined(photo(0.5)).camera
    arm = camera.center_mm - ENDS.mean(0)
    assert np.degrees(np.arctan2(np.hypot(arm[0], arm[1]), arm[2])) > 19.9

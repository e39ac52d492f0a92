"""A camera that hangs on another follows its errors as its lean says."""

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over
from overruler.calibration import JOINT_SIZE, Calibration, Covariances
from overruler.geometry.camera import Camera
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.hanging.ground_fit import (
    GroundFit,
    fit_to_ground,
    following_height,
    leaning_on,
    places_in,
    start_on_ground,
)
from overruler.vision.hanging.ground_matches import Matches

SIZE = (1600, 1200)
KNOWN, LOST = camera_over(30, turn_deg=10), camera_over(40, turn_deg=100)
XY = np.random.default_rng(1).uniform(50, 850, (60, 2))
LENS = np.array([1250.0, 1250, 802.5, 597.5, -0.06, 0.01, 0, 0, 0])
PRIOR = LensPrior(LENS, np.diag([100.0, 100, 20, 20, 1e-4, 1e-4, 1e-8, 1e-8, 1e-6]))


def fit_by(known: Camera, height_mm: float = 0.0) -> GroundFit:
    """The lost photo's fit to ground at a height, at the places that a known camera tells."""
    ground = np.column_stack([XY, np.full(len(XY), height_mm)])
    calibration = calibrated(known)
    matches = Matches(known.unproject(KNOWN.project(ground)), LOST.project(ground))
    places = places_in(calibration, matches)
    return fit_to_ground(PRIOR, {0: places}, (), start_on_ground(PRIOR, places, None))


def calibrated(camera: Camera) -> Calibration:
    none = Covariances.same(np.zeros((JOINT_SIZE, JOINT_SIZE)))
    return Calibration(camera, none, SIZE, 0.2, (), (900.0, 900.0))


def moved_mm(before: Camera, after: Camera) -> np.ndarray:
    spots = np.array([(x, y, 0.0) for x in (100, 800) for y in (100, 800)])
    return np.asarray(after.unproject(before.project(spots)) - spots[:, :2])


@pytest.mark.parametrize("parameter", [0, 4, 9, 12, 14])
def test_it_moves_as_its_lean_says(parameter: int) -> None:
    step = np.zeros(JOINT_SIZE)
    step[parameter] = (2.0, 0, 0, 0, 2e-3, 0, 0, 0, 0, 5e-4, 0, 0, 0.5, 0, 0.5)[parameter]
    before, after = fit_by(KNOWN), fit_by(KNOWN.moved(step[:15]))
    lean = leaning_on(before, before.points[0], calibrated(KNOWN))
    predicted = before.state.camera.moved((lean @ step)[:15])
    expected = moved_mm(before.state.camera, predicted)
    assert np.abs(expected).max() > 0.1
    assert moved_mm(before.state.camera, after.state.camera) == pytest.approx(
        expected, abs=0.05 * np.abs(expected).max()
    )


def test_it_follows_the_height_of_the_ground() -> None:
    before, after = fit_by(KNOWN), fit_by(KNOWN, height_mm=0.6)
    by_height = following_height(before, before.points[0], calibrated(KNOWN))
    predicted = before.state.camera.moved(by_height[:15])
    expected = moved_mm(before.state.camera, predicted)
    assert np.abs(expected).max() > 0.2
    assert moved_mm(before.state.camera, after.state.camera) == pytest.approx(
        expected, abs=0.05 * np.abs(expected).max()
    )

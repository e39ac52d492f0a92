"""The error of a lens that took several photos moves the bases of all of them."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import Truth, camera_from, placed_bases, see
from overruler.calibration import Calibration, Covariances
from overruler.geometry.pose import Array
from overruler.vision.fusion.common_lens import common_covariances
from overruler.vision.fusion.joint_fit import fit_jointly
from overruler.vision.pairing.sighting import SeenPhoto

pytestmark = pytest.mark.usefixtures("fits_as_stated")

BASES: list[Truth] = [(150.0 + 90 * k, 120.0 + 55 * (k % 4), 0.0, 27.0) for k in range(7)]
PRIORS_MM = [0.05] * len(BASES)
LENS_SIGMA = np.array([8, 8, 2, 2, 0.004, 1e-5, 1e-6, 1e-6, 1e-6])
POSE_SIGMA = np.array([2e-4, 2e-4, 2e-4, 0.1, 0.1, 0.1])
COVARIANCE = np.diag(np.concatenate([LENS_SIGMA, POSE_SIGMA]) ** 2)


class Told:
    """Draws the camera's error that it was told, then the fits'."""

    def __init__(self, camera: Array, random: np.random.Generator) -> None:
        self._camera: Array | None = camera
        self._random = random

    def normal(self, mean: float, sigma: float, size: object = None) -> Array:
        told, self._camera = self._camera, None
        if told is not None:
            return told
        return np.asarray(self._random.normal(mean, sigma, size))  # type: ignore[call-overload]


def photos_of(seed: int, common: Array | None) -> list[SeenPhoto]:
    """Two photos through one lens, which errs alike in both."""
    random = np.random.default_rng(seed)
    lens = random.normal(0, LENS_SIGMA)
    photos = []
    for k in range(2):
        error = np.concatenate([lens, random.normal(0, POSE_SIGMA)])
        told = Told(error, random)
        photo = see(k, camera_from(40.0 * k), BASES, told)  # type: ignore[arg-type]
        calibration = replace(
            photo.calibration, covariances=Covariances.same(COVARIANCE), common_lens=common
        )
        photos.append(replace(photo, calibration=calibration))
    return photos


def mean_square(common: Array | None) -> float:
    """The mean square of the lengths between bases, against what is stated."""
    squares = []
    for seed in range(40):
        found = fit_jointly(placed_bases(photos_of(seed, common), BASES, PRIORS_MM))
        way = np.zeros(2 * len(BASES))
        way[0], way[-2] = -1.0, 1.0
        error = float(way @ (found.xy_mm - np.array(BASES)[:, :2]).ravel())
        squares.append(error**2 / float(way @ found.usual_mm2 @ way))
    return float(np.mean(squares))


def test_a_lens_that_errs_alike_in_all_photos_is_not_averaged_away() -> None:
    assert mean_square(np.diag(LENS_SIGMA**2)) == pytest.approx(1.0, abs=0.35)
    assert mean_square(None) > 1.6


def test_what_is_common_is_at_most_what_a_photo_leaves_open() -> None:
    """The joint covariance of all photos stays one, whatever they say is common."""
    random = np.random.default_rng(0)
    calibrations: dict[int, Calibration] = {}
    covariances: dict[int, Array] = {}
    common = np.diag(LENS_SIGMA**2)
    for k in range(3):
        root = random.normal(size=(15, 15)) * np.sqrt(np.diag(COVARIANCE))[:, None]
        calibrations[k] = replace(photos_of(k, common)[0].calibration, common_lens=common)
        covariances[k] = (0.3 + k) * root @ root.T
    between = common_covariances(calibrations, covariances)
    joint = np.zeros((45, 45))
    for k, own in covariances.items():
        joint[15 * k : 15 * k + 15, 15 * k : 15 * k + 15] = own
    for (i, j), block in between.items():
        joint[15 * i : 15 * i + 15, 15 * j : 15 * j + 15] = block
        joint[15 * j : 15 * j + 15, 15 * i : 15 * i + 15] = block.T
    scale = np.sqrt(np.diag(joint))
    assert np.linalg.eigvalsh(joint / np.outer(scale, scale)).min() > -1e-6
    assert np.abs(between[0, 1]).max() > 0


def test_photos_of_several_cameras_have_nothing_in_common() -> None:
    one, other = (photos_of(0, common)[0].calibration for common in (np.eye(9), 2 * np.eye(9)))
    assert common_covariances({0: one, 1: other}, {0: COVARIANCE, 1: COVARIANCE}) == {}

"""Where photos disagree beyond their stated doubt, the covariance grows as far as they do."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, FIT_SIGMA_MM, Truth, camera_from, see
from overruler.bases import Base
from overruler.calibration import Covariances
from overruler.geometry.pose import Array
from overruler.vision.fusion import noise
from overruler.vision.fusion.fuse import fit_and_check
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.pairing import sighting
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

pytestmark = pytest.mark.usefixtures("fits_as_stated")

SIDES_DEG = (0.0, 120.0, 240.0)
SEEDS = range(4)
PLATE = Base.rectangle(40.0, 40.0)


@pytest.fixture(autouse=True)
def _as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sighting, "PLATE_SIGMA_FACTOR", 1.0)
    monkeypatch.setattr(noise, "SAME_PLATE_CORRELATION", 0.0)


def draw(random: np.random.Generator, factors: Array, is_plate: Array) -> tuple[Array, Array]:
    """Errors (N, 2) and covariance (2 N, 2 N) of bases whose fits err by `factors` (N,) as stated."""
    places = random.uniform([60, 60], np.array(BOARD_MM) - 60, (len(factors), 2))
    bases: list[Truth] = [(float(x), float(y), 0.0, 40.0) for x, y in places]
    photos = [_see_exactly(k, side, bases) for k, side in enumerate(SIDES_DEG)]
    placed = [
        PlacedBase(
            tuple(_misread(photo, k, factors[k], bool(is_plate[k]), random) for photo in photos),
            0.0,
            0.02,
        )
        for k in range(len(bases))
    ]
    fit = fit_and_check(placed).fit
    return fit.xy_mm - places, fit.usual_mm2


def _see_exactly(k: int, side_deg: float, bases: list[Truth]) -> SeenPhoto:
    """A photo whose camera is known."""
    photo = see(k, camera_from(side_deg), bases)
    known = Covariances.same(1e-6 * photo.calibration.covariances.usual)
    return replace(photo, calibration=replace(photo.calibration, covariances=known))


def _misread(
    photo: SeenPhoto, k: int, factor: float, is_plate: bool, random: np.random.Generator
) -> Sighting:
    one = photo.detections[k]
    off = random.normal(0, factor * FIT_SIGMA_MM, 2)
    return Sighting(
        photo, replace(one, base=PLATE if is_plate else one.base, xy_mm=one.xy_mm + off)
    )


def errors_in_sigmas(factors: Array, is_plate: Array) -> Array:
    """(S, N, 2): errors of N bases on S tables, in their stated σ."""
    drawn = [draw(np.random.default_rng(seed), factors, is_plate) for seed in SEEDS]
    return np.array(
        [each / np.sqrt(np.diag(covariance)).reshape(-1, 2) for each, covariance in drawn]
    )


@pytest.mark.parametrize(("of_plates", "of_rounds"), [(1.0, 1.0), (3.0, 1.0), (1.0, 2.0)])
def test_the_stated_95_percent_hold_whatever_the_factor(of_plates: float, of_rounds: float) -> None:
    """Of 80 coordinates of a kind 69 to all lie inside, and σ is no larger than it must be."""
    is_plate = np.arange(20) % 2 == 1
    off = errors_in_sigmas(np.where(is_plate, of_plates, of_rounds), is_plate)
    for chosen in (is_plate, ~is_plate):
        assert np.mean(np.abs(off[:, chosen]) < 1.96) >= 0.86
        assert 0.7 < np.sqrt(np.mean(off[:, chosen] ** 2)) < 1.25


def test_a_base_whose_own_photos_disagree_is_doubted_more() -> None:
    factors = np.ones(10)
    factors[3] = 4.0
    sigmas = np.zeros(10)
    for seed in range(2):
        _, covariance = draw(np.random.default_rng(seed), factors, np.ones(10, bool))
        sigmas += np.sqrt(np.diag(covariance).reshape(-1, 2).sum(1))
    assert sigmas[3] > 1.4 * np.median(sigmas)


@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_heights_are_as_unsure_as_places_where_photos_contradict_each_other(factor: float) -> None:
    """Photos measure the heights of raised bases by the same fits."""
    off = []
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        places = random.uniform([60, 60], np.array(BOARD_MM) - 60, (12, 2))
        bases: list[Truth] = [(float(x), float(y), 30.0, 40.0) for x, y in places]
        photos = [_see_exactly(k, side, bases) for k, side in enumerate(SIDES_DEG)]
        placed = [
            PlacedBase(
                tuple(_misread(photo, k, factor, False, random) for photo in photos), 30.0, 40.0
            )
            for k in range(len(bases))
        ]
        fit = fit_and_check(placed).fit
        off.append((fit.z_mm - 30.0) / fit.z_sigma_mm)
    assert 0.6 < np.sqrt(np.mean(np.square(off))) < 1.4

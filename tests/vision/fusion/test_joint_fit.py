"""The joint fit reaches the bound of Cramér and Rao, and its covariance says what sampling says."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import (
    Truth,
    bound_mm2,
    camera_from,
    placed_bases,
    see,
)
from overruler.calibration import CAMERA_SIZE, JOINT_SIZE, Covariances, Light
from overruler.geometry.pose import Array
from overruler.vision.contours.shading import COMMON_SHADE_SIGMA_PX
from overruler.vision.fusion import noise
from overruler.vision.fusion.joint_fit import JointFit, fit_jointly
from overruler.vision.fusion.noise import SAME_VIEW_CORRELATION
from overruler.vision.pairing.sighting import PROFILE_SIGMA_MM, SeenPhoto

BASES: list[Truth] = [
    *[(150.0 + 90 * k, 120.0 + 55 * (k % 4), 0.0, 27.0) for k in range(7)],
    (620.0, 420.0, 50.0, 32.0),
]
PRIORS_MM = [30.0 if z else 0.05 for _, _, z, _ in BASES]
ZOOM_SIGMA_PX = 15.0
"""1 σ of a focal length of 1000 px that nothing tells."""


pytestmark = pytest.mark.usefixtures("fits_as_stated")


def photos_of(
    count: int,
    random: np.random.Generator | None,
    zoom_px: float = 0.0,
) -> list[SeenPhoto]:
    """Photos round the table; each focal length is off by 1 σ of `zoom_px` more than its camera says."""
    photos = []
    for k in range(count):
        off = np.zeros(CAMERA_SIZE)
        if random is not None and zoom_px:
            off[:2] = random.normal() * zoom_px
        photos.append(see(k, camera_from(360 * k / count), BASES, random, off=off))
    return photos


def fit(photos: list[SeenPhoto]) -> JointFit:
    return fit_jointly(placed_bases(photos, BASES, PRIORS_MM))


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_covariance_is_the_bound(count: int) -> None:
    photos = photos_of(count, None)
    stated = fit(photos).rare_mm2
    bound = bound_mm2(photos, BASES, PRIORS_MM)
    assert np.sqrt(np.diag(stated) / np.diag(bound)) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("count", [2, 3])
def test_errors_are_as_stated(count: int) -> None:
    truth = np.array([[x, y] for x, y, _, _ in BASES])
    squares = []
    for seed in range(40):
        found = fit(photos_of(count, np.random.default_rng(seed)))
        errors = (found.xy_mm - truth).ravel()
        squares.append(errors @ np.linalg.solve(found.rare_mm2, errors) / len(errors))
    assert np.mean(squares) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("count", [1, 2])
def test_the_rare_case_has_room_for_lenses_unlike_most(count: int) -> None:
    """A zoom whose photos name no focal length: its places are as unsure as they err."""
    truth = np.array([[x, y] for x, y, _, _ in BASES]).ravel()
    longer = np.zeros(JOINT_SIZE)
    longer[:2] = ZOOM_SIGMA_PX
    errors = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        photos = photos_of(count, random, ZOOM_SIGMA_PX)
        usual = photos[0].calibration.covariances.usual
        known = Covariances(usual, usual, usual + np.outer(longer, longer))
        photos = [
            replace(one, calibration=replace(one.calibration, covariances=known)) for one in photos
        ]
        found = fit(photos)
        errors.append(found.xy_mm.ravel() - truth)
    flat = slice(2 * np.count_nonzero(np.array(BASES)[:, 2] == 0))
    usual, rare = (np.diag(one)[flat] for one in (found.usual_mm2, found.rare_mm2))
    mean_square = np.mean(np.square(errors), axis=0)[flat]
    assert np.sqrt(mean_square.mean() / rare.mean()) == pytest.approx(1, abs=0.15)
    assert usual.mean() < 0.3 * rare.mean()


def test_what_no_sighting_shows_makes_one_base_unsure_and_no_other() -> None:
    found, added = fit(photos_of(2, None)), np.array([[4.0, 1.0], [1.0, 9.0]])
    doubted = found.with_added_covariance({1: added})
    for before, after in zip(
        (found.usual_mm2, found.rare_mm2), (doubted.usual_mm2, doubted.rare_mm2), strict=True
    ):
        assert (after - before)[2:4, 2:4] == pytest.approx(added)
        assert np.abs(after - before).sum() == pytest.approx(added.sum())


def test_what_one_photo_does_not_know_of_a_size_counts_where_no_other_tells_it() -> None:
    unknown = 0.25 * np.eye(2)

    def variances(sides: int, is_size_known: bool) -> Array:
        placed = placed_bases(photos_of(2, None), BASES, PRIORS_MM)
        seen = placed[0].sightings[0]
        found = seen.detection
        if not is_size_known:
            more = found.covariance_mm2 + unknown
            found = replace(found, covariance_mm2=more, unmodelled_mm2=unknown)
        sightings = (replace(seen, detection=found), *placed[0].sightings[1:])[:sides]
        placed[0] = replace(placed[0], sightings=sightings)
        return fit_jointly(placed).usual_mm2[:2, :2]

    alone, together = (variances(sides, False) - variances(sides, True) for sides in (1, 2))
    assert alone == pytest.approx(unknown, abs=2e-3)
    assert together == pytest.approx(np.zeros((2, 2)), abs=2e-3)


def test_more_photos_are_surer() -> None:
    sigmas = [
        np.sqrt(np.diag(fit(photos_of(count, None)).rare_mm2)).max() for count in (1, 2, 3, 5)
    ]
    assert sigmas == sorted(sigmas, reverse=True)
    assert sigmas[2] < 0.75 * sigmas[0]


def test_photos_from_about_one_place_err_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """What misleads a fit, a shadow or a rim, misleads the next one from there too."""
    monkeypatch.setattr(noise, "SAME_VIEW_CORRELATION", SAME_VIEW_CORRELATION)
    near, apart = (_variance_with((0.0, side)) / _variance_with((0.0,)) for side in (6.0, 120.0))
    assert apart < 0.55
    assert near > apart + 0.4 * SAME_VIEW_CORRELATION


def test_more_photos_do_not_reduce_the_shade_of_one_lamp() -> None:
    one, five = (_sigmas_under_a_lamp(count) for count in (1, 5))
    along_mm = COMMON_SHADE_SIGMA_PX * photos_of(1, None)[0].calibration.camera.mm_per_px(
        np.array([450.0, 300, 0])
    )
    assert (five[:, 0] > 0.95 * along_mm).all()
    assert (five[:, 1] < 0.6 * one[:, 1]).all()


def _sigmas_under_a_lamp(count: int) -> Array:
    """(N, 2): 1 σ of bases on the board along the light of a low lamp, and across."""
    photos = [
        replace(one, calibration=replace(one.calibration, light=Light(np.array([1e5, 300.0]), 1.0)))
        for one in photos_of(count, None)
    ]
    usual = fit_jointly(placed_bases(photos, BASES, PRIORS_MM)).usual_mm2
    return np.sqrt(np.diag(usual)).reshape(-1, 2)[:-1]


def test_a_profile_of_its_own_lifts_a_base_alike_in_all_photos(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fit(photos_of(3, None)).z_sigma_mm[-1]
    monkeypatch.setattr(noise, "PROFILE_SIGMA_MM", PROFILE_SIGMA_MM)
    after = fit(photos_of(3, None)).z_sigma_mm[-1]
    assert after == pytest.approx(np.hypot(before, PROFILE_SIGMA_MM), rel=0.1)


def _variance_with(sides_deg: tuple[float, ...]) -> float:
    """The mean variance of steps between bases on the board, by photos from these sides."""
    flat = BASES[:-1]
    photos = [see(k, camera_from(side), flat) for k, side in enumerate(sides_deg)]
    found = fit_jointly(placed_bases(photos, flat, PRIORS_MM[:-1]))
    step = np.eye(2 * len(flat))[2:] - np.eye(2 * len(flat))[:-2]
    return float(np.diag(step @ found.rare_mm2 @ step.T).mean())


def test_a_sighting_that_contradicts_the_others_stands_out() -> None:
    photos = photos_of(3, np.random.default_rng(1))
    off = photos[1].detections[3]
    off.xy_mm[:] += [3.0, -2.0]
    found = fit(photos)
    chi2 = found.chi2.reshape(len(BASES), 3)
    assert divmod(int(chi2.argmax()), 3) == (3, 1)
    assert chi2[3, 1] > 20
    assert np.hypot(*(found.xy_mm[3] - BASES[3][:2])) < 0.5  # it counts less; a mean errs by 1.2

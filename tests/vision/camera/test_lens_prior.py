"""What is known of a lens beforehand, held against lenses that somebody measured."""

import numpy as np
import pytest

from overruler.frame import Frame
from overruler.lens import Lens
from overruler.vision.camera.lens_prior import (
    cropped_prior,
    lens_prior,
    stretched_priors,
    zoomed_priors,
)
from overruler.vision.camera.shared_lens import fuse_lens_information


def frame(
    focal_px: float | None = None, share: float = 0.03, size: tuple[int, int] = (1920, 1080)
) -> Frame:
    return Frame(np.broadcast_to(np.uint8(90), (size[1], size[0], 3)), "drawn", focal_px, share)


# k1, k2 and k3 of published calibrations of webcams, phones' films and machine cameras
PUBLISHED = [
    (0.134, -0.312, 0.0), (-0.307, 0.083, 0.0), (-0.332, 0.068, 0.0), (-0.174, 0.107, 0.0), (-0.110, 0.093, 0.0),
    (-0.237, 0.051, 0.0), (0.03, 0.01, 0.0), (-0.15, -0.02, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("distortion", PUBLISHED)
def test_published_lenses_are_no_surprise(distortion: tuple[float, float, float]) -> None:
    """By how they bend the picture, out to two thirds of its half width: 3 σ holds any one of them."""
    prior = lens_prior(frame(), None)
    r2 = np.linspace(0.05, 0.45, 9)
    powers = np.stack([r2, r2**2, r2**3], 1)
    bend, doubt = (
        powers @ distortion,
        powers @ prior.covariance[np.ix_([4, 5, 8], [4, 5, 8])] @ powers.T,
    )
    assert np.abs(bend / np.sqrt(np.diag(doubt))).max() < 3


def test_a_phone_s_whole_picture_is_straighter_than_an_unknown_one() -> None:
    phone, unknown = lens_prior(frame(1500.0, 0.03), None), lens_prior(frame(), None)
    assert np.all(np.diag(phone.covariance)[[4, 5, 8]] < np.diag(unknown.covariance)[[4, 5, 8]])
    assert np.sqrt(phone.covariance[0, 0]) == pytest.approx(0.03 * 1500, rel=0.01)
    cut = lens_prior(frame(1500.0, 0.15), None)
    assert cut.covariance[4:, 4:] == pytest.approx(unknown.covariance[4:, 4:])


def test_both_focal_lengths_are_in_doubt_together() -> None:
    covariance = lens_prior(frame(), None).covariance
    assert covariance[0, 1] / covariance[0, 0] > 0.999
    np.linalg.cholesky(covariance)


@pytest.mark.parametrize(
    "size",
    [(1920, 1080), (4032, 3024), (3024, 4032), (1200, 1200), (1366, 768), (427, 640), (2400, 1080)],
)
@pytest.mark.parametrize("focal_px", [None, 1500.0])
def test_the_axis_of_a_picture_of_a_camera_s_shape_meets_its_middle(
    size: tuple[int, int], focal_px: float | None
) -> None:
    prior = lens_prior(frame(focal_px, 0.15, size), None)
    assert prior.mean[2:4] == pytest.approx((np.array(size) - 1) / 2)
    assert np.sqrt(np.diag(prior.covariance)[2:4]).max() < 0.01 * max(size)


@pytest.mark.parametrize("size", [(1000, 660), (660, 800), (1500, 500), (743, 419), (858, 686)])
def test_nobody_knows_where_the_axis_of_a_cut_picture_is_nor_how_wide_it_was(
    size: tuple[int, int],
) -> None:
    uncut, cut = lens_prior(frame(), None), lens_prior(frame(size=size), None)
    told = lens_prior(frame(1500.0, 0.15, size), None)
    for prior in (cut, told):
        assert np.sqrt(np.diag(prior.covariance)[2:4]).min() > 0.09 * max(size)
        assert (
            np.sqrt(prior.covariance[0, 0]) / prior.mean[0]
            > 2 * np.sqrt(uncut.covariance[0, 0]) / uncut.mean[0]
        )
    whole = lens_prior(frame(1500.0, 0.03, size), None)
    assert np.sqrt(np.diag(whole.covariance)[2:4]).max() < 0.01 * max(size)


def test_a_prior_knows_that_a_lens_file_says_it() -> None:
    """However the picture was cut or stretched, and whatever other photos add."""
    matrix = np.array([[700.0, 0, 399.5], [0, 700, 299.5], [0, 0, 1]])
    small = frame(size=(800, 600))
    lens = Lens((800, 600), matrix, np.zeros(5), 1e-6 * np.eye(9))
    for given, is_from_file in ((lens, True), (None, False)):
        prior = lens_prior(small, given)
        priors = [prior, cropped_prior(prior, (800, 600)), *stretched_priors(prior, (800, 600))]
        priors.append(fuse_lens_information(prior, []))
        assert {one.is_from_file for one in priors} == {is_from_file}


def test_other_focal_lengths_are_tried_only_where_nobody_says_which_it_is() -> None:
    unknown, phone = lens_prior(frame(), None), lens_prior(frame(1500.0, 0.03), None)
    tried = [float(one.mean[0]) for one in zoomed_priors(unknown)]
    for focal_px in (0.36, 0.5, 1.44, 2.1, 3.3):  # of a phone's lenses, and of zooms
        assert min(abs(np.log(one / (focal_px * 1920))) for one in tried) < 0.25
    assert all(one.mean[2:] == pytest.approx(unknown.mean[2:]) for one in zoomed_priors(unknown))
    assert zoomed_priors(phone) == []
    matrix = np.array([[700.0, 0, 399.5], [0, 700, 299.5], [0, 0, 1]])
    lens = Lens((800, 600), matrix, np.zeros(5), 1e-6 * np.eye(9))
    from_file = lens_prior(frame(size=(800, 600)), lens)
    assert zoomed_priors(from_file) == zoomed_priors(cropped_prior(from_file, (800, 600))) == []

"""A fit that says nothing of the lens is refused, whatever made it so."""

from dataclasses import replace

import pytest

from overruler.errors import CannotMeasure
from overruler.vision.calibrators.charuco import ChartCorners
from overruler.vision.calibrators.check_fit import check_fit
from overruler.vision.calibrators.lens_fit import fit_lens
from tests.vision.calibrators.test_lens_fit import sightings
from tests.vision.charts import POSES, SIZE, SMALL, over

SQUARE_MM = SMALL.square_mm


def test_good_photos_pass_and_so_do_those_of_paper_that_is_a_little_bent() -> None:
    for noise_px, bow_mm in ((0.03, 0.0), (0.5, 2.0)):
        fit = fit_lens(SIZE, sightings(3, noise_px=noise_px, bow_mm=bow_mm))
        check_fit(fit, len(POSES), SQUARE_MM)


def test_no_more_than_half_of_the_photos_is_too_few() -> None:
    fit = fit_lens(SIZE, sightings(3, POSES[:4]))
    check_fit(fit, 7, SQUARE_MM)
    with pytest.raises(CannotMeasure, match="no lens fits more than 4 of the 8 photos"):
        check_fit(fit, 8, SQUARE_MM)


def test_photos_that_the_fit_left_out_are_named() -> None:
    """Four of eight photos went, and whoever took them learns which and why."""
    fit = fit_lens(SIZE, sightings(3, POSES[:4]))
    left_out = {"a.jpg": "fits 9 times worse than the others", "b.jpg": "fits no lens"}
    told = ": .*; a.jpg: fits 9 times worse than the others; b.jpg: fits no lens$"
    fit = replace(fit, left_out=left_out)
    with pytest.raises(CannotMeasure, match=f"no lens fits more than 4 of the 8 photos{told}"):
        check_fit(fit, 8, SQUARE_MM)
    unsure = replace(fit.lens, covariance=1e6 * fit.lens.covariance)
    with pytest.raises(CannotMeasure, match=f"the focal length to .*{told}"):
        check_fit(replace(fit, lens=unsure), 4, SQUARE_MM)


def test_corners_that_are_those_of_another_sheet_are_refused() -> None:
    """Read as a sheet with fewer corners a row, each photo holds a mesh that no lens explains."""
    fit = fit_lens(SIZE, sightings(3))
    shuffled = {}
    for photo in fit.photos:
        corners = photo.corners
        xy_px = corners.xy_px.copy()
        xy_px[::2] += 6.0
        shuffled[photo.name] = ChartCorners(
            corners.xyz_mm, xy_px, corners.covariance_px2, corners.blur_px
        )
    wrong = fit_lens(SIZE, shuffled)
    with pytest.raises(CannotMeasure, match=r"corners lie \d\.\d px off \(\d % of a square\)"):
        check_fit(wrong, len(wrong.photos), SQUARE_MM)


def test_a_focal_length_less_sure_than_that_of_an_unknown_camera_is_refused() -> None:
    front = fit_lens(SIZE, sightings(14, [over(0, 0, turn) for turn in (0.0, 30.0, 90.0)]))
    with pytest.raises(CannotMeasure, match=r"focal length to ± \d+ % alone, .* leaning"):
        check_fit(front, 3, SQUARE_MM)
    sure = replace(front.lens, covariance=front.lens.covariance / 100)
    check_fit(replace(front, lens=sure), 3, SQUARE_MM)

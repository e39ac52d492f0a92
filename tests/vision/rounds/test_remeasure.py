"""A base of known size, measured once more where it was found."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.rounds.remeasure import (
    SHARED_ERROR_CORRELATION,
    remeasure_base,
    shared_error_variance_mm2,
)
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

CAMERA = camera_over(12.0)
AT = {27.0: (180.0, 160.0), 50.0: (430.0, 330.0)}
FRAME = photo(CAMERA, [Plinth(x, y, size, rim=(0.03,) * 3) for size, (x, y) in AT.items()])


def found(size_mm: float, off_mm: tuple[float, float], base: Base | None = None) -> Detection:
    """A base as it was found, so far off."""
    at = np.array(AT[size_mm]) + off_mm
    pixel = CAMERA.project(np.array([*at, 0.0]))
    doubt, base = np.eye(2) * 0.25, base or Base.circle(size_mm)
    return Detection(
        base, at, 0.0, 0.0, doubt, np.zeros((2, 15)), 1.0, 1.0, pixel, np.tile(pixel, (8, 1))
    )


def again(one: Detection) -> Detection:
    better = remeasure_base(FRAME, exact(CAMERA), one)
    assert better is not None
    return better


@pytest.mark.parametrize("size_mm", AT)
def test_it_comes_out_where_it_stands_wherever_about_it_was_found(size_mm: float) -> None:
    offs = [(0.0, 0.0), (0.9, -0.5), (-0.7, 0.8)]
    places = np.array([again(found(size_mm, off)).xy_mm for off in offs])
    assert np.hypot(*(places - AT[size_mm]).T).max() < 0.2
    assert np.ptp(places, axis=0).max() < 0.1


def test_its_doubt_and_its_outline_are_of_the_new_place() -> None:
    better = again(found(50.0, (0.9, -0.5)))
    assert np.trace(better.covariance_mm2) < 0.2
    assert better.center_px == pytest.approx(CAMERA.project(np.array([*better.xy_mm, 0.0])))
    assert better.d_xy_d_camera.any()


@pytest.mark.parametrize(
    "one",
    [
        found(27.0, (0.0, 0.0), Base.circle(30.0)),
        found(50.0, (0.0, 0.0), Base.circle(46.0)),
        found(50.0, (6.0, 0.0)),
        found(50.0, (0.0, 0.0), Base("rectangle", 50.0, 50.0)),
        replace(found(50.0, (0.0, 0.0)), z_mm=20.0),
        replace(found(50.0, (0.0, 0.0)), alternative_bases=(Base.circle(46.0),)),
    ],
    ids=[
        "smaller than said",
        "larger than said",
        "elsewhere",
        "square",
        "on a hill",
        "of unsure size",
    ],
)
def test_another_size_another_shape_or_another_place_is_left_as_it_was(one: Detection) -> None:
    assert remeasure_base(FRAME, exact(CAMERA), one) is None


def test_what_both_places_have_wrong_alike_is_no_doubt_of_the_way_between() -> None:
    along, flat = np.array([0.6, 0.8]), exact(CAMERA)
    one, other = (
        replace(found(27.0, (0.0, 0.0)), covariance_mm2=np.diag(v))
        for v in ([0.09, 0.04], [0.16, 0.25])
    )
    a, b = (float(along @ place.covariance_mm2 @ along) for place in (one, other))
    both = SHARED_ERROR_CORRELATION * np.sqrt(a * b)
    drawn = np.random.default_rng(4).multivariate_normal(
        np.zeros(2), [[a, both], [both, b]], 200_000
    )
    assert np.var(drawn[:, 1] - drawn[:, 0]) == pytest.approx(
        a + b - shared_error_variance_mm2(flat, one, other, along), rel=0.02
    )
    assert shared_error_variance_mm2(flat, one, replace(other, z_mm=20.0), along) == 0.0


def test_what_no_fit_knows_stays_part_of_its_doubt() -> None:
    sure = found(50.0, (0.9, -0.5))
    unsure = replace(sure, covariance_mm2=sure.covariance_mm2 + np.eye(2), unmodelled_mm2=np.eye(2))
    assert again(unsure).covariance_mm2 == pytest.approx(again(sure).covariance_mm2 + np.eye(2))

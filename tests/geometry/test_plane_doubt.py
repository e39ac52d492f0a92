"""The doubt of a whole table: strains grow with distance, a smooth error cancels between neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from overruler.geometry.plane_doubt import NO_DOUBT, ROUGH_SHARE, TableDoubt
from overruler.geometry.pose import Array

PLACES = arrays(np.float64, (5, 2), elements=st.floats(-900, 900))


def distance_sigma_mm(doubt: TableDoubt, a: tuple[float, float], b: tuple[float, float]) -> float:
    """1 σ of the distance between two points that lie along x or along y of one another."""
    covariance = doubt.covariance_mm2(np.array([a, b]))
    along = np.subtract(b, a) / np.linalg.norm(np.subtract(b, a))
    slope = np.concatenate([-along, along])
    return float(np.sqrt(slope @ covariance @ slope))


def test_a_strain_along_x_lengthens_what_lies_along_x_alone() -> None:
    doubt = TableDoubt(np.diag([0.01**2, 0, 0]))
    assert distance_sigma_mm(doubt, (-300, 40), (200, 40)) == pytest.approx(5.0)
    assert distance_sigma_mm(doubt, (-300, 40), (-300, 440)) == pytest.approx(0.0, abs=1e-9)


def test_a_common_scale_is_no_strain_of_its_own_along_a_diagonal() -> None:
    doubt = TableDoubt(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]]) * 0.01**2)
    assert distance_sigma_mm(doubt, (0, 0), (300, 400)) == pytest.approx(5.0)


def test_shear_lengthens_one_diagonal() -> None:
    doubt = TableDoubt(np.diag([0, 0, 0.01**2]))
    assert distance_sigma_mm(doubt, (0, 0), (100, 100)) == pytest.approx(0.5 * 0.01 * 2**0.5 * 100)
    assert distance_sigma_mm(doubt, (0, 0), (100, 0)) == pytest.approx(0.0, abs=1e-9)


def test_a_smooth_field_leaves_near_pairs_sure_and_far_ones_not() -> None:
    doubt = TableDoubt(field_mm=2.0, length_mm=600.0)
    near, far = (distance_sigma_mm(doubt, (0, 0), (d, 0)) for d in (10, 6000))
    assert far == pytest.approx(2.0 * (2 * (1 + ROUGH_SHARE)) ** 0.5)
    assert near < far / 5


def test_a_seam_lies_between_two_pieces_the_likelier_the_farther_apart_they_are() -> None:
    doubt = TableDoubt(field_mm=2.0, length_mm=600.0)
    one, two = (distance_sigma_mm(doubt, (0, 0), (d, 0)) ** 2 for d in (2, 4))
    assert two / one == pytest.approx(2, rel=0.02)


@given(PLACES, st.floats(0, 30), st.floats(0, 0.02))
def test_no_combination_of_places_is_surer_than_sure(
    places: Array, field_mm: float, sigma: float
) -> None:
    doubt = TableDoubt(np.eye(3) * sigma**2, field_mm, 300.0)
    covariance = doubt.covariance_mm2(places)
    assert np.linalg.eigvalsh(covariance).min() > -1e-7 * (1 + np.abs(covariance).max())
    assert not NO_DOUBT.covariance_mm2(places).any()

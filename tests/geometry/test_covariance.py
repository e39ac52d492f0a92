"""The joint covariance without arrays says what arrays say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.batched.draws import difference_covariance
from overruler.geometry.covariance import (
    NUMPY_MIN_ROWS,
    REACH_SIGMAS,
    Covariance,
    is_positive_semidefinite,
)

FEW = settings(max_examples=40)


def joint(seed: int, points: int, rank: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(2 * points, rank))
    return root @ root.T


def test_a_shared_error_cancels_in_a_difference() -> None:
    shared = np.tile(np.eye(2), (3, 3)) * 4
    assert np.allclose(Covariance(shared.tolist()).of_difference(0, 2), 0)
    assert np.allclose(Covariance((shared + np.eye(6)).tolist()).of_difference(0, 2), 2 * np.eye(2))


@FEW
@given(
    st.integers(0, 999),
    st.sampled_from([(0, 1), (2, 1), (None, 2), (1, None), (None, None), (2, 2)]),
)
def test_a_difference_is_that_of_the_arrays(seed: int, pair: tuple[int | None, int | None]) -> None:
    array = joint(seed, 3, 6)
    expected = difference_covariance(array, [pair])
    found = Covariance(array.tolist())
    assert np.allclose(found.of_difference(*pair), expected)
    assert found.max_relative_shift_mm(*pair) == pytest.approx(
        REACH_SIGMAS * np.sqrt(max(np.linalg.eigvalsh(expected)[-1], 0)), abs=1e-6
    )


def test_blocks_stand_on_the_diagonal() -> None:
    found = Covariance.of_blocks([((1, 2), (2, 5)), None]).array
    assert found.tolist() == [[1, 2, 0, 0], [2, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@FEW
@given(st.integers(0, 999), st.integers(1, 6), st.integers(1, 12))
def test_a_covariance_is_semidefinite_and_less_than_its_least_is_not(
    seed: int, points: int, rank: int
) -> None:
    array = joint(seed, points, rank)
    slack = 1e-6 * np.abs(array).max()
    assert is_positive_semidefinite(array.tolist(), slack)
    least = np.linalg.eigvalsh(array)[0]
    lowered = array - (least + 2 * slack) * np.eye(2 * points)
    assert not is_positive_semidefinite(lowered.tolist(), slack)


@pytest.mark.parametrize("size", [NUMPY_MIN_ROWS - 2, NUMPY_MIN_ROWS + 2])
def test_large_ones_are_judged_alike(size: int) -> None:
    array = joint(1, size // 2, 5)
    slack = 1e-6 * np.abs(array).max()
    assert is_positive_semidefinite(array.tolist(), slack)
    assert not is_positive_semidefinite((array - 3 * slack * np.eye(size)).tolist(), slack)

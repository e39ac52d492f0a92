"""Draws with the covariance they are asked for, and differences in which what is shared cancels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.batched.draws import difference_covariance, draw_gaussian, fuse_measurements

FEW = settings(max_examples=25)


def covariance(seed: int, size: int, rank: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(size, rank))
    return root @ root.T


@FEW
@given(st.integers(0, 999))
def test_differences_are_joint(seed: int) -> None:
    joint = covariance(seed, 8, 8)
    both = difference_covariance(joint, [(0, 1), (2, 1)])
    assert both[:2, :2] == pytest.approx(
        joint[:2, :2] + joint[2:4, 2:4] - joint[:2, 2:4] - joint[2:4, :2]
    )
    blocks = {
        (i, j): joint[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] for i in range(4) for j in range(4)
    }
    assert both[:2, 2:] == pytest.approx(blocks[1, 1] - blocks[1, 2] - blocks[0, 1] + blocks[0, 2])


@FEW
@given(st.integers(0, 999), st.integers(1, 4), st.integers(1, 8))
def test_draws_have_mean_zero_and_the_covariance(seed: int, points: int, rank: int) -> None:
    wanted = covariance(seed, 2 * points, rank)
    drawn = draw_gaussian(wanted, 4096)
    size = np.sqrt(np.abs(wanted).max())
    assert np.abs(drawn.mean(0)).max() < 0.002 * size
    assert np.cov(drawn.T, bias=True).reshape(wanted.shape) == pytest.approx(
        wanted, abs=0.005 * size**2
    )


def test_draws_are_the_same_every_time() -> None:
    wanted = covariance(3, 6, 6)
    assert (draw_gaussian(wanted, 512) == draw_gaussian(wanted, 512)).all()


@pytest.mark.parametrize("angle", range(0, 180, 15))
def test_draws_in_the_plane_fill_every_half_plane_evenly(angle: int) -> None:
    along = draw_gaussian(np.eye(2), 8192) @ [
        math.cos(math.radians(angle)),
        math.sin(math.radians(angle)),
    ]
    for sigmas in (-3.09, -1, 0, 0.5, 2):
        assert (along <= sigmas).mean() == pytest.approx(
            (1 + math.erf(sigmas / math.sqrt(2))) / 2, abs=0.001
        )


def test_nothing_to_draw_is_nothing() -> None:
    assert (draw_gaussian(np.zeros((4, 4)), 64) == 0).all()
    assert draw_gaussian(np.zeros((0, 0)), 64).shape == (64, 0)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_two_measurements_together_are_as_sure_as_their_informations_sum(size: int) -> None:
    """In either order; and each where it is by itself where the other says nothing."""
    rng = np.random.default_rng(size)
    one, other = rng.normal(size=(2, size))
    own, its = (root @ root.T + np.eye(size) for root in rng.normal(size=(2, size, size)))
    mean, covariance = fuse_measurements(one, own, other, its)
    information = np.linalg.inv(own) + np.linalg.inv(its)
    np.testing.assert_allclose(np.linalg.inv(covariance), information)
    np.testing.assert_allclose(
        information @ mean, np.linalg.solve(own, one) + np.linalg.solve(its, other)
    )
    np.testing.assert_allclose(fuse_measurements(other, its, one, own)[0], mean)
    np.testing.assert_allclose(fuse_measurements(one, own, other, its * 1e9)[0], one, atol=1e-6)

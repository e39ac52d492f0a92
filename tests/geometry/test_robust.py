"""Least squares in a box with a soft limit: the least there is, and one bad measure moves it little."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.geometry.robust import robust_fit

X = np.linspace(-1, 1, 21)
WIDE = np.full(2, -50.0), np.full(2, 50.0)


def loss(off: Array, scale: float) -> float:
    return float(scale**2 * np.sum(np.sqrt(1 + (off / scale) ** 2) - 1))


numbers = st.lists(st.floats(-8, 8), min_size=2, max_size=2).map(np.array)


@settings(max_examples=40, deadline=None)
@given(numbers, numbers, st.integers(0, 9))
def test_no_number_beside_the_fit_is_better(truth: Array, start: Array, seed: int) -> None:
    seen = truth[0] + truth[1] * X + np.random.default_rng(seed).normal(0, 0.5, len(X))

    def misfits(line: Array) -> Array:
        return np.asarray(line[0] + line[1] * X - seen)

    low, high = np.array([-3.0, -50.0]), np.array([3.0, 50.0])
    found, half_loss, _ = robust_fit(misfits, start, low, high, 2.0, 40)
    assert (found >= low).all()
    assert (found <= high).all()
    assert half_loss == pytest.approx(loss(misfits(found), 2.0))
    for step in 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert loss(misfits(np.clip(found + step, low, high)), 2.0) >= half_loss - 1e-9


def test_its_slopes_are_the_information_about_the_numbers() -> None:
    seen = np.random.default_rng(4).normal(0, 2.0, len(X))

    def misfits(line: Array) -> Array:
        return np.asarray(line[0] + line[1] * X - seen)

    found, half_loss, slopes = robust_fit(misfits, np.zeros(2), *WIDE, 1.0, 40)
    h = 1e-3 * np.eye(2)
    bend = [
        [sum(a * b * loss(misfits(found + a * x + b * y), 1.0) for a in (-1, 1) for b in (-1, 1)) for x in h] for y in h
    ]
    assert slopes.T @ slopes == pytest.approx(np.array(bend) / 4e-6, rel=1e-3, abs=1e-3)
    assert half_loss == pytest.approx(loss(misfits(found), 1.0))


def test_one_bad_measure_moves_it_little() -> None:
    bad = np.zeros_like(X)
    bad[3] = 40.0
    found, _, _ = robust_fit(lambda line: line[0] + line[1] * X - bad, np.array([5.0, 5]), *WIDE, 0.5, 60)
    plain = np.polynomial.polynomial.polyfit(X, bad, 1)
    assert np.abs(found).max() < 0.1 < np.abs(plain).max() / 10

"""The regression that all scores are fitted by: its weights are the likeliest, given what is known in advance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.learned.logits import sigmoid
from training.regression import FREE, HELD, logistic_regression, ridge_regression

ROWS = 300


def drawn(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    features = np.column_stack([np.ones(ROWS), rng.normal(0, [1.0, 5.0, 0.1], (ROWS, 3))])
    odds = features @ rng.normal(0, 1, 4)
    return features, (rng.random(ROWS) < sigmoid(odds)).astype(float)


@given(st.integers(0, 200), st.floats(0.01, 30), st.floats(0, 2))
def test_no_step_makes_the_weights_likelier(seed: int, stiffness: float, least: float) -> None:
    features, truth = drawn(seed)
    before, stiff = np.array([0.5, -1.0, 0.2, 3.0]), np.full(4, stiffness)
    counts = np.where(truth > 0, 1.0, least)
    weights = logistic_regression(features, truth, stiff, before, counts)
    slope = features.T @ (counts * (truth - sigmoid(features @ weights)))
    assert slope - stiff * (weights - before) == pytest.approx(0, abs=1e-5)


def test_a_held_weight_stays_and_a_free_constant_balances() -> None:
    features, truth = drawn(3)
    before = np.array([0.0, 2.0, 0.0, 0.0])
    stiff = np.array([FREE, HELD, 1.0, 1.0])
    weights = logistic_regression(features, truth, stiff, before)
    assert weights[1] == pytest.approx(2.0, abs=1e-6)
    assert sigmoid(features @ weights).mean() == pytest.approx(truth.mean(), abs=1e-6)


def test_plainly_parted_rows_have_finite_weights() -> None:
    """Without a ridge they would grow for ever."""
    side = np.linspace(-1, 1, 40)
    features = np.column_stack([np.ones(40), side])
    weights = ridge_regression(features, (side > 0).astype(float))
    assert 1 < weights[1] < 100
    assert ridge_regression(features, (side > 0).astype(float), 5.0)[1] < weights[1]

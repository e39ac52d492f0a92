"""Likelihoods and log odds are each other's inverse, and no likelihood is 0 or 1."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.vision.learned.logits import (
    MAX_LOGIT,
    MAX_LOGIT_PER_VIEW,
    probability_to_logit,
    sigmoid,
)


@given(st.floats(-MAX_LOGIT, MAX_LOGIT))
def test_there_and_back(odds: float) -> None:
    rounding = 2e-16 * np.exp(abs(odds))  # of a likelihood near 1, as odds
    assert abs(probability_to_logit(sigmoid(odds), MAX_LOGIT) - odds) < 1e-9 + 2 * rounding


@given(st.floats(allow_nan=False))
def test_nothing_is_certain(odds: float) -> None:
    assert 0 < sigmoid(odds) < 1
    assert np.isclose(sigmoid(odds) + sigmoid(-odds), 1)


@given(st.floats(0, 1))
def test_one_look_counts_so_much_at_most(share: float) -> None:
    assert abs(probability_to_logit(share)) <= MAX_LOGIT_PER_VIEW


def test_shapes_are_kept() -> None:
    assert sigmoid(np.zeros((2, 3))).tolist() == [[0.5] * 3] * 2
    assert sigmoid(0.0).shape == probability_to_logit(0.5).shape == ()

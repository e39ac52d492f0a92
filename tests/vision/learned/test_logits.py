"""Likelihoods and log odds are each other's inverse, and no likelihood is 0 or 1."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.vision.learned.logits import ONE_LOOK, SUREST, logit_of, share_of


@given(st.floats(-SUREST, SUREST))
def test_there_and_back(odds: float) -> None:
    rounding = 2e-16 * np.exp(abs(odds))  # of a likelihood near 1, as odds
    assert abs(logit_of(share_of(odds), SUREST) - odds) < 1e-9 + 2 * rounding


@given(st.floats(allow_nan=False))
def test_nothing_is_certain(odds: float) -> None:
    assert 0 < share_of(odds) < 1
    assert np.isclose(share_of(odds) + share_of(-odds), 1)


@given(st.floats(0, 1))
def test_one_look_counts_so_much_at_most(share: float) -> None:
    assert abs(logit_of(share)) <= ONE_LOOK


def test_shapes_are_kept() -> None:
    assert share_of(np.zeros((2, 3))).tolist() == [[0.5] * 3] * 2
    assert share_of(0.0).shape == logit_of(0.5).shape == ()

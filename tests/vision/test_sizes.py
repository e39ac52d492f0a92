"""Sizes: each base by what it looks like, all of them by what is on the table."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from overruler.vision.sizes import size_probabilities


def test_a_doubtful_base_takes_the_size_of_its_table() -> None:
    clear = np.tile([0.0, -8.0, -8.0], (9, 1))
    doubtful = np.array([[-0.5, 0.0, -6.0]])
    alone = size_probabilities(doubtful)[0]
    among = size_probabilities(np.vstack([clear, doubtful]))[-1]
    assert alone[1] > 0.5
    assert among[0] > 0.9


def test_a_clear_base_keeps_its_size_among_others() -> None:
    shares = size_probabilities(np.vstack([np.tile([0.0, -9.0], (20, 1)), [[-12.0, 0.0]]]))
    assert shares[-1, 1] > 0.95


def test_no_bases() -> None:
    assert size_probabilities(np.empty((0, 4))).shape == (0, 4)


@given(arrays(float, (5, 4), elements=st.floats(-30, 0)))
def test_probabilities(log_likelihood: np.ndarray) -> None:
    shares = size_probabilities(log_likelihood)
    assert np.allclose(shares.sum(1), 1)
    assert (shares >= 0).all()
    order = [2, 0, 3, 1]
    assert np.allclose(size_probabilities(log_likelihood[:, order]), shares[:, order])

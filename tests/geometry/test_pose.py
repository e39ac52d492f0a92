"""Turns that look the same are one turn, the smallest of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.pose import wrapped_turn


@given(st.floats(-1e4, 1e4), st.sampled_from([90.0, 180.0, 360.0, np.pi / 2, 2 * np.pi]))
def test_a_wrapped_turn_looks_the_same_and_is_the_smallest(turn: float, modulo: float) -> None:
    wrapped = wrapped_turn(turn, modulo)
    assert -modulo / 2 <= wrapped <= modulo / 2
    turns = (turn - wrapped) / modulo
    assert turns == pytest.approx(round(turns), abs=1e-8)


def test_each_of_several_turns_has_its_own_symmetry() -> None:
    wrapped = wrapped_turn(np.array([100.0, 100.0, -100.0, 180.0]), np.array([90.0, 180, 360, 360]))
    assert wrapped.tolist() == [10, -80, -100, -180]

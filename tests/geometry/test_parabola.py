"""Peaks to a fraction of a step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.parabola import parabolic_peak_offset


@given(at=st.floats(-0.5, 0.5), bend=st.floats(0.01, 100), top=st.floats(-10, 10))
def test_the_peak_of_a_parabola_is_found_where_it_is(at: float, bend: float, top: float) -> None:
    assert float(
        parabolic_peak_offset(*(top - bend * (step - at) ** 2 for step in (-1, 0, 1)))
    ) == pytest.approx(at, abs=1e-6)


def test_many_at_once_the_flat_and_those_at_an_edge() -> None:
    before, highest, after = np.array([[1.0, 3.0, 1.0], [2.0, 3.0, 3.0], [1.0, 3.0, 9.0]])
    assert parabolic_peak_offset(before, highest, after).tolist() == [0.0, 0.0, 0.5]

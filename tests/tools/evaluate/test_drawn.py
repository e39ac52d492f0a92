"""Counts over drawn tables: as unsure as tables differ, however many distances each has."""

import numpy as np
import pytest

from evaluate.drawn.count import figures, honesty


@pytest.mark.parametrize("distances", [1, 300])
def test_a_count_is_as_unsure_as_its_tables_differ(distances: int) -> None:
    errors = [np.full(distances, 2.0), np.full(distances, 6.0)]
    z2, apart, within, share_apart = honesty(errors, [np.full(distances, 2.0)] * 2)
    assert (z2, within) == (5.0, 0.5)
    assert apart == pytest.approx(4 / 2**0.5)
    assert share_apart == pytest.approx(0.5 / 2**0.5)


def test_errors_and_bounds_are_root_mean_squares() -> None:
    error, bound, ratio, *_ = figures([np.array([3.0, -4.0])], [np.ones(2)], [np.array([1.0, 7.0])])
    assert error == pytest.approx(12.5**0.5)
    assert bound == 5.0
    assert ratio == error / bound

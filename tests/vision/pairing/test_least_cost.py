"""The assignment of least cost, against SciPy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from overruler.vision.pairing.least_cost import assign_at_least_cost


@given(
    rows=st.integers(0, 9),
    columns=st.integers(1, 9),
    few_values=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_sum_is_the_least(rows: int, columns: int, few_values: bool, seed: int) -> None:
    numbers = np.random.default_rng(seed)
    cost = numbers.normal(size=(rows, columns)) * 10
    if few_values:  # many equal sums
        cost = np.round(cost / 10)
    row, column = assign_at_least_cost(cost)
    assert len(row) == len(set(column.tolist())) == min(rows, columns)
    assert row.tolist() == sorted(set(row.tolist()))
    assert np.isclose(cost[row, column].sum(), cost[linear_sum_assignment(cost)].sum())


def test_pairs_of_one_best_assignment_are_the_same_as_scipys() -> None:
    cost = np.random.default_rng(5).normal(size=(40, 60))
    for one in (cost, cost.T):
        row, column = assign_at_least_cost(one)
        assert [row.tolist(), column.tolist()] == [k.tolist() for k in linear_sum_assignment(one)]

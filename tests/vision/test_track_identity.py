"""Pieces keep their names by size, nearness and look."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.vision.track_identity import Missing, assigned, cheapest

SMALL, LARGE = Base.circle(27), Base.circle(50)


def at(x: float, y: float = 0.0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([x, y])


def test_sizes_are_never_mixed_up() -> None:
    missing = [Missing(SMALL, at(0)), Missing(LARGE, at(100))]
    assert assigned(missing, [(LARGE, at(1)), (SMALL, at(101))], np.ones((2, 2))) == [(0, 1), (1, 0)]


def test_the_nearest_is_taken_where_all_look_alike() -> None:
    missing = [Missing(SMALL, at(0)), Missing(SMALL, at(60))]
    assert assigned(missing, [(SMALL, at(66)), (SMALL, at(5))], np.ones((2, 2))) == [(0, 1), (1, 0)]


def test_the_look_decides_between_places_that_are_equally_near() -> None:
    missing = [Missing(SMALL, at(0)), Missing(SMALL, at(10))]
    looks = np.array([[0.1, 0.9], [0.9, 0.1]])
    assert assigned(missing, [(SMALL, at(300)), (SMALL, at(310))], looks) == [(0, 1), (1, 0)]


def test_what_is_as_unlike_as_can_be_is_another() -> None:
    assert assigned([Missing(SMALL, at(0))], [(SMALL, at(600))], np.array([[0.0]])) == []
    assert assigned([], [(SMALL, at(0))], np.zeros((0, 1))) == []


@given(st.integers(1, 4), st.integers(0, 2), st.integers(0, 10**6), st.booleans())
def test_no_other_pairs_cost_less(rows: int, more: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 4, (rows, rows + more)).astype(float) if ties else rng.uniform(0, 9, (rows, rows + more))
    cost[rng.uniform(size=cost.shape) < 0.2] = 1e6
    pairs = cheapest(cost)
    assert sorted(i for i, _ in pairs) == list(range(rows))
    assert len({j for _, j in pairs}) == rows
    least = min(cost[range(rows), list(columns)].sum() for columns in permutations(range(rows + more), rows))
    assert sum(cost[i, j] for i, j in pairs) == pytest.approx(least)


def test_of_more_pieces_than_places_the_likelier_ones_are_taken() -> None:
    missing = [Missing(SMALL, at(x)) for x in (0, 500, 40)]
    assert assigned(missing, [(SMALL, at(41)), (SMALL, at(499))], np.ones((3, 2))) == [(1, 1), (2, 0)]

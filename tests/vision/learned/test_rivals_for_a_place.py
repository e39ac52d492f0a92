"""Of the candidates that claim one place the likeliest stands, and nothing stands beside a likelier rival."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.learned.rivals_for_a_place import (
    Rivalry,
    group_rivals,
    likeliest_of_each_place,
)

REACH = 2.0
CANDIDATES = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 4)), max_size=12)
"""Places on a line, and likelihoods with many ties."""


def within(place: Array) -> Rivalry:
    """Candidates nearer than `REACH` claim one place."""

    def are_rivals(k: int, others: list[int]) -> NDArray[np.bool_]:
        return np.asarray(np.abs(place[others] - place[k]) < REACH)

    return are_rivals


def columns(candidates: list[tuple[int, int]]) -> tuple[Array, Array]:
    place, likelihood = np.array(candidates, float).reshape(-1, 2).T
    return place, likelihood


@pytest.mark.parametrize(
    ("place", "likelihood", "groups"),
    [
        ([], [], []),
        ([0, 5], [0.1, 0.9], [[1], [0]]),
        ([0, 1], [0.5, 0.5], [[0, 1]]),
        ([0, 1.5, 3], [0.9, 0.8, 0.7], [[0, 1], [2]]),
        ([0, 1.5, 3], [0.8, 0.9, 0.7], [[1, 0, 2]]),
        ([0, 3, 1.5], [0.8, 0.9, 0.7], [[1, 2], [0]]),
    ],
    ids=["none", "apart", "first of equals", "no chain", "in the middle", "joins the likelier"],
)
def test_cases(place: list[float], likelihood: list[float], groups: list[list[int]]) -> None:
    assert group_rivals(np.array(likelihood), within(np.array(place))) == groups


@given(CANDIDATES)
def test_who_stands_has_no_likelier_rival_and_who_falls_has(
    candidates: list[tuple[int, int]],
) -> None:
    place, likelihood = columns(candidates)
    standing = likeliest_of_each_place(likelihood, within(place))
    assert (np.diff(likelihood[standing]) <= 0).all()
    for k in range(len(candidates)):
        others = [other for other in standing if other != k]
        rivals = [j for j in others if abs(place[j] - place[k]) < REACH]
        if k in standing:
            assert not rivals
        else:
            assert any((-likelihood[j], j) < (-likelihood[k], k) for j in rivals)


@given(CANDIDATES)
def test_everyone_is_in_one_group_with_its_leader_first(candidates: list[tuple[int, int]]) -> None:
    place, likelihood = columns(candidates)
    groups = group_rivals(likelihood, within(place))
    assert sorted(k for group in groups for k in group) == list(range(len(candidates)))
    for leader, *others in groups:
        assert all(abs(place[k] - place[leader]) < REACH for k in others)
        assert likelihood[[leader, *others]].tolist() == sorted(
            likelihood[[leader, *others]], reverse=True
        )

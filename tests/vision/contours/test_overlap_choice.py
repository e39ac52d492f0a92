"""Which of several bases that claim one place can all be there: those that are together the likeliest."""

from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import (
    MAX_GROUP,
    bases_overlap,
    likeliest_compatible_set,
)

SQUARE, LARGE = Base.rectangle(25, 25), Base.rectangle(50, 50)


@dataclass(frozen=True)
class Stand:
    base: Base
    xy_mm: Array
    turn_rad: float = 0.0


FOUR = [Stand(SQUARE, np.array([x, y])) for x in (-12.5, 12.5) for y in (-12.5, 12.5)]
ALL = [*FOUR, Stand(LARGE, np.zeros(2))]


def test_four_squares_are_likelier_than_the_large_one_that_they_make() -> None:
    together = likeliest_compatible_set(ALL, [0.7, 0.7, 0.7, 0.7, 0.95], 0.5)
    assert sorted(together) == [0, 1, 2, 3]


def test_a_large_square_is_likelier_than_the_one_small_one_that_is_seen() -> None:
    assert list(likeliest_compatible_set(ALL, [0.7, 0.1, 0.1, 0.1, 0.95], 0.5)) == [4]


def test_what_is_likelier_by_little_is_hardly_sure() -> None:
    scores = [0.7, 0.7, 0.7, 0.7, 0.95]
    share = 1 / (1 + np.exp(-(4 * np.log(0.7 / 0.3) - np.log(0.95 / 0.05))))
    chosen = likeliest_compatible_set(ALL, scores, 0.5)
    assert chosen == pytest.approx(dict.fromkeys(range(4), share))


def test_what_nothing_contests_is_as_sure_as_it_is_by_itself() -> None:
    assert likeliest_compatible_set(FOUR, [0.9, 0.7, 0.6, 0.3], 0.4) == pytest.approx(
        {0: 0.9, 1: 0.7, 2: 0.6}
    )
    assert likeliest_compatible_set([], [], 0.5) == {}


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.floats(-40, 40), st.floats(-40, 40), st.floats(0, 3), st.booleans()),
        max_size=7,
    ),
    st.lists(st.floats(0.05, 0.95), min_size=7, max_size=7),
)
def test_no_other_choice_is_likelier(
    rows: list[tuple[float, float, float, bool]], scores: list[float]
) -> None:
    stands = [
        Stand(LARGE if large else SQUARE, np.array([x, y]), turn) for x, y, turn, large in rows
    ]
    worth = np.log(scores) - np.log1p(-np.array(scores))
    possible = [
        choice
        for choice in chain.from_iterable(
            combinations(range(len(stands)), n) for n in range(len(stands) + 1)
        )
        if not any(bases_overlap(stands[i], stands[j]) for i, j in combinations(choice, 2))
    ]
    together = likeliest_compatible_set(stands, scores[: len(stands)], 0.5)
    assert tuple(sorted(together)) in possible
    assert worth[list(together)].sum() == pytest.approx(
        max(worth[list(choice)].sum() for choice in possible)
    )


@pytest.mark.parametrize("count", [MAX_GROUP, MAX_GROUP + 1], ids=["few", "many"])
def test_of_a_row_in_which_neighbours_overlap_every_other_one_stands(count: int) -> None:
    row = [Stand(SQUARE, np.array([15.0 * k, 0.0])) for k in range(count)]
    scores = [0.9 if k % 2 else 0.7 for k in range(count)]
    together = likeliest_compatible_set(row, scores, 0.5)
    assert sorted(together) == list(range(1, count, 2))

"""Pieces keep their names by size, nearness and look."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces, name_doubts

SMALL, LARGE = Base.circle(27), Base.circle(50)


def at(x: float, y: float = 0.0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([x, y])


def test_sizes_are_never_mixed_up() -> None:
    missing = [MissingPiece(SMALL, at(0)), MissingPiece(LARGE, at(100))]
    assert assign_pieces(missing, [(LARGE, at(1)), (SMALL, at(101))], np.ones((2, 2))) == [
        (0, 1),
        (1, 0),
    ]


def test_the_nearest_is_taken_where_all_look_alike() -> None:
    missing = [MissingPiece(SMALL, at(0)), MissingPiece(SMALL, at(60))]
    assert assign_pieces(missing, [(SMALL, at(66)), (SMALL, at(5))], np.ones((2, 2))) == [
        (0, 1),
        (1, 0),
    ]


def test_the_look_decides_between_places_that_are_equally_near() -> None:
    missing = [MissingPiece(SMALL, at(0)), MissingPiece(SMALL, at(10))]
    looks = np.array([[0.1, 0.9], [0.9, 0.1]])
    assert assign_pieces(missing, [(SMALL, at(300)), (SMALL, at(310))], looks) == [(0, 1), (1, 0)]


def test_what_is_as_unlike_as_can_be_is_another() -> None:
    assert assign_pieces([MissingPiece(SMALL, at(0))], [(SMALL, at(600))], np.array([[0.0]])) == []
    assert assign_pieces([], [(SMALL, at(0))], np.zeros((0, 1))) == []


def test_what_was_taken_off_the_table_seldom_comes_back() -> None:
    missing = [MissingPiece(SMALL, at(0), gone=True), MissingPiece(SMALL, at(0))]
    looks = np.array([[0.9], [0.5]])
    assert assign_pieces(missing, [(SMALL, at(130))], looks) == [(1, 0)]
    assert assign_pieces(missing[:1], [(SMALL, at(130))], looks[:1]) == [(0, 0)]


def test_what_stands_where_one_of_them_stood_is_that_one() -> None:
    """Another one of its kind was carried past it, and the look of the one below was followed with the hand."""
    missing = [
        MissingPiece(SMALL, at(130), home_mm=at(0)),
        MissingPiece(SMALL, at(20), home_mm=at(35)),
    ]
    looks = np.array([[0.6], [0.7]])
    assert assign_pieces(missing, [(SMALL, at(0.4))], looks) == [(0, 0)]
    assert assign_pieces(missing, [(SMALL, at(6))], looks) == [(1, 0)]
    larger = [MissingPiece(LARGE, at(0), home_mm=at(0)), missing[1]]
    assert assign_pieces(larger, [(SMALL, at(0.4))], looks) == [(1, 0)]


def doubted(
    missing: list[MissingPiece],
    places: list[float],
    looks: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> dict[int, tuple[int, float]]:
    found = [(SMALL, at(x)) for x in places]
    pairs = assign_pieces(missing, found, looks)
    return {j: tuple(doubt) for j, doubt in name_doubts(missing, found, looks, pairs).items()}  # type: ignore[misc]


def test_two_that_are_as_near_and_look_alike_are_either() -> None:
    missing = [MissingPiece(SMALL, at(0)), MissingPiece(SMALL, at(0))]
    doubts = doubted(missing, [100, -100], np.ones((2, 2)))
    for j in (0, 1):
        other, probability = doubts[j]
        assert probability == pytest.approx(0.5)
        assert doubts[1 - j][0] != other


def test_a_base_may_be_one_that_was_not_found() -> None:
    missing = [MissingPiece(SMALL, at(0)), MissingPiece(SMALL, at(40))]
    (other, probability) = doubted(missing, [60], np.ones((2, 1)))[0]
    assert other == 0
    assert 0.2 < probability < 0.5


@given(st.floats(0.1, 1.0), st.floats(-300.0, 300.0))
def test_who_stands_at_home_or_looks_otherwise_or_is_alone_is_in_no_doubt(
    look: float, x_mm: float
) -> None:
    homes = [MissingPiece(SMALL, at(k), home_mm=at(k)) for k in (0.0, 50.0)]
    assert doubted(homes, [0.0, 50.0], np.full((2, 2), look)) == {}
    looks = np.array([[1.0, 0.0], [0.0, 1.0]])
    strangers = [MissingPiece(SMALL, at(0)), MissingPiece(SMALL, at(10))]
    assert doubted(strangers, [x_mm, x_mm + 10], looks) == {}
    assert doubted(homes[:1], [x_mm], np.array([[look]])) == {}

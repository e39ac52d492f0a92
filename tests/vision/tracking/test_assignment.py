"""Pieces keep their names by size, nearness and look."""

import numpy as np

from overruler.bases import Base
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces

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

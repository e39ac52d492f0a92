"""A photo tells which of the known boards it shows, or that none or several fit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over
from overruler.apps.settings.known_boards import usual_boards
from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.vision.markers.recognize import recognize_board
from tests.vision.table import shoot

USUAL = usual_boards()


@cache
def photo_of(name: str) -> Frame:
    board = USUAL[name]
    assert board.corners_mm is not None
    assert board.width_mm is not None
    assert board.height_mm is not None
    middle = (board.width_mm / 2, board.height_mm / 2)
    camera = camera_over(12, height_mm=1.4 * board.width_mm, aim_mm=middle)
    return shoot(camera, board.corners_mm)


@pytest.mark.parametrize("name", USUAL)
def test_a_known_board_is_recognised(name: str) -> None:
    assert recognize_board(photo_of(name), USUAL.values()) is USUAL[name]


def test_a_board_that_is_not_among_the_known_ones_is_not_guessed() -> None:
    others = [board for name, board in USUAL.items() if name != "3x3"]
    with pytest.raises(CannotMeasure, match="no known board has its markers where they lie here"):
        recognize_board(photo_of("3x3"), others)


def test_markers_of_another_family_are_of_no_known_board() -> None:
    other = replace(USUAL["3x3"], dictionary="DICT_5X5_50")
    with pytest.raises(CannotMeasure, match="0 markers of a known board are seen, 3 are needed"):
        recognize_board(photo_of("3x3"), [other])


def test_two_boards_that_fit_alike_are_named() -> None:
    """The same places to a tenth of a mm, under two names: only a person knows which."""
    board = USUAL["3x3"]
    assert board.corners_mm is not None
    shifted = {number: corners + 0.1 for number, corners in board.corners_mm.items()}
    twin = replace(board, name="twin", corners_mm=shifted)
    with pytest.raises(CannotMeasure, match=r"more than one known board: .*3x3 ft.*twin|twin.*3x3"):
        recognize_board(photo_of("3x3"), [board, twin])


def test_the_same_board_under_two_names_is_one() -> None:
    board: Board = USUAL["3x3"]
    twin = replace(board, name="twin")
    assert recognize_board(photo_of("3x3"), [board, twin]) is board
    assert recognize_board(photo_of("3x3"), [twin, board]) is twin


def test_of_boards_that_differ_in_height_the_first_counts() -> None:
    """One's own boards are listed first: theirs is the height that somebody measured."""
    board = USUAL["3x3"]
    own = replace(board.raised_by(3.0), name="own")
    assert recognize_board(photo_of("3x3"), [own, board]) is own


def test_one_moved_marker_is_left_to_the_calibration() -> None:
    """A card that lies 4 mm off is an outlier, not another board."""
    board = USUAL["3x3"]
    assert board.corners_mm is not None
    moved = {n: c + (np.array([4.0, 0, 0]) if n == 2 else 0) for n, c in board.corners_mm.items()}
    camera = camera_over(12, height_mm=1280, aim_mm=(457.0, 457.0))
    assert recognize_board(shoot(camera, moved), USUAL.values()) is board

"""Cards that are mirrored, printed white on black, or in each other's place are named."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.recognize import recognize_board
from overruler.vision.markers.swapped import find_swapped
from tests.tables import BOARD_MM, camera_over, eight_markers, photo

BOARD = Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers())
FREE = Board.free(45.0, "DICT_4X4_50")


@pytest.fixture(scope="module")
def frame() -> Frame:
    return photo(camera_over(12.0), [], eight_markers())


def changed(frame: Frame, mirror: bool, invert: bool) -> Frame:
    pixels = frame.pixels[:, ::-1] if mirror else frame.pixels
    return replace(frame, pixels=np.ascontiguousarray(255 - pixels if invert else pixels))


@pytest.mark.parametrize("board", [BOARD, FREE])
@pytest.mark.parametrize(
    ("mirror", "invert", "words"),
    [
        (True, False, "mirrored"),
        (False, True, "white on black"),
        (True, True, "mirrored.*white on black"),
    ],
)
def test_mirrored_and_inverted_cards_are_named(
    frame: Frame, board: Board, mirror: bool, invert: bool, words: str
) -> None:
    with pytest.raises(CannotMeasure, match=words):
        calibrate(changed(frame, mirror, invert), board)


def test_a_picture_without_cards_is_neither(frame: Frame) -> None:
    bare = photo(camera_over(12.0), [], {})
    with pytest.raises(CannotMeasure, match="no marker of the board was found"):
        calibrate(bare, BOARD)


def with_exchanged(one: int, other: int) -> Board:
    corners = eight_markers()
    corners[one], corners[other] = corners[other], corners[one]
    return replace(BOARD, corners_mm=corners)


@pytest.mark.parametrize(("one", "other"), [(0, 2), (1, 5), (6, 7)])
def test_two_cards_in_each_others_place_are_named(frame: Frame, one: int, other: int) -> None:
    with pytest.raises(CannotMeasure, match=rf"markers {one} and {other} lie in .* another table"):
        calibrate(frame, with_exchanged(one, other))


def test_cards_in_their_own_place_and_one_that_was_moved_are_not_exchanged(frame: Frame) -> None:
    markers = find_markers(frame, BOARD)
    corners = eight_markers()
    assert find_swapped(markers, corners) is None
    corners[4] = corners[4] + np.array([60.0, 90.0, 0.0])
    assert find_swapped(markers, corners) is None
    assert find_swapped(markers[:3], with_exchanged(0, 1).corners_mm or {}) is None


@pytest.mark.parametrize("size_px", [(200, 112), (112, 200)])
def test_a_tiny_photo_is_told_to_be_one_however_its_board_is_known(
    size_px: tuple[int, int],
) -> None:
    tiny = Frame(np.zeros((size_px[1], size_px[0], 3), np.uint8), "tiny.jpg")
    words = f"the photo is only {size_px[0]} × {size_px[1]} pixels"
    for measure in (lambda: calibrate(tiny, BOARD), lambda: recognize_board(tiny, [BOARD])):
        with pytest.raises(CannotMeasure, match=words):
            measure()

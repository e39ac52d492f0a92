"""A photo that does not fit its board is told which other known board it fits."""

import pytest

from overruler.apps.measure.measuring import check_other_boards
from overruler.apps.settings.known_boards import usual_boards
from overruler.errors import WrongBoard
from tests.vision.markers.test_recognize import photo_of


def test_the_board_that_fits_is_named() -> None:
    with pytest.raises(WrongBoard, match="as on the board 3x3 ft, not as on 4x4 ft") as refused:
        check_other_boards(photo_of("3x3"), usual_boards()["4x4"])
    assert refused.value.board == "3x3 ft"


def test_nothing_is_said_of_the_right_board() -> None:
    check_other_boards(photo_of("3x3"), usual_boards()["3x3"])

"""A photo that does not fit its board is told which other known board it fits."""

from dataclasses import replace
from pathlib import Path

import pytest

from overruler.apps.measure.measuring import check_other_boards
from overruler.apps.settings.known_boards import usual_boards
from overruler.apps.web.phone import request_options, worker_tasks
from overruler.errors import WrongBoard
from tests.vision.markers.test_recognize import photo_of


def test_the_board_that_fits_is_named() -> None:
    with pytest.raises(WrongBoard, match="as on the board 3x3 ft, not as on 4x4 ft") as refused:
        check_other_boards(photo_of("3x3"), usual_boards()["4x4"])
    assert refused.value.board == "3x3 ft"


def test_nothing_is_said_of_the_right_board() -> None:
    check_other_boards(photo_of("3x3"), usual_boards()["3x3"])


@pytest.mark.parametrize("rounded_to_mm", [1.0, 5.0])
def test_a_board_of_ones_own_that_fits_is_not_blamed(rounded_to_mm: float) -> None:
    """Its places were taken by hand, and a usual board fits better: the photo fails for another reason."""
    usual = usual_boards()["3x3"]
    assert usual.corners_mm is not None
    measured = {
        number: corners + rounded_to_mm / 2 * (-1) ** number
        for number, corners in usual.corners_mm.items()
    }
    check_other_boards(photo_of("3x3"), replace(usual, name="own", corners_mm=measured))


def test_a_board_of_the_servers_own_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board that only the server knows lies beside the photo, whichever board was chosen."""
    own = replace(usual_boards()["3x3"], name="The club's table")
    text = own.to_toml()
    boards = {own.name: text, **request_options.usual_boards()}
    chosen = request_options.read_photo_options(
        {"game": "legion", "table": "4x4 ft"}, request_options.Choices(boards)
    )
    for file, content in chosen.files.items():
        (tmp_path / file).write_text(content)
    monkeypatch.chdir(tmp_path)
    others = worker_tasks._load_other_boards()
    assert [board.name for board in others] == [own.name]
    with pytest.raises(WrongBoard) as refused:
        check_other_boards(photo_of("3x3"), usual_boards()["4x4"], others)
    assert refused.value.board == own.name

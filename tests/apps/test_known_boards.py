"""Boards by name: written in many ways, the user's own first, and a wrong name is answered with the known ones."""

from pathlib import Path

import numpy as np
import pytest

from overruler.apps.settings.known_boards import known_boards, load_board, usual_boards
from overruler.board import Board
from overruler.errors import BadInput

EXAMPLES = Path(__file__).parents[2] / "calibration" / "boards"
OWN = 'schema = "overruler/board/1"\nwidth_mm = 700\nheight_mm = 700\n[markers]\nsize_mm = 40\n'


@pytest.mark.parametrize("name", ["3x3", "3X3", "3x3 ft", "3x3ft", "3×3", "table-3x3"])
def test_a_board_has_a_name_however_it_is_written(name: str) -> None:
    assert load_board(Path(name)) is usual_boards()["3x3"]


@pytest.mark.parametrize(
    ("file", "name"), [("legion-6x3", "6x3"), ("table-3x3", "3x3"), ("table-4x4", "4x4")]
)
def test_the_example_files_are_the_boards_of_their_names(file: str, name: str) -> None:
    from_file, known = Board.load(EXAMPLES / f"{file}.toml"), load_board(Path(file))
    assert known is usual_boards()[name]
    assert (from_file.width_mm, from_file.marker_mm) == (known.width_mm, known.marker_mm)
    assert from_file.corners_mm is not None
    assert known.corners_mm is not None
    for number, corners in from_file.corners_mm.items():
        np.testing.assert_allclose(corners, known.corners_mm[number], atol=1e-9)


def test_an_own_board_goes_before_a_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OVERRULER_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "3x3.toml").write_text(OWN)
    (tmp_path / "boards" / "Club Table.toml").write_text(OWN)
    assert load_board(Path("3x3")).width_mm == 700
    assert load_board(Path("club-table")).marker_mm == 40
    # their markers lie anywhere, so no photo tells them
    assert {board.name for board in known_boards()} == {
        board.name for board in usual_boards().values()
    }


def test_a_known_name_stands_for_its_board_whatever_the_working_directory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("6x3").mkdir()
    Path("6x4").write_text(OWN)
    Path("mine").write_text(OWN)
    assert load_board(Path("6x3")) is usual_boards()["6x3"]
    assert load_board(Path("6x4")) is usual_boards()["6x4"]
    assert load_board(Path("mine")).width_mm == 700


def test_a_wrong_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"neither a file nor a known board; known: .*6x3.*'legion-"):
        load_board(Path("legion-6x4"))
    with pytest.raises(BadInput, match=r"nowhere/3x3.*cannot be read"):
        load_board(Path("nowhere/3x3"))

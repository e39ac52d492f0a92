"""`overruler markers confirm`: what a print measures goes into the board file, and nothing else changes."""

from pathlib import Path

import numpy as np
import pytest

from overruler.apps.cli import main
from overruler.apps.markers import board_file
from overruler.board import Board
from overruler.picture.sheets.marker_cards import CardSet


def confirmed(path: Path, *more: str) -> int:
    return main(["markers", "confirm", str(path), "--across", "99.7", "--along", "99.8", *more])


def test_a_print_is_confirmed_once_or_again_and_nothing_else_in_the_file_changes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "board.toml"
    path.write_text(board_file(CardSet(), 1828.8, 914.4), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    assert confirmed(path, "--doubt", "0.3") == 0
    assert confirmed(path) == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith(before.rstrip())
    assert text.count("[markers.print]") == 1
    board = Board.load(path)
    assert board.sides_mm == pytest.approx((59.82, 59.88))
    assert board.corners_mm is not None
    assert board.corners_mm[0][3, :2] == pytest.approx(
        [14 * 0.997, 14 * 0.998]
    )  # its card lies in the board's corner
    assert board.corners_mm[2][1, :2] == pytest.approx([1828.8 - 14 * 0.997, 914.4 - 14 * 0.998])
    assert board.corners_mm[4].mean(0)[0] == pytest.approx(1828.8 / 2)


def test_a_print_amid_a_file_is_replaced_and_a_layout_of_one_s_own_keeps_its_middles(
    tmp_path: Path,
) -> None:
    path = tmp_path / "board.toml"
    path.write_text(
        'schema = "overruler/board/1"\nwidth_mm = 900\nheight_mm = 600\n[markers]\nsize_mm = 60\n'
        "[markers.print]\nprinted_mm = 100\nacross_mm = 101\nalong_mm = 101\ndoubt_mm = 1\n# mine\n"
        "[markers.corners_mm]\n3 = [[100, 160, 0], [160, 160, 0], [160, 100, 0],\n[100, 100, 0]]\n"
    )
    assert confirmed(path) == 0
    board = Board.load(path)
    assert board.sides_mm == pytest.approx((59.82, 59.88))
    assert board.corners_mm is not None
    assert board.corners_mm[3].mean(0) == pytest.approx([130, 130, 0])


PRINT = "[markers.print]\nprinted_mm = 100\nacross_mm = 99\nalong_mm = 99\ndoubt_mm = 0.2\n"


@pytest.mark.parametrize(
    ("added", "lost"),
    [
        (f"\n{PRINT}", "holds the measured print, which would be lost"),
        ("", ""),
        ("[", "holds what is no board, which would be lost"),
    ],
)
def test_a_sheet_that_is_printed_again_loses_nothing_that_was_measured(
    added: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["markers", "--board-mm", "914.4x914.4", "--out", str(tmp_path / "mm.pdf")]
    assert main(words) == 0
    path = tmp_path / "mm.toml"
    text = path.read_text(encoding="utf-8") + added
    path.write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(words) == (2 if lost else 0)
    err = capsys.readouterr().err
    remedy = "name another file with --out, or remove this one first"
    assert err == (f"overruler: {path}: {lost}: {remedy}\n" if lost else "")
    assert path.read_text(encoding="utf-8") == text


def test_a_sheet_that_is_printed_again_keeps_calibrated_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mm.toml"
    text = board_file(CardSet(), 914.4, 914.4)
    measured = f"scale_share = 0.001\ncovariance = {np.zeros((24, 24)).tolist()}"
    text = text.replace("[markers]\n", f"[markers]\n{measured}\n")
    path.write_text(text, encoding="utf-8")
    words = ["markers", "--board-mm", "914.4x914.4", "--out", str(tmp_path / "mm.pdf")]
    assert main(words) == 2
    assert "the calibrated scale and the calibrated places" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text


def test_calibrated_places_are_not_confirmed_afterwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their scale came from the markers' size; only the squares would follow the print."""
    path = tmp_path / "table.toml"
    measured = f"scale_share = 0.001\ncovariance = {np.zeros((24, 24)).tolist()}"
    text = board_file(CardSet(), 914.4, 914.4).replace("[markers]\n", f"[markers]\n{measured}\n")
    path.write_text(text, encoding="utf-8")
    assert confirmed(path) == 2
    assert "calibrate again" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--printed", "200"], "--across"),
        (["--along", "nan"], "--along"),
        (["--doubt", "0"], "--doubt"),
        (["--doubt", "50"], "--doubt"),
        (["--printed", "-1"], "--printed"),
    ],
)
def test_a_measure_that_cannot_be_is_refused_and_the_file_stays(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "board.toml"
    path.write_text(board_file(CardSet(), 900, 600), encoding="utf-8")
    before = path.read_bytes()
    assert confirmed(path, *more) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert path.read_bytes() == before


def test_a_file_that_says_its_print_in_another_way_is_not_spoiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "board.toml"
    text = (
        'schema = "overruler/board/1"\nwidth_mm = 900\nheight_mm = 600\n[markers]\nsize_mm = 60\n'
        "print = {printed_mm = 100, across_mm = 100, along_mm = 100, doubt_mm = 0.1}\n"
    )
    path.write_text(text)
    assert confirmed(path) == 2
    assert "cannot be added" in capsys.readouterr().err
    assert path.read_text() == text


def test_a_board_file_that_is_wrong_elsewhere_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.toml"
    path.write_text(board_file(CardSet(), 900, 600, raised_mm=99), encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    assert confirmed(path) == 2
    assert "raised_mm: must be from -50 to 50 mm, is 99" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text

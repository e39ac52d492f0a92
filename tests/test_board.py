"""Board files: written and read back, and prints that came out larger or smaller than they were meant."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.board import Board
from overruler.errors import BadInput
from overruler.marker_card import PrintMeasurement, card_about
from overruler.picture.sheets.marker_cards import CardSet

CORNERS = {
    0: np.array([[14, 74, 0], [74, 74, 0], [74, 14, 0], [14, 14, 0]], float),
    7: np.array([[420, 330, 0], [480, 330, 0], [480, 270, 0], [420, 270, 0]], float),
}
BOARD = Board("Küche", 60.0, "DICT_4X4_50", 900.0, 600.0, CORNERS, scale_share=5e-4)


def test_a_board_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    root = np.random.default_rng(0).normal(size=(6, 6)) * 0.1
    written = replace(BOARD, covariance=root @ root.T)
    written.save(tmp_path / "b.toml")
    read = Board.load(tmp_path / "b.toml")
    assert (read.name, read.marker_mm, read.dictionary) == ("Küche", 60.0, "DICT_4X4_50")
    assert (read.width_mm, read.height_mm, read.scale_share) == (900.0, 600.0, 5e-4)
    assert not read.scale_by_print
    assert read.corners_mm is not None
    assert all(
        np.array_equal(read.corners_mm[number], corners) for number, corners in CORNERS.items()
    )
    assert np.array_equal(read.covariance, written.covariance)  # type: ignore[arg-type]


def test_a_board_by_an_unmeasured_print_says_so(tmp_path: Path) -> None:
    replace(BOARD, scale_by_print=True).save(tmp_path / "b.toml")
    assert Board.load(tmp_path / "b.toml").scale_by_print


def test_a_board_without_places_is_read_back_too(tmp_path: Path) -> None:
    replace(BOARD, corners_mm=None).save(tmp_path / "b.toml")
    assert not Board.load(tmp_path / "b.toml").layout_known


def test_a_board_file_may_name_its_dictionary_in_any_case(tmp_path: Path) -> None:
    BOARD.save(tmp_path / "b.toml")
    text = (tmp_path / "b.toml").read_text(encoding="utf-8")
    lower = text.replace("DICT_4X4_50", "dict_4x4_50")
    assert lower != text
    (tmp_path / "b.toml").write_text(lower, encoding="utf-8")
    assert Board.load(tmp_path / "b.toml").dictionary == "DICT_4X4_50"


def test_a_board_of_unknown_size_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="width and height"):
        Board.free(60).save(tmp_path / "b.toml")
    assert not list(tmp_path.iterdir())


@given(st.floats(90.5, 109.5), st.floats(90.5, 109.5), st.floats(0.01, 0.5))
def test_the_black_squares_are_as_large_as_the_print_says(
    across: float, along: float, doubt: float
) -> None:
    printed = BOARD.as_printed(PrintMeasurement(100.0, across, along, doubt))
    assert printed.sides_mm == pytest.approx((0.6 * across, 0.6 * along))
    assert printed.marker_mm == pytest.approx(0.3 * (across + along))
    assert printed.corners_mm is not None
    for number, corners in printed.corners_mm.items():
        assert np.ptp(corners, axis=0)[:2] == pytest.approx([0.6 * across, 0.6 * along])
        assert corners.mean(0) == pytest.approx(CORNERS[number].mean(0))


def test_a_turned_marker_grows_along_its_own_axes() -> None:
    """What is across on the page is the marker's upper edge, wherever that points on the board."""
    turned = {3: np.array([[200, 200, 0], [200, 260, 0], [260, 260, 0], [260, 200, 0]], float)}
    printed = (
        replace(BOARD, corners_mm=turned)
        .as_printed(PrintMeasurement(100.0, 102.0, 99.0, 0.1))
        .corners_mm
    )
    assert printed is not None
    assert np.linalg.norm(printed[3][1] - printed[3][0]) == pytest.approx(61.2)
    assert np.linalg.norm(printed[3][3] - printed[3][0]) == pytest.approx(59.4)
    assert np.ptp(printed[3], axis=0)[:2] == pytest.approx([59.4, 61.2])


@given(st.floats(92, 108), st.floats(92, 108))
def test_cards_laid_flush_move_with_their_white_border(across: float, along: float) -> None:
    """As if the sheet had been meant at the size that it came out at, where both axes agree; else axis by axis."""
    meant = {n: np.array(corners) for n, corners in CardSet().corners_mm(900, 600).items()}
    board = replace(BOARD, corners_mm=meant).as_printed(
        PrintMeasurement(100.0, across, along, 0.1, flush=True)
    )
    assert board.corners_mm is not None
    card, size = np.array([across, along]) / 100 * CardSet().card_mm, np.array([900.0, 600.0])
    border = np.array([across, along]) / 100 * CardSet().border_mm
    for number, corners in board.corners_mm.items():
        share = np.round(2 * meant[number].mean(0)[:2] / size) / 2
        assert corners[3, :2] == pytest.approx(share * (size - card) + border, abs=1e-3)


def test_a_card_is_as_wide_as_the_printed_ones() -> None:
    cards = CardSet()
    square = np.array(cards.corners_mm(900, 600)[0])[:, :2]
    assert np.ptp(card_about(square), axis=0) == pytest.approx(cards.card_mm, abs=0.5)
    assert card_about(square).min(0) == pytest.approx([0, 0], abs=0.25)


def test_only_a_free_layout_has_its_scale_from_the_print() -> None:
    printed = PrintMeasurement(100.0, 99.7, 99.8, 0.2)
    assert BOARD.as_printed(printed).scale_share == 5e-4
    free = replace(BOARD, corners_mm=None).as_printed(printed)
    assert free.scale_share == pytest.approx(0.002 / np.sqrt(2))


HEAD = """schema = "overruler/board/1"
width_mm = 900
height_mm = 600
[markers]
size_mm = 60
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[markers.print]\nprinted_mm = 100\nacross_mm = 100\nalong_mm = 100\n",
            "markers.print.doubt_mm: is missing",
        ),
        (
            "[markers.print]\nprinted_mm = 100\nacross_mm = 50\nalong_mm = 100\ndoubt_mm = 1\n",
            "across_mm: 50 mm is not",
        ),
        (
            "[markers.print]\nprinted_mm = 0\nacross_mm = 50\nalong_mm = 100\ndoubt_mm = 1\n",
            "greater than 0",
        ),
        ("scale_share = -1\n", "scale_share"),
        (
            "corner_mm = [[0, 0, 0]]\n",
            r"markers.corner_mm: unknown key; did you mean 'corners_mm'\?",
        ),
        ("covariance = [[1]]\n", "goes with corners_mm"),
    ],
)
def test_a_wrong_print_names_its_path(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(HEAD + text)
    with pytest.raises(BadInput, match=said):
        Board.load(path)


def test_a_misspelt_key_is_named_and_one_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(HEAD.replace("height_mm", "heigth_mm"))
    with pytest.raises(BadInput, match="heigth_mm: unknown key; did you mean 'height_mm'"):
        Board.load(path)
    path.write_text(f'author = "Ann"\n{HEAD}weather = "dry"\n')
    assert Board.load(path).marker_mm == 60


def saved(board: Board, path: Path, raised: str) -> Path:
    board.save(path)
    text = path.read_text("utf-8").replace("size_mm", f"raised_mm = {raised}\nsize_mm", 1)
    path.write_text(text, "utf-8")
    return path


def test_markers_whose_places_are_known_are_raised(tmp_path: Path) -> None:
    path = saved(BOARD, tmp_path / "b.toml", "3")
    thick, nominal = Board.load(path), Board.load(path, as_meant=True)
    thick.save(path)
    for marker, flat in CORNERS.items():
        for board in (thick, Board.load(path)):
            assert ((board.corners_mm or {})[marker] - flat == [0, 0, 3]).all()
        assert ((nominal.corners_mm or {})[marker] == flat).all()


def test_markers_that_lie_anywhere_are_raised_as_the_file_says(tmp_path: Path) -> None:
    path = saved(replace(BOARD, corners_mm=None), tmp_path / "b.toml", "2.5")
    board = Board.load(path)
    board.save(path)
    assert board.raised_mm == Board.load(path).raised_mm == 2.5


@pytest.mark.parametrize("value", ["-51", "51", '"thin"'])
def test_no_marker_lies_far_from_the_mat(tmp_path: Path, value: str) -> None:
    path = saved(BOARD, tmp_path / "b.toml", value)
    with pytest.raises(BadInput, match=r"markers\.raised_mm"):
        Board.load(path)

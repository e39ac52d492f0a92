"""The printed sheet is a physical thing: it is rendered and measured as a camera would see it."""

import argparse
import sys
import tomllib
from pathlib import Path

import cv2
import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.apps.cli import main
from overruler.apps.markers import board_file, parse_length_mm
from overruler.board import DICTIONARIES, Board
from overruler.picture.sheets.marker_cards import (
    MARKER_PLACES,
    CardSet,
    marker_pattern,
    trace_outlines,
)
from overruler.picture.sheets.marker_sheet import PAPERS_MM, marker_sheet_pdf

ROOT = Path(__file__).parents[2]
DPI = 300
MM_PER_PX = 25.4 / DPI
STORED = sorted((ROOT / "calibration" / "sheets").glob("markers-*.pdf"))


def pages(pdf: bytes) -> list[np.ndarray]:
    """The pages of a PDF as grey pictures at `DPI`."""
    document = pypdfium2.PdfDocument(pdf)
    rendered = (
        document[i].render(scale=DPI / 72, grayscale=True).to_numpy() for i in range(len(document))
    )
    return [np.asarray(page).squeeze() for page in rendered]


def found(page: np.ndarray, dictionary: str) -> dict[int, np.ndarray]:
    """The markers on a page: id to corners (4, 2) in mm, refined by OpenCV."""
    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, ids, _ = cv2.aruco.ArucoDetector(family, settings).detectMarkers(page)
    ids = [] if ids is None else np.ravel(ids)
    return {int(i): c.reshape(4, 2) * MM_PER_PX for i, c in zip(ids, corners, strict=True)}


def all_found(pdf: bytes, dictionary: str) -> dict[int, np.ndarray]:
    return {
        marker: corners
        for page in pages(pdf)
        for marker, corners in found(page, dictionary).items()
    }


def sides_mm(corners: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1))


@pytest.mark.parametrize(
    ("paper", "size_mm", "dictionary", "count"),
    [
        ("a4", 60, "DICT_4X4_50", 8),
        ("letter", 60, "DICT_4X4_50", 8),
        ("a4", 40, "DICT_5X5_100", 6),
        ("letter", 100, "DICT_6X6_250", 2),
        ("a4", 30, "DICT_APRILTAG_36h11", 5),
    ],
)
def test_markers_print_at_their_size(
    paper: str, size_mm: float, dictionary: str, count: int
) -> None:
    markers = all_found(marker_sheet_pdf(CardSet(count, size_mm, dictionary), paper), dictionary)
    assert sorted(markers) == list(range(count))
    for corners in markers.values():
        assert sides_mm(corners) == pytest.approx(size_mm, abs=0.1)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_stored_sheets_are_the_program_s_own(path: Path) -> None:
    paper = path.stem.rsplit("-", 1)[1]
    markers = all_found(path.read_bytes(), "DICT_4X4_50")
    fresh = all_found(marker_sheet_pdf(CardSet(), paper), "DICT_4X4_50")
    assert sorted(markers) == list(range(8))
    for marker, corners in markers.items():
        assert corners == pytest.approx(fresh[marker], abs=0.01)


def test_there_are_sheets_for_all_papers() -> None:
    assert {path.stem.rsplit("-", 1)[1] for path in STORED} == set(PAPERS_MM)
    assert all(path.stat().st_size < 50_000 for path in STORED)


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_the_page_has_its_paper_s_size_and_asks_not_to_be_scaled(paper: str) -> None:
    pdf = marker_sheet_pdf(CardSet(), paper)
    document = pypdfium2.PdfDocument(pdf)
    for i in range(len(document)):
        assert np.array(document[i].get_size()) / 72 * 25.4 == pytest.approx(
            PAPERS_MM[paper], abs=0.01
        )
    assert b"/PrintScaling /None" in pdf


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_both_bars_of_every_page_measure_100_mm(paper: str) -> None:
    """The longest dark runs along and up a page that carries no markers; the ends' own line width counts half each."""
    for page in pages(marker_sheet_pdf(CardSet(count=4, size_mm=60), paper)):
        dark = page < 128
        level = max(longest_run(row) for row in dark[-int(25 / MM_PER_PX) :])
        upright = max(longest_run(column) for column in dark[:, : int(16 / MM_PER_PX)].T)
        assert np.array([level, upright]) * MM_PER_PX == pytest.approx(100.25, abs=0.15)


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_inches_are_marked_on_the_other_side_of_the_level_bar(paper: str) -> None:
    page = pages(marker_sheet_pdf(CardSet(count=4, size_mm=60), paper))[1]
    height_mm = PAPERS_MM[paper][1]
    for inches in (1, 2, 3):
        x, y = 19 + 25.4 * inches, height_mm - 20 - 1.2  # the millimetres lie below the line
        around = page[int(y / MM_PER_PX), int((x - 0.5) / MM_PER_PX) : int((x + 0.5) / MM_PER_PX)]
        assert around.min() < 128
    between = page[int((height_mm - 21.2) / MM_PER_PX), int(49 / MM_PER_PX) : int(67 / MM_PER_PX)]
    assert between.min() > 200


def test_a_print_is_confirmed_in_inches_too() -> None:
    assert parse_length_mm("99.8") == parse_length_mm("99.8 mm") == 99.8
    assert parse_length_mm("2.99in") == pytest.approx(75.946)
    with pytest.raises(argparse.ArgumentTypeError, match="expected a length in mm"):
        parse_length_mm("three inches")


def longest_run(line: np.ndarray) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def test_the_white_border_is_at_least_a_module_wide() -> None:
    cards = CardSet(4, 60)
    module_px = 60 / cards.modules / MM_PER_PX
    for page in pages(marker_sheet_pdf(cards, "a4"))[1:]:
        for corners in found(page, cards.dictionary).values():
            low, high = corners.min(0) / MM_PER_PX, corners.max(0) / MM_PER_PX
            x0, y0, x1, y1 = (int(v) for v in (*(low - module_px + 2), *(high + module_px - 2)))
            around = page[y0:y1, x0:x1].copy()
            inner = int(module_px) - 5
            around[inner:-inner, inner:-inner] = 255
            assert around.min() > 250


def test_black_shows_no_seams() -> None:
    """Inside a run of black modules every pixel is black, whatever the renderer smooths."""
    page = pages(marker_sheet_pdf(CardSet(1, 60), "a4"))[1]
    corners = found(page, "DICT_4X4_50")[0] / MM_PER_PX
    module = 60 / 6 / MM_PER_PX
    left, top = corners.min(0)
    frame = page[int(top) + 3 : int(top + module) - 3, int(left) + 3 : int(left + 6 * module) - 3]
    assert frame.max() == 0


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=5))
def test_outlines_enclose_exactly_the_black_cells(cells: list[list[bool]]) -> None:
    loops = trace_outlines(cells)
    for y, row in enumerate(cells):
        for x, black in enumerate(row):
            crossings = sum(_crossings(loop, x + 0.5, y + 0.5) for loop in loops)
            assert (crossings % 2 == 1) == black


def _crossings(loop: list[tuple[float, float]], x: float, y: float) -> int:
    ends = zip(loop, loop[1:] + loop[:1], strict=True)
    return sum(ax == bx and ax > x and min(ay, by) < y < max(ay, by) for (ax, ay), (bx, by) in ends)


@pytest.mark.parametrize("dictionary", DICTIONARIES)
def test_every_family_of_markers_has_its_pattern(dictionary: str) -> None:
    cells = marker_pattern(dictionary, 0)
    assert all(len(row) == len(cells) for row in cells)
    frame = [*cells[0], *cells[-1], *(row[0] for row in cells), *(row[-1] for row in cells)]
    assert all(frame)


@given(
    st.floats(300, 3000),
    st.floats(300, 3000),
    st.integers(1, 8),
    st.floats(20, 60),
    st.sampled_from(DICTIONARIES[:8]),
)
@settings(max_examples=30)
def test_cards_lie_inside_the_board_with_their_tops_up(
    width: float, height: float, count: int, size: float, dictionary: str
) -> None:
    cards = CardSet(count, size, dictionary)
    placed = cards.corners_mm(width, height)
    assert list(placed) == list(range(min(count, len(MARKER_PLACES))))
    for corners in np.array(list(placed.values())):
        assert (corners[:, :2] >= cards.border_mm - 1e-3).all()
        assert (corners[:, :2] <= np.array([width, height]) - cards.border_mm + 1e-3).all()
        assert corners[0, 1] > corners[3, 1]
        assert corners[1, 0] > corners[0, 0]


def test_a_board_file_is_read_back_as_it_was_laid(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(board_file(CardSet(), 1828.8, 914.4), encoding="utf-8")
    board = Board.load(path)
    assert (board.width_mm, board.height_mm, board.marker_mm) == (1828.8, 914.4, 60)
    assert board.corners_mm is not None
    assert board.corners_mm[0].tolist() == [[14, 74, 0], [74, 74, 0], [74, 14, 0], [14, 14, 0]]
    assert board.corners_mm[2][1].tolist() == pytest.approx([1828.8 - 14, 914.4 - 14, 0])


def test_the_board_file_says_how_far_the_markers_lie_over_the_mat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "mine.pdf")]
    told = ["markers", "--board-mm", "900x600", "--raised-mm", "2", *out]
    assert main(told) == 0
    for corners in (Board.load(tmp_path / "mine.toml").corners_mm or {}).values():
        assert (corners[:, 2] == 2).all()
    assert main(told) == 0
    assert main(told[:3] + out) == 2
    assert "holds the markers' height, which would be lost" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--raised-mm", "2"], "--raised-mm goes with --board-mm"),
        (["--raised-mm", "80", "--board-mm", "900x600"], "must be from -50 to 50 mm, is 80"),
        (["--raised-mm", "2", "--charuco"], "--raised-mm does not go with --charuco"),
    ],
)
def test_a_height_that_says_nothing_is_refused(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["markers", *options, "--out", str(tmp_path / "mine.pdf")]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "calibration" / "boards").glob("*.toml")), ids=lambda path: path.name
)
def test_stored_board_files_lie_as_the_sheets_say(path: Path) -> None:
    board = Board.load(path)
    if board.corners_mm is None:
        return
    assert board.width_mm is not None
    assert board.height_mm is not None
    written = tomllib.loads(board_file(CardSet(), board.width_mm, board.height_mm))
    for marker, corners in written["markers"]["corners_mm"].items():
        assert board.corners_mm[int(marker)] == pytest.approx(np.array(corners))


def test_the_command_writes_a_sheet_and_its_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine.pdf"
    assert (
        main(
            [
                "markers",
                "--count",
                "4",
                "--size-mm",
                "50",
                "--out",
                str(out),
                "--board-mm",
                "900x600",
            ]
        )
        == 0
    )
    assert sorted(all_found(out.read_bytes(), "DICT_4X4_50")) == [0, 1, 2, 3]
    assert Board.load(tmp_path / "mine.toml").marker_mm == 50
    assert "100 %" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.pdf", "mine.toml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dictionary", "DICT_9X9"], "DICT_4X4_50"),
        (["--size-mm", "nan"], "--size-mm"),
        (["--size-mm", "180"], "the largest is 131 mm"),
        (["--count", "0"], "--count"),
        (["--count", "51"], "0 to 49"),
        (
            ["--count", "3", "--board-mm", "900x600"],
            "--count: a board needs 4 markers, one in each",
        ),
        (["--board-mm", "900"], "--board-mm"),
        (["--board-mm", "200x200"], "no room"),
        (["--board-mm", "6x3"], "6 x 3 ft are 1828.8x914.4 mm"),
        (["--board-mm", "1.8288x0.9144"], "100 mm to 100 m"),
        (["--charuco", "--count", "4"], "--count does not go with --charuco"),
        (["--charuco", "--board-mm", "900x600"], "--board-mm does not go with --charuco"),
        (["--charuco", "--out", "sheet.png"], ".pdf"),
        (["confirm", "nowhere.toml", "--across", "99", "--along", "99"], "nowhere.toml"),
        (["--out", "sheet.png"], ".pdf"),
        (["--out", "nowhere/sheet.pdf"], "nowhere"),
    ],
)
def test_what_cannot_be_printed_is_refused_in_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["markers", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert not list(tmp_path.iterdir())


def test_without_the_library_the_install_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fpdf", None)
    assert main(["markers", "--out", str(tmp_path / "a.pdf")]) == 2
    assert "pip install 'overruler[print]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_lens_sheet_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sheet.pdf"
    assert main(["markers", "--charuco", "--paper", "letter", "--out", str(out)]) == 0
    assert len(all_found(out.read_bytes(), "DICT_5X5_100")) == 31
    assert "7 × 9 squares of 25 mm" in capsys.readouterr().out

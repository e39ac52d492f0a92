"""The gauge tells the error of the program: what was printed where, and what a photo of it says."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluate.drawn.markers import camera_over
from overruler.apps.cli import main
from overruler.apps.gauge import Reading, summary_lines
from overruler.board import Board
from overruler.picture.sheets.gauge_sheet import (
    GAUGE,
    KIT,
    Layout,
    Place,
    gauge_board,
    gauge_places,
    gauge_sheet_pdf,
)
from overruler.picture.sheets.marker_sheet import PAPERS_MM
from synthetic.flat_table import Plinth, render_table
from tests.apps.test_markers import MM_PER_PX, found, pages

SHEETS = [(paper, GAUGE) for paper in PAPERS_MM] + [(paper, KIT) for paper in PAPERS_MM]


@pytest.mark.parametrize(("paper", "layout"), SHEETS)
def test_the_printed_markers_lie_where_the_board_says(paper: str, layout: Layout) -> None:
    page = pages(gauge_sheet_pdf(paper, layout))[0]
    board = gauge_board(paper, layout)
    markers = found(page, board.dictionary)
    assert board.corners_mm is not None
    assert (
        sorted(markers) == sorted(board.corners_mm) == [layout.first_marker + k for k in range(4)]
    )
    for number, corners in markers.items():
        up = np.stack([corners[:, 0], PAPERS_MM[paper][1] - corners[:, 1]], -1)
        assert np.abs(up - board.corners_mm[number][:, :2]).max() < 2 * MM_PER_PX


@pytest.mark.parametrize(("paper", "layout"), SHEETS)
def test_ticks_stand_around_each_place_and_nothing_within(paper: str, layout: Layout) -> None:
    page = pages(gauge_sheet_pdf(paper, layout))[0]
    height_mm = PAPERS_MM[paper][1]
    reach_px = int(26 / MM_PER_PX)
    y, x = np.mgrid[-reach_px : reach_px + 1, -reach_px : reach_px + 1]
    for place in gauge_places(paper, layout):
        column, row = round(place.x_mm / MM_PER_PX), round((height_mm - place.y_mm) / MM_PER_PX)
        around = page[row + y, column + x]
        distance_mm = np.hypot(x, y) * MM_PER_PX
        radius_mm = place.diameter_mm / 2
        assert around[distance_mm < radius_mm + 0.4].min() > 250
        ring = (distance_mm > radius_mm + 1) & (distance_mm < radius_mm + 3)
        assert around[ring].min() < 100


def test_places_do_not_overlap() -> None:
    for paper, layout in SHEETS:
        places = gauge_places(paper, layout)
        assert len({place.name for place in places}) == 3 * len(layout.sizes_mm)
        for k, one in enumerate(places):
            for other in places[k + 1 :]:
                gap = np.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)
                assert gap > (one.diameter_mm + other.diameter_mm) / 2 + 8


def test_a_photo_of_the_page_says_how_far_off_each_base_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight bases stand right, one 1.5 mm to the right of its place."""
    places, board = gauge_places("a4"), gauge_board("a4")
    pushed = places[4]
    plinths = [
        Plinth(place.x_mm + (1.5 if place is pushed else 0), place.y_mm, place.diameter_mm)
        for place in places
    ]
    camera = camera_over(25, height_mm=330, aim_mm=(105.0, 148.0), turn_deg=90)
    photo = render_table(
        camera,
        (1600, 1200),
        PAPERS_MM["a4"],
        plinths,
        board.corners_mm,
        mat=(0.7, 0.7, 0.7),
        noise=2,
    )
    Image.fromarray(photo[..., ::-1]).save(tmp_path / "gauge.png")
    assert main(["gauge", "check", str(tmp_path / "gauge.png")]) == 0
    out = capsys.readouterr().out
    off = {line.split()[0]: float(line.split()[5]) for line in out.splitlines()[1:10]}
    assert off.pop(pushed.name) == pytest.approx(1.5, abs=0.15)
    assert max(off.values()) < 0.2
    assert "9 bases: half are within 0." in out


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ([], "name another --paper if it is another, and --kit for a kit"),
        (["--kit"], "leave --kit away for the page of overruler gauge"),
    ],
)
def test_a_photo_of_something_else_is_named_with_what_to_do(
    options: list[str], advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Image.new("L", (640, 480), 128).save(tmp_path / "else.png")
    assert main(["gauge", "check", str(tmp_path / "else.png"), *options]) == 3
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(
        f"overruler: {tmp_path / 'else.png'}: is not read as the page on a4 paper: "
    )
    assert advice in said


def test_the_page_is_written_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gauge", "--out", str(tmp_path / "g.pdf")]) == 0
    assert (tmp_path / "g.pdf").read_bytes().startswith(b"%PDF")
    assert "overruler gauge check photo.jpg" in capsys.readouterr().out
    assert main(["gauge", "--out", str(tmp_path / "g.png")]) == 2


def test_a_table_kit_s_cards_are_those_of_its_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is a gauge, and its cut cards lie on a table as on the page: 0 to 3 anticlockwise."""
    kit = tmp_path / "kit.pdf"
    table = ["--board-mm", "914.4x914.4"]
    assert main(["markers", "--kit", "--paper", "letter", "--out", str(kit), *table]) == 0
    assert "--board" in capsys.readouterr().out
    board, page = Board.load(tmp_path / "kit.toml"), gauge_board("letter", KIT)
    assert board.marker_mm == page.marker_mm
    assert board.corners_mm is not None
    assert page.corners_mm is not None
    assert board.corners_mm.keys() == page.corners_mm.keys()
    for number, corners in board.corners_mm.items():
        centres = corners[:, :2].mean(0), page.corners_mm[number][:, :2].mean(0)
        middles = np.array([457.2, 457.2]), np.array(PAPERS_MM["letter"]) / 2
        assert (np.sign(centres[0] - middles[0]) == np.sign(centres[1] - middles[1])).all()
    assert main(["markers", "--kit", "--count", "4", "--out", str(kit)]) == 2
    assert main(["markers", "--kit", "--charuco", "--out", str(kit)]) == 2


def test_the_summary_names_what_is_common_to_all() -> None:
    place = Place("A1", 0, 0, 25.0)
    lines = summary_lines([Reading(place, 0.5, 0.0, 0.6), Reading(place, 0.3, -0.4, 0.4)])
    assert lines[0] == "2 bases: half are within 0.50 mm, the worst is 0.50 mm off."
    assert lines[1] == "All together lie +0.40 mm to the right and -0.20 mm up."
    assert lines[2].startswith("1 of 2 lie within")

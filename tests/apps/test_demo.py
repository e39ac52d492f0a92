"""`overruler demo`: every step has its picture, the page holds them all, and what it says of the truth is so."""

import json
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from overruler.apps.cli import main
from overruler.apps.demo.steps import BOARD_PATH, PHOTO_PATH, TRUTH_PATH
from overruler.board import Board
from overruler.picture import pipeline_stages


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


WHITE = np.full((90, 160, 3), 255, np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "new" / "demo"
    assert main(["demo", "--out", str(folder)]) == 0
    return folder


def test_every_step_is_a_picture_and_all_are_on_the_page(folder: Path) -> None:
    pictures = sorted(folder.glob("[1-9]*.jpg"))
    assert [path.name[0] for path in pictures] == list("12345678")
    assert {size_of(path)[0] for path in pictures} == {pipeline_stages.WIDTH_PX}
    page = (folder / "index.html").read_text("utf-8")
    assert page.count("data:image/jpeg;base64,") == len(pictures)
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page)
    assert "{{" not in page


def test_the_photo_lies_beside_the_page_to_be_measured_again(folder: Path) -> None:
    assert (folder / "table.jpg").read_bytes() == PHOTO_PATH.read_bytes()
    assert Board.load(folder / "table.toml").name == Board.load(BOARD_PATH).name


def test_what_it_measures_is_true(folder: Path) -> None:
    """The page's own last sentence, by its figures."""
    page = (folder / "index.html").read_text("utf-8")
    said = re.search(
        r"(\d+) of (\d+) bases were found.*? is ([\d.]+) mm in the median and ([\d.]+) mm", page
    )
    assert said is not None
    found, true, median, most = map(float, said.groups())
    assert true == len(json.loads(TRUTH_PATH.read_text())["pieces_mm"])
    assert found >= 0.85 * true
    assert 0 < median < 0.5
    assert median < most < 1.5


def test_the_photo_travels_lightly_and_fits_its_board_file() -> None:
    assert PHOTO_PATH.stat().st_size < 700_000
    width, height = size_of(PHOTO_PATH)
    board = Board.load(BOARD_PATH)
    assert board.layout_known
    assert width > height


def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file" / "demo")]) == 2
    assert capsys.readouterr().err.startswith("overruler: --out: ")


def test_larger_doubt_is_drawn_larger() -> None:
    """Two places with the same own part: what is drawn of the one whose whole doubt is larger covers more."""

    def painted(sigma_px: float) -> int:
        doubt = np.eye(2) * sigma_px**2
        data = pipeline_stages.draw_positions(
            WHITE, np.array([[80.0, 60.0]]), [np.eye(2) * 1e-6], [doubt], 1.0, ""
        )
        with Image.open(BytesIO(data)) as picture:
            return int(np.sum(np.array(picture)[..., 2] < 200))

    assert painted(8.0) > 2 * painted(3.0)

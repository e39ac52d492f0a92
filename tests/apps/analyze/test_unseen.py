"""What a changed camera hides: a move that ends while the camera zooms, or the size changes."""

import csv
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from overruler.apps.cli import main
from overruler.board import Board
from tests.apps.analyze.film import ENDS, MOVES_S, SHOTS_PER_S, STARTS, pictures
from tests.tables import BOARD_MM, SIZE_PX, eight_markers

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
BREATH, ZOOM = 0.012, 0.08
"""How much the picture grows as the focus changes, or as somebody zooms, as a share."""
BREATHES_S = 3.2
"""Just before the piece has arrived."""


def growing(growth: float) -> Iterator[Pixels]:
    """The film, whose picture grows within half a second and stays so."""
    middle = (SIZE_PX[0] / 2, SIZE_PX[1] / 2)
    for step, pixels in enumerate(pictures()):
        share = float(np.clip((step / SHOTS_PER_S - BREATHES_S) / 0.5, 0, 1))
        if not share:
            yield pixels
            continue
        grow = cv2.getRotationMatrix2D(middle, 0.0, 1 + growth * share)
        grown = cv2.warpAffine(pixels, grow, SIZE_PX, flags=cv2.INTER_CUBIC)
        yield np.asarray(grown, np.uint8)


@pytest.fixture(scope="module")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return analyzed_in(tmp_path_factory.mktemp("zooming"), ZOOM)


def analyzed_in(folder: Path, growth: float) -> Path:
    """The results of a film that grows."""
    with av.open(str(folder / "film.mkv"), "w") as container:
        options = {"crf": "16", "preset": "fast", "threads": "1"}
        stream = container.add_stream("libx264", rate=SHOTS_PER_S, options=options)
        stream.width, stream.height, stream.pix_fmt = *SIZE_PX, "yuv420p"
        for step, pixels in enumerate(growing(growth)):
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = step, Fraction(1, SHOTS_PER_S)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    board = folder / "board.toml"
    Board("film", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers()).save(board)
    film, out = str(folder / "film.mkv"), str(folder)
    assert main(["analyze", film, "--board", str(board), "--out", out]) == 0
    return folder / "film"


def test_a_move_that_a_zoom_hides_is_inferred_and_marked_as_not_seen(analyzed: Path) -> None:
    with (analyzed / "moves.csv").open(encoding="utf-8", newline="") as file:
        (move,) = csv.DictReader(file)
    assert move["way_seen"] == "False"
    assert float(move["distance_mm"]) == pytest.approx(np.hypot(*np.subtract(ENDS, STARTS)), abs=2)
    assert float(move["start_s"]) < MOVES_S[1]
    assert float(move["end_s"]) > MOVES_S[1] - 0.5


def test_a_move_is_seen_while_the_focus_breathes(tmp_path: Path) -> None:
    with (analyzed_in(tmp_path, BREATH) / "moves.csv").open(encoding="utf-8", newline="") as file:
        (move,) = csv.DictReader(file)
    assert move["way_seen"] == "True"
    straight_mm = float(np.hypot(*np.subtract(ENDS, STARTS)))
    assert float(move["distance_mm"]) == pytest.approx(straight_mm, abs=1)
    assert float(move["path_mm"]) == pytest.approx(straight_mm, abs=2)
    assert float(move["start_s"]) == pytest.approx(MOVES_S[0], abs=0.3)
    assert float(move["end_s"]) == pytest.approx(MOVES_S[1], abs=0.3)


def test_the_page_says_what_was_not_seen(analyzed: Path) -> None:
    text = (analyzed / "report.html").read_text(encoding="utf-8")
    start = text.index('"problems":') + len('"problems":')
    problems = json.JSONDecoder().raw_decode(text[start:])[0]
    assert any("moved while the camera did not see" in problem for problem in problems)

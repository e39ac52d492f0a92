"""`import overruler` has a front door: one call measures, and what it returns shows itself and answers."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overruler
from overruler.apps.measure.arguments import base_text, point_texts, question_texts
from overruler.apps.measure.measurement import Measurement
from overruler.apps.settings.game_choice import GameChoice
from overruler.apps.settings.house_options import select_bases
from overruler.bases import Base
from overruler.board import Board
from overruler.errors import MissingExtra
from overruler.picture.report_drawing import draw_report
from overruler.report import JointErrors, TablePhoto
from tests.reports import report

SAMPLES = Path(__file__).parents[2] / "sample_images"


@pytest.fixture(scope="module")
def table() -> Measurement:
    return Measurement(report())


def test_every_public_name_is_there() -> None:
    for name in overruler.__all__:
        assert getattr(overruler, name) is not None
        assert name in dir(overruler)
    with pytest.raises(AttributeError, match="has no attribute 'meazure'"):
        _ = overruler.meazure


def test_the_import_alone_loads_nothing_heavy() -> None:
    code = (
        "import overruler, sys; print([m for m in ('numpy', 'cv2', 'scipy') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_questions_in_words_and_as_objects_have_one_answer(table: Measurement) -> None:
    first, second = (piece.id for piece in table.scene.pieces[:2])
    in_words = table.ask(f"range {first} {second}")
    as_object = table.ask({"question": "range", "from": first, "to": second})
    assert in_words.to_json() == as_object.to_json()
    assert overruler.ask(table.scene, f"range {first} {second}").to_json() == in_words.to_json()
    with pytest.raises(overruler.BadInput, match="question"):
        table.ask("rage p01 p02")


def test_it_goes_to_another_process_whole(table: Measurement) -> None:
    """As pools send it: with its photos, what was asked of it and what it keeps of that."""
    one = table.report
    both = tuple(TablePhoto(one.frame, one.calibration) for _ in range(2))
    errors = JointErrors(np.eye(42), 2 * np.eye(42), 0.1)
    for sent in (
        table,
        Measurement(replace(one, photos=both, errors=errors, board=Board.free(60))),
    ):
        first, second = (piece.id for piece in sent.scene.pieces[:2])
        said = sent.ask(f"range {first} {second}").to_json()
        came = pickle.loads(pickle.dumps(sent))
        assert came.scene.to_json() == sent.scene.to_json()
        assert came.ask(f"range {first} {second}").to_json() == said
        assert draw_report(came.report) == draw_report(sent.report)
        assert came.rows() == sent.rows()
        assert repr(came) == repr(sent)


def test_its_repr_fits_a_line_and_its_page_shows_picture_and_pieces(table: Measurement) -> None:
    scene, (first, second) = table.scene, table.scene.pieces[:2]
    ruling = overruler.ask(scene, f"range {first.id} {second.id}")
    board = overruler.Board.load(SAMPLES / "legion_desert.toml")
    for shown in (table, table.report, scene, first, ruling, board):
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 300, repr(shown)
    page = table._repr_html_()
    assert "data:image/jpeg;base64," in page
    assert page.count("<tr>") == 1 + len(table.scene.pieces)
    for piece in table.scene.pieces:
        assert f"<td>{piece.id}</td>" in page


def test_rows_hold_the_pieces_with_their_doubt(table: Measurement) -> None:
    rows = table.rows()
    assert [row["id"] for row in rows] == [piece.id for piece in table.scene.pieces]
    assert all(row["reach_mm"] > 0 for row in rows)


def test_a_data_frame_without_its_library_is_one_line(
    table: Measurement, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library, convert in (("pandas", table.to_pandas), ("polars", table.to_polars)):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(MissingExtra, match=f"{library} is not installed: pip install"):
            convert()


def test_a_sample_is_measured_in_one_call(tmp_path: Path) -> None:
    sample = SAMPLES / "legion_desert.jpg"
    table = overruler.measure(sample, board=SAMPLES / "legion_desert.toml", game="legion")
    assert len(table.scene.pieces) > 5
    table.save_scene(tmp_path / "scene.json")
    scene = overruler.Scene.load(tmp_path / "scene.json")
    first, second = (piece.id for piece in scene.pieces[:2])
    question = {"question": "distance", "from": first, "to": second}
    assert overruler.ask(scene, question).distance_mm == pytest.approx(
        table.ask(question).distance_mm, abs=1e-3
    )
    table.save_picture(tmp_path / "ruling.svg")
    drawn = (tmp_path / "ruling.svg").read_text()
    assert f">{first}<" in drawn
    with pytest.raises(overruler.BadInput, match="must end in"):
        table.save_picture(tmp_path / "ruling.xyz")


def test_wrong_arguments_are_one_line() -> None:
    with pytest.raises(overruler.BadInput, match="exclude each other"):
        overruler.measure("table.jpg", board="6x3", marker_mm=60)
    with pytest.raises(overruler.BadInput, match="did you mean 'legion'"):
        overruler.measure("table.jpg", board="6x3", game="legoin")
    with pytest.raises(overruler.BadInput, match="no photo is given"):
        overruler.measure([], board="6x3")
    with pytest.raises(overruler.BadInput, match=r"b\.jpg: no such file|a\.jpg: no such file"):
        overruler.measure(["a.jpg", "b.jpg"], board="6x3")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"bases": {}}, "bases: expected"),
        ({"bases": [None]}, r"bases\[0\]: expected a number, found null"),
        ({"ask": None}, "ask: expected"),
        ({"ask": [3]}, r"ask\[0\]: expected text, found a number 3"),
        ({"board": overruler.Board.free(60)}, "board: expected the path of a file, found Board"),
        ({"lens": 3}, "lens: expected the path of a file, found int"),
        ({"fix": []}, "fix: expected the path of a file, found list"),
        ({"terrain": {}}, "terrain: expected the path of a file, found dict"),
        ({"game": 3}, "game: expected text, found a number 3"),
        ({"units": 2}, "units: expected text"),
        ({"dictionary": 4}, "dictionary: expected text"),
        ({"marker_mm": "60"}, "marker_mm: expected a number"),
        ({"points": None}, "points: expected"),
        ({"points": [(1, 2, 3)]}, r"points\[0\]: expected 4 numbers, found 3"),
        ({"photo": None}, "photo: expected"),
        ({"photo": 5}, "photo: expected"),
        ({"photo": b"jpg"}, "photo: expected"),
        ({"photo": ""}, "photo: is empty"),
    ],
)
def test_a_wrong_argument_is_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(overruler.BadInput, match=said):
        overruler.measure(**{"photo": "table.jpg", **wrong})


def test_arguments_are_texts_numbers_or_lists() -> None:
    assert base_text([27, "50", Base.oval(42, 75)]) == "27,50,75 × 42 mm oval"
    assert (base_text("27,50"), base_text(27), base_text(None)) == ("27,50", "27", None)
    assert point_texts("1,2=3,4") == ("1,2=3,4",)
    assert point_texts(np.ones((2, 4))) == 2 * ("1.0,1.0=1.0,1.0",)
    asked = {"question": "range", "from": "a", "to": "b"}
    assert question_texts("range a b") == ("range a b",)
    assert question_texts(asked) == question_texts([asked]) == (json.dumps(asked),)
    assert select_bases(base_text([Base.oval(42, 75)]), {}, GameChoice(None)) == (
        Base.oval(42, 75),
    )

"""`overruler measure` says no before the slow work, writes whole files or none, and prints what was asked for."""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from overruler.apps import measure
from overruler.apps.cli import main
from overruler.apps.measure import MeasureOptions, measuring, read_options
from overruler.apps.measure.pictures import Pictures
from overruler.apps.process.progress import progress_display
from overruler.errors import BadInput, CannotMeasure
from overruler.geometry.pose import Pose
from overruler.referee import Referee
from overruler.report import Report
from overruler.vision.camera.plausibility import check_camera
from tests.reports import camera, report

MAKE_REFEREE = measuring.make_referee

BOARD = """
schema = "overruler/board/1"
width_mm = 900
height_mm = 600
[markers]
size_mm = 60
"""


def options(*arguments: str) -> MeasureOptions:
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    return read_options(parser.parse_args(["table.jpg", *arguments]))


@pytest.fixture
def board(tmp_path: Path) -> str:
    path = tmp_path / "board.toml"
    path.write_text(BOARD)
    return str(path)


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> list[MeasureOptions]:
    """Replaces the slow work by a report that is ready; holds what it was asked for."""
    asked: list[MeasureOptions] = []

    def pretend(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        asked.append(given)
        say("measuring")
        return report()

    monkeypatch.setattr(measure, "measure_photo", pretend)
    return asked


@pytest.fixture
def pretend_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the reading of photos and the measuring by a report that is ready."""
    referee = SimpleNamespace(look=lambda frame, progress, helper: report())
    monkeypatch.setattr(
        measuring, "read_pictures", lambda options, progress: Pictures((report().frame,), (), None)
    )
    monkeypatch.setattr(measuring, "make_referee", lambda options, pictures: referee)


@pytest.mark.usefixtures("pretend_look")
@pytest.mark.parametrize("many", [[], ["--each", "--jobs", "1"]], ids=["one photo", "a batch"])
def test_a_question_without_an_answer_leaves_the_measurement_and_the_other_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], many: list[str]
) -> None:
    scene, table = tmp_path / "{name}.json", tmp_path / "pieces.csv"
    (tmp_path / "table.jpg").write_bytes(b"")
    asked = ["--ask", "range p01 p99", "--ask", "range p01 p02"]
    files = ["--scene", str(scene), "--csv", str(table)]
    photo = str(tmp_path / "table.jpg")
    assert main(["measure", photo, "--marker-mm=60", *many, *asked, *files, "--json"]) == 2
    told = capsys.readouterr()
    failed, answered = json.loads(told.out)["answers"]
    assert failed["error"].startswith("--ask 1: to: unknown name 'p99'")
    assert answered["range"] == 3
    assert table.read_text().count("p02") == 1
    assert json.loads((tmp_path / "table.json").read_text())["game"] == "legion"
    if not many:
        assert told.err.splitlines()[-1] == f"overruler: {failed['error']}"


@pytest.mark.usefixtures("pretend_look")
def test_where_no_area_is_answered_none_is_said_to_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    areas, table = tmp_path / "areas.geojson", tmp_path / "pieces.csv"
    files = ["--geojson", str(areas), "--csv", str(table)]
    asked = ["--ask", "hexes p01 p02", *files]
    assert main(["measure", "table.jpg", "--marker-mm=60", *asked]) == 2
    told = capsys.readouterr()
    assert "grid: is missing" in told.err
    assert "pieces.csv" in "".join(told.out.split())
    assert "areas.geojson" not in "".join(told.out.split())
    assert not areas.exists()


@pytest.mark.usefixtures("pretend_look")
def test_what_ends_a_measurement_tells_lengths_in_the_table_s_unit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def look_at(*_: object, **__: object) -> Report:
        check_camera(
            replace(camera(), T_camera_board=Pose(np.eye(3), np.array([0, 0, 254.0]))),
            (1280, 960),
            (0, 0),
        )
        raise AssertionError

    monkeypatch.setattr(Referee, "_look_at", look_at)
    monkeypatch.setattr(measuring, "make_referee", MAKE_REFEREE)
    assert main(["measure", "table.jpg", "--marker-mm=60", "--units=in"]) == 3
    assert "it would hang -10.00 in over the table" in capsys.readouterr().err
    assert main(["measure", "table.jpg", "--marker-mm=60"]) == 3
    assert "it would hang -254 mm over the table" in capsys.readouterr().err


def test_a_board_file_is_read(board: str) -> None:
    read = options("--board", board, "--game", "legion", "--bases", "27, 50")
    assert read.board is not None
    assert read.board.marker_mm == 60
    assert read.game == "legion"
    assert [base.width_mm for base in read.bases or ()] == [27, 50]


def test_markers_of_a_size_lie_anywhere() -> None:
    read = options("--marker-mm", "45.5", "--dictionary", "DICT_5X5_100")
    assert read.board is not None
    assert (read.board.marker_mm, read.board.dictionary, read.board.layout_known) == (
        45.5,
        "DICT_5X5_100",
        False,
    )


def test_points_are_pixels_and_places() -> None:
    given = ("0,0=0,0", "100,0=900,0", "100,80=900,-600.5", "0,80=0,600")
    read = options(*(part for point in given for part in ("--point", point)))
    assert read.board is None
    assert read.points[2] == (100, 80, 900, -600.5)


def test_photos_beside_it_lend_their_lens(board: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert options("--board", board).beside == ()
    read = options("--board", board, "--beside", "left.jpg", "--beside", "right.jpg")
    assert read.beside == (Path("left.jpg"), Path("right.jpg"))
    assert main(["measure", "table.jpg", "--beside", "left.jpg", *["--point", "1,1=1,1"] * 4]) == 2
    assert "leave --point away" in capsys.readouterr().err
    assert (
        main(["measure", "table.jpg", "--board", board, "--beside", "a.png", "--picture", "a.png"])
        == 2
    )
    assert "--picture: a.png: is read, and would be lost" in capsys.readouterr().err


def test_questions_are_parsed() -> None:
    read = options(
        "--marker-mm", "60", "--ask", '{"question": "distance", "from": "p01", "to": "p02"}'
    )
    assert read.questions == ({"question": "distance", "from": "p01", "to": "p02"},)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--board", "nowhere.toml"], "nowhere.toml"),
        (["--marker-mm", "60", "--point", "0,0=0,0"], "exclude each other"),
        (["--marker-mm", "0"], "--marker-mm"),
        (["--marker-mm", "inf"], "--marker-mm"),
        (["--marker-mm", "1e308"], "--marker-mm: must be from"),
        (["--marker-mm", "60", "--dictionary", "DICT_9X9_1"], "DICT_4X4_50"),
        (["--point", "0,0=0,0"], "4 points or more"),
        (["--point", "0,0=0,0"] * 3 + ["--point", "0,0"], "U,V=X,Y"),
        (["--point", "0,0=0,0"] * 3 + ["--point", "nan,0=0,0"], "no photo or table has"),
        (["--point", "0,0=0,0"] * 3 + ["--point", "0,0=0,1e300"], "no photo or table has"),
        (["--marker-mm", "60", "--game", "chess"], "legion"),
        (["--marker-mm", "60", "--bases", "27;50"], "27,50 say"),
        (["--marker-mm", "60", "--bases", "27,-50"], "--bases"),
        (["--marker-mm", "60", "--bases", "nan"], "--bases"),
        (["--marker-mm", "60", "--ask", '{"question": '], "--ask: not JSON"),
        (["--marker-mm", "60", "--ask", "[]"], "--ask"),
        (["--marker-mm", "60", "--ask", "{}"], "--ask: question: is missing"),
        (["--marker-mm", "60", "--ask", "distance p01"], "--ask: to: is missing"),
        (
            ["--marker-mm", "60", "--ask", "distance p01 p02", "--ask", "range p01"],
            "--ask 2: to: is missing",
        ),
        (["--marker-mm", "60", "--geojson", "a.json"], "--geojson: no question asks for an area"),
        (
            ["--marker-mm", "60", "--ask", "distance p01 p02", "--geojson", "a.json"],
            "--geojson: no question asks for an area",
        ),
        (["--marker-mm", "60", "--lens", "nowhere.toml"], "nowhere.toml"),
        (["--marker-mm", "60", "--picture", "out.bmp"], ".jpeg, .png, .svg, .gif or .webm"),
        (["--marker-mm", "60", "--picture", "nowhere/out.png"], "there is no folder"),
        (["--marker-mm", "60", "--scene", "."], "is a folder"),
        (["--marker-mm", "60", "--scene", "table.jpg"], "is read, and would be lost"),
        (["--marker-mm", "60", "--scene", "a.png", "--picture", "./a.png"], "different files"),
    ],
)
def test_a_wrong_option_is_refused_before_the_photo_is_looked_at(
    arguments: list[str],
    said: str,
    look: list[MeasureOptions],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["measure", "table.jpg", *arguments]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n"), look) == ("", 1, [])
    assert not list(tmp_path.iterdir())


def test_areas_that_are_asked_for_and_fields_that_a_preset_says_are_no_mistake() -> None:
    area = ("--ask", '{"question": "area", "of": "p01", "within_in": 6}')
    assert options("--marker-mm", "60", *area, "--geojson", "a.json").geojson == Path("a.json")
    preset = ("--game", "melee_1_chain_2", "--ask", "within p01 p02")
    assert len(options("--marker-mm", "60", *preset).questions) == 1


def test_one_file_by_two_names_is_one_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    look: list[MeasureOptions],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(["measure", "a.png", "--marker-mm", "60", "--picture", str(tmp_path / "a.png")]) == 2
    )
    assert "is read, and would be lost" in capsys.readouterr().err
    assert not look


def test_a_dictionary_belongs_to_a_marker_size(board: str) -> None:
    with pytest.raises(BadInput, match="names its own"):
        options("--board", board, "--dictionary", "DICT_4X4_50")


def test_json_is_the_scene_and_nothing_else(
    look: list[MeasureOptions], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "table.jpg", "--marker-mm", "60", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["schema"] == "overruler/scene/1"
    assert err == ""


def test_the_summary_names_pieces_rulings_and_problems(
    look: list[MeasureOptions], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "table.jpg", "--marker-mm", "60"]) == 0
    out, err = capsys.readouterr()
    assert "p01" in out
    assert "27 mm" in out
    assert "range" in out
    assert "0.21 px" in out
    assert report().calibration.problems[0].text in " ".join(out.split())
    assert "\x1b" not in out
    assert err == ""


def test_scene_and_picture_are_written(
    look: list[MeasureOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene, png, svg = tmp_path / "scene.json", tmp_path / "out.PNG", tmp_path / "out.svg"
    assert (
        main(
            ["measure", "t.jpg", "--marker-mm", "60", "--scene", str(scene), "--picture", str(png)]
        )
        == 0
    )
    assert main(["measure", "t.jpg", "--marker-mm", "60", "--json", "--picture", str(svg)]) == 0
    assert json.loads(scene.read_text())["pieces"][0]["id"] == "p01"
    assert png.read_bytes().startswith(b"\x89PNG")
    assert svg.read_text().startswith("<svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.PNG", "out.svg", "scene.json"]


def test_nothing_is_written_where_the_photo_cannot_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        raise CannotMeasure("no marker was found: light the table evenly")

    monkeypatch.setattr(measure, "measure_photo", fail)
    kept = tmp_path / "scene.json"
    kept.write_text("before")
    arguments = ["--scene", str(kept), "--picture", str(tmp_path / "out.png")]
    assert main(["measure", "t.jpg", "--marker-mm", "60", *arguments]) == 3
    assert kept.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["scene.json"]


def test_nothing_is_written_where_the_drawing_fails(
    look: list[MeasureOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from overruler import picture

    def fail(*_: object) -> bytes:
        raise BadInput("cannot be drawn")

    monkeypatch.setattr(picture, "annotated_bytes", fail)
    arguments = ["--scene", str(tmp_path / "scene.json"), "--picture", str(tmp_path / "out.png")]
    assert main(["measure", "t.jpg", "--marker-mm", "60", *arguments]) == 2
    assert not list(tmp_path.iterdir())


def test_progress_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_display() as say:
        say("measuring")
    assert capsys.readouterr() == ("", "")


def test_a_photo_that_is_not_there_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", str(tmp_path / "nowhere.jpg"), "--marker-mm", "60"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_sigma_is_that_of_the_worst_direction() -> None:
    from overruler.apps.measure.summary import largest_sigmas_mm

    table = report()
    assert table.scene.covariance is not None
    expected = [
        np.sqrt(np.linalg.norm(table.scene.covariance.array[i : i + 2, i : i + 2], 2))
        for i in range(0, 8, 2)
    ]
    assert largest_sigmas_mm(table)[:4] == pytest.approx(expected)


def test_without_a_scale_the_photo_must_show_a_known_board() -> None:
    read = options()
    assert read.board is None
    assert {board.name for board in read.known_boards} >= {"6x3 ft", "3x3 ft"}
    assert options("--marker-mm", "60").known_boards == ()

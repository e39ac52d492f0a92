"""`overruler calibrate`: photos in, a lens file or a board file out, whole or not at all."""

import json
import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from rich.console import Console

from evaluate.drawn.markers import camera_over
from overruler.apps.calibrate.lens_output import contradict, print_footer
from overruler.apps.cli import main
from overruler.board import SCHEMA as BOARD_SCHEMA
from overruler.board import Board
from overruler.chart import Chart
from overruler.lens import Lens
from tests.vision.charts import DISTORTION, MATRIX, POSES, over, photo
from tests.vision.sight import ANYWHERE
from tests.vision.table import Look, shoot

CHART = ["--charuco", "7x5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four photos of a sheet, two of a table, one of nothing, one of another size, and one that is broken."""
    path = tmp_path_factory.mktemp("photos")
    sheets = {k: photo(POSES[k], look=Look(0.8, 1.0, 1.0, k)).pixels for k in (1, 3, 5, 6)}
    for k, pixels in sheets.items():
        cv2.imwrite(str(path / f"sheet{k}.png"), pixels)
    for k, tilt in enumerate((8.0, 30.0)):
        camera = camera_over(
            tilt, turn_deg=40.0 * k, size_px=(800, 600), focal_px=625.0, center_px=(0.0, 0.0)
        )
        cv2.imwrite(str(path / f"table{k}.png"), shoot(camera, ANYWHERE, size_px=(800, 600)).pixels)
    cv2.imwrite(str(path / "foreign.png"), np.full((600, 800, 3), 128, np.uint8))
    framed = cv2.copyMakeBorder(sheets[1], 0, 0, 20, 20, cv2.BORDER_REPLICATE)
    cv2.imwrite(str(path / "large.png"), framed)
    (path / "broken.png").write_bytes(b"\x89PNG\r\n and no more")
    return path


def sheets(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.glob("sheet*.png"))]


def test_a_lens_is_measured_and_bad_photos_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [str(folder / name) for name in ("foreign.png", "large.png", "broken.png")]
    out, picture = tmp_path / "lens.toml", tmp_path / "lens.png"
    options = [*CHART, "--out", str(out), "--picture", str(picture)]
    assert main(["calibrate", "lens", *sheets(folder), *bad, *options]) == 0
    said = capsys.readouterr().out
    assert all(f"left out: {name}: " in said for name in bad)
    lens = Lens.load(out)
    away = np.concatenate([lens.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], lens.distortion]) - [
        *MATRIX[[0, 1, 0, 1], [0, 1, 2, 2]],
        *DISTORTION,
    ]
    assert away @ np.linalg.solve(lens.covariance, away) / 9 < 3
    assert np.abs(away[:4]).max() < 1.0
    drawn = cv2.imread(str(picture))
    assert drawn is not None
    assert drawn.shape[1] == 1200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lens.png", "lens.toml"]


def test_json_holds_the_lens_and_every_photo(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "lens.toml"
    photos = [*sheets(folder), str(folder / "foreign.png")]
    assert main(["calibrate", "lens", *photos, *CHART, "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lens"]["matrix"] == Lens.load(out).matrix.tolist()
    assert np.array(found["lens"]["covariance"]).shape == (9, 9)
    assert [one["photo"] for one in found["photos"]] == sheets(folder)
    assert [one["photo"] for one in found["left_out"]] == [str(folder / "foreign.png")]
    assert 0 < found["table"]["typical_sigma_mm"] <= found["table"]["worst_sigma_mm"]


def test_too_few_good_photos_say_why_and_write_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = [*sheets(folder)[:2], str(folder / "foreign.png")]
    assert main(["calibrate", "lens", *photos, *CHART, "--out", str(tmp_path / "lens.toml")]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "2 of the photos" in err
    assert f"{folder / 'foreign.png'}: no marker of the sheet is seen" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lens", "nowhere.png"], "nowhere.png: no such file"),
        (["lens", "a.png", "a.png"], "a.png is named twice"),
        (["lens", "a.png", "--charuco", "7"], "7x10 say"),
        (["lens", "a.png", "--charuco", "2x9"], "3 to 100 squares a side"),
        (["lens", "a.png", "--charuco", "7x10", "--chessboard", "7x10"], "exclude each other"),
        (["lens", "a.png", "--chessboard", "7x10", "--marker-mm", "10"], "no markers"),
        (["lens", "a.png", "--square-mm", "nan"], "--square-mm: expected a number, found 'nan'"),
        (["lens", "a.png", "--square-mm", "20", "--marker-mm", "20"], "do not lie within"),
        (["lens", "a.png", "--dictionary", "DICT_9X9"], "DICT_4X4_50"),
        (["lens", "a.png", "--picture", "a.gif"], ".jpeg, .png or .svg"),
        (["lens", "a.png", "--out", "nowhere/lens.toml"], "nowhere"),
        (["board", "a.png"], "--marker-mm SIZE"),
        (["board", "a.png", "--marker-mm", "-3"], "greater than 0"),
        (["board", "a.png", "--marker-mm", "60", "--board-mm", "9"], "WIDTHxHEIGHT"),
        (["board", "a.png", "--marker-mm", "60", "--board-mm", "6x3"], "1828.8x914.4 mm"),
        (["board", "nowhere.png", "--marker-mm", "60"], "no such file"),
        (["board"], "PHOTO"),
        ([], "lens | board"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert not list(tmp_path.iterdir())


PRINTED = "printed_mm = 100\nacross_mm = 99.7\nalong_mm = 99.8\ndoubt_mm = 0.2\n"
LAID = f'schema = "{BOARD_SCHEMA}"\nname = "kitchen"\nwidth_mm = 900\nheight_mm = 600\n[markers]\nsize_mm = 60\n'
MEASURED = f"{LAID}[markers.print]\n{PRINTED}"
CALIBRATED = f"{LAID}scale_share = 0.001\n"
RAISED = f"{LAID}raised_mm = 3\n"
HIGHER = f"{LAID}[markers.corners_mm]\n0 = [[10, 70, 3], [70, 70, 3], [70, 10, 3], [10, 10, 3]]\n"
REMEDY = "name another file with --out, or remove this one first"


@pytest.mark.parametrize(
    ("there", "arguments", "lost"),
    [
        (MEASURED, ["board", "--name", "kitchen"], "holds the measured print"),
        (CALIBRATED, ["board", "--name", "club"], "holds the calibrated scale"),
        (RAISED, ["board", "--name", "kitchen"], "holds the markers' height"),
        (HIGHER, ["board", "--name", "kitchen"], "holds the markers' height"),
        ("", ["board"], None),
        ("", ["lens"], None),
        ('schema = "overruler/lens/1"', ["board"], "holds what is no board"),
        (MEASURED, ["lens"], "holds what is no lens"),
        (LAID, ["lens"], "holds what is no lens"),
        ("[", ["lens"], "holds what is no lens"),
        (CALIBRATED, ["board", "--name", "kitchen"], None),
        (LAID, ["board", "--name", "club"], None),
        ('schema = "overruler/lens/1"', ["lens"], None),
    ],
)
def test_a_file_that_holds_something_else_is_kept(
    there: str,
    arguments: list[str],
    lost: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is refused before a photo is read: here there is none."""
    out = tmp_path / "file.toml"
    out.write_text(there, encoding="utf-8")
    kind, *more = arguments
    size = ["--marker-mm", "60"] if kind == "board" else []
    assert main(["calibrate", kind, "nowhere.png", *size, *more, "--out", str(out)]) == 2
    said = f"{out}: {lost}, which would be lost: {REMEDY}" if lost else "nowhere.png: no such file"
    assert capsys.readouterr().err == f"overruler: {said}\n"
    assert out.read_text(encoding="utf-8") == there


def test_one_photo_is_counted_as_one(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photo, out = str(folder / "table0.png"), str(tmp_path / "table.toml")
    assert main(["calibrate", "board", photo, "--marker-mm", "60", "--out", out]) == 0
    assert re.search(r"px in 1 photo$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("kind", ["lens", "board"])
def test_the_help_of_each_kind_begins_with_its_example(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", kind, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"overruler calibrate {kind} ")


def test_a_board_is_laid_out_and_its_file_measures_photos(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from overruler.sources.photo import load_photo
    from overruler.vision.camera.calibrate import calibrate

    out = tmp_path / "table.toml"
    photos = [str(folder / f"table{k}.png") for k in (0, 1)]
    foreign = str(folder / "foreign.png")
    assert (
        main(["calibrate", "board", *photos, foreign, "--marker-mm", "60", "--out", str(out)]) == 0
    )
    said = capsys.readouterr().out
    assert "markers confirm" in said
    board = Board.load(out)
    assert board.corners_mm is not None
    assert board.covariance is not None
    assert board.covariance.shape == (24, 24)
    assert sorted(board.corners_mm) == list(range(8))
    gap = np.linalg.norm(board.corners_mm[0][:, :2].mean(0) - board.corners_mm[2][:, :2].mean(0))
    assert gap == pytest.approx(np.hypot(780, 780), abs=2.0)
    found = calibrate(load_photo(photos[0]), board)
    assert len(found.markers) >= 7
    assert not {"marker_left_out", "large_residuals"} & {problem.flag for problem in found.problems}


def test_a_board_file_that_knows_its_places_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = Path(__file__).parents[2] / "calibration" / "boards" / "table-3x3.toml"
    photo = str(folder / "table0.png")
    assert (
        main(
            ["calibrate", "board", photo, "--board", str(board), "--out", str(tmp_path / "b.toml")]
        )
        == 2
    )
    assert "says already where its markers lie" in capsys.readouterr().err


def test_the_photos_of_a_lens_have_their_lines_whatever_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_footer(Console(), {"a\n\x1b[31m.jpg": "no sheet"}, [Path("b\n.toml")])
    assert capsys.readouterr().out.splitlines() == [
        "! left out: a\\n\\x1b[31m.jpg: no sheet",
        "written: b\\n.toml",
    ]


def test_a_sheet_named_the_wrong_way_round_is_refused_and_the_file_there_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long, out = Chart(), tmp_path / "lens.toml"
    photos = [str(tmp_path / f"sheet{k}.png") for k in range(4)]
    for k, path in enumerate(photos):
        camera = over(25, 90 * k, 90 * k, distance_mm=330, chart=long)
        cv2.imwrite(path, photo(camera, long).pixels)
    out.write_text('schema = "overruler/lens/1"\n')
    assert main(["calibrate", "lens", *photos, "--charuco", "10x7", "--out", str(out)]) == 3
    said, err = capsys.readouterr()
    reason = "the sheet looks like one of 7x10 squares, not 10x7: give --charuco 7x10"
    assert (said, err) == ("", f"overruler: none of the photos can be used: {reason}\n")
    assert out.read_text() == 'schema = "overruler/lens/1"\n'


def test_a_lens_that_says_nothing_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the front alone no photo tells the focal length."""
    photos = [str(tmp_path / f"front{k}.png") for k in range(3)]
    for k, path in enumerate(photos):
        cv2.imwrite(path, photo(over(0, 0, 40.0 * k), look=Look(0.8, 1.0, 1.0, k)).pixels)
    out = tmp_path / "lens.toml"
    assert main(["calibrate", "lens", *photos, *CHART, "--out", str(out)]) == 3
    assert "add photos of the sheet leaning to every side" in capsys.readouterr().err
    assert not out.exists()


def test_a_message_is_one_line_where_nobody_looks_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = str(folder / "foreign.png")
    out = str(tmp_path / "lens.toml")
    assert main(["calibrate", "lens", *sheets(folder), foreign, *CHART, "--out", out]) == 0
    lines = capsys.readouterr().out.splitlines()
    reason = "no marker of the sheet is seen; is it the sheet that was printed, sharp and large in the picture?"
    assert f"! left out: {foreign}: {reason}" in lines
    assert any(line.startswith("places on a table") and "at worst" in line for line in lines)
    photo, board = str(folder / "table0.png"), str(tmp_path / "table.toml")
    assert main(["calibrate", "board", photo, "--marker-mm", "60", "--out", board]) == 0
    assert "and calibrate again with it (--board)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("disagreement", "rms_px", "told"),
    [(2.4, 0.008, False), (1.5, 0.5, False), (2.4, 0.08, True), (100.0, 0.006, True)],
)
def test_photos_contradict_one_another_where_it_matters(
    disagreement: float, rms_px: float, told: bool
) -> None:
    assert contradict(disagreement, rms_px) == told

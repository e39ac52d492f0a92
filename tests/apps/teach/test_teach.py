"""Corrections of three photos teach a fourth one, a bundle repeats it, and forgetting undoes it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from overruler.apps import bundles
from overruler.apps.cli import main
from overruler.taught import CorrectedPhoto, JudgedFinding, Taught, Weighing
from overruler.vision.assembly.taught_pieces import reweigh_pieces
from overruler.vision.learned.inference import weights_fingerprint
from synthetic.flat_table import Plinth, render_table
from tests.reports import report
from tests.tables import BOARD_MM, camera_over, eight_markers

SIZE_PX = (720, 540)
BASE_MM, TOKEN_MM = 32.0, 25.0
TABLE = ("--bases", "25,32", "--flat")
QUESTION = {"question": "distance", "from": "p01", "to": "p02"}


def board_text() -> str:
    rows = (f"{k} = {corners.tolist()}" for k, corners in eight_markers().items() if k < 4)
    width, height = BOARD_MM
    head = f'schema = "overruler/board/1"\nwidth_mm = {width}\nheight_mm = {height}\n[markers]\n'
    return f'{head}dictionary = "DICT_4X4_50"\nsize_mm = 45\n[markers.corners_mm]\n' + "\n".join(
        rows
    )


def draw_table(folder: Path, seed: int) -> list[str]:
    """Write `SEED.png`, with three bases and three plain tokens; the tokens' ids, which follow x."""
    draw = np.random.default_rng(seed)
    places = draw.permutation([(x, y) for x in (120, 210, 300, 390, 480, 570) for y in (170, 290)])
    x_mm = places[:6] + draw.uniform(-8, 8, (6, 2))
    x_mm[:, 0] += np.arange(6) * 1e-3
    things = [Plinth(x, y, BASE_MM) for x, y in x_mm[:3]]
    token = replace(things[0], diameter_mm=TOKEN_MM, height_mm=3.0, taper_mm=0.0)
    token = replace(token, rim=(0.6, 0.6, 0.6), top=(0.5, 0.45, 0.3))
    things += [replace(token, x_mm=x, y_mm=y) for x, y in x_mm[3:]]
    camera = camera_over(focal_px=630)
    camera.matrix[:2, 2] = SIZE_PX[0] / 2 + 4, SIZE_PX[1] / 2 - 3
    markers = {k: corners for k, corners in eight_markers().items() if k < 4}
    pixels = render_table(camera, SIZE_PX, BOARD_MM, things, markers, noise=2.0, seed=seed)
    Image.fromarray(pixels[..., ::-1]).save(folder / f"{seed}.png")
    order = sorted(range(6), key=lambda k: things[k].x_mm)
    return [f"p{k + 1:02}" for k, thing in enumerate(order) if thing >= 3]


def teach(folder: Path, seed: int, ids: list[str]) -> int:
    fixes = [{"do": "remove", "id": one} for one in ids]
    path = folder / f"fix{seed}.json"
    path.write_text(json.dumps({"schema": "overruler/fix/1", "fix": fixes}))
    named = ("--fix", str(path), "--board", str(folder / "board.toml"))
    taught = ("--taught", str(folder / "taught.json"))
    return main(["teach", str(folder / f"{seed}.png"), *named, *taught, *TABLE, "--checked"])


def scene_of(folder: Path, seed: int, *more: str) -> dict[str, Any]:
    path = folder / "scene.json"
    named = ("--board", str(folder / "board.toml"), "--scene", str(path))
    assert main(["measure", str(folder / f"{seed}.png"), *named, *TABLE, *more]) == 0
    scene: dict[str, Any] = json.loads(path.read_text())
    return scene


def probabilities(scene: dict[str, Any], diameter_mm: float) -> list[float]:
    pieces = scene["pieces"]
    return [p["probability"] for p in pieces if p["base"]["diameter_mm"] == diameter_mm]


def test_corrections_of_some_photos_teach_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "board.toml").write_text(board_text())
    for seed in (1, 2, 3):
        ids = draw_table(tmp_path, seed)
        assert teach(tmp_path, seed, ids) == 0
    told = capsys.readouterr().out
    assert "25 mm: 90% is" in told
    draw_table(tmp_path, 4)
    before = scene_of(tmp_path, 4)
    taught = ("--taught", str(tmp_path / "taught.json"))
    after = scene_of(tmp_path, 4, *taught)
    assert "re-weighed by 3 corrected photos: 25 mm" in capsys.readouterr().out
    assert len(probabilities(before, TOKEN_MM)) == len(probabilities(before, BASE_MM)) == 3
    assert min(probabilities(before, TOKEN_MM)) > 0.5 > max(probabilities(after, TOKEN_MM))
    assert min(probabilities(after, BASE_MM)) >= min(probabilities(before, BASE_MM))
    record = after.pop("taught")
    assert record["photos"] == 3
    for piece in (*before["pieces"], *after["pieces"]):
        del piece["probability"]
    assert after == before
    _check_bundle(tmp_path)


def _check_bundle(folder: Path) -> None:
    """The bundle of a taught measurement is settled; with another file in it, it is not."""
    named = {"photo.png": "4.png", "board.toml": "board.toml", "scene.json": "scene.json"}
    files = {name: (folder / path).read_bytes() for name, path in named.items()}
    files["taught.json"] = (folder / "taught.json").read_bytes()
    arguments = (
        "photo.png",
        "--board=board.toml",
        "--bases=25,32",
        "--flat",
        "--taught=taught.json",
    )
    (folder / "b.zip").write_bytes(bundles.make_bundle(files, arguments, QUESTION))
    assert main(["settle", str(folder / "b.zip")]) == 0


# --- the file ---


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A file of three photos that nobody needs to measure."""
    path = tmp_path / "taught.json"
    finding = JudgedFinding("25 mm", 0.8, False)
    photos = tuple(CorrectedPhoto(f"{k}.jpg", f"{k}", (finding,) * 4) for k in range(3))
    Taught(weights_fingerprint(), photos, {"25 mm": Weighing(-2.0, 0.9)}).save(path)
    return path


def test_show_says_what_was_learned(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = taught.read_bytes()
    assert main(["teach", "--show", "--taught", str(taught)]) == 0
    out = capsys.readouterr().out
    assert "what 3 corrected photos taught" in out
    assert "0.jpg: 0 pieces, 4 others" in out
    assert taught.read_bytes() == before


def test_a_photo_is_forgotten(taught: Path) -> None:
    assert main(["teach", "--forget", "1.jpg", "--taught", str(taught)]) == 0
    kept = Taught.load(taught)
    assert [photo.name for photo in kept.photos] == ["0.jpg", "2.jpg"]
    assert kept.weighings == {}


def test_of_two_photos_of_one_name_one_is_forgotten(
    taught: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Photos of two evenings are both called table.jpg, each in a folder of its own."""
    before = Taught.load(taught)
    named = [replace(photo, name="table.jpg") for photo in before.photos[:2]]
    replace(before, photos=(*named, before.photos[2])).save(taught)
    first, second = (photo.sha256[:8] for photo in named)
    assert main(["teach", "--forget", "table.jpg", "--taught", str(taught)]) == 2
    assert f"has 2 photos 'table.jpg': give {first} or {second} instead" in capsys.readouterr().err
    assert main(["teach", "--show", "--taught", str(taught)]) == 0
    assert f"  table.jpg ({second}): " in capsys.readouterr().out
    assert main(["teach", "--forget", first, "--taught", str(taught)]) == 0
    assert [photo.sha256[:8] for photo in Taught.load(taught).photos][:1] == [second]
    assert len(Taught.load(taught).photos) == 2


def test_an_empty_name_forgets_nothing(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A variable of a shell that is not set is one."""
    before = taught.read_bytes()
    assert main(["teach", "--forget", "", "--taught", str(taught)]) == 2
    assert "has no photo ''; it has: 0.jpg" in capsys.readouterr().err
    assert taught.read_bytes() == before


def test_all_is_forgotten(taught: Path) -> None:
    assert main(["teach", "--forget", "--taught", str(taught)]) == 0
    assert not taught.exists()


def test_what_taught_nothing_changes_nothing() -> None:
    one = report()
    assert reweigh_pieces(one, None) is one
    assert reweigh_pieces(one, Taught("f00d")) is one
    assert reweigh_pieces(one, Taught("f00d", (), {"999 mm": Weighing(-5.0)})) is one


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["a.jpg"], "--taught is missing"),
        (["--taught", "{file}"], "nothing to learn from"),
        (["--taught", "{file}", "--forget", "9.jpg"], "has no photo '9.jpg'; it has: 0.jpg"),
        (["--taught", "nowhere.json", "--show"], "nowhere.json: cannot be read"),
        (["--taught", "nowhere.json", "--forget"], "nowhere.json: cannot be read"),
        (["--taught", "{file}", "no.jpg"], "no.jpg: no such file: name a photo"),
        (["--taught", "{file}", "a.jpg", "b.jpg", "--fix", "f.toml"], "one photo at a time"),
        (["--taught", "{file}", "no.zip"], "no.zip: cannot be read"),
        (["--taught", "{folder}", "a.jpg"], "is a folder"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    taught: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    before = taught.read_bytes()
    names = {"file": taught, "folder": taught.parent}
    assert main(["teach", *(one.format(**names) for one in arguments)]) == 2
    captured = capsys.readouterr()
    assert problem in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert taught.read_bytes() == before


def test_other_networks_are_refused(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taught.write_text(taught.read_text().replace(weights_fingerprint(), "0" * 12))
    assert main(["measure", "a.jpg", "--taught", str(taught)]) == 2
    assert "networks of another version" in capsys.readouterr().err


def test_forget_removes_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "scene.json"
    path.write_text('{"schema": "overruler/scene/1"}')
    assert main(["teach", "--forget", "--taught", str(path)]) == 2
    assert path.exists()


def test_every_measurement_of_a_server_is_told(taught: Path) -> None:
    """The server keeps the file's text, so that each photo's folder, and its bundle, has it."""
    serve = pytest.importorskip("overruler.apps.serve")
    request_options = pytest.importorskip("overruler.apps.web.phone.request_options")
    choices = request_options.Choices(taught=serve._read_taught(taught))
    asked = request_options.read_photo_options({"marker_mm": "60"}, choices)
    assert asked.request.taught == Path("taught.json")
    assert asked.files["taught.json"] == taught.read_text()
    assert "taught.json" in bundles.MEMBER_NAMES
    assert serve._read_taught(None) == ""


def test_one_photo_is_told_as_one(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = Taught.load(taught).photos[:1]
    Taught(weights_fingerprint(), one, {}).save(taught)
    assert main(["teach", "--taught", str(taught), "--show"]) == 0
    assert "what 1 corrected photo taught\n" in capsys.readouterr().out


def test_the_user_s_file_names_it(
    taught: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = taught.parent / "config.toml"
    config.write_text('[table]\ntaught = "taught.json"\n')
    monkeypatch.setenv("OVERRULER_CONFIG", str(config))
    assert main(["teach", "--show"]) == 0
    assert "what 3 corrected photos taught" in capsys.readouterr().out
    assert main(["config", "check"]) == 0
    taught.write_text("{}")
    assert main(["config", "check"]) == 2
    assert "taught.json: schema: is missing" in capsys.readouterr().err

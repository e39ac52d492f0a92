"""OBS itself, without a screen: its pictures taken, the overlay put into it and seen in its program picture."""

import base64
import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("websockets", reason="OBS is spoken to by websockets")

from documents.obs_clip import PASSWORD, connected, free_port, studio
from overruler.apps import cli
from overruler.apps import obs as command
from overruler.errors import BadInput, CannotMeasure
from overruler.picture import transparent_png
from overruler.picture.films import stinger
from overruler.sources.live import LiveReader, parse_source
from overruler.sources.obs import Obs, authentication_string, parse_address
from tests.apps.web.live_table import Table, air, served, until
from tests.tables import SIZE_PX
from tests.waiting import LONG_S

SCENE, CAMERA = "Scene", "Camera"
REAL = pytest.mark.skipif(
    shutil.which("obs") is None or shutil.which("Xvfb") is None,
    reason="no OBS or no Xvfb is installed: apt-get install -y obs-studio xvfb",
)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where an OBS of our own answers: a canvas as large as the table's picture, its camera a still of it."""
    home, found = tmp_path_factory.mktemp("obs"), free_port()
    Image.fromarray(np.asarray(Table().picture())[..., ::-1]).save(home / "camera.png")
    with studio(home, found, SIZE_PX):
        with connected(found) as obs:
            told = {
                "inputKind": "image_source",
                "inputSettings": {"file": str(home / "camera.png")},
            }
            obs.request("CreateInput", sceneName=SCENE, inputName=CAMERA, **told)
        yield found


def program(obs: Obs) -> Any:
    """What OBS has on air (H, W, 3), red green blue."""
    told = obs.request("GetSourceScreenshot", sourceName=SCENE, imageFormat="png")["imageData"]
    return np.array(Image.open(io.BytesIO(base64.b64decode(told.partition(",")[2]))).convert("RGB"))


def lines_in(obs: Obs, table: Table) -> int:
    """How many pixels of the program are what the overlay adds to the camera's picture."""
    plain = np.asarray(table.picture())[..., ::-1].astype(int)
    return int((np.abs(program(obs).astype(int) - plain).max(-1) > 40).sum())


@REAL
def test_the_overlay_lies_on_the_camera_goes_with_its_piece_and_ends_with_the_command(
    port: int, tmp_path: Path
) -> None:
    table = Table()
    found = air(table)
    with connected(port) as obs:
        command.SlideShow(obs, tmp_path).put_in_scene(
            SCENE
        )  # so that the command finds one: it is mended, not doubled
    with connected(port) as obs, served(found) as (home, _), feeding(port, home) as feeder:
        until(lambda: found.desk.scene() is not None)
        found.desk.pick("p01", "p02")
        until(lambda: lines_in(obs, table) > 5000)
        items = obs.request("GetSceneItemList", sceneName=SCENE)["sceneItems"]
        assert sorted(item["sourceName"] for item in items) == [CAMERA, command.INPUT_NAME]
        table.hand = True
        until(lambda: found.desk.graphics_on_air().ruling is None)
        until(lambda: lines_in(obs, Table()) == 0)
        table.hand = False
        until(lambda: lines_in(obs, table) > 5000)
        feeder.kill()  # nothing of ours is left that could take the ruling off the air
        until(lambda: lines_in(obs, table) == 0)
        end = time.monotonic() + 2 * command.SLIDE_TIME_S
        while time.monotonic() < end:
            assert lines_in(obs, table) == 0


@contextmanager
def feeding(port: int, home: str) -> Iterator[subprocess.Popen[str]]:
    """`overruler obs setup`, once it has said that it feeds."""
    asked = ["--host", "127.0.0.1", "--port", str(port), "--overlay", f"{home}/overlay", "--image"]
    started = [sys.executable, "-m", "overruler", "obs", "setup", "--scene", SCENE, *asked]
    own = os.environ | {"OBS_PASSWORD": PASSWORD}
    with subprocess.Popen(started, env=own, stdout=subprocess.PIPE, text=True) as feeder:
        try:
            assert feeder.stdout is not None
            assert "slide show" in feeder.stdout.readline()
            yield feeder
        finally:
            feeder.kill()


@REAL
def test_a_source_of_obs_is_a_camera(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBS_PASSWORD", PASSWORD)
    live = LiveReader(parse_source(f"obs://127.0.0.1:{port}/{CAMERA}"))
    live.start()
    try:
        got = live.newest_shot(0, LONG_S)
        assert got is not None
        shot = got[1]
        assert shot.size_px == SIZE_PX
        off = np.abs(shot.colours(None).astype(int) - np.asarray(Table().picture()).astype(int))
        assert np.median(off) <= 4  # a JPEG of it
        assert live.loss_reason() is None
    finally:
        live.stop()


@REAL
def test_a_wrong_password_and_a_missing_source_are_said(port: int) -> None:
    with pytest.raises(CannotMeasure, match="OBS_PASSWORD"):
        Obs("127.0.0.1", port, "wrong")
    with connected(port) as obs, pytest.raises(BadInput, match="nowhere"):
        obs.request("GetSourceScreenshot", sourceName="nowhere", imageFormat="png")


def test_without_obs_it_says_where_to_look() -> None:
    with pytest.raises(CannotMeasure, match="WebSocket Server Settings"):
        Obs("127.0.0.1", free_port())


def test_the_proof_of_a_password_is_the_protocols_own() -> None:
    """The example in obs-websocket's protocol document."""
    told = {
        "challenge": "+IxH4CnCiqpX1rM9scsNynZzbOe4KhDeYcTNS3PDaeY=",
        "salt": "lM1GncleQOaCu9lT1yeUZhFYnqhsLLP1G5lAGo3ixaI=",
    }
    assert (
        authentication_string("supersecretpassword", **told)
        == "1Ct943GAT+6YQUUX47Ia/ncufilbe6+oD6lY+5kaCu4="
    )


def test_addresses_name_host_port_and_source() -> None:
    assert parse_address("obs://10.0.0.7:4466/Overhead%20camera") == (
        "10.0.0.7",
        4466,
        "Overhead camera",
    )
    assert parse_address("obs://localhost/Camera") == ("localhost", 4455, "Camera")
    for bad in ("obs://localhost:4455", "obs://localhost:x/Camera", "http://localhost/Camera"):
        with pytest.raises(BadInput, match="obs://HOST:PORT"):
            parse_address(bad)


class Gone:
    """An OBS that is closed and opened again while it is fed."""

    def __init__(self) -> None:
        self.lives, self.files = 0, [b""]

    def __enter__(self) -> "Gone":
        self.lives += 1
        if self.lives == 3:
            raise CannotMeasure("OBS does not answer")
        return self

    def __exit__(self, *told: object) -> None: ...

    def request(self, kind: str, **told: Any) -> dict[str, Any]:
        if kind == "SetInputSettings":
            self.files.append(Path(told["inputSettings"]["files"][0]["value"]).read_bytes())
            if self.lives in (2, 4) and self.files[-1] == b"a ruling":
                raise KeyboardInterrupt if self.lives == 4 else CannotMeasure("OBS has gone")
        answers: dict[str, dict[str, Any]] = {
            "GetInputList": {
                "inputs": [{"inputName": command.INPUT_NAME, "inputKind": "slideshow_v2"}]
            },
            "GetInputKindList": {"inputKinds": ["image_source", "slideshow_v2"]},
            "GetSceneItemList": {
                "sceneItems": [{"sourceName": command.INPUT_NAME, "sceneItemId": 1}]
            },
            "GetVideoSettings": {"baseWidth": 1920, "baseHeight": 1080},
        }
        return answers.get(kind, {})


def test_obs_is_fed_again_when_it_has_been_restarted_and_left_with_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone: Any = Gone()
    monkeypatch.setattr(command, "RECONNECT_DELAY_S", 0.0)
    monkeypatch.setattr(
        command, "poll_overlay", lambda slide, overlay, tag: slide.show(b"a ruling")
    )
    with pytest.raises(KeyboardInterrupt):
        command.feed_until_stopped(lambda: gone, SCENE, "http://localhost:8322/overlay")
    assert gone.lives == 4
    assert gone.files[-1] == transparent_png()
    assert capsys.readouterr().err.count("trying again") == 2


class Shown:
    """What an OBS was told to show."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def request(self, kind: str, **told: Any) -> dict[str, Any]:
        self.told.append(kind)
        return {}


def test_what_is_on_air_is_drawn_once_and_gone_with_the_server(tmp_path: Path) -> None:
    found, obs = air(Table()), Shown()
    told: Any = obs
    slide = command.SlideShow(told, tmp_path)
    with served(found) as (home, _):
        until(lambda: found.desk.scene() is not None)
        found.desk.pick("p01", "p02")
        until(lambda: found.desk.graphics_on_air().ruling)
        tag = command.poll_overlay(slide, f"{home}/overlay")
        ruling = slide.png
        assert np.array(Image.open(io.BytesIO(ruling)))[..., 3].max() == 255
        assert command.poll_overlay(slide, f"{home}/overlay", tag) == tag
        assert slide.png == ruling
        assert obs.told == [
            "SetInputSettings",
            "TriggerMediaInputAction",
        ]  # put on again, not drawn again
        found.desk.clear()
        assert command.poll_overlay(slide, f"{home}/overlay", tag) != tag
        assert np.array(Image.open(io.BytesIO(slide.png)))[..., 3].max() == 0
    command.poll_overlay(slide, f"{home}/overlay", tag)
    assert slide.png == transparent_png()
    assert len(list(tmp_path.iterdir())) <= 2  # what OBS reads, and may still be reading


def test_an_obs_without_slide_shows_is_told_so(tmp_path: Path) -> None:
    obs: Any = Shown()
    obs.request = lambda kind, **told: {"inputKinds": ["image_source"]}
    with pytest.raises(BadInput, match="slide shows"):
        command.SlideShow(obs, tmp_path).put_in_scene(SCENE)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ([], "--out OUT.webm says where it goes"),
        (["--out", "a.mp4"], "must end in .webm"),
        (["--out", "nowhere/a.webm"], "there is no folder nowhere"),
        (["--out", "a.webm", "--look", "nothing.toml"], "nothing.toml"),
    ],
)
def test_a_stinger_that_cannot_be_is_refused_in_a_line(
    given: list[str],
    wrong: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["obs", "stinger", *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert wrong in line
    assert not list(tmp_path.iterdir())


def test_a_stinger_has_the_players_colours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[stinger.StingerLook] = []

    def encode(look: stinger.StingerLook) -> bytes:
        drawn.append(look)
        return b"film"

    monkeypatch.setattr(stinger, "encode_stinger", encode)
    look = tmp_path / "look.toml"
    players = '[players.red]\ncolour = "#e5383b"\n[players.blue]\nname = "Anna"\n'
    look.write_text(f'schema = "overruler/look/1"\nplate = "#101418"\n{players}')
    out = tmp_path / "ruling.webm"
    assert cli.main(["obs", "stinger", "--out", str(out), "--look", str(look)]) == 0
    assert drawn == [stinger.StingerLook("Ruling", "#101418", "#ffffff", ("#e5383b",))]
    assert out.read_bytes() == b"film"
    assert "transition point in OBS is 700 ms" in capsys.readouterr().out

"""`-` means standard input where a photo or a scene is read; nowhere does it name a file."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from overruler.apps.cli import main
from overruler.errors import BadInput, CannotMeasure
from overruler.sources.photo import load_photo
from overruler.writing import check_writable
from tests.reports import report


class Piped(io.TextIOWrapper):
    """A standard input into which these bytes are piped."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_a_photo_comes_in_on_standard_input(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (70, 90, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    monkeypatch.setattr(sys, "stdin", Piped(file.getvalue()))
    frame = load_photo("-")
    assert frame.name == "-"
    assert np.array_equal(frame.pixels, pixels[:, :, ::-1])


def test_what_is_no_photo_is_told_without_the_temporary_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b"no picture"))
    with pytest.raises(CannotMeasure, match=r"^-: is not a picture"):
        load_photo("-")


def test_nothing_on_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    with pytest.raises(BadInput, match=r"^-: nothing came in"):
        load_photo("-")


def test_a_scene_comes_in_on_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = tmp_path / "scene.json"
    report().scene.save(scene)
    question = "range p01 p02"
    assert main(["ask", str(scene), question]) == 0
    from_file = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", Piped(scene.read_bytes()))
    assert main(["ask", "-", question]) == 0
    assert capsys.readouterr().out == from_file


def test_scene_and_questions_share_no_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "-", "-"]) == 2
    assert "share no standard input" in capsys.readouterr().err


def test_no_output_is_a_file_named_dash() -> None:
    with pytest.raises(BadInput, match="/dev/stdout"):
        check_writable("-")


CLOSED = """
import os, sys
os.close(0)
os.execv(sys.executable, [sys.executable, "-m", "overruler", *sys.argv[1:]])
"""
"""A program that closes its standard input before it becomes ours."""


@pytest.mark.skipif(os.name == "nt", reason="there a process cannot become another")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["ask", "SCENE", "-"], 0, ""),
        (["ask", "-", "range p01 p02"], 2, "overruler: -: is empty"),
        (["settle", "-"], 2, "overruler: -: is no bundle"),
    ],
)
def test_a_standard_input_that_is_closed_is_empty(
    arguments: list[str], status: int, said: str, tmp_path: Path
) -> None:
    scene = tmp_path / "scene.json"
    report().scene.save(scene)
    arguments = [str(scene) if argument == "SCENE" else argument for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-c", CLOSED, *arguments], capture_output=True, text=True
    )
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == bool(said)

"""A film of a walk round the table is measured like photos, and what it does not show is said."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from overruler.apps import cli
from overruler.apps.measure.pictures import _with_views
from overruler.frame import Picture
from overruler.vision.fusion import walk

av: Any = pytest.importorskip("av", reason="films need PyAV")

SAMPLES = Path(__file__).resolve().parents[2] / "sample_images"
MEASURE = ("--board", str(SAMPLES / "legion_desert.toml"), "--game", "legion")


def sample() -> Picture:
    """The sample photo, as small as a film's pictures."""
    whole = cv2.imread(str(SAMPLES / "legion_desert.jpg"))
    assert whole is not None
    height, width = whole.shape[:2]
    size = (1600, round(height * 1600 / width) // 2 * 2)
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA), np.uint8)


def write_film(path: Path, pictures: Sequence[Picture]) -> Path:
    """A film of these pictures, ten a second."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options={"crf": "16"})
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for picture in pictures:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="bgr24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_the_one_picture_that_is_measured_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    film = write_film(tmp_path / "still.mp4", [sample()] * 8)
    scene = tmp_path / "scene.json"
    assert cli.main(["measure", str(film), *MEASURE, "--scene", str(scene)]) == 0
    said = capsys.readouterr().out
    pattern = (
        rf"! ({re.escape(str(film))} at 0\.\d\d s is measured alone: .* from the same side .*)\n"
    )
    alone = re.search(pattern, said)
    assert alone
    [problem] = [
        one
        for one in json.loads(scene.read_text())["calibration"]["problems"]
        if one["flag"] == "photo_alone"
    ]
    assert problem["text"] == alone[1]


def test_a_film_that_shows_no_markers_is_named_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blurred = np.asarray(cv2.blur(sample(), (61, 1)), np.uint8)
    film = write_film(tmp_path / "blurred.mp4", [blurred] * 3)
    assert cli.main(["measure", str(film), *MEASURE]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"overruler: {film}: no picture of the film shows 2 markers")


@pytest.mark.parametrize(
    ("films", "photos", "told"),
    [
        (
            6,
            0,
            ["only one view of each film is measured, as 10 pictures are the most: give 5 films"],
        ),
        (1, 9, ["only one view of each film is measured, as 10 pictures are the most: give fewer"]),
        (5, 0, []),
    ],
)
def test_so_many_films_that_each_counts_as_a_photo_are_told(
    monkeypatch: pytest.MonkeyPatch, films: int, photos: int, told: list[str]
) -> None:
    monkeypatch.setattr(walk, "choose_views", lambda pictures, board, most: walk.Views([], ()))
    kinds = [True] * films + [False] * photos
    options: Any = SimpleNamespace(lenses=(), lens=None)
    paths, board = [Path(f"{k}.mp4") for k in range(len(kinds))], object()
    read: Any = [[]] * len(kinds)
    found = _with_views(options, paths, read, kinds, board, lambda text: None)  # type: ignore[arg-type]
    assert [
        problem.text[: len(text)] for problem, text in zip(found.problems, told, strict=True)
    ] == told

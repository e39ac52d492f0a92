"""`overruler ask` as other programs use it: one question or a stream of them, and nothing heavy loaded."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from overruler.apps.cli import main

SCENE: dict[str, Any] = {
    "schema": "overruler/scene/1",
    "game": "legion",
    "board": {"width_mm": 1800, "height_mm": 900},
    "pieces": [
        {
            "id": "a",
            "base": {"shape": "circle", "diameter_mm": 27},
            "x_mm": 100,
            "y_mm": 100,
            "player": "x",
        },
        {
            "id": "b",
            "base": {"shape": "circle", "diameter_mm": 27},
            "x_mm": 327,
            "y_mm": 100,
            "player": "y",
        },
    ],
}
RANGE = '{"question": "range", "from": "a", "to": "b"}'
DOUBTFUL = SCENE | {
    "covariance": {
        "order": ["a", "b"],
        "mm2": [[0.04 * (i == j) for j in range(4)] for i in range(4)],
    }
}


def saved(tmp_path: Path, scene: dict[str, Any]) -> str:
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(scene))
    return str(path)


def asked(monkeypatch: pytest.MonkeyPatch, path: str, lines: bytes) -> int:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    return main(["ask", path, "-"])


def test_one_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", saved(tmp_path, SCENE), RANGE]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    answer = json.loads(out)
    assert (answer["range"], answer["melee"], answer["distance_mm"], answer["sigma_mm"]) == (
        2,
        False,
        200,
        0,
    )
    assert (answer["from_point_mm"], answer["to_point_mm"]) == ([113.5, 100], [313.5, 100])
    assert {"probability", "call"}.isdisjoint(answer)


def test_a_doubtful_scene_is_answered_with_its_doubt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", saved(tmp_path, DOUBTFUL), RANGE]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sigma_mm"] == pytest.approx(0.08**0.5)
    assert answer["call"] == "certain"
    assert set(answer["probability"]) == {"1", "2", "3", "4", "5", "null"}


@pytest.mark.parametrize(
    ("scene", "question"),
    [
        ({}, RANGE),
        (SCENE | {"game": "chess"}, RANGE),
        (SCENE, "[]"),
        (SCENE, '{"question": "range"'),
        (SCENE, '{"question": "range", "from": "a", "to": NaN}'),
        (SCENE, '{"question": "range", "from": "a", "to": "nobody\\nat all"}'),
        (SCENE, ""),
    ],
)
def test_what_is_wrong_is_one_line_and_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scene: dict[str, Any], question: str
) -> None:
    assert main(["ask", saved(tmp_path, scene), question]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("overruler: ")
    assert err.count("\n") == 1


def test_a_missing_scene_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(tmp_path / "none.json"), RANGE]) == 2
    assert "none.json: cannot be read: No such file" in capsys.readouterr().err


def test_a_stream_is_answered_line_by_line_and_a_bad_one_stops_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = b'{"question": "range", "from": "a", "to": "nobody"}'
    lines = [
        RANGE.encode(),
        b"",
        bad,
        b"   ",
        b"not json",
        b"\xff\xfe",
        b'{"question": "distance", "from": "b", "to": "a"}',
    ]
    assert asked(monkeypatch, saved(tmp_path, SCENE), b"\n".join(lines)) == 0
    out, err = capsys.readouterr()
    answers = [json.loads(line) for line in out.splitlines()]
    assert err == ""
    assert [sorted(answer)[:1] == ["error"] for answer in answers] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert answers[0]["range"] == 2
    assert answers[1]["error"].startswith("line 3: to: unknown name 'nobody'")
    assert answers[-1]["distance_mm"] == 200


def test_a_bad_scene_ends_a_stream_before_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(monkeypatch, saved(tmp_path, SCENE | {"pieces": 3}), RANGE.encode()) == 2
    assert capsys.readouterr().out == ""


def test_answers_come_while_the_stream_is_open(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "overruler", "ask", saved(tmp_path, SCENE), "-"]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=buffered) as process:
        silence = Timer(20, process.kill)
        silence.start()
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(RANGE + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline() or "{}").get("range") == 2
        silence.cancel()
        process.stdin.close()
        assert process.wait(10) == 0


LOADED = """
import sys
from overruler.apps.cli import main
assert main(["ask", *sys.argv[1:3]]) == 0
print(*sorted(set(sys.argv[3:]) & set(sys.modules)), file=sys.stderr)
"""
HEAVY = ["cv2", "scipy", "skimage", "shapely", "rich", "PIL"]
HILL = {"id": "hill", "footprint_mm": [[0, 0], [9, 0], [9, 9], [5, 2], [0, 9]], "top_z_mm": 5}


@pytest.mark.parametrize(
    ("scene", "heavy"),
    [(SCENE | {"terrain": [HILL]}, [*HEAVY, "numpy"]), (DOUBTFUL | {"terrain": [HILL]}, HEAVY)],
    ids=["exact", "doubtful"],
)
@pytest.mark.parametrize("to", ["b", "hill"])
def test_nothing_heavy_is_loaded(
    tmp_path: Path, scene: dict[str, Any], heavy: list[str], to: str
) -> None:
    question = json.dumps({"question": "range", "from": "a", "to": to})
    command = [sys.executable, "-c", LOADED, saved(tmp_path, scene), question, *heavy]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stderr.split() == []


def test_strict_tells_by_its_status_that_a_line_was_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, SCENE)
    for lines, status in ((RANGE.encode() + b"\nnonsense\n", 1), (RANGE.encode() + b"\n", 0)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
        assert main(["ask", path, "-", "--strict"]) == status
    assert capsys.readouterr().out.count("\n") == 3

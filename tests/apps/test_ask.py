"""`overruler ask` as other programs use it: one question or a stream of them, and nothing heavy loaded."""

import io
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from overruler.apps.cli import main
from tests.waiting import LONG_S

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


def test_a_question_in_words_needs_no_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, SCENE)
    assert main(["ask", path, "range", "a", "b", "--units", "in"]) == 0
    plain = capsys.readouterr().out
    assert main(["ask", path, "range a b", "--units", "in"]) == 0
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize(
    "words", [["range", "left guard", "b"], ["range", "to=b", "from=left guard"]]
)
def test_an_argument_with_spaces_is_a_name(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, json.loads(json.dumps(SCENE).replace('"a"', '"left guard"')))
    assert main(["ask", path, 'range "left guard" b']) == 0
    quoted = capsys.readouterr().out
    assert main(["ask", path, *words]) == 0
    assert capsys.readouterr().out == quoted


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_questions_in_a_file_of_powershell_are_read(
    encoding: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, lines = saved(tmp_path, SCENE), "range a b\r\n\r\nrange b a\r\nrange a nobody\r\n"
    asked(monkeypatch, path, lines.encode())
    plain = capsys.readouterr().out
    assert asked(monkeypatch, path, ("\ufeff" + lines).encode(encoding)) == 0
    assert capsys.readouterr().out == plain
    assert plain.count('"range":') == 2


@pytest.mark.parametrize("questions", [["range a b", "range b a"], [RANGE, RANGE]])
def test_one_question_is_taken_at_a_time(
    questions: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", saved(tmp_path, SCENE), *questions]) == 2
    said = "; one question is taken at a time: - reads one a line from standard input\n"
    assert capsys.readouterr().err.endswith(said)


def test_a_wrong_word_is_not_taken_for_several_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", saved(tmp_path, SCENE), "range", "a", "b", "c"]) == 2
    assert "one question is taken" not in capsys.readouterr().err


def test_a_file_of_several_scenes_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenes.jsonl"
    path.write_text(f"{json.dumps(SCENE)}\n{json.dumps(SCENE)}\n")
    assert main(["ask", str(path), "range a b"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "more text follows it at line 2 column 1; of JSON Lines give one line" in err


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
        silence = Timer(LONG_S, process.kill)
        silence.start()
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(RANGE + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline() or "{}").get("range") == 2
        silence.cancel()
        process.stdin.close()
        assert process.wait(LONG_S) == 0


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


AREA = '{"question": "area", "of": "a", "within_mm": 300}'


def test_areas_are_written_as_geojson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rings are closed, outlines run counter-clockwise, and a soft edge has both its sides."""
    out = tmp_path / "areas.geojson"
    assert main(["ask", saved(tmp_path, DOUBTFUL), AREA, "--geojson", str(out)]) == 0
    answer = json.loads(capsys.readouterr().out)
    told = json.loads(out.read_text())
    assert told["type"] == "FeatureCollection"
    assert told["frame"]["unit"] == "mm"
    borders = [feature["properties"]["border"] for feature in told["features"]]
    assert borders == ["as measured", "surely in", "possibly in"]
    measured = told["features"][0]
    [[ring]] = measured["geometry"]["coordinates"]
    assert ring[0] == ring[-1]
    assert ring[:-1] == answer["polygons_mm"][0][0]
    assert measured["properties"]["pieces"] == ["b"]
    area = sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairwise(ring)) / 2
    assert area == pytest.approx(answer["area_mm2"])


@pytest.mark.parametrize(
    ("question", "name", "said"),
    [(RANGE, "x.geojson", "no answer is an area"), (AREA, "x.txt", "must end in .geojson")],
)
def test_no_file_is_written_without_an_area(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], question: str, name: str, said: str
) -> None:
    out = tmp_path / name
    assert main(["ask", saved(tmp_path, SCENE), question, "--geojson", str(out)]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert (told.out, out.exists()) == ("", False)


def test_areas_do_not_overwrite_their_scene(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, DOUBTFUL)
    text = Path(path).read_text()
    assert main(["ask", path, AREA, "--geojson", path]) == 2
    said = f"overruler: --geojson: {path}: is read, and would be lost: name another file\n"
    assert capsys.readouterr() == ("", said)
    assert Path(path).read_text() == text


def test_a_preset_answers_for_fields_that_a_question_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two are 200 mm apart: 7.9 inches."""
    path = saved(tmp_path, SCENE)
    for preset, answer in (("melee_1_chain_2", False), ("melee_3_chain_half", True)):
        assert main(["ask", path, "within a b", "--game", preset]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["answer"] is answer
        assert told["settings"] == {"distance_in": 12 if answer else 6}
    assert main(["ask", path, "within a b 7in", "--game", "melee_3_chain_half"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] is False
    assert main(["ask", path, "range a b", "--game", "bands_short_to_extreme"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "medium"


def test_a_default_of_no_field_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = SCENE | {"state": {"defaults": {"range": {"far": 1}}}}
    assert main(["ask", saved(tmp_path, scene), RANGE]) == 2
    assert "state.defaults.range.far" in capsys.readouterr().err


def test_what_a_question_lacks_is_told_after_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", saved(tmp_path, SCENE), "range", "b"]) == 2
    said = 'overruler: "range b": to: is missing; ask, for example: range b a\n'
    assert capsys.readouterr().err == said


BANDS = {
    **SCENE,
    "game": "bands",
    "ruler": {"lines_mm": [50, 99, 300], "names": ["close", "near", "short"]},
    "state": {"preset": "bands_8_to_96", "unit": "in"},
}
MELEE = {
    **SCENE,
    "game": "inches",
    "pieces": [SCENE["pieces"][0], SCENE["pieces"][1] | {"x_mm": 100 + 27 + 2.5 * 25.4}],
    "state": {
        "preset": "melee_3_chain_half",
        "defaults": {"engaged": {"horizontal_in": 3}},
    },
}
OWN_LEGION = SCENE | {"ruler": {"segment_mm": 50, "segments": 5}}


@pytest.mark.parametrize(
    ("scene", "question", "game", "key", "answer"),
    [
        (BANDS, "range a b", "legion", "range", 2),
        (BANDS, "range a b", "bands_short_to_extreme", "name", "medium"),
        (BANDS, "range a b", "bands_8_to_96", "name", "short"),
        (BANDS, "range a b", "bands", "name", "short"),
        (OWN_LEGION, "range a b", "legion", "range", 4),
        (OWN_LEGION, "range a b", "xwing", "range", 2),
        (MELEE, "engaged a b", "melee_3_chain_half", "answer", True),
        (MELEE, "engaged a b", "melee_1_chain_2", "answer", False),
        (MELEE, "engaged a b", "contact_alone", "answer", False),
        (MELEE, "engaged a b", "inches", "answer", False),
        (
            SCENE | {"state": {"settings": {"ranged_in_contact": False}}},
            "range a b",
            "xwing",
            "range",
            2,
        ),
    ],
)
def test_the_game_that_is_named_brings_its_ruler_and_its_distances(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    scene: dict[str, Any],
    question: str,
    game: str,
    key: str,
    answer: object,
) -> None:
    """What the scene says holds for its own game alone."""
    assert main(["ask", saved(tmp_path, scene), question, "--game", game]) == 0
    assert json.loads(capsys.readouterr().out)[key] == answer

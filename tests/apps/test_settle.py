"""Dispute bundles: the same contents give the same bytes, and one byte changed anywhere is found."""

import io
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluate import attack_bundles
from overruler.apps import bundles, settle
from overruler.apps.cli import main
from overruler.apps.web.phone.worker_tasks import scene_text
from overruler.errors import BadInput, CannotMeasure
from overruler.reading import Node
from tests.apps.web.desk import jpeg, scene

QUESTION = {"question": "range", "from": "p01", "to": "p02"}
ARGUMENTS = ("photo.jpg", "--marker-mm=60", "--game", "legion")


def files() -> dict[str, bytes]:
    return {"photo.jpg": jpeg(), "scene.json": scene_text(scene().to_json()).encode()}


WHOLE = bundles.make_bundle(files(), ARGUMENTS, QUESTION)


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the photo measured anew gives, in place of measuring it."""
    found = {"text": scene_text(scene().to_json())}

    def pretend(members: Mapping[str, bytes], say: settle.ProgressCallback) -> str:
        settle.read_measure_options([item.text() for item in _arguments(members)], members)
        return found["text"]

    monkeypatch.setattr(settle, "remeasured_scene_text", pretend)
    return found


def _arguments(members: Mapping[str, bytes]) -> list[Any]:
    return Node.of_json(members[bundles.MANIFEST_FILE].decode(), bundles.MANIFEST_FILE)[
        "measure"
    ].items()


def wrong(data: bytes) -> list[str]:
    """What does not match in a bundle."""
    found = settle.check_bundle(data, bundles.unpack_zip(data, "bundle.zip"), lambda text: None)
    return [finding.text for finding in found if not finding.matches]


def test_the_same_contents_give_the_same_bytes() -> None:
    assert bundles.make_bundle(files(), ARGUMENTS, QUESTION) == WHOLE


def test_a_bundle_as_it_was_made_is_settled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(WHOLE)
    assert main(["settle", str(path)]) == 0
    out = capsys.readouterr().out
    assert "byte for byte: range 3" in out
    assert "settled: everything matches" in out
    assert bundles.fingerprint(WHOLE) in out


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_one_byte_changed_anywhere_is_found(at: int, by: int) -> None:
    changed = bytearray(WHOLE)
    changed[at] ^= by
    try:
        assert wrong(bytes(changed))
    except BadInput:
        return


@pytest.mark.parametrize(
    "name", ["photo.jpg", "scene.json", "answer.json", "question.json", "README.txt"]
)
def test_the_changed_file_is_named(name: str) -> None:
    members = bundles.unpack_zip(WHOLE, "bundle.zip")
    changed = bytearray(members[name])
    changed[len(changed) // 2] ^= 1
    found = wrong(bundles.pack_zip(members | {name: bytes(changed)}))
    assert f"{name} is not the file that was packed" in found


def resealed(**changed: bytes) -> bytes:
    """A bundle that somebody changed and whose checksums they mended."""
    members = bundles.unpack_zip(WHOLE, "bundle.zip") | {
        name.replace("_", "."): data for name, data in changed.items()
    }
    del members[bundles.MANIFEST_FILE]
    return bundles.pack_zip(
        members | {bundles.MANIFEST_FILE: bundles._manifest(members, ARGUMENTS)}
    )


def test_an_answer_that_was_mended_is_found_by_asking_again() -> None:
    answer = json.loads(bundles.unpack_zip(WHOLE, "bundle.zip")["answer.json"])
    answer["range"] += 1
    found = wrong(resealed(answer_json=(json.dumps(answer) + "\n").encode()))
    assert len(found) == 1
    assert "another answer: range 3" in found[0]


def outcome(data: bytes, anew: bool = True) -> tuple[str, list[str]]:
    """What a bundle comes to, and what did not match."""
    members = bundles.unpack_zip(data, "bundle.zip")
    found = list(settle.check_bundle(data, members, lambda text: None, anew=anew))
    return settle.outcome_of(found), [one.text for one in found if not one.matches]


@pytest.mark.parametrize("anew", [True, False])
def test_what_people_read_in_a_bundle_is_checked_too(anew: bool) -> None:
    readme = bundles.unpack_zip(WHOLE, "bundle.zip")["README.txt"]
    assert b"range 3" in readme
    found, wrongs = outcome(resealed(README_txt=readme.replace(b"range 3", b"range 2")), anew)
    assert found == settle.DIFFERS
    assert len(wrongs) == 1
    assert "README.txt does not say what this program says: range 3" in wrongs[0]
    assert outcome(WHOLE, anew) == (settle.AGREED, [])


def test_a_bundle_tells_how_to_install_the_program_as_the_page_does() -> None:
    readme = bundles.unpack_zip(WHOLE, "bundle.zip")["README.txt"].decode()
    page = (Path(__file__).parents[2] / "docs" / "install.md").read_text(encoding="utf-8")
    told = "The program is not in the package index yet"
    assert (told in readme, "pip install overruler" in readme) == (told in page, told not in page)


@pytest.mark.parametrize("change", [{"overruler": "0.0.1"}, {}])
def test_the_words_of_another_program_are_no_forgery(
    change: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs between two releases share their version."""
    other = bundles.collect_versions() | change | {"program": "0123456789abcdef"}
    monkeypatch.setattr(bundles, "collect_versions", lambda: other)
    older = resealed(README_txt=b"in other words")
    monkeypatch.undo()
    members = bundles.unpack_zip(older, "bundle.zip")
    assert settle.check_readme(members).matches is None


def test_nothing_is_agreed_to_without_the_photo() -> None:
    members = bundles.unpack_zip(WHOLE, "bundle.zip")
    for name in ("photo.jpg", bundles.MANIFEST_FILE):
        del members[name]
    manifest = bundles._manifest(members, ARGUMENTS)
    found, wrongs = outcome(bundles.pack_zip(members | {bundles.MANIFEST_FILE: manifest}), False)
    assert found == settle.CANNOT_TELL
    assert "'photo.jpg'" in wrongs[0]


@pytest.mark.parametrize("kept", [len(WHOLE) // 2, len(WHOLE) - 1, 100])
def test_a_bundle_that_was_cut_off_is_to_be_copied_again(kept: int) -> None:
    with pytest.raises(BadInput, match=r"one\.zip: is damaged, or was cut off in copying: copy"):
        bundles.unpack_zip(WHOLE[:kept], "one.zip")


def test_a_scene_that_was_mended_is_found_by_measuring_anew() -> None:
    moved = scene().to_json()
    moved["pieces"][0]["x_mm"] += 5.0
    found = wrong(resealed(scene_json=scene_text(moved).encode()))
    assert any(
        "at most 5 mm from where they were" in text and "the answer is range 3" in text
        for text in found
    )


def refuse(members: Mapping[str, bytes], say: settle.ProgressCallback) -> str:
    raise CannotMeasure("photo.jpg: the markers cannot be read")


def test_a_photo_that_cannot_be_measured_is_none_that_gave_a_scene(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The program that made the bundle measured it; another program's may have read it."""
    monkeypatch.setattr(settle, "remeasured_scene_text", refuse)
    found, wrongs = outcome(WHOLE, True)
    assert found == settle.DIFFERS
    assert wrongs[0].startswith("the scene is of no photo in the bundle: photo.jpg: the markers")
    monkeypatch.setattr(bundles, "program_hash", lambda: "another")
    found, wrongs = outcome(WHOLE, True)
    assert found == settle.CANNOT_TELL
    assert "versions differ: program" in wrongs[0]


def test_a_program_that_measures_otherwise_says_how_far_off_it_is(measured: dict[str, str]) -> None:
    shifted = scene().to_json()
    shifted["pieces"][1]["y_mm"] += 1e-9
    measured["text"] = scene_text(shifted)
    (found,) = wrong(WHOLE)
    assert "1e-09 mm" in found
    assert "the versions are the same" in found


def test_another_doubt_in_the_same_places_is_told_as_such(measured: dict[str, str]) -> None:
    doubted = scene().to_json()
    doubted["covariance"]["mm2"] = [
        [2 * value for value in row] for row in doubted["covariance"]["mm2"]
    ]
    measured["text"] = scene_text(doubted)
    (found,) = wrong(WHOLE)
    assert "the same bases in the same places, with another doubt" in found


@pytest.mark.parametrize(
    "argument",
    [
        "@photo.jpg",
        "--scene=out.json",
        "--picture=out.png",
        "--board=/etc/passwd",
        "--board=../x",
        "--taught=/etc/passwd",
        "--csv=out.csv",
    ],
)
def test_a_bundle_reaches_no_file_but_its_own(argument: str) -> None:
    members = bundles.unpack_zip(WHOLE, "bundle.zip")
    manifest = json.loads(members[bundles.MANIFEST_FILE])
    manifest["measure"] = ["photo.jpg", argument]
    found = wrong(
        bundles.pack_zip(members | {bundles.MANIFEST_FILE: json.dumps(manifest).encode()})
    )
    assert any(text.startswith("the photo:") for text in found)


@pytest.mark.parametrize(
    "argument",
    [
        "--help",
        "-h",
        "--nonsense",
        "--marker-mm=wide",
        "--",
        "--json=1",
        "--marker-mm=nan",
        "--version",
    ],
)
def test_arguments_that_make_no_sense_settle_nothing(argument: str) -> None:
    members = bundles.unpack_zip(WHOLE, "bundle.zip")
    manifest = json.loads(members[bundles.MANIFEST_FILE])
    manifest["measure"] = ["photo.jpg", argument]
    members[bundles.MANIFEST_FILE] = json.dumps(manifest).encode()
    assert any(
        "the recorded arguments make no sense" in text for text in wrong(bundles.pack_zip(members))
    )


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "photo.jpg/x", "more.json"])
def test_strange_files_are_refused(name: str) -> None:
    members = bundles.unpack_zip(WHOLE, "bundle.zip") | {name: b"x"}
    with pytest.raises(BadInput, match="no bundle"):
        bundles.unpack_zip(bundles.pack_zip(members), "bundle.zip")


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all", WHOLE[:500], WHOLE[:-30]])
def test_what_is_no_bundle_is_one_line(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(data)
    assert main(["settle", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_json_holds_the_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(WHOLE.replace(b'"legion"', b'"legioN"', 1))
    assert main(["settle", "--json", "--quick", str(path)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["settled"]
    assert any(not finding["matches"] for finding in told["findings"])


# --- a bundle is data ---


def forged(*arguments: str) -> bytes:
    """A bundle whose recorded arguments somebody has written, with checksums that are right."""
    members = bundles.unpack_zip(WHOLE, "bundle.zip")
    del members[bundles.MANIFEST_FILE]
    return bundles.pack_zip(
        members | {bundles.MANIFEST_FILE: bundles._manifest(members, arguments)}
    )


def settled(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, str, str]:
    """The exit status, the output and the complaints of `overruler settle`."""
    path = tmp_path / "bundle.zip"
    path.write_bytes(data)
    status = main(["settle", str(path), *options])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    "argument",
    [
        *(
            "--help",
            "-h",
            "--version",
            "--scene=x.json",
            "--picture=x.png",
            "--doubt=x.png",
            "--geojson=x.geojson",
        ),
        *(
            "--board=/etc/passwd",
            "--board=../x.toml",
            "--board=README.txt/../../x",
            "--fix=/dev/zero",
        ),
        *("--lens=lens.toml", "--terrain=bundle.json/..", "--beside=/etc/hostname", "--beside=."),
    ],
)
def test_a_forged_record_settles_nothing_prints_no_help_and_reaches_nothing(
    argument: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = settled(forged(*ARGUMENTS, argument), tmp_path, capsys)
    assert (status, err) == (2, "")
    assert "usage:" not in out
    assert "UNKNOWN  the photo:" in out
    assert out.splitlines()[-1].startswith("cannot tell: not settled: 1 of")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.zip"]


@pytest.mark.parametrize("photo", ["/dev/zero", "scene.json", "../photo.jpg", "photo.png", ""])
def test_a_photo_is_one_of_the_bundles_own(
    photo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = settled(forged(photo, "--marker-mm=60"), tmp_path, capsys)
    assert status == 2
    assert "names what is no file of the bundle" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("photo.jpg", "--marker-mm=60", "--game", "legion"),
        ("photo.jpg", "--marker-mm", "60.0", "--bases=27,50"),
        ("photo.jpg", "--marker-mm=60.0", "--player=red=A/B \\\\ C", "--own-base=disc=33"),
        ("--game=legion", "--point=1,2=3,4", *("--point=5,6=7,8",) * 3, "photo.jpg"),
    ],
)
def test_bundles_of_older_programs_still_settle(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = settled(forged(*arguments), tmp_path, capsys)
    assert (status, out.splitlines()[-1]) == (0, "agreed: settled: everything matches")


def test_what_differs_is_said_in_word_and_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = json.loads(bundles.unpack_zip(WHOLE, "bundle.zip")["answer.json"])
    answer["range"] += 1
    data = resealed(answer_json=(json.dumps(answer) + "\n").encode())
    status, out, _ = settled(data, tmp_path, capsys)
    assert status == 1
    assert "DIFFERS  the question asked again" in out
    assert out.splitlines()[-1].startswith("differs: not settled: 1 of")
    status, out, _ = settled(data, tmp_path, capsys, "--json", "--quick")
    assert (status, json.loads(out)["outcome"]) == (1, "differs")


def test_a_quick_check_says_what_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = settled(WHOLE, tmp_path, capsys, "--quick")
    assert status == 0
    last = "agreed: what was checked matches; the photo was not measured anew (--quick)"
    assert out.splitlines()[-1] == last
    told = json.loads(settled(WHOLE, tmp_path, capsys, "--quick", "--json")[1])
    assert (told["settled"], told["outcome"], told["measured_anew"]) == (False, "agreed", False)
    told = json.loads(settled(WHOLE, tmp_path, capsys, "--json")[1])
    assert (told["settled"], told["outcome"], told["measured_anew"]) == (True, "agreed", True)


def test_other_names_are_no_other_count(
    measured: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = len(scene().pieces)
    measured["text"] = measured["text"].replace('"p03"', '"p30"')
    _, out, _ = settled(WHOLE, tmp_path, capsys)
    assert f"bases: {count} in place of {count}, by other names" in out


def test_a_bundle_of_a_newer_program_is_no_fraud(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = bundles.unpack_zip(WHOLE, "bundle.zip")
    text = members[bundles.MANIFEST_FILE].replace(b"bundle/1", b"bundle/2")
    data = bundles.pack_zip(members | {bundles.MANIFEST_FILE: text})
    status, out, _ = settled(data, tmp_path, capsys)
    assert status == 2
    assert "newer version" in out


def test_an_id_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "p\x1b[2J\ud800"
    text = scene_text(scene().to_json()).replace('"p01"', json.dumps(evil))
    files_now = files() | {"scene.json": text.encode()}
    data = bundles.make_bundle(files_now, ARGUMENTS, QUESTION | {"from": "p02", "to": "p03"})
    status, out, _ = settled(data, tmp_path, capsys)
    assert status in (0, 1)
    assert "\x1b" not in out


def test_what_fails_in_a_way_that_nobody_foresaw_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settle, "remeasured_scene_text", lambda members, say: 1 // 0)
    status, out, _ = settled(WHOLE, tmp_path, capsys)
    assert status == 2
    assert "ZeroDivisionError" in out


def test_a_bundle_may_come_through_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WHOLE)))
    assert main(["settle", "-"]) == 0
    assert bundles.fingerprint(WHOLE) in capsys.readouterr().out


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "/dev/random", "large", "."])
def test_no_pipe_device_or_giant_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with open("large", "wb") as file:
        file.truncate(10**12)
    begin = time.process_time()
    assert main(["settle", name]) == 2
    assert time.process_time() - begin < 5  # of the processor: a busy machine changes nothing
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("seed", range(3))
def test_no_damaged_or_forged_bundle_is_more_than_an_outcome_or_one_line(seed: int) -> None:
    counts, problems, _ = attack_bundles.run(WHOLE, count=150, seed=seed)
    assert not problems
    assert sum(counts.values()) == 150
    assert set(counts) <= {"agreed", "differs", "cannot tell", "refused"}

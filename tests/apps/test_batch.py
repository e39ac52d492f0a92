"""Many photos, each of a table of its own: folders, patterns, a folder that photos land in, CSV and a log."""

import argparse
import csv
import json
import logging
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from overruler.apps import measure
from overruler.apps.cli import main
from overruler.apps.measure import MeasureOptions, batch, batch_results, measuring
from overruler.apps.measure.batch import measure_all, watch_photos
from overruler.apps.measure.batch_results import Outcome
from overruler.apps.measure.outputs import CSV_COLUMNS
from overruler.apps.measure.photo_paths import FolderWatch, expand_patterns, photos_of
from overruler.apps.measure.summary import ruling_lines
from overruler.errors import BadInput, CannotMeasure
from overruler.report import Report
from overruler.sources.folder import find_photos
from overruler.writing import WriteFailed
from tests.reports import report

SCALE = ("--marker-mm", "60", "--jobs", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three photos, one of them of no table, and what is no photo."""
    for name in ("turn10.jpg", "turn2.JPG", "blank.png", "notes.txt", "._turn2.jpg"):
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


@pytest.fixture(autouse=True)
def look(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Replaces the slow work; holds the photos that were looked at. `blank.png` shows no marker."""
    seen: list[Path] = []

    def pretend(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        seen.append(given.photo)
        if given.photo.stem == "blank":
            raise CannotMeasure(f"{given.photo}: no marker was found: light the table")
        return report()

    monkeypatch.setattr(measuring, "measure_photo", pretend)
    monkeypatch.setattr(measure, "measure_photo", pretend)
    return seen


def test_a_folder_is_a_table_a_photo(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(folder), *SCALE]) == 3
    out, err = capsys.readouterr()
    photos = [line.partition(": ")[0] for line in out.splitlines()[:-1]]
    assert [Path(photo).name for photo in photos] == ["turn2.JPG", "turn10.jpg"]
    assert out.splitlines()[-1].startswith("2 of 3 photos measured in ")
    assert err == f"overruler: {folder / 'blank.png'}: no marker was found: light the table\n"


def test_films_in_a_folder_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("walk10.mp4", "walk2.MOV", ".hidden.mp4"):
        (folder / name).write_bytes(b"x")
    assert main(["measure", str(folder), *SCALE]) == 3
    said = capsys.readouterr().err
    told = f"{folder}: left out 2 films, walk2.MOV first: name a film to measure it"
    assert f"overruler: {told}\n" in said
    for photo in find_photos(folder):
        photo.unlink()
    assert main(["measure", str(folder), *SCALE]) == 2
    assert "holds no photos" in (said := capsys.readouterr().err)
    assert "name its films one by one" in said


def test_films_in_a_watched_folder_are_told_and_each_that_lands_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old.mp4").write_bytes(b"x")
    looks = iter(range(3))

    def sleep(seconds: float) -> None:
        (folder / "new.MTS").write_bytes(b"film")
        if next(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(
        batch, "watch_photos", lambda watch, handle: watch_photos(watch, handle, sleep)
    )
    photo = str(folder / "turn2.JPG")
    assert main(["measure", photo, str(folder / "."), "--watch", str(folder), *SCALE]) == 3
    films = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert films == [
        f"overruler: {folder}: left out old.mp4: name the film to measure it",
        f"overruler: {folder / 'new.MTS'}: is a film, and is left out: name it to measure it",
    ]


def test_each_photo_writes_files_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = [str(folder / "turn2.JPG"), str(folder / "turn10.jpg")]
    table = folder / "all.csv"
    files = ("--scene", str(folder / "{name}.json"), "--csv", str(table))
    assert main(["measure", "--each", "-q", *photos, *SCALE, *files]) == 0
    assert capsys.readouterr() == ("", "")
    assert json.loads((folder / "turn2.json").read_text())["pieces"]
    assert (folder / "turn10.json").exists()
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert {row["photo"] for row in rows} == set(photos)
    assert len(rows) == 2 * len(report().scene.pieces)
    assert float(rows[0]["x_mm"]) == report().scene.pieces[0].x_mm


def test_a_single_photo_gives_its_name_too(folder: Path) -> None:
    photo = folder / "turn2.JPG"
    scene = str(folder / "{name}.json")
    log = folder / "log"
    told = ["--scene", scene, "--log", str(log)]
    assert main(["measure", str(photo), "--marker-mm=60", "-q", *told]) == 0
    assert (folder / "turn2.json").exists()
    assert f" INFO {photo}: {len(report().scene.pieces)} pieces" in log.read_text()


def test_quiet_photos_still_answer_what_was_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = [str(folder / "turn2.JPG"), str(folder / "turn10.jpg")]
    asked = ["--ask", "range p01 p02"]
    assert main(["measure", "--each", "-q", *photos, *SCALE, *asked]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == photos
    assert main(["measure", photos[0], "--marker-mm=60", "-q", *asked]) == 0
    assert capsys.readouterr().out == "".join(f"{line.plain}\n" for line in ruling_lines(report()))


def test_json_is_a_line_a_photo(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(folder), *SCALE, "--json"]) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [("error" in line, "pieces" in line) for line in lines] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    assert all(Path(line["file"]).parent == folder for line in lines)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--scene", "one.json"], r"--scene: every photo needs a file of its own.*'{name}.json'"),
        (["--jobs", "0"], "--jobs: must be from 1 to 32, is 0"),
        (["--watch", "nowhere"], "--watch: nowhere is no folder"),
        (["-"], "standard input holds one photo"),
        (["--game", "legoin"], "did you mean 'legion'"),
        (["--watch", ".", "--picture", "./{name}.png"], "would land in the watched folder"),
    ],
)
def test_a_wrong_option_is_told_before_the_work(
    options: list[str], complaint: str, folder: Path, look: list[Path]
) -> None:
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    words = [*options, str(folder), "--marker-mm=60"]
    with pytest.raises(BadInput, match=complaint):
        measure.run(parser.parse_args(words))
    assert look == []


def test_two_photos_of_one_name_are_not_written_over_each_other(folder: Path) -> None:
    (folder / "turn2.png").write_bytes(b"x")
    arguments = ["measure", str(folder), "--marker-mm=60", "--scene", str(folder / "{name}.json")]
    assert main(arguments) == 2


@pytest.mark.parametrize("more", [["turn10.jpg"], ["--watch", "."], ["."]])
def test_the_corrections_of_one_photo_are_made_in_no_other(
    more: list[str],
    folder: Path,
    look: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    Path("fix.json").write_text('{"schema": "overruler/fix/1", "fix": []}')
    words = ["measure", "--each", "turn2.JPG", *SCALE, "--fix", "fix.json"]
    assert main([*words, *more]) == 2
    told = "overruler: --fix corrects one photo: measure that photo alone\n"
    assert (capsys.readouterr().err, look) == (told, [])
    assert main(words) == 0  # it is the only one


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--picture", "turn{name}.jpg"], "--picture: turn10.jpg: is read, and would be lost"),
        (["--csv", "own", "--board", "own"], "--csv: own: is read, and would be lost"),
        (["--csv", "10", "--scene", "{name}"], "--csv and --scene both name 10"),
    ],
)
def test_what_is_written_for_one_photo_replaces_no_other(
    options: list[str],
    said: str,
    folder: Path,
    look: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    Path("10.png").write_bytes(b"x")
    Path("own").write_bytes(b"x")
    scale = [] if "--board" in options else ["--marker-mm", "60"]
    assert main(["measure", "--each", "10.png", "turn10.jpg", *scale, *options]) == 2
    assert said in capsys.readouterr().err
    assert look == []


def test_patterns_are_expanded_where_no_shell_did(folder: Path) -> None:
    assert expand_patterns([folder / "turn*.jpg"]) == [folder / "turn10.jpg"]
    assert photos_of([folder / "turn10.jpg", folder / "*.png", folder]) == [
        folder / name for name in ("turn10.jpg", "blank.png", "turn2.JPG")
    ]
    with pytest.raises(BadInput, match="no file is named so"):
        expand_patterns([folder / "*.gif"])
    (folder / "odd[1].jpg").write_bytes(b"x")
    assert expand_patterns([folder / "odd[1].jpg"]) == [folder / "odd[1].jpg"]


def test_a_photo_is_taken_once_it_stands_still(folder: Path) -> None:
    watch = FolderWatch(folder)
    assert watch.poll() == []  # what lay there is old
    landing = folder / "new.jpg"
    landing.write_bytes(b"")
    assert [watch.poll(), watch.poll(), watch.poll()] == [[], [], []]  # nothing in it yet
    landing.write_bytes(b"half")
    assert watch.poll() == []
    landing.write_bytes(b"the whole photo")
    assert watch.poll() == []
    assert watch.poll() == [landing]
    assert watch.poll() == []
    os.utime(landing, ns=(1, 1))  # another photo under the same name
    assert [watch.poll(), watch.poll()] == [[], [landing]]


def test_watching_goes_on_until_it_is_interrupted(
    folder: Path,
    look: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def sleep(seconds: float) -> None:
        if not (folder / "new.jpg").exists():
            (folder / "new.jpg").write_bytes(b"photo")
        elif look:
            raise KeyboardInterrupt

    monkeypatch.setattr(
        batch, "watch_photos", lambda watch, handle: watch_photos(watch, handle, sleep)
    )
    assert main(["measure", "--watch", str(folder), *SCALE]) == 0
    assert look == [folder / "new.jpg"]
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"watching {folder}; Ctrl-C ends"
    assert out[1].startswith(f"{folder / 'new.jpg'}: ")


@pytest.mark.parametrize("as_json", [False, True])
def test_photos_that_landed_and_were_not_measured_are_named_at_the_end(
    as_json: bool,
    folder: Path,
    look: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One was being measured, one waited for its turn, and one had not stood still yet."""
    names = ("n0.jpg", "n1.jpg", "n2 b.jpg")

    def sleep(seconds: float) -> None:
        for name in names[:2]:
            (folder / name).write_bytes(b"photo")
            os.utime(folder / name, ns=(1, 1))

    def interrupt(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        (folder / names[2]).write_bytes(b"photo")
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure_photo", interrupt)
    monkeypatch.setattr(
        batch, "watch_photos", lambda watch, handle: watch_photos(watch, handle, sleep)
    )
    words = ["measure", "--watch", str(folder), *SCALE]
    assert main([*words, "--json"] if as_json else words) == 3
    out, err = capsys.readouterr()
    listed = shlex.join(str(folder / name) for name in names)
    told = "3 photos were not measured when the watch ended, and a new start may take them for old"
    assert err == f"overruler: {told}: overruler measure --each {listed}\n"
    if as_json:
        lines = [json.loads(line) for line in out.splitlines()]
        assert [Path(line["file"]).name for line in lines] == list(names)
        assert {line["error"] for line in lines} == {"was not measured when the watch ended"}
    else:
        assert out.splitlines()[-1].startswith("0 of 3 photos measured in ")


@pytest.mark.parametrize("watches", [True, False])
def test_photos_that_land_during_the_first_batch_are_named_where_it_is_interrupted(
    watches: bool,
    folder: Path,
    look: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """So are those of the batch that nobody has measured; without a watch Ctrl-C ends as ever."""

    def interrupt(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        if given.photo.name == "turn2.JPG":
            (folder / "new.jpg").write_bytes(b"photo")
            raise KeyboardInterrupt
        return report()

    monkeypatch.setattr(measuring, "measure_photo", interrupt)
    words = ["measure", str(folder), *SCALE, "--json"]
    if not watches:
        assert main(words) == 130
        return
    assert main([*words, "--watch", str(folder)]) == 3
    out, err = capsys.readouterr()
    names = ["turn2.JPG", "turn10.jpg", "new.jpg"]
    assert shlex.split(err)[-3:] == [str(folder / name) for name in names]
    lines = [json.loads(line) for line in out.splitlines()]
    assert [Path(line["file"]).name for line in lines] == ["blank.png", *names]
    assert ["error" in line for line in lines] == [False, True, True, True]


def test_of_many_photos_that_were_not_measured_the_first_are_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    photos = [Path(f"p {k}.jpg") for k in range(11)]
    with caplog.at_level(logging.INFO, "overruler.batch"):
        batch_results.Results(False, None).take_unmeasured(photos)
    told, *all_of_them = [record.getMessage() for record in caplog.records]
    assert told.endswith(": overruler measure --each 'p 0.jpg' 'p 1.jpg' 'p 2.jpg' and 8 more")
    assert len(all_of_them) == 11


@pytest.mark.parametrize("landing", ["turn2.png", "TURN2.jpeg"])
def test_a_photo_that_lands_under_the_name_of_another_replaces_no_files(
    landing: str,
    folder: Path,
    look: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The other one lay there before; a photo that replaces itself is measured again."""
    out = folder / "out"
    out.mkdir()
    (out / "turn2.json").write_text("of turn2.JPG")
    landed = [folder / landing, folder / "turn10.jpg"]
    monkeypatch.setattr(batch, "watch_photos", lambda watch, handle: list(map(handle, landed)))
    files = ("--scene", str(out / "{name}.json"), "--csv", str(out / "all.csv"))
    assert main(["measure", str(landed[1]), "--watch", str(folder), *SCALE, *files]) == 3
    said = capsys.readouterr().err
    assert "have one name: rename one" in said
    assert str(folder / "turn2.JPG") in said
    assert look == [landed[1], landed[1]]
    assert (out / "turn2.json").read_text() == "of turn2.JPG"
    rows = list(csv.DictReader((out / "all.csv").read_text().splitlines()))
    assert len(rows) == len(report().scene.pieces)


def test_a_photo_that_fails_leaves_none_of_its_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another photo replaced it under its name."""
    photo, table = folder / "turn10.jpg", folder / "all.csv"
    monkeypatch.setattr(batch, "watch_photos", lambda watch, handle: handle(photo))
    outcomes = iter([Outcome(photo, rows=[{"photo": str(photo)}]), Outcome(photo, "is blurred")])
    monkeypatch.setattr(batch, "measure_one", lambda request: next(outcomes))
    arguments = ["measure", str(photo), "--watch", str(folder), *SCALE, "--csv", str(table)]
    assert main(arguments) == 3
    assert list(csv.DictReader(table.read_text().splitlines())) == []


def test_a_table_of_pieces_is_rewritten_where_every_photo_fails(folder: Path) -> None:
    table = folder / "all.csv"
    table.write_text("of yesterday")
    blank = str(folder / "blank.png")
    assert main(["measure", "--each", blank, *SCALE, "--csv", str(table)]) == 3
    assert table.read_text().splitlines() == [",".join(CSV_COLUMNS)]


def test_a_table_that_cannot_be_written_costs_a_line_a_photo_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(path: Path, data: str) -> None:
        raise WriteFailed(path, "No space left on device")

    monkeypatch.setattr(batch_results, "write_atomically", fail)
    table = folder / "all.csv"
    photos = [str(folder / name) for name in ("turn2.JPG", "turn10.jpg")]
    assert main(["measure", "--each", *photos, *SCALE, "--csv", str(table)]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("2 of 2 photos measured in ")
    said = f"{table}: cannot be written: No space left on device: make room, or name another file"
    assert err.splitlines() == [f"overruler: {photo}: {said}" for photo in photos]


def test_processes_yield_the_photos_in_order() -> None:
    """Real processes, on files that are no photos: what fails is told for each."""
    from overruler.apps.settings.measure_request import MeasureRequest

    names = [Path(f"no-such-{k}.jpg") for k in range(3)]
    requests = [MeasureRequest(name, marker_mm=60.0) for name in names]
    outcomes = list(measure_all(requests, 2))
    assert [outcome.photo for outcome in outcomes] == names
    assert all("no such file" in outcome.error for outcome in outcomes)


def test_the_log_says_where_the_program_failed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(measuring, "measure_photo", fail)
    log = folder / "log.txt"
    photo = folder / "turn2.JPG"
    assert main(["measure", "--each", str(photo), *SCALE, "--log", str(log)]) == 3
    told = f"{photo}: this should not have happened (ZeroDivisionError): please report it\n"
    assert capsys.readouterr().err == f"overruler: {told}"
    assert ", in fail\n" in log.read_text()
    assert log.read_text().count("ZeroDivisionError: ours") == 1


def test_a_photo_has_one_line_whatever_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named, shown = "a\nb\x1b[31m  c.jpg", "a\\nb\\x1b[31m  c.jpg"
    photo = folder / named
    photo.write_bytes(b"x")
    log = folder / "log.txt"
    assert main(["measure", "--each", str(photo), *SCALE, "--log", str(log)]) == 0
    assert main(["measure", "--each", "-q", str(photo), *SCALE, "--ask", "range p01 p02"]) == 0
    out, err = capsys.readouterr()
    first, count, answer = out.splitlines()
    assert first.startswith(f"{folder / shown}: 5 pieces")
    assert answer.startswith(f"{folder / shown}: ")
    assert count.startswith("1 of 1 photo measured")
    assert err == ""
    assert len(log.read_text().splitlines()) == 2
    odd = folder / "a\nb  c"
    odd.mkdir()
    assert main(["measure", "--each", str(odd / "blank.jpg"), *SCALE]) == 3
    told = "blank.jpg: no marker was found: light the table"
    assert capsys.readouterr().err == f"overruler: {folder / 'a'}\\nb  c/{told}\n"


def test_the_summary_of_a_photo_has_its_lines_whatever_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = folder / "a\n\x1b[31m.json"
    log = folder / "log.txt"
    words = ["measure", str(folder / "turn2.JPG"), "--marker-mm=60", "--log", str(log)]
    assert main([*words, "--scene", str(scene)]) == 0
    out = capsys.readouterr().out
    assert f"written: {folder / 'a'}\\n\\x1b[31m.json\n" in out
    assert "\x1b" not in out


def test_the_log_has_steps_results_and_errors(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = folder / "log.txt"
    assert main(["measure", str(folder), *SCALE, "--log", str(log), "-v"]) == 3
    assert main(["measure", str(folder), *SCALE, "--log", str(log), "--lens", "none"]) == 2
    text = log.read_text()
    assert text.count(" INFO ") >= 2
    assert "WARNING" in text
    assert "ERROR none: " in text
    assert capsys.readouterr().err.count("no marker was found") == 1
    assert main(["measure", str(folder), *SCALE, "--log", str(folder / "no" / "log")]) == 2

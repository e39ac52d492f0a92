"""Options that contradict each other, and names that contradict what is written, are told in a line."""

import os
from pathlib import Path

import pytest

from overruler.apps import cli

MEASURE = ("measure", "table.jpg", "--marker-mm=60")
ANALYZE = ("analyze", "film.mp4", "--marker-mm=60")
LIVE = ("live", "film.mp4", "--marker-mm=60", "--port=0")
CONFIRM = ("confirm", "board.toml", "--across=99", "--along=99")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: files that nothing is read from, as wrong options are told first."""
    monkeypatch.chdir(tmp_path)
    for name in ("table.jpg", "film.mp4", "file", "scene.json"):
        Path(name).write_text(name)
    Path("board.toml").write_text("schema = 1\n[markers]\nsize_mm = 60.0\n")
    return tmp_path


def refusal(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    """What the program says of a command line that it refuses, writing nothing."""
    before = sorted(os.listdir())
    assert cli.main(words) == 2
    assert sorted(os.listdir()) == before
    said = capsys.readouterr()
    assert not said.out
    (line,) = said.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("words", "endings"),
    [
        ((*MEASURE, "--csv=pieces.png"), "--csv: pieces.png: the name must end in .csv"),
        (("measure", ".", "--csv=a.json"), "--csv: a.json: the name must end in .csv"),
        ((*MEASURE, "--scene=a.toml"), "--scene: a.toml: the name must end in .json"),
        ((*MEASURE, "--scene=A.PNG"), "--scene: A.PNG: the name must end in .json"),
        ((*MEASURE, "--picture=a.csv"), "must end in .jpg, .jpeg, .png, .svg, .gif or .webm"),
        ((*MEASURE, "--doubt=a.gif"), "must end in .jpg, .jpeg, .png or .svg"),
        ((*MEASURE, "--geojson=a.csv"), "must end in .geojson or .json"),
        ((*MEASURE, "--log=a.csv"), "--log: a.csv: the name must end in .log or .txt"),
        ((*ANALYZE, "--out=o", "--video=a.webm"), "--video: a.webm: the name must end in .mp4"),
        (("calibrate", "lens", "a.jpg", "--out=a.png"), "--out: a.png: the name must end in .toml"),
        (
            ("calibrate", "board", "a.jpg", "--marker-mm=60", "--out=a.json"),
            "--out: a.json: the name must end in .toml",
        ),
        (("teach", "table.jpg", "--taught=a.csv"), "--taught: a.csv: the name must end in .json"),
        ((*LIVE, "--names=a.toml"), "--names: a.toml: the name must end in .json"),
    ],
)
def test_a_name_that_says_another_kind_of_file_is_refused(
    words: tuple[str, ...], endings: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert endings in refusal(words, capsys)


@pytest.mark.parametrize("name", ["--csv=pieces", "--csv=pieces.v2", "--scene=a.scene"])
def test_a_name_that_says_nothing_is_good(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main((*MEASURE, name)) == 3  # it is the photo that is none
    assert "table.jpg: is not a picture" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*ANALYZE, "--out=file"), "--out: file: is a file: name a folder"),
        ((*ANALYZE, "--out=file/inner"), "--out: file: is a file: name a folder"),
        ((*ANALYZE, "--out=report.html"), "--out: report.html: a folder is made, and no .html"),
        (("demo", "--out=file/inner"), "--out: file: is a file: name a folder"),
        (("demo", "--out=page.html"), "--out: page.html: a folder is made, and no .html"),
        ((*LIVE, "--record=file"), "--record: file: is a file: name a folder"),
        ((*LIVE, "--record=file/inner"), "--record: file: is a file: name a folder"),
        ((*LIVE, "--record=a.mp4"), "--record: a.mp4: a folder is made, and no .mp4"),
        (("serve", "--port=0", "--store=file/inner"), "file: is a file: name a folder"),
        (("serve", "--port=0", "--store=a.zip"), "--store: a.zip: a folder is made, and no .zip"),
    ],
)
def test_a_folder_that_cannot_be_is_told(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refusal(words, capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*MEASURE, "--jobs=2"), "--jobs goes with many tables: give --each, a folder, or leave"),
        (("measure", "--watch=.", "--jobs=2"), "--jobs goes with photos that lie there"),
        ((*ANALYZE, "--out=o", "--workers=3"), "--workers goes with --engine dask"),
        (
            (*ANALYZE, "--out=o", "--engine=dask", "--scheduler=tcp://a:1", "--workers=3"),
            "--workers: the scheduler has its own",
        ),
        (("ask", "scene.json", "range p01 p02", "--strict"), "--strict goes with -"),
        (("live", "0", "--marker-mm=60", "--loop", "--port=0"), "--loop goes with a film"),
        (("live", "table.jpg", "--marker-mm=60", "--loop", "--port=0"), "--loop goes with a film"),
        (("teach", "table.jpg", "--taught=t.json", "--show"), "--show learns nothing"),
        (("teach", "table.jpg", "--taught=t.json", "--forget="), "--forget learns nothing"),
        (("teach", "--taught=t.json", "--show", "--checked"), "--checked goes with a photo"),
        (("teach", "--taught=t.json", "--show", "--forget"), "--show and --forget exclude"),
        (("config", "path", "--origin"), "--origin goes with overruler config show"),
        (("config", "check", "--board=6x3"), "--board goes with overruler config show"),
        (("gauge", "--out=a.pdf", "check", "table.jpg"), "--out is where the page to print goes"),
        (("markers", "--kit", *CONFIRM), "--kit goes with a sheet to print"),
        (("markers", "--paper=a4", *CONFIRM), "--paper goes with a sheet to print"),
        (("obs", "setup", "--out=a.webm"), "--out goes with overruler obs stinger"),
        (("obs", "stinger", "--out=a.webm", "--port=1"), "--port goes with overruler obs setup"),
    ],
)
def test_an_option_that_would_do_nothing_is_told(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refusal(words, capsys)


def test_the_paper_of_a_gauge_counts_before_and_behind_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    monkeypatch.setattr(
        "overruler.apps.gauge._print_readings", lambda args: read.append(args.paper)
    )
    cli.main(("gauge", "--paper=letter", "check", "table.jpg"))
    cli.main(("gauge", "check", "table.jpg", "--paper=letter"))
    cli.main(("gauge", "check", "table.jpg"))
    assert read == ["letter", "letter", "a4"]

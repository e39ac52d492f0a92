"""Options that contradict each other, and names that contradict what is written, are told in a line."""

import os
from pathlib import Path

import pytest

from overruler.apps import cli

MEASURE = ("measure", "table.jpg", "--marker-mm=60")
ANALYZE = ("analyze", "film.mp4", "--marker-mm=60")
LIVE = ("live", "film.mp4", "--marker-mm=60", "--port=0")
SCENE = """{"schema": "overruler/scene/1", "game": "legion",
"board": {"width_mm": 900, "height_mm": 900}, "pieces": [
{"id": "a", "base": {"shape": "circle", "diameter_mm": 27}, "x_mm": 0, "y_mm": 0},
{"id": "b", "base": {"shape": "circle", "diameter_mm": 27}, "x_mm": 99, "y_mm": 0}]}"""
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
        (("markers", "--charuco", "--count=0"), "--count does not go with --charuco"),
        (("obs", "stinger", "--out=a.webm", "--port=0"), "--port goes with overruler obs setup"),
        (("analyze", ".", "--out=o", "--engine=serial"), "--engine goes with films: leave it"),
        (("analyze", ".", "--out=o", "--segment-s=30"), "--segment-s goes with films: leave it"),
        (("analyze", ".", "--out=o", "--no-resume"), "--no-resume goes with films: leave it away"),
        (
            ("teach", "--taught=t.json", "--show", "--flat"),
            "--flat goes with a photo to learn from",
        ),
        (("teach", "a.zip", "--taught=t.json", "--board=6x3"), "--board goes with a photo: a.zip"),
        (("teach", "table.jpg", "--taught=t.json", "--player=red=A"), "unknown option --player"),
        (("obs", "setup", "--out=a.webm"), "--out goes with overruler obs stinger"),
        (("obs", "stinger", "--out=a.webm", "--port=1"), "--port goes with overruler obs setup"),
    ],
)
def test_an_option_that_would_do_nothing_is_told(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refusal(words, capsys)


XWING_RULE = "--house-rule=xwing.nearer_band=false"
XWING_RULE_TOLD = (
    "--house-rule xwing.nearer_band: changes nothing in legion: leave it away, or give --game xwing"
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*MEASURE, XWING_RULE), XWING_RULE_TOLD),
        ((*MEASURE, "--game=legion", XWING_RULE), XWING_RULE_TOLD),
        ((*MEASURE, "--each", XWING_RULE), XWING_RULE_TOLD),
        ((*ANALYZE, "--out=o", XWING_RULE), XWING_RULE_TOLD),
        ((*LIVE, XWING_RULE), XWING_RULE_TOLD),
        (("ask", "asked.json", "range a b", XWING_RULE), XWING_RULE_TOLD),
        ((*MEASURE, "--own-base=cart=25x50", "--bases=27"), "give --bases 27,cart, or leave"),
        ((*ANALYZE, "--out=o", "--own-base=a=30", "--bases=27"), "--own-base a: is not looked for"),
        ((*LIVE, "--own-base=a=30", "--bases=27"), "--own-base a: is not looked for, as --bases"),
        (
            ("teach", "table.jpg", "--taught=t.json", "--own-base=a=30", "--bases=27"),
            "--own-base a: is not looked for",
        ),
    ],
)
def test_what_a_table_has_of_its_own_is_told_where_it_changes_nothing(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("asked.json").write_text(SCENE)
    assert said in refusal(words, capsys)


@pytest.mark.parametrize(
    "own",
    [
        ("--game=xwing", XWING_RULE),
        ("--own-base=cart=25x50", "--bases=27,cart"),
        ("--own-base=cart=25x50", "--bases=27,50x25"),
        ("--player=red=A", "--player=red=A"),
    ],
)
def test_what_a_table_has_of_its_own_is_taken_where_it_counts(
    own: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main((*MEASURE, *own)) == 3  # it is the photo that is none
    assert "table.jpg: is not a picture" in capsys.readouterr().err


def test_the_users_own_file_may_hold_rules_and_bases_that_wait(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It serves all games and tables; what is typed beside it must count all the same."""
    text = "[table]\nbases = [27]\n[bases]\ncart = 30\n[rules.xwing]\nnearer_band = false\n"
    Path("config.toml").write_text(text)
    monkeypatch.setenv("OVERRULER_CONFIG", "config.toml")
    assert cli.main(MEASURE) == 3
    assert "table.jpg: is not a picture" in capsys.readouterr().err
    said = refusal((*MEASURE, "--own-base=sled=40"), capsys)
    assert "as bases in your own file lack it: give --bases 27,sled" in said


@pytest.mark.parametrize("command", [MEASURE, (*ANALYZE, "--out=o"), LIVE, ("serve", "--port=0")])
@pytest.mark.parametrize(
    ("option", "first", "second"),
    [
        ("--own-base", "a=30", "a=40"),
        ("--player", "red=A", "red=B"),
        ("--house-rule", "legion.any_part_within=true", "legion.any_part_within=false"),
    ],
)
def test_two_values_of_one_name_are_told(
    command: tuple[str, ...],
    option: str,
    first: str,
    second: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, _, value = first.partition("=")
    said = f"{option} {name}: is {value} and {second.partition('=')[2]}: give one of the two"
    assert said in refusal((*command, f"{option}={first}", f"{option}={second}"), capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*MEASURE, "--scene=fix.json", "--fix=fix.json"), "--scene: fix.json: is read, and"),
        ((*MEASURE, "--csv=table.jpg"), "--csv: table.jpg: is read, and would be lost"),
        ((*MEASURE, "--scene=./a.json", "--geojson=a.json"), "--scene and --geojson both name"),
        (("measure", "table.jpg", "link.jpg"), "PHOTO: table.jpg and link.jpg are one file"),
        (("calibrate", "lens", "a.jpg", "a.jpg"), "PHOTO: a.jpg is named twice: name each once"),
        (
            ("calibrate", "lens", "table.jpg", "--picture=table.jpg"),
            "--picture: table.jpg: is read",
        ),
        (
            ("calibrate", "board", "table.jpg", "--board=board.toml", "--out=board.toml"),
            "--out: board.toml: is read, and would be lost: name another file",
        ),
        ((*ANALYZE, "film.mp4", "--together", "--out=o"), "film.mp4 is named twice"),
        (
            (*ANALYZE, "right.mp4", "--together", "--out=o", "--video=right.mp4"),
            "--video: right.mp4: is the recording itself: choose another name",
        ),
        (("live", "0", "0", "--marker-mm=60", "--port=0"), "SOURCE: 0 is named twice: name each"),
    ],
)
def test_one_file_for_two_ends_is_told(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fix.json").write_text("{}")
    Path("link.jpg").symlink_to("table.jpg")
    Path("right.mp4").touch()
    assert said in refusal(words, capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("demo", "--out="), "--out: expected the name of a file or folder, found ''"),
        (("calibrate", "board", "a.jpg", "--marker-mm=60", "--name="), "--name: is empty: give"),
        (("calibrate", "board", "a.jpg", "--board=6x3"), "6x3: says already where its markers"),
        (("calibrate", "lens", "a.jpg", "--charuco=7000x9"), "a sheet has 3 to 100 squares a side"),
        (("calibrate", "lens", "a.jpg", "--square-mm=0"), "--square-mm: must be greater than 0"),
        (("calibrate", "lens", "a.jpg", "--lens=a"), "(see overruler calibrate lens --help)"),
        (("gauge", "check", "a.jpg", "--out=a.pdf"), "(see overruler gauge check --help)"),
        ((*LIVE, "--names=no/a.json"), "no/a.json: there is no folder no: make it first"),
        ((*LIVE, "--name="), "--name: is empty: give the name that the server is called by"),
        (("live", "http://", "--marker-mm=60", "--port=0"), "http://: names no host"),
        (("serve", "--port=0", "--keep=0"), "--keep: must be more than 0 and at most 36500 days"),
        (("serve", "--port=0", "--most-mb=1e-9"), "--most-mb: must be from 0.1 to 1000 MB"),
        (("config", "show", "--player=red"), "--player: expected a name, = and a value"),
    ],
)
def test_a_value_that_is_none_is_told(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refusal(words, capsys)


def test_a_sheet_is_not_written_without_its_board_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.toml").mkdir()
    words = ("markers", "--out=a.pdf", "--board-mm=900x900")
    assert "a.toml: is a folder: name a file in it" in refusal(words, capsys)


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


@pytest.mark.parametrize("photos", [["table.jpg"], ["table.jpg", "other.jpg"]])
def test_a_correction_of_a_photo_that_is_not_there_is_refused_before_any_photo_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    """The photos here are none: who reads them first complains of that."""
    Path("other.jpg").write_text("no photo")
    Path("fix.toml").write_text(
        'schema = "overruler/fix/1"\n[[fix]]\ndo = "move"\nid = "p01"\nxy_px = [1, 2]\nphoto = 2\n'
    )
    said = refusal(("measure", *photos, "--marker-mm=60", "--fix=fix.toml"), capsys)
    assert "fix.toml: fix[0]: photo = 2 is the third photo (0 is the first); only " in said

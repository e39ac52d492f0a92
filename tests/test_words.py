"""What the program says no with: what is wrong, and what to do about it."""

import ast
import io
import re
import socket
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import overruler
from overruler.apps.cli import main
from overruler.apps.commands import COMMANDS
from overruler.apps.web.phone.lan_address import describe_listen_error
from overruler.errors import BadInput, MissingExtra, UnknownName, did_you_mean
from overruler.reading import Node

PACKAGE = Path(overruler.__file__).parent
PASSED_ON = "…"
"""Stands for what is only known when the program runs."""


def spelled(node: ast.expr) -> str:
    """The text of a message, with `PASSED_ON` for each value in it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(spelled, node.values))
    if isinstance(node, ast.BinOp):
        return spelled(node.left) + spelled(node.right)
    return PASSED_ON


def complaints(*names: str) -> Iterator[tuple[str, str]]:
    """The place and the message of each complaint of these names in the program's code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in names
                and node.args
            ):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", spelled(node.args[0])


def has_remedy(message: str) -> bool:
    """Whether something follows what is wrong; a message that is handed on whole is judged where it is made."""
    text = re.sub(rf"^({PASSED_ON}|[\w ]+ {PASSED_ON}): ", "", message)
    return (
        text == PASSED_ON
        or text.endswith(PASSED_ON)
        or re.search(r"[;:?,(] ?\w|\?$", text) is not None
    )


def test_every_photo_that_cannot_be_measured_is_told_what_would_help() -> None:
    found = dict(complaints("CannotMeasure"))
    assert len(found) > 30
    assert not {place: message for place, message in found.items() if not has_remedy(message)}


def test_every_missing_part_is_named_with_the_command_that_brings_it() -> None:
    found = dict(complaints("MissingExtra"))
    assert found
    assert not [f"{place}: {message}" for place, message in found.items()
                if "pip install" not in message and not message.endswith(f": {PASSED_ON}")]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("", "pip install 'overruler[web]'"),
        ("uv-receipt.toml", "uv tool install 'overruler[web]'"),
        ("pipx_metadata.json", "pipx install --force 'overruler[web]'"),
    ],
)
def test_the_command_is_that_of_the_installer(
    file: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    if file:
        (tmp_path / file).touch()
    assert (
        str(MissingExtra.with_install_hint("the server is not installed", "web"))
        == f"the server is not installed: {command}"
    )


def test_every_extra_that_is_named_exists() -> None:
    calls = [node for path in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
             if isinstance(node, ast.Call) and ast.unparse(node.func) == "MissingExtra.with_install_hint"]  # fmt: skip
    extras = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert len(calls) > 5
    assert {ast.literal_eval(call.args[1]) for call in calls} <= set(extras)
    assert set(re.findall(r"\w+", extras["all"][0])) - {"overruler"} == set(extras) - {"all"}


def test_no_complaint_is_more_than_a_line_or_ends_in_a_full_stop() -> None:
    found = dict(complaints("CannotMeasure", "BadInput", "MissingExtra"))
    assert not [
        place
        for place, message in found.items()
        if "\n" in message or message.endswith((".", ":", "!"))
    ]


@pytest.mark.parametrize(
    "message", ["no marker was seen", "…: no marker was seen", "camera …: is dark", "… is too dark"]
)
def test_what_counts_as_a_remedy(message: str) -> None:
    assert not has_remedy(message)
    assert has_remedy(f"{message}; light the table")
    assert has_remedy(f"{message}: is the lamp on?")


# --- the nearest name ---


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("mesure", "measure"),
        ("analyse", "analyze"),
        ("Serve", "serve"),
        ("calibrat", "calibrate"),
        ("setle", "settle"),
    ],
)
def test_a_command_that_is_mistyped_is_told_the_nearest(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([typed]) == 2
    assert capsys.readouterr().err.endswith(f"; did you mean {meant!r}?\n")


def test_a_name_with_another_first_letter_must_be_more_alike() -> None:
    games = ("inches", "legion", "positioning")
    assert did_you_mean("chess", games) == ""
    assert did_you_mean("kegion", games) == "; did you mean 'legion'?"
    assert did_you_mean("legoin", games) == "; did you mean 'legion'?"


def test_what_is_like_nothing_is_told_no_nearest() -> None:
    assert did_you_mean("qqq", COMMANDS) == ""
    assert (
        str(UnknownName("game", "chess", ["legion"])) == "game: unknown name 'chess'; known: legion"
    )


def test_names_in_files_are_told_the_nearest_too() -> None:
    with pytest.raises(
        BadInput,
        match=r"a\.json: shape: unknown 'circel'; known: circle, oval; did you mean 'circle'",
    ):
        Node({"shape": "circel"}, "a.json")["shape"].choice(("circle", "oval"))


SIGMA_TOLD_PLAINLY = {"apps/markers.py", "board.py"}
"""An option that takes 1 σ, and the comment in a board file beside a key that holds it."""


def test_every_doubt_is_told_as_its_95_percent() -> None:
    """What people read holds no bare σ; keys of JSON named sigma are σ."""
    told = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in docstrings:
                continue
            if "1 σ" in str(node.value):
                told.add(path.relative_to(PACKAGE).as_posix())
    assert told == SIGMA_TOLD_PLAINLY


def test_where_one_word_is_known_no_other_is_meant() -> None:
    with pytest.raises(BadInput, match=r"known: overruler/fix/1$"):
        Node("overruler/scene/1", "a.json").choice(("overruler/fix/1",))


def test_an_address_of_another_machine_is_told_by_its_option() -> None:
    unknown = socket.gaierror(-2, "Name or service not known")
    assert describe_listen_error(unknown, "nowhere", 1).startswith("--host: nowhere is no address")
    taken = OSError(98, "Address already in use")
    assert describe_listen_error(taken, "::1", 1).endswith("already in use; --port chooses another")


# --- exit statuses ---


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["measure", "nothing.jpg", "--marker-mm=60"], 2, "nothing.jpg: no such file"),
        (["measure", "bare", "--marker-mm=60"], 2, "bare: holds no photos"),
        (["measure", "empty.jpg", "--marker-mm=60"], 3, "empty.jpg: "),
        (
            ["measure", "text.jpg", "--marker-mm=60"],
            3,
            "text.jpg: is not a picture that can be read; use JPEG, HEIC",
        ),
        (["measure", "text.jpg"], 3, "text.jpg: is not a picture that can be read; use JPEG, HEIC"),
        (["measure", "text.jpg", "--board=4x5"], 2, "is neither a file nor a known board"),
        (
            ["analyze", "g.mp4", "--board=auto", "--out=o"],
            2,
            "--board auto is for photos: name the board",
        ),
        (["measure", "text.jpg", "--board=text.jpg"], 2, "text.jpg: not TOML"),
        (["measure", "text.jpg", "--marker-mm=60", "--game=legoin"], 2, "did you mean 'legion'?"),
        (
            ["measure", "text.jpg", "--marker-mm=60", "--picture=a.bmp"],
            2,
            "must end in .jpg, .jpeg, .png, .svg, .gif or .webm",
        ),
        (["ask", "text.jpg", "{}"], 2, "text.jpg: not JSON"),
        (["ask", "photo.jpg", "{}"], 2, "is a picture, not text: overruler measure takes photos"),
        (["ask", "page.pdf", "{}"], 2, "page.pdf: is a PDF file, not text"),
        (["ask", "bare", "{}"], 2, "bare: is a folder: give a file"),
        (["measure", "photo.jpg", "--board=bundle.zip"], 2, "bundle.zip: is a ZIP file, not text"),
        (["ask", "empty.jpg", "{}"], 2, "empty.jpg: is empty: JSON belongs there"),
        (["ask", "-", "{}"], 2, "-: is empty: JSON belongs there"),
        (["ask", "nothing.json", "{}"], 2, "nothing.json: cannot be read: No such file"),
        (["analyze", "nothing.mp4", "--marker-mm=60", "--out=out"], 2, "nothing.mp4: no such file"),
        (
            ["calibrate", "lens", "text.jpg", "text.jpg", "--out=l.toml"],
            2,
            "is named twice: name each once",
        ),
        (["markers", "--out=nowhere/a.pdf"], 2, "there is no folder nowhere: make it first"),
        (["markers", "--out=a.txt"], 2, "the name must end in .pdf"),
        (
            ["measure", "text.jpg", "--marker-mm=abc"],
            2,
            ": --marker-mm: expected a number, found 'abc'",
        ),
        (
            ["measure", "text.jpg", "--marker-mm=nan"],
            2,
            ": --marker-mm: expected a number, found 'nan'",
        ),
        (["measure", "bare", "--jobs=2.5"], 2, ": --jobs: expected a whole number, found '2.5'"),
        (["serve", "--most-mb=inf"], 2, ": --most-mb: expected a number, found 'inf'"),
        (["serve", "--port=http"], 2, ": --port: expected a whole number, found 'http'"),
        (
            ["markers", "confirm", "b.toml", "--across=9", "--along=x"],
            2,
            ": --along: expected a length in mm",
        ),
        (
            ["teach", "text.jpg", "--taught=t.json"],
            3,
            "text.jpg: is not a picture that can be read",
        ),
        (["settle", "text.jpg"], 2, "text.jpg: is no bundle, and no ZIP file: give the ZIP file"),
        (["settle", "photo.jpg"], 2, "photo.jpg: is no bundle, but a picture: give the ZIP file"),
        (["settle", "bare"], 2, "bare: is a folder: give a file"),
        (["rules", "legoin"], 2, "did you mean 'legion'?"),
        (
            ["query", "nowhere", "select 1"],
            2,
            "nowhere: there is no such folder: give the folder that",
        ),
        (["query", "text.jpg", "select 1"], 2, "text.jpg: is a file: give the folder that"),
        (
            ["query", "bare", "select 1"],
            2,
            "bare: holds no tables: give the folder that overruler analyze",
        ),
        (["serve", "--port=99999"], 2, "--port: must be from 0 to 65535, is 99999"),
        (
            ["serve", "--tls-cert=text.jpg", "--tls-key=text.jpg"],
            2,
            "--tls-cert text.jpg and --tls-key text.jpg: are not a certificate and its key",
        ),
        (
            ["serve", "--tls-cert=no.pem", "--tls-key=text.jpg"],
            2,
            "no.pem: cannot be read: No such file",
        ),
        (
            ["serve", "--port=0", "--store=text.jpg"],
            2,
            "text.jpg: is a file: name a folder",
        ),
        (["demo", "--out=text.jpg"], 2, "--out: text.jpg: is a file: name a folder"),
        (["calibrate", "lens", "text.jpg", "--charuco=7"], 2, "--charuco: expected the squares"),
        (
            ["measure", "text.jpg", "--board=empty.jpg"],
            2,
            "empty.jpg: is empty: TOML belongs there",
        ),
        (
            ["measure", "text.jpg", "--board=scene.json"],
            2,
            "scene.json: is JSON: TOML belongs there",
        ),
        (["live"], 2, "SOURCE: name what shows the table: 0 for the first camera"),
        (["obs"], 2, "the following arguments are required: setup | stinger (see"),
        (["teach", "nothing.jpg", "--taught=t.json"], 2, "nothing.jpg: no such file: name a photo"),
        (
            ["teach", "bare", "--taught=t.json"],
            2,
            "bare: is a folder that no server keeps: name a photo",
        ),
        (["markers", "--count=60"], 2, "not 50: ask for fewer (--count), or name a larger one"),
        (["live", "0"], 2, "nothing says how large things are: give --board"),
        (["serve", "--keep=0"], 2, "--keep: must be more than 0"),
        (["serve", "--player=rde=Anna"], 2, "did you mean 'red'?"),
    ],
)
def test_a_complaint_is_one_line_and_a_status(
    arguments: list[str],
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    (tmp_path / "bare").mkdir()
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3")
    (tmp_path / "bundle.zip").write_bytes(b"PK\3\4\xff")
    (tmp_path / "text.jpg").write_text("no picture = at all")
    (tmp_path / "scene.json").write_text(' {"game": "legion"}')
    assert main(arguments) == status
    out, err = capsys.readouterr()
    assert said in err, err
    assert (out, err.count("\n")) == ("", 1)

"""The command line's manners: help that starts with an example, one line for what is wrong, the right status."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from overruler import __version__
from overruler.apps import cli
from overruler.apps.cli import main
from overruler.apps.commands import COMMANDS, WORD_EXAMPLES
from overruler.errors import (
    BadInput,
    CannotMeasure,
    MissingExtra,
    UnknownName,
    explain_import_error,
)


def overruler(
    *arguments: str, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "overruler", *arguments], capture_output=True, text=True, env=env
    )


def pretend(monkeypatch: pytest.MonkeyPatch, run: Callable[[argparse.Namespace], int]) -> None:
    """Put a module of a test's own behind every command."""
    module = SimpleNamespace(add_arguments=lambda parser: parser.add_argument("--flag"), run=run)
    monkeypatch.setattr(cli, "import_module", lambda name: module)


def raising(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(_: argparse.Namespace) -> int:
        raise error

    return run


def test_alone_it_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"overruler {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_a_real_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    first, second, third = capsys.readouterr().out.splitlines()[:3]
    assert first == COMMANDS[name][1]
    assert first.startswith(f"overruler {name}")
    assert (second, third[:6]) == ("", "usage:")


@pytest.mark.parametrize("name", ["measure", "markers"])
def test_the_examples_are_accepted_by_the_parser(name: str) -> None:
    from importlib import import_module

    arguments = COMMANDS[name][1].split()[2:]
    cli._command_parser(name, import_module(f"overruler.apps.{name}")).parse_args(arguments)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadInput("a.toml: is not UTF-8 text"), 2),
        (UnknownName("--game", "chess", ["legion"]), 2),
        (MissingExtra("needs fpdf2"), 2),
        (CannotMeasure("no marker was found:\nlight the table"), 3),
        (PermissionError(13, "Permission denied", "out.png"), 2),
        (ImportError("libGL.so.1: cannot open shared object file"), 2),
    ],
)
def test_an_error_is_one_line_and_a_status(
    error: Exception,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pretend(monkeypatch, raising(error))
    assert main(["measure"]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("overruler: ")
    assert err.count("\n") == 1


def test_an_unknown_import_error_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, raising(ImportError("cannot import name 'x'")))
    with pytest.raises(ImportError):
        main(["measure"])


def test_an_interrupt_is_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, raising(KeyboardInterrupt()))
    assert main(["measure"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "arguments",
    [["nope"], ["--nope"], ["measure", "--nope"], ["ask"], ["markers", "--paper", "a5"]],
)
def test_wrong_usage_is_one_line(arguments: list[str]) -> None:
    done = overruler(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("overruler: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "has_auto"),
    [("measure", True), ("teach", True), ("live", False), ("analyze", False)],
)
def test_a_board_that_is_found_is_offered_where_photos_are_measured(
    command: str, has_auto: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("auto, which holds where none of the three is given" in text) == has_auto


def test_abbreviated_options_are_no_options() -> None:
    """An option added later must not change what an old command line means."""
    assert overruler("markers", "--siz", "50").returncode == 2


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m overruler --help | true"
    code = (
        "import os, sys\n"
        "from overruler.apps.cli import main\n"
        "read, write = os.pipe(); os.close(read); os.dup2(write, 1)\n"
        "sys.exit(main([]))"
    )
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=buffered
    )
    assert done.stderr == ""
    assert done.returncode == 141
    for _ in range(3):
        run = subprocess.run(command, shell=True, capture_output=True, text=True, env=buffered)
        assert run.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "status", "at_once"),
    [(["measure"], 0, True), (["measure"], 2, False), (["serve"], 0, False), ([], 0, False)],
)
def test_only_what_leaves_nothing_open_ends_at_once(
    arguments: list[str], status: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which it would set for all tests that follow
    monkeypatch.setattr(sys, "argv", ["overruler", *arguments])
    monkeypatch.setattr(cli, "main", lambda: status)
    monkeypatch.setattr(os, "_exit", ends.append)
    if at_once:
        cli.run_process()
        assert ends == [status]
    else:
        with pytest.raises(SystemExit) as end:
            cli.run_process()
        assert (end.value.code, ends) == (status, [])


def test_output_that_cannot_be_encoded_is_no_error() -> None:
    done = overruler("doctor", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ImportError("libGL.so.1: cannot open shared object file: No such file"),
            "apt-get install -y libgl1 libglib2.0-0",
        ),
        (ImportError("libgthread-2.0.so.0: cannot open shared object file"), "libgthread-2.0.so.0"),
        (
            ImportError("libxcb.so.1: cannot open shared object file", name="cv2"),
            "lacks libxcb.so.1: apt-get",
        ),
        (
            ImportError("undefined symbol: PyObject", name="cv2"),
            "OpenCV does not load (undefined symbol: PyObject)",
        ),
        (
            ModuleNotFoundError("No module named 'cv2'", name="cv2"),
            "OpenCV is not installed: pip install",
        ),
    ],
)
def test_opencv_that_does_not_load_gets_its_remedy(error: ImportError, said: str) -> None:
    explained = explain_import_error(error)
    assert explained is not None
    assert said in str(explained)
    assert "\n" not in str(explained)


def test_other_import_errors_are_not_explained_away() -> None:
    assert explain_import_error(ImportError("cannot import name 'x' from 'y'")) is None


ENDED = """
import os
from overruler.apps import cli
cli.main = lambda: 0
try:
    cli.run_process()
except SystemExit:
    import numpy
    print(os.environ["OPENBLAS_NUM_THREADS"], len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there threads are counted so")
@pytest.mark.parametrize(("own", "told"), [({}, "1 1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2 2")])
def test_numpy_has_no_threads_of_its_own_unless_somebody_wants_them(
    own: dict[str, str], told: str
) -> None:
    others = {
        name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")
    }
    done = subprocess.run(
        [sys.executable, "-c", ENDED], capture_output=True, text=True, check=True, env=others | own
    )
    assert done.stdout.startswith(told)


@pytest.mark.parametrize("name", WORD_EXAMPLES)
def test_the_help_of_a_word_begins_with_its_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for word, example in WORD_EXAMPLES[name].items():
        assert example.startswith(f"overruler {name} {word}")
        assert main([name, word, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"{example}\n\nusage: ")

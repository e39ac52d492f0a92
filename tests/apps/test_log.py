"""What commands say of their work: `-q`, `-v` and `--log`, the same for all whose work takes long."""

import logging
import re
from argparse import Namespace
from pathlib import Path

import pytest

from overruler.apps.cli import main
from overruler.apps.process.log import keeping_log, say
from overruler.apps.web.live.watcher import TableStatus, _log_news
from overruler.errors import BadInput


def work() -> None:
    """A step, a problem that costs nothing, a result, and the error that ends it."""
    logging.getLogger("overruler.steps").info("looking")
    logging.getLogger("overruler.steps").warning("one film is damaged")
    say("3 moves")
    raise BadInput("scene.json: no such file")


@pytest.mark.parametrize(
    ("quiet", "verbose", "out", "err"),
    [
        (False, False, "3 moves\n", ["one film is damaged"]),
        (True, False, "", ["one film is damaged"]),
        (False, True, "3 moves\n", ["looking", "one film is damaged"]),
    ],
)
def test_results_steps_and_problems_go_where_they_should(
    quiet: bool, verbose: bool, out: str, err: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadInput), keeping_log(Namespace(quiet=quiet, verbose=verbose, log=None)):
        work()
    said = capsys.readouterr()
    assert said.out == out
    lines = said.err.splitlines()
    assert [re.sub(r"^overruler: ( *\d+ ms  )?", "", line) for line in lines] == err
    say("nobody asked")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("quiet", [False, True])
def test_a_log_file_has_all_of_it(quiet: bool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(BadInput), keeping_log(Namespace(quiet=quiet, verbose=False, log=log)):
        work()
    said = [line.split(maxsplit=2)[2] for line in log.read_text().splitlines()]
    assert said == [
        "INFO looking",
        "WARNING one film is damaged",
        "INFO 3 moves",
        "ERROR scene.json: no such file",
    ]


def test_what_nobody_foresaw_is_in_the_log_file_with_its_place(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        pytest.raises(ZeroDivisionError),
        keeping_log(Namespace(quiet=False, verbose=False, log=log)),
    ):
        1 / 0  # noqa: B018
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("command", ["measure", "analyze", "serve", "live"])
def test_all_commands_whose_work_takes_long_have_the_options(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert all(option in text for option in ("-q, --quiet", "-v, --verbose", "--log FILE"))


def test_why_no_pictures_come_is_a_warning_once(caplog: pytest.LogCaptureFixture) -> None:
    opening, lost = TableStatus(), TableStatus(lost="camera 0: cannot be opened")
    come, noted = TableStatus(lost=None), TableStatus(lost=None, notes=("a hand",))
    states = (opening, lost, lost, come, noted, noted)
    with caplog.at_level(logging.INFO, "overruler"):
        for before, after in zip((opening, *states), states, strict=False):
            _log_news(before, after)
    told = [(record.levelname, record.message) for record in caplog.records]
    assert told == [
        ("WARNING", "no picture: camera 0: cannot be opened"),
        ("INFO", "pictures come"),
        ("INFO", "a hand"),
    ]

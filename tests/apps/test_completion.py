"""Completion in the shell: a real bash asks the real program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overruler.apps.cli import main
from overruler.apps.commands import COMMANDS

TYPED = """
eval "$(overruler completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
read -ra COMP_WORDS <<< "$1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
$(complete -p overruler | sed 's/.*-F \\([^ ]*\\).*/\\1/') overruler
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""What bash does when the tabulator is pressed after a line."""


def completed(line: str, folder: Path) -> set[str]:
    program = folder / "bin" / "overruler"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m overruler "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", TYPED, "bash", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return {word.strip() for word in done.stdout.splitlines()} - {""}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("overruler mea", {"measure"}),
        ("overruler measure x.jpg --game ti", {"tide_of_iron"}),
        ("overruler measure x.jpg --board cl", {"club.toml"}),
        ("overruler measure x.jpg --house-rule leg",
         {"legion.ranged_in_contact=true", "legion.ranged_in_contact=false",
          "legion.any_part_within=true", "legion.any_part_within=false"}),
        ("overruler calibrate lens --ou", {"--out"}),
        ("overruler nothing --ou", set()),
    ],
)  # fmt: skip
def test_the_tabulator_completes_what_was_typed(line: str, words: set[str], tmp_path: Path) -> None:
    for name in ("club.toml", "club.jpg"):
        (tmp_path / name).touch()
    assert completed(line, tmp_path) == words


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_every_command_is_offered(tmp_path: Path) -> None:
    assert completed("overruler ", tmp_path) >= set(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_told_how_to_ask(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "overruler" in capsys.readouterr().out

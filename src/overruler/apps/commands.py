"""The program's commands, and the interface of their modules."""

import argparse
import os
from typing import Any, NoReturn, Protocol

COMMANDS = {
    "measure": (
        "measure a photo of the table",
        "overruler measure table.jpg --board legion-6x3 --game legion --picture ruling.png",
    ),
    "ask": (
        "ask a scene file for a ruling",
        """overruler ask scene.json '{"question": "range", "from": "p01", "to": "p02"}'""",
    ),
    "markers": (
        "make a sheet of markers to print",
        "overruler markers --paper a4 --size-mm 60 --out markers.pdf",
    ),
    "gauge": (
        "print a page that tells how accurate it is with your own camera",
        "overruler gauge --out gauge.pdf",
    ),
    "analyze": (
        "turn a film of a game into moves, positions, rulings and a page",
        "overruler analyze game.mp4 --board legion-6x3 --game legion --out games",
    ),
    "live": (
        "put range lines and rulings over a camera's picture, for a stream",
        "overruler live 0 --board legion-6x3 --game legion",
    ),
    "obs": ("put the live overlay into a running OBS", "overruler obs setup"),
    "calibrate": (
        "measure a lens once, or where a table's markers lie",
        "overruler calibrate lens sheet1.jpg sheet2.jpg sheet3.jpg --out lens.toml",
    ),
    "query": (
        "ask what analyze has written, in SQL",
        """overruler query games "select piece, sum(path_mm) from moves group by piece\"""",
    ),
    "games": (
        "list the games and presets that --game takes",
        "overruler games melee_1_chain_2",
    ),
    "rules": (
        "say what a game can be asked, and by which clauses it is ruled",
        "overruler rules legion",
    ),
    "config": ("say what the user's own file makes the default", "overruler config show --origin"),
    "serve": (
        "open the page for phones: photograph the table, tap two bases",
        "overruler serve --lan",
    ),
    "settle": (
        "check a dispute bundle: its files, answer and photo",
        "overruler settle dispute.zip",
    ),
    "demo": (
        "measure a sample photo, and show step by step how",
        "overruler demo --out demo --open",
    ),
    "schema": (
        "print the JSON Schema of a file, a question or an answer",
        "overruler schema scene",
    ),
    "completion": ("complete commands and options in the shell", "overruler completion bash"),
    "doctor": ("check what is installed", "overruler doctor"),
}
"""A line about each command, and the example that its help begins with."""
COMMANDS_WITH_USER_CONFIG = ("measure", "ask", "analyze", "live", "serve")
"""The commands whose options have defaults in the user's own file."""
COMMANDS_WITH_FILES_BETWEEN = ("measure", "analyze")
"""The commands that take files before, between and behind their options."""
COMMANDS_WITHOUT_TEARDOWN = ("measure",)
"""The commands that leave nothing to close: their process exits without teardown, 60 ms sooner."""


DEFAULT_COLUMNS = 80
"""Columns of a terminal that does not tell them."""
RIGHT_MARGIN_CHARS = 2
"""Columns that argparse leaves free at the right."""
MIN_HELP_CHARS = 40
"""Narrowest help: in a smaller terminal lines wrap."""


def _terminal_columns() -> int:
    """The terminal's columns: as `COLUMNS` says, else as the terminal does."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size().columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS


class Command(Protocol):
    """The module of a command."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class Parser(argparse.ArgumentParser):
    """An argument parser whose help begins with an example and whose errors are one line."""

    example = ""
    """The example."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        """The formatter, which is told the width: argparse loads much to find it, for each option."""
        width = max(_terminal_columns() - RIGHT_MARGIN_CHARS, MIN_HELP_CHARS)
        formatter: Any = self.formatter_class
        made: argparse.HelpFormatter = formatter(prog=self.prog, width=width)
        return made

    def format_help(self) -> str:
        text = super().format_help()
        return f"{self.example}\n\n{text}" if self.example else text

    def error(self, message: str) -> NoReturn:
        one_line = " ".join(message.split())
        self.exit(2, f"{self.prog.split()[0]}: {one_line} (see {self.prog} --help)\n")

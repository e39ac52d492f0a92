"""The program's commands, and the interface of their modules."""

import argparse
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, Protocol

COMMANDS = {
    "measure": (
        "measure a photo of the table",
        "overruler measure table.jpg --board legion-6x3 --game legion --picture ruling.png",
    ),
    "ask": (
        "ask a scene file for a ruling",
        'overruler ask scene.json "range p01 p02"',
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
    "teach": (
        "let corrected photos teach what is a piece on your table",
        "overruler teach table.jpg --fix fix.toml --taught table.json",
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
MORE_EXAMPLES = {
    "measure": (
        ('overruler measure table.jpg --ask "range p01 p02"', "answer a question"),
        ("overruler measure table.jpg --scene scene.json", "keep the scene, to ask it more"),
        ("overruler measure left.jpg right.jpg", "several photos of one table"),
        ("overruler measure photos --csv pieces.csv", "a folder: each photo is a table of its own"),
        ("overruler measure --watch photos", "each photo that lands in a folder"),
    ),
    "ask": (
        ('overruler ask scene.json "distance p01 p02" --units in', "lengths in inches too"),
        (
            """overruler ask scene.json '{"question": "distance", "from": "p01", "to": "p02"}'""",
            "in JSON",
        ),
        ("overruler ask scene.json - < questions.jsonl", "a question a line"),
    ),
    "markers": (
        ("overruler markers --board-mm 1828.8x914.4", "and the board file of a table of that size"),
        ("overruler markers --paper letter --out markers.pdf", "for American printers"),
        ("overruler markers --kit --out kit.pdf", "one page: four cards, a gauge, what to do"),
    ),
    "gauge": (("overruler gauge check photo.jpg", "read the error from a photo of the page"),),
    "analyze": (
        (
            "overruler analyze left.mp4 right.mp4 --together --board 6x3 --out games",
            "several cameras over one table",
        ),
        ("overruler analyze photos --board 6x3 --out games", "a folder: a photo a turn"),
    ),
    "obs": (("overruler obs stinger --out ruling.webm", "a film for the change to a ruling"),),
    "live": (
        ("overruler live 0 1 --board 6x3 --game legion", "two cameras over one table"),
        ("overruler live --record cast", "the results of a recording that was cut off"),
    ),
    "games": (("overruler games", "all of them"),),
    "rules": (("overruler rules", "all games in brief"),),
    "teach": (
        ("overruler teach dispute.zip --taught table.json", "from a dispute bundle"),
        ("overruler teach --show --taught table.json", "what was learned"),
        ("overruler teach --forget --taught table.json", "remove it all"),
    ),
    "config": (("overruler config path", "where the file is, or would be"),),
    "schema": (("overruler schema", "all that there are"),),
}
"""More examples of a command, each with what it does: what most people want comes first."""
WORD_EXAMPLES = {
    "obs": {
        "setup": "overruler obs setup",
        "stinger": "overruler obs stinger --out ruling.webm",
    },
    "config": {
        "show": "overruler config show --origin",
        "path": "overruler config path",
        "check": "overruler config check",
    },
}
"""Commands that take one of some words, with an example of each."""
COMMANDS_WITH_USER_CONFIG = ("measure", "ask", "analyze", "live", "serve", "teach")
"""The commands whose options have defaults in the user's own file."""
COMMANDS_WITH_FILES_BETWEEN = ("measure", "analyze", "live", "teach")
"""The commands that take files before, between and behind their options."""
COMMANDS_WITHOUT_TEARDOWN = ("measure",)
"""The commands that leave nothing to close: their process exits without teardown, 60 ms sooner."""


GIVEN = "given"
"""Name under which parsed options keep what the command line gave."""
UNRECOGNIZED = "unrecognized arguments: "
"""How argparse begins to complain of an option that there is none."""
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


class HelpFormatter(argparse.HelpFormatter):
    """Help whose first line names what must be given, and not all that may be."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap the lines of a text, but for those that are indented."""
        fill = super()._fill_text
        lines = text.splitlines()
        return "\n".join(
            fill(line, width, indent) if line and line[0] != " " else line for line in lines
        )

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: Any = None) -> None:
        """Write the usage with the options in one word, but for those that must be given."""
        if usage is None and prefix is None:  # a prefix: the beginning of a subcommand's usage
            required = [one for one in actions if one.required and one.option_strings]
            given = [f"{one.option_strings[0]} {one.metavar}" for one in required]
            files = [one for one in actions if not one.option_strings]
            texts = [self._format_args(one, one.dest) for one in files]
            usage = " ".join(["%(prog)s", *given, "[OPTION ...]", *texts])
        super().add_usage(usage, actions, groups, prefix)


def given_options(args: argparse.Namespace) -> argparse.Namespace:
    """The options as the command line gave them, without the defaults of the user's own file."""
    given: argparse.Namespace = getattr(args, GIVEN, args)
    return given


def refuse_options(args: argparse.Namespace, names: Iterable[str], problem: str) -> None:
    """Raise `BadInput` with a problem for the first option of some names that is given."""
    for name in names:
        value = getattr(args, name)
        if not (value is None or value is False or value == []):  # 0 is given
            from overruler.errors import BadInput

            raise BadInput(f"--{name.replace('_', '-')} {problem}")


class Command(Protocol):
    """The module of a command."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class Parser(argparse.ArgumentParser):
    """An argument parser whose help begins with an example and whose errors are one line."""

    example = ""
    """The example."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **options})

    def _get_formatter(self) -> argparse.HelpFormatter:
        """The formatter, which is told the width: argparse loads much to find it, for each option."""
        width = max(_terminal_columns() - RIGHT_MARGIN_CHARS, MIN_HELP_CHARS)
        formatter: Any = self.formatter_class
        made: argparse.HelpFormatter = formatter(prog=self.prog, width=width)
        return made

    def format_help(self) -> str:
        text = super().format_help()
        return f"{self.example}\n\n{text}" if self.example else text

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Say which word is most like one that is none of an option's."""
        if action.choices is not None and value not in action.choices:
            from overruler.errors import did_you_mean

            known = [*map(str, action.choices)]
            hint = did_you_mean(str(value), known)
            text = f"unknown {value!r}; known: {', '.join(known)}{hint}"
            raise argparse.ArgumentError(action, text)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Say what is wanted where no number is given, or no name; infinity and NaN are no numbers."""
        if action.type is Path and not arg_string:  # else it would be the folder one is in
            raise argparse.ArgumentError(action, "expected the name of a file or folder, found ''")
        try:
            value = super()._get_value(action, arg_string)
            if not isinstance(value, float) or math.isfinite(value):
                return value
        except argparse.ArgumentError:
            if action.type not in (int, float):
                raise
        wanted = "a whole number" if action.type is int else "a number"
        raise argparse.ArgumentError(action, f"expected {wanted}, found {arg_string!r}")

    def error(self, message: str) -> NoReturn:
        one_line = " ".join(message.split()).removeprefix("argument ")
        head, _, rest = one_line.partition(UNRECOGNIZED)
        if not head and rest.startswith("-"):
            from overruler.errors import did_you_mean

            option = rest.split()[0].partition("=")[0]
            one_line = f"unknown option {option}{did_you_mean(option, self._option_string_actions)}"
        self.exit(2, f"{self.prog.split()[0]}: {one_line} (see {self.prog} --help)\n")


class WordWithExample(argparse.Action):
    """A word such as `stinger` of `obs`: a help that is asked for behind it begins with its example."""

    def __init__(self, *, command: str, **options: Any) -> None:
        self._examples = WORD_EXAMPLES[command]
        words = tuple(self._examples)
        super().__init__(**options, choices=words, metavar=" | ".join(words))

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Keep the word, and its example for the help."""
        setattr(namespace, self.dest, values)
        parser.example = self._examples[values]


class SubcommandParser(Parser):
    """The parser of a word such as `lens` of `calibrate`: it refuses what it does not know by itself.

    Argparse would have the command's own parser complain, which knows other options.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and end the program where anything is left over."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"{UNRECOGNIZED}{' '.join(unknown)}")
        return parsed, unknown

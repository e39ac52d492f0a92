"""`overruler completion SHELL`: a script that completes commands, options and names in a shell.

The shell runs the program for each completion, so the script never goes out of date. Only the module of
the command on the line is loaded.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from overruler.apps.commands import COMMANDS, Command, Parser

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shell = (
        'the shell: eval "$(overruler completion bash)" in its start-up file, '
        "or overruler completion fish | source"
    )
    parser.add_argument("shell", choices=SHELLS, metavar=" | ".join(SHELLS), help=shell)


def run(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["overruler"], shell=args.shell))
    return 0


def complete() -> None:
    """Answer the completion request in the environment, and end the process."""
    import argcomplete

    parser = whole_parser(os.environ.get("COMP_LINE", ""))
    argcomplete.autocomplete(parser, always_complete_options="long")


def whole_parser(line: str) -> argparse.ArgumentParser:
    """A parser of all commands; only the command on the line has its options."""
    parser = Parser(prog="overruler", allow_abbrev=False)
    parser.add_argument("--version", action="store_true")
    commands = parser.add_subparsers(parser_class=Parser)
    typed = line.split()[1:2]
    for name, (about, _) in COMMANDS.items():
        inner = commands.add_parser(name, help=about, allow_abbrev=False)
        if typed == [name]:
            command: Command = import_module(f"overruler.apps.{name}")
            command.add_arguments(inner)
            _attach_completers(inner)
    return parser


def _attach_completers(parser: argparse.ArgumentParser) -> None:
    """Set the completer of each option that has one."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _attach_completers(inner)
        elif action.dest in COMPLETERS:
            action.completer = COMPLETERS[action.dest]  # type: ignore[attr-defined]


def _game_names(**_: Any) -> tuple[str, ...]:
    from overruler.apps.settings.game_choice import known_games

    return known_games()


def _dictionary_names(**_: Any) -> tuple[str, ...]:
    from overruler.board import DICTIONARIES

    return ("auto", *DICTIONARIES)


def _player_signs(**_: Any) -> list[str]:
    from overruler.house_rules import OWNER_SIGNS

    return [f"{sign}=" for sign in OWNER_SIGNS]


def _house_rule_values(**_: Any) -> list[str]:
    from overruler.games import GAMES
    from overruler.rules import game_of

    return [
        f"{game}.{name}={value}"
        for game in GAMES
        for name, setting in game_of(game).settings.items()
        for value in setting.words or ("true", "false")
    ]


def _toml_files(prefix: str = "", **_: Any) -> list[str]:
    """TOML files, and folders."""
    from argcomplete.completers import FilesCompleter

    return list(FilesCompleter(("toml",))(prefix))


COMPLETERS: Mapping[str, Callable[..., Any]] = {
    "game": _game_names,
    "by_game": _game_names,
    "dictionary": _dictionary_names,
    "player": _player_signs,
    "house_rule": _house_rule_values,
    "board": _toml_files,
    "lens": _toml_files,
    "terrain": _toml_files,
}
"""The completer of each option whose values are names or TOML files, by its `dest`."""

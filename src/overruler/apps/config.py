"""`overruler config`: where the user's own file lies, whether it is good, and what holds in the end."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overruler.apps.user_config import CONFIG_VARIABLE, SCALE_OPTIONS, Config, config_path
from overruler.board import Board
from overruler.games import GAMES
from overruler.lens import Lens
from overruler.rules import game_of

MEANING_WHEN_UNSET = {
    "game": "every base is looked for",
    "board": "has to be given, or marker_mm",
    "marker_mm": "has to be given, or board",
    "dictionary": "found in the photo",
    "lens": "found from the photo",
    "bases": "the game's, or the whole catalogue",
}
"""What holds where neither the file nor an option says anything."""
DEFAULT = "default"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from overruler.apps.measure import add_table_arguments

    what = "show what holds, print the file's path, or check the file"
    parser.add_argument(
        "what", choices=("show", "path", "check"), metavar="show | path | check", help=what
    )
    parser.add_argument(
        "--origin", action="store_true", help="with show: where each value comes from"
    )
    add_table_arguments(parser)


def run(args: argparse.Namespace) -> int:
    {"show": _print_effective, "path": _print_path, "check": _check_file}[args.what](args)
    return 0


def _print_path(args: argparse.Namespace) -> None:
    path = config_path()
    print(path if path is not None else f"none: {CONFIG_VARIABLE} is empty")


def _check_file(args: argparse.Namespace) -> None:
    path = config_path()
    config = Config.load_user_config()
    if "board" in config.table:
        Board.load(config.table["board"])
    if "lens" in config.table:
        Lens.load(config.table["lens"])
    if path is None or not path.exists():
        print(f"{path or 'none'}: there is no such file, so nothing is configured")
    else:
        print(f"{path}: good, {len(config.origin)} values")


def _print_effective(args: argparse.Namespace) -> None:
    lines = [*effective_lines(Config.load_user_config(), args)]
    width = max(len(text) for text, _ in lines) + 2
    for text, origin in lines:
        print(f"{text:<{width}}# {origin}" if args.origin and origin else text)


def effective_lines(config: Config, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Each line of the file that would say all that holds, and where its value comes from."""
    yield "[table]", ""
    scaled = any(getattr(args, name, None) for name in SCALE_OPTIONS)
    for key, otherwise in MEANING_WHEN_UNSET.items():
        option = getattr(args, key, None)
        kept = None if scaled and key in (*SCALE_OPTIONS, "dictionary") else config.table.get(key)
        if option is not None:
            yield _toml_line(key, option), f"option --{key.replace('_', '-')}"
        elif kept is not None:
            yield _toml_line(key, kept), config.origin[f"table.{key}"]
        else:
            yield f"# {key}: {otherwise}", DEFAULT
    for section, given, option in (
        ("bases", args.own_base, "--own-base"),
        ("players", args.player, "--player"),
    ):
        yield from _section_lines(
            config, section, dict(text.split("=", 1) for text in given if "=" in text), option
        )
    yield from _rule_lines(
        config, dict(text.split("=", 1) for text in args.house_rule if "=" in text)
    )


def _section_lines(
    config: Config, section: str, given: dict[str, str], option: str
) -> Iterator[tuple[str, str]]:
    kept = getattr(config, section)
    if kept or given:
        yield f"[{section}]", ""
    for key, value in {**kept, **given}.items():
        yield (
            _toml_line(key, value),
            f"option {option}" if key in given else config.origin[f"{section}.{key}"],
        )


def _rule_lines(config: Config, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    for game in GAMES:
        settings = game_of(game).settings
        if settings:
            yield f"[rules.{game}]", ""
        for name, setting in settings.items():
            key = f"{game}.{name}"
            if key in given:
                yield f"{name} = {given[key]}", "option --house-rule"
            elif key in config.rules:
                yield _toml_line(name, config.rules[key]), config.origin[f"rules.{key}"]
            else:
                yield _toml_line(name, setting.default), DEFAULT


def _toml_line(key: str, value: Any) -> str:
    if key == "bases":
        return f"{key} = {json.dumps(value.split(','), ensure_ascii=False)}"
    return f"{key} = {json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)}"

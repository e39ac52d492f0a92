"""`overruler config`: where the user's own file is, whether it is valid, and which values apply."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overruler.apps.commands import WordWithExample, refuse_options
from overruler.apps.settings.config_path import CONFIG_VARIABLE, config_path
from overruler.apps.settings.game_choice import user_presets
from overruler.apps.settings.house_options import (
    check_given_house_options,
    parse_pairs,
    read_house,
    read_own_bases,
)
from overruler.apps.settings.user_config import SCALE_OPTIONS, Config
from overruler.games import GAMES
from overruler.lens import Lens
from overruler.rules import game_of
from overruler.units import format_count

MEANING_WHEN_UNSET = {
    "game": "every base is looked for",
    "board": "found by the markers of a photo",
    "marker_mm": "the board's",
    "dictionary": "found in the photo",
    "lens": "found from the photo",
    "bases": "the game's, or the whole catalogue",
    "units": "as the game reads them",
    "taught": "corrections of other photos teach nothing",
}
"""What applies where neither the file nor an option sets a key."""
DEFAULT = "default"
"""The origin of a value that nobody set."""

OriginatedLine = tuple[str, str]
"""A line of a file, and the origin of its value."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from overruler.apps.settings.table_options import add_table_arguments, add_taught_argument

    what = "show what holds, print the file's path, or check the file"
    parser.add_argument("what", action=WordWithExample, command="config", help=what)
    origin = "with show: where each value comes from"
    parser.add_argument("--origin", action="store_true", help=origin)
    add_table_arguments(parser)
    add_taught_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.what != "show":
        options = [name for name in vars(args) if name != "what"]
        refuse_options(args, options, "goes with overruler config show: leave it away here")
    {"show": _print_effective, "path": _print_path, "check": _check_file}[args.what](args)
    return 0


def _print_path(args: argparse.Namespace) -> None:
    path = config_path()
    print(path if path is not None else f"none: {CONFIG_VARIABLE} is empty")


def _check_file(args: argparse.Namespace) -> None:
    path = config_path()
    config = Config.load_user_config()
    config.fill_defaults(args)
    _load_named_files(args)
    if path is None or not path.exists():
        print(f"{path or 'none'}: there is no such file, so nothing is configured")
    else:
        print(f"{path}: good, {format_count(len(config.origin), 'value')}")


def _load_named_files(args: argparse.Namespace) -> None:
    """Load the files that a measurement by these options would load; `BadInput` names what is wrong."""
    from overruler.apps.settings.known_boards import AUTO_BOARD, known_boards, load_board
    from overruler.vision.assembly.taught_pieces import load_taught

    if args.board and args.board != Path(AUTO_BOARD):
        load_board(args.board)
    if args.lens:
        Lens.load(args.lens)
    if args.taught:
        load_taught(args.taught)
    for error in user_presets().broken.values():
        raise error
    for _ in known_boards():
        pass


def _print_effective(args: argparse.Namespace) -> None:
    lines = list(effective_lines(Config.load_user_config(), args))
    width = max(len(text) for text, _ in lines) + 2
    for text, origin in lines:
        print(f"{text:<{width}}# {origin}" if args.origin and origin else text)


def effective_lines(config: Config, args: argparse.Namespace) -> Iterator[OriginatedLine]:
    """The lines of a file that would set all effective values."""
    yield "[table]", ""
    for key in MEANING_WHEN_UNSET:
        yield _table_line(config, args, key)
    check_given_house_options(args)
    house = read_house(args)
    read_own_bases(args.own_base)  # a wrong one is told
    own_bases = dict(parse_pairs("--own-base", args.own_base))
    yield from _section_lines(config, "bases", own_bases, "--own-base")
    yield from _section_lines(config, "players", house.players, "--player")
    yield from _rule_lines(config, house.rules)


def _table_line(config: Config, args: argparse.Namespace, key: str) -> OriginatedLine:
    option = getattr(args, key, None)
    if option is not None:
        return _toml_line(key, option), f"option --{key.replace('_', '-')}"
    has_scale = any(getattr(args, name, None) for name in SCALE_OPTIONS)
    overridden = has_scale and key in (*SCALE_OPTIONS, "dictionary")
    if key in config.table and not overridden:
        return _toml_line(key, config.table[key]), config.origin[f"table.{key}"]
    return f"# {key}: {MEANING_WHEN_UNSET[key]}", DEFAULT


def _section_lines(
    config: Config, section: str, given: Mapping[str, str], option: str
) -> Iterator[OriginatedLine]:
    configured = getattr(config, section)
    if configured or given:
        yield f"[{section}]", ""
    for key, value in {**configured, **given}.items():
        origin = f"option {option}" if key in given else config.origin[f"{section}.{key}"]
        yield _toml_line(key, value), origin


def _rule_lines(config: Config, given: Mapping[str, bool | str]) -> Iterator[OriginatedLine]:
    for game in GAMES:
        settings = game_of(game).settings
        if settings:
            yield f"[rules.{game}]", ""
        for name, setting in settings.items():
            key = f"{game}.{name}"
            if key in given:
                yield _toml_line(name, given[key]), "option --house-rule"
            elif key in config.rules:
                yield _toml_line(name, config.rules[key]), config.origin[f"rules.{key}"]
            else:
                yield _toml_line(name, setting.default), DEFAULT


def _toml_line(key: str, value: Any) -> str:
    if key == "bases":
        value = value.split(",")
    elif isinstance(value, Path):
        value = str(value)
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"

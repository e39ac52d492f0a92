"""What a user's own file says once for all commands: defaults for their options, and what is the table's own.

The file is only where options are kept: it is read where the command line is, and nothing below knows of it. So what a
bundle or a server notes down of a measurement needs nobody's file to be repeated.
"""

import argparse
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overruler.apps.house_options import check_house_rule, parse_own_base
from overruler.errors import BadInput, did_you_mean
from overruler.games import GAMES
from overruler.house_rules import OWNER_SIGNS
from overruler.reading import Node, read_text

CONFIG_VARIABLE = "OVERRULER_CONFIG"
"""Names another file; empty for none."""
SCALE_OPTIONS = ("board", "marker_mm", "point")
"""Of these one is given: what says how large things are."""


def config_path() -> Path | None:
    """Where the user's file is or would be; None where none is wanted."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named is not None:
        return Path(named).expanduser() if named else None
    from platformdirs import user_config_path

    return user_config_path("overruler", appauthor=False) / "config.toml"


@dataclass(frozen=True, slots=True)
class Config:
    """A file's values, as the options have them."""

    table: Mapping[str, Any] = field(default_factory=dict)
    """By the option's name: `game`, `board`, `marker_mm`, `dictionary`, `lens`, `bases`."""
    bases: Mapping[str, str] = field(default_factory=dict)
    players: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, bool] = field(default_factory=dict)
    """By game and setting, with a dot between."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """The file and line of each key: `table.game`, `players.red`."""

    @classmethod
    def load_user_config(cls) -> "Config":
        """The user's own; an empty one where there is no file. `BadInput` names the file and line of what is wrong."""
        path = config_path()
        if path is not None and path.exists():
            return cls.load(path)
        if os.environ.get(CONFIG_VARIABLE):
            raise BadInput(
                f"{CONFIG_VARIABLE} names {path}, which is not there: correct it, or unset it"
            )
        return cls()

    @classmethod
    def load(cls, path: Path) -> "Config":
        """Read a file."""
        document, lines = Node.of_toml(path), _key_lines(read_text(path))
        found: dict[str, dict[str, Any]] = {name: {} for name in _SECTION_READERS}
        origin = {}
        for section in _checked_keys(document, tuple(_SECTION_READERS), path, lines):
            inner = Node(document.value[section], f"{path}{_line_suffix(lines, section)}", section)
            for key, node in _section_values(inner, path, lines):
                found[section][key] = _SECTION_READERS[section](node, key)
                origin[f"{section}.{key}"] = node.name
        if "board" in found["table"] and "marker_mm" in found["table"]:
            raise BadInput(
                f"{origin['table.marker_mm']}: table has both board and marker_mm; keep one of the two"
            )
        if "dictionary" in found["table"] and "marker_mm" not in found["table"]:
            raise BadInput(
                f"{origin['table.dictionary']}: table.dictionary goes with marker_mm; a board names its own"
            )
        return cls(**found, origin=origin)

    def fill_defaults(self, args: argparse.Namespace) -> None:
        """Give the options that nobody gave the file's values, where a command has them."""
        if isinstance(getattr(args, "board", None), list):  # the server's: what can be chosen
            for name in ("board", "lens"):
                getattr(args, name).extend(value for value in [self.table.get(name)] if value)
        else:
            self._fill_table_options(args)
        for name, kept in (
            ("own_base", self.bases),
            ("player", self.players),
            ("house_rule", self.rules),
        ):
            if hasattr(args, name):
                setattr(
                    args,
                    name,
                    [f"{key}={_option_text(value)}" for key, value in kept.items()]
                    + getattr(args, name),
                )

    def _fill_table_options(self, args: argparse.Namespace) -> None:
        scaled = any(getattr(args, name, None) for name in SCALE_OPTIONS)
        for name, value in self.table.items():
            theirs = name in (*SCALE_OPTIONS, "dictionary") and scaled
            if hasattr(args, name) and getattr(args, name) is None and not theirs:
                setattr(args, name, value)


def _option_text(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


# --- reading ---


def _checked_keys(
    node: Node, known: tuple[str, ...], path: Path, lines: Mapping[str, int]
) -> list[str]:
    """The keys of an object, all of which must be `known`."""
    for key in node.keys():  # noqa: SIM118 - a Node is no dict
        if key not in known:
            inner = f"{node.path}.{key}" if node.path else key
            complaint = f"unknown key; known: {', '.join(known)}{did_you_mean(key, known)}"
            Node(None, f"{path}{_line_suffix(lines, inner)}", inner).fail(complaint)
    return list(node.keys())


def _section_values(section: Node, path: Path, lines: Mapping[str, int]) -> list[tuple[str, Node]]:
    """The values of a section by their keys, each named by its line; rules lie one deeper, by game."""
    if section.path == "table":
        _checked_keys(section, tuple(_TABLE_READERS), path, lines)
    if section.path == "players":
        _checked_keys(section, OWNER_SIGNS, path, lines)
    inner = {section.path: section}
    if section.path == "rules":
        games = _checked_keys(section, GAMES, path, lines)
        inner = {game: Node(section.value[game], f"{path}{_line_suffix(lines, f'rules.{game}')}", f"rules.{game}")
                 for game in games}  # fmt: skip
    return [
        (key if name == section.path else f"{name}.{key}",
         Node(value, f"{path}{_line_suffix(lines, f'{node.path}.{key}')}", f"{node.path}.{key}"))
        for name, node in inner.items() for key, value in node.object().value.items()
    ]  # fmt: skip


def _line_suffix(lines: Mapping[str, int], key: str) -> str:
    return f", line {lines[key]}" if key in lines else ""


def _key_lines(text: str) -> dict[str, int]:
    """The line of each plainly written key, `table.game`: TOML's reader tells none. Others go by key alone."""
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w.\s-]+?)\s*\]", line):
            section = re.sub(r"\s*\.\s*", ".", header[1])
            found.setdefault(section, number)
        elif key := re.match(r"""\s*(["']?)([\w-]+)\1\s*=""", line):
            found.setdefault(f"{section}.{key[2]}" if section else key[2], number)
    return found


def _read_file_path(node: Node, key: str) -> Path:
    """A file's path; one that is relative begins at the folder of the user's file."""
    name = node.name.removesuffix(re.search(r"(, line \d+)?$", node.name)[0])  # type: ignore[index]
    return Path(os.path.normpath(Path(name).parent / Path(node.text()).expanduser()))


def _read_dictionary(node: Node, key: str) -> str:
    from overruler.board import DICTIONARIES

    return node.choice(("auto", *DICTIONARIES))


def _read_bases(node: Node, key: str) -> str:
    return ",".join(_read_base_size(item) for item in node.items())


def _read_base_size(node: Node) -> str:
    """A base's size, which may be written as a number."""
    return f"{node.value:g}" if type(node.value) in (int, float) else node.text()


def _read_base(node: Node, key: str) -> str:
    parse_own_base(f"{node.name}: {node.path}", key, _read_base_size(node))
    return _read_base_size(node)


def _player(node: Node, key: str) -> str:
    return node.text() if node.text().strip() else node.fail("is empty: give the player's name")


def _read_rule(node: Node, key: str) -> bool:
    game, _, setting = key.partition(".")
    check_house_rule(f"{node.name}: rules.{game}", game, setting)
    return node.boolean()


_TABLE_READERS: Mapping[str, Callable[[Node, str], Any]] = {
    "game": lambda node, key: node.choice(GAMES),
    "board": _read_file_path,
    "marker_mm": lambda node, key: node.positive(),
    "dictionary": _read_dictionary,
    "lens": _read_file_path,
    "bases": _read_bases,
}
"""How each key of `table` is read: each is an option of the commands."""
_SECTION_READERS: Mapping[str, Callable[[Node, str], Any]] = {
    "table": lambda node, key: _TABLE_READERS[key](node, key),
    "bases": _read_base,
    "players": _player,
    "rules": _read_rule,
}

"""The user's own file: defaults for the options of all commands, and the table's own settings.

Only the command line reads the file. Nothing below knows of it, so the measurement that a bundle or
a server records can be repeated without it.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overruler.apps.settings.config_path import CONFIG_VARIABLE, config_path
from overruler.apps.settings.game_choice import choose_game
from overruler.apps.settings.house_options import (
    check_house_rule,
    find_base,
    parse_own_base,
    read_own_bases,
)
from overruler.bases import Base, read_base_size
from overruler.errors import BadInput
from overruler.games import GAMES, find_game
from overruler.house_rules import OWNER_SIGNS
from overruler.reading import Node, read_length
from overruler.reading.files import read_text
from overruler.rules import game_of
from overruler.units import UNITS, find_unit

SCALE_OPTIONS = ("board", "marker_mm", "point")
"""The options that set the scale of the photo, of which one is given."""

FILE_KEYS = ("board", "lens", "taught")
"""The keys of `table` that name files."""


@dataclass(frozen=True, slots=True)
class Config:
    """The values of a file."""

    table: Mapping[str, Any] = field(default_factory=dict)
    """Values of options by name: `game`, `board`, `marker_mm`, `dictionary`, `lens`, `bases`, `units`, `taught`."""
    bases: Mapping[str, str] = field(default_factory=dict)
    """Sizes of the table's own bases by name."""
    players: Mapping[str, str] = field(default_factory=dict)
    """Names of players by sign."""
    rules: Mapping[str, bool | str] = field(default_factory=dict)
    """Chosen values by game and setting, joined with a dot."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """File and line of each key, such as `table.game` or `players.red`."""

    @classmethod
    def load_user_config(cls) -> "Config":
        """Read the user's file; the result is empty where there is none.

        Raises `BadInput` with the file and line of what is wrong.
        """
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
        text = read_text(path)
        if not text.strip():
            return cls()
        file = _LocatedFile(path, _key_lines(text))
        document = Node.of_toml(path)
        values: dict[str, dict[str, Any]] = {name: {} for name in _SECTION_READERS}
        origin: dict[str, str] = {}
        for section in file.check_keys(document, tuple(_SECTION_READERS)):
            for key, node in file.section_values(document.value[section], section):
                values[section][key] = _SECTION_READERS[section](node, key)
                origin[f"{section}.{key}"] = node.name
        table = values["table"]
        if "board" in table and "marker_mm" in table:
            where = origin["table.marker_mm"]
            raise BadInput(f"{where}: table has both board and marker_mm; keep one of the two")
        if "dictionary" in table and "marker_mm" not in table:
            where = origin["table.dictionary"]
            raise BadInput(f"{where}: table.dictionary goes with marker_mm; a board names its own")
        return cls(**values, origin=origin)

    def fill_defaults(self, args: argparse.Namespace, makes_taught: bool = False) -> None:
        """Set the options that the user did not give, where the command has them.

        `makes_taught` says that the command makes the file of `taught`, which need not be there.

        Raises `BadInput` with the file and line of a value that names no file, board or base.
        """
        if isinstance(getattr(args, "board", None), list):  # the server's choices
            for name in ("board", "lens"):
                if self.table.get(name) and (file := self._find_file(name)):
                    getattr(args, name).append(file)
            args.units = args.units or self.table.get("units")
            if not args.taught and "taught" in self.table:
                args.taught = self._find_file("taught")
        else:
            files = [name for name in FILE_KEYS if not (makes_taught and name == "taught")]
            self._fill_table_options(args, files)
        sections: dict[str, Mapping[str, str | bool]] = {
            "own_base": dict(self.bases),
            "player": dict(self.players),
            "house_rule": dict(self.rules),
        }
        for name, values in sections.items():
            if hasattr(args, name):
                defaults = [f"{key}={_option_text(value)}" for key, value in values.items()]
                setattr(args, name, defaults + getattr(args, name))
        if self.table.get("bases") and getattr(args, "bases", None) is self.table["bases"]:
            self._check_bases(read_own_bases(args.own_base))

    def _fill_table_options(self, args: argparse.Namespace, files: Sequence[str]) -> None:
        has_scale = any(getattr(args, name, None) for name in SCALE_OPTIONS)
        for name, value in self.table.items():
            if has_scale and name in (*SCALE_OPTIONS, "dictionary"):
                continue
            if hasattr(args, name) and getattr(args, name) is None:
                if name in files:
                    self._find_file(name)
                setattr(args, name, value)

    def _find_file(self, name: str) -> Path | None:
        """The file that a key of `table` names; None for a board that is known without a file."""
        path, where = self.table[name], self._where(name)
        if path.is_absolute():
            if not path.is_file():
                problem = (
                    "is a folder: name a file in it" if path.is_dir() else "there is no such file"
                )
                raise BadInput(f"{where}: {path}: {problem}")
            return Path(path)
        from overruler.apps.settings import known_boards  # it loads much

        if path == Path(known_boards.AUTO_BOARD):
            return None
        return known_boards.own_board_file(path, where)

    def _check_bases(self, own: Mapping[str, Base]) -> None:
        for part in self.table["bases"].split(","):
            try:
                find_base(part, own)
            except BadInput as error:
                raise BadInput(f"{self._where('bases')}: {error}") from None

    def _where(self, name: str) -> str:
        return f"{self.origin[f'table.{name}']}: table.{name}"


def _option_text(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


# --- reading ---


@dataclass(frozen=True, slots=True)
class _LocatedFile:
    """A file whose error messages name the line."""

    path: Path
    lines: Mapping[str, int]
    """Line number of each key, by its dotted path."""

    def node(self, value: Any, path: str) -> Node:
        """A node whose name is the file and the line of its key."""
        line = f", line {self.lines[path]}" if path in self.lines else ""
        return Node(value, f"{self.path}{line}", path)

    def check_keys(self, node: Node, known: tuple[str, ...]) -> list[str]:
        """The keys of an object, which must all be `known`."""
        for key in node.keys():  # noqa: SIM118 - a Node is no dict
            line = self.node(None, f"{node.path}.{key}" if node.path else key).name
            Node({key: None}, line, node.path).reject_unknown_keys(known)
        return list(node.keys())

    def section_values(self, value: Any, path: str) -> Iterator[tuple[str, Node]]:
        """The keys and values of a section. Those of `rules` lie one level deeper, by game."""
        section = self.node(value, path)
        if path == "rules":
            for key in section.object().value:
                if "." in key:
                    section[key].fail(f"is in quotes, as one name: write {key} = ... without them")
            games = {find_game(key) or key: key for key in section.object().value}
            self.check_keys(Node(games, section.name, path), GAMES)
            for game, spelled in games.items():
                rules = self.node(section.value[spelled], f"{path}.{spelled}")
                for key, node in self._children(rules):
                    yield f"{game}.{key}", node
            return
        if path == "table":
            self.check_keys(section, tuple(_TABLE_READERS))
        if path == "players":
            self.check_keys(section, OWNER_SIGNS)
        yield from self._children(section)

    def _children(self, node: Node) -> Iterator[tuple[str, Node]]:
        for key, value in node.object().value.items():
            yield key, self.node(value, f"{node.path}.{key}")


def _key_lines(text: str) -> dict[str, int]:
    """The line of each key in plain syntax, by its dotted path; `tomllib` does not report lines."""
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w.\s-]+?)\s*\]", line):
            section = re.sub(r"\s*\.\s*", ".", header[1])
            lines.setdefault(section, number)
        elif key := re.match(r"""\s*(["']?)([\w-]+)\1\s*=""", line):
            lines.setdefault(f"{section}.{key[2]}" if section else key[2], number)
    return lines


def _read_file_path(node: Node, key: str) -> Path:
    """Read a path, which is relative to the folder of the user's file."""
    file = re.sub(r", line \d+$", "", node.name)
    return Path(os.path.abspath(Path(file).parent / Path(node.text()).expanduser()))


def _read_board(node: Node, key: str) -> Path:
    """Read a board's file as an absolute path, or its name, which has no folder and no ending."""
    path, name = _read_file_path(node, key), Path(node.text())
    is_file = path.is_file() or not name.name or name.suffix or name.parent != Path()
    return path if is_file else name


def _read_game(node: Node) -> str:
    choose_game(node.text(), f"{node.name}: {node.path}")
    return node.text()


def _read_dictionary(node: Node, key: str) -> str:
    from overruler.board import read_dictionary

    return read_dictionary(node)


def _read_bases(node: Node, key: str) -> str:
    bases = [read_base_size(item) for item in node.items()]
    return ",".join(bases) if bases else node.fail("is empty: name a base, or leave bases away")


def _read_base(node: Node, key: str) -> str:
    size = read_base_size(node)
    parse_own_base(f"{node.name}: {node.path}", key, size)
    return size


def _read_player(node: Node, key: str) -> str:
    return node.text() if node.text().strip() else node.fail("is empty: give the player's name")


def _read_rule(node: Node, key: str) -> bool | str:
    game, _, setting = key.partition(".")
    check_house_rule(f"{node.name}: rules.{game}", game, setting)
    return game_of(game).settings[setting].read(node)


_TABLE_READERS: Mapping[str, Callable[[Node, str], Any]] = {
    "game": lambda node, key: _read_game(node),
    "board": _read_board,
    "marker_mm": lambda node, key: read_length(node),
    "dictionary": _read_dictionary,
    "lens": _read_file_path,
    "bases": _read_bases,
    "units": lambda node, key: find_unit(node.text()) or node.choice(UNITS),
    "taught": _read_file_path,
}
"""The reader of each key of `table`; each key is an option of the commands."""
_SECTION_READERS: Mapping[str, Callable[[Node, str], Any]] = {
    "table": lambda node, key: _TABLE_READERS[key](node, key),
    "bases": _read_base,
    "players": _read_player,
    "rules": _read_rule,
}
"""The reader of the values of each section."""

"""The look of the overlay: a TOML file that a caster edits while the overlay is on air."""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overruler.errors import BadInput
from overruler.picture.banner import DETAIL_COLOUR
from overruler.picture.svg import BLACK, WHITE
from overruler.reading import Node
from overruler.reading.files import read_bytes

SCHEMA = "overruler/look/1"
MAX_LOGO_BYTES = 500_000
"""Largest file of a logo."""
LOGO_SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
"""The first bytes of the kinds of pictures that a logo may be."""
TEAM_COLOURS = ("#e0559b", "#20b2aa", "#e8c21a", "#a9746e")
"""Colours of players who have none, in their order: none is an answer's, all differ in lightness."""
COLOUR_WORDS: Mapping[str, str] = {
    "red": "#e5383b",
    "blue": "#4d8dff",
    "green": "#3fae5a",
    "yellow": "#f2c624",
    "orange": "#ff9a3c",
    "purple": "#a06bff",
    "pink": "#ef6fb2",
    "white": "#f4f4f4",
    "black": "#5a6068",
    "grey": "#a7adb5",
}
"""Colours by the words for them, each visible on a dark plate."""
MIN_SIZE = 0.5
"""Smallest scale of plates and words."""
MAX_SIZE = 2.0
"""Largest scale of plates and words."""
MAX_CORNER = 40.0
"""Largest radius of a plate's corners, in units of the view."""
_HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class PlayerLook:
    """How a player is shown; what is empty is not known."""

    name: str = ""
    colour: str = ""
    logo: str = ""
    """A picture as a `data:` address."""


@dataclass(frozen=True, slots=True)
class Look:
    """The look of all plates."""

    plate: str = BLACK
    """Colour of a plate."""
    plate_opacity: float = 0.88
    ink: str = WHITE
    """Colour of large words."""
    soft: str = DETAIL_COLOUR
    """Colour of small words."""
    edge: str = WHITE
    """Colour of a plate's edge."""
    corner: float = 9.0
    """Radius of a plate's corners, in units of the view."""
    size: float = 1.0
    """Scale of all plates and words."""
    logo: str = ""
    """The show's logo, as a `data:` address."""
    players: Mapping[str, PlayerLook] = field(default_factory=dict)

    def with_player(self, player: str, changes: PlayerLook) -> "Look":
        """The same with what is known of a player's look in place of what was."""
        before = self.players.get(player, PlayerLook())
        after = PlayerLook(
            changes.name or before.name,
            changes.colour or before.colour,
            changes.logo or before.logo,
        )
        return replace(self, players={**self.players, player: after})


def read_look(path: Path) -> Look:
    """Read a look; `BadInput` names what is wrong."""
    node = Node.of_toml(path)
    node["schema"].choice((SCHEMA,))
    values: dict[str, Any] = {
        key: read(node[key]) for key, read in _READER_BY_KEY.items() if node.has(key)
    }
    node.reject_unknown_keys(_KEYS, "is no part of a look")
    look = Look(**values, logo=_read_logo(node, path.parent))
    if not node.has("players"):
        return look
    for name in node["players"].keys():  # noqa: SIM118 - a Node is no dict
        look = look.with_player(name, _read_player(node["players"][name], path.parent))
    return look


def _read_player(node: Node, folder: Path) -> PlayerLook:
    node.reject_unknown_keys(("name", "colour", "logo"), "is no part of a player's look")
    name = node["name"].text() if node.has("name") else ""
    colour = parse_colour(node["colour"]) if node.has("colour") else ""
    return PlayerLook(name, colour, _read_logo(node, folder))


def _read_between(low: float, high: float) -> Callable[[Node], float]:
    """Make a reader of a number from `low` to `high`."""

    def read(node: Node) -> float:
        value = node.number()
        if not low <= value <= high:
            node.fail(f"must be from {low:g} to {high:g}, is {value:g}")
        return value

    return read


def parse_colour(node: Node) -> str:
    """Read a colour: `#1b7fdc`, or one of `COLOUR_WORDS`."""
    text = node.text().strip().lower()
    if text in COLOUR_WORDS:
        return COLOUR_WORDS[text]
    if not _HEX_COLOUR.fullmatch(text):
        node.fail(f"is no colour: write #rrggbb, or one of {', '.join(COLOUR_WORDS)}")
    return text


def _read_logo(node: Node, folder: Path) -> str:
    if not node.has("logo"):
        return ""
    path = folder / node["logo"].text()
    try:
        data = read_bytes(path, MAX_LOGO_BYTES)
    except BadInput as error:
        node["logo"].fail(str(error))
    kinds = [kind for start, kind in LOGO_SIGNATURES.items() if data.startswith(start)]
    if not kinds:
        node["logo"].fail(f"{path}: must be a PNG or JPEG of at most {MAX_LOGO_BYTES // 1000} kB")
    return f"data:{kinds[0]};base64,{base64.b64encode(data).decode()}"


_READER_BY_KEY: Mapping[str, Callable[[Node], Any]] = {
    **dict.fromkeys(("plate", "ink", "soft", "edge"), parse_colour),
    "plate_opacity": _read_between(0.0, 1.0),
    "corner": _read_between(0.0, MAX_CORNER),
    "size": _read_between(MIN_SIZE, MAX_SIZE),
}
_KEYS = ("schema", *_READER_BY_KEY, "logo", "players")


@dataclass(slots=True)
class LookFile:
    """A look's file, read again whenever it has changed."""

    path: Path | None = None
    problem: str = ""
    """What is wrong with the file as it is now; empty if nothing is."""
    _look: Look = field(default_factory=Look)
    _stamp: tuple[int, int] = (0, 0)

    def current(self) -> Look:
        """The look; while the file is wrong, the last that was right."""
        stamp = self._read_stamp()
        if self.path is not None and stamp != self._stamp:
            self._stamp = stamp
            try:
                self._look, self.problem = read_look(self.path), ""
            except BadInput as error:
                self.problem = str(error)
        return self._look

    def _read_stamp(self) -> tuple[int, int]:
        try:
            status = self.path.stat() if self.path is not None else None
        except OSError:
            return (-1, -1)
        return (status.st_mtime_ns, status.st_size) if status else (0, 0)

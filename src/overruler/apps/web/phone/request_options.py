"""What a client may say of a photo, and the arguments of `overruler measure` that come of it.

Nothing that it says becomes a path: boards and lenses are chosen by the names of those that the server was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from overruler.apps.markers import board_file
from overruler.apps.web.faults import UploadRefused
from overruler.errors import UnknownName
from overruler.games import GAMES
from overruler.picture.marker_cards import CardSet

MM_PER_FOOT = 304.8
USUAL_TABLES_FT = ((6, 3), (6, 4), (4, 4), (3, 3), (2, 2))
"""Tables that the usual cards lie round: those of `overruler markers --board-mm`."""
BOARD_FILE, LENS_FILE = "board.toml", "lens.toml"
QUERY_KEYS = ("game", "table", "marker_mm", "dictionary", "points", "bases", "lens")
MAX_VALUE_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Choices:
    """The boards and lenses that the server knows, by name: the text of their files."""

    boards: Mapping[str, str] = field(default_factory=dict)
    lenses: Mapping[str, str] = field(default_factory=dict)
    common_arguments: tuple[str, ...] = ()
    """Arguments of `overruler measure` for all photos: the tables' own bases, players and rules."""


@dataclass(frozen=True, slots=True)
class PhotoOptions:
    """How a photo is to be measured."""

    game: str
    table: str
    """For people."""
    arguments: tuple[str, ...]
    """Of `overruler measure`, without the photo."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What must lie beside the photo."""


@cache
def usual_boards() -> dict[str, str]:
    """The board files of the usual tables, by name."""
    return {
        f"{width}x{height} ft": board_file(
            CardSet(), width * MM_PER_FOOT, height * MM_PER_FOOT, f"{width}x{height} ft"
        )
        for width, height in USUAL_TABLES_FT
    }


def read_photo_options(said: Mapping[str, str], choices: Choices) -> PhotoOptions:
    """What the query of a request asks for; `UploadRefused` or `UnknownName` where it makes no sense."""
    for key, value in said.items():
        if key not in QUERY_KEYS:
            raise UnknownName("query", key, QUERY_KEYS)
        if len(value) > MAX_VALUE_CHARS:
            raise UploadRefused(f"{key}: is too long", 422)
    game = said.get("game", GAMES[0])
    if game not in GAMES:
        raise UnknownName("game", game, GAMES)
    table, arguments, files = _table_options(said, choices)
    for key in ("bases",):
        arguments += [f"--{key}={said[key]}"] if said.get(key) else []
    if lens := said.get("lens"):
        files |= {LENS_FILE: _find_choice("lens", lens, choices.lenses)}
        arguments += ["--lens", LENS_FILE]
    return PhotoOptions(game, table, (*arguments, *choices.common_arguments, "--game", game), files)


def _table_options(
    said: Mapping[str, str], choices: Choices
) -> tuple[str, list[str], dict[str, str]]:
    given = [key for key in ("table", "marker_mm", "points") if said.get(key)]
    if len(given) != 1:
        raise UploadRefused("say what is known of the table: one of table, marker_mm, points", 422)
    value = said[given[0]]
    if given == ["table"]:
        return (
            value,
            ["--board", BOARD_FILE],
            {BOARD_FILE: _find_choice("table", value, choices.boards)},
        )
    if given == ["points"]:
        points = [part.strip() for part in value.split(";") if part.strip()]
        return "places shown by hand", [f"--point={point}" for point in points], {}
    family = [f"--dictionary={said['dictionary']}"] if said.get("dictionary") else []
    return f"markers of {value} mm", [f"--marker-mm={value}", *family], {}


def _find_choice(what: str, name: str, known: Mapping[str, str]) -> str:
    if name not in known:
        raise UnknownName(what, name, known)
    return known[name]

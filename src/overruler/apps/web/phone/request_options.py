"""The query of an upload, read into a typed request for a measurement.

No text of a client becomes a path: a client chooses boards and lenses by the names of those that
the server has.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from overruler.apps.markers import board_file
from overruler.apps.measure import load_options
from overruler.apps.settings.game_choice import known_games, recorded_game
from overruler.apps.settings.known_boards import USUAL_TABLES_FT, mm_from_feet
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.faults import UploadRefused
from overruler.apps.web.phone.worker_tasks import OTHER_BOARD_FILE
from overruler.errors import BadInput, UnknownName
from overruler.games import GAMES
from overruler.picture.sheets.marker_cards import CardSet
from overruler.reading import Node, read_length
from overruler.writing import write_atomically

BOARD_FILE = "board.toml"
"""Name of the board file beside a photo."""
LENS_FILE = "lens.toml"
"""Name of the lens file beside a photo."""
TAUGHT_FILE = "taught.json"
"""Name of the file of what corrections taught, beside a photo."""
SCALE_KEYS = ("table", "marker_mm", "points", "markers")
"""Keys of the query of which exactly one says what is known of the table."""
QUERY_KEYS = ("game", "table", "marker_mm", "dictionary", "points", "markers", "bases", "lens")
"""Every key that a query may have."""
_PARAMETERS = {
    "--point": "points",
    "--bases": "bases",
    "--dictionary": "dictionary",
    "--marker-mm": "marker_mm",
}
"""What the query calls an option of the command line."""
BY_KNOWN_MARKERS = "known"
"""Value of `markers`: the photo's markers tell which of the boards it shows."""
MAX_VALUE_CHARS = 4000
"""Longest value of a key, in characters."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the server offers for every measurement."""

    boards: Mapping[str, str] = field(default_factory=dict)
    """Texts of the board files, by name."""
    lenses: Mapping[str, str] = field(default_factory=dict)
    """Texts of the lens files, by name."""
    defaults: MeasureRequest = field(default_factory=MeasureRequest)
    """Options of all measurements: the tables' own bases, players and rules."""
    taught: str = ""
    """Text of the file of what corrections taught; empty for none."""

    def board_sizes_mm(self) -> dict[str, tuple[float, float]]:
        """Width and depth of the boards that have a size, by name."""
        files = {name: tomllib.loads(text) for name, text in self.boards.items()}
        return {
            name: (file["width_mm"], file["height_mm"])
            for name, file in files.items()
            if "width_mm" in file
        }


@dataclass(frozen=True, slots=True)
class PhotoOptions:
    """How to measure a photo."""

    game: str
    table: str
    """What is known of the table, for people: `6x3 ft`, `markers of 60 mm`."""
    request: MeasureRequest
    """The measurement; its photo is still to be named."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of the files that must lie beside the photo, by name."""
    by_markers: bool = False
    """Whether nobody chose the table: the photo is tried by it, and its markers may tell another."""

    def with_lens(self, text: str) -> "PhotoOptions":
        """The same by a lens file, given as its text."""
        request = replace(self.request, lens=Path(LENS_FILE))
        return replace(self, request=request, files={**self.files, LENS_FILE: text})

    def with_taught(self, text: str) -> "PhotoOptions":
        """The same with re-weighed scores, as a file's text says."""
        request = replace(self.request, taught=Path(TAUGHT_FILE))
        return replace(self, request=request, files={**self.files, TAUGHT_FILE: text})


@cache
def usual_boards() -> dict[str, str]:
    """The board files of the usual tables, by name."""
    boards = {}
    for width, height in USUAL_TABLES_FT:
        name = f"{width}x{height} ft"
        boards[name] = board_file(CardSet(), mm_from_feet(width), mm_from_feet(height), name)
    return boards


def read_photo_options(query: Mapping[str, str], choices: Choices) -> PhotoOptions:
    """Read the query of an upload; raise `UploadRefused` or `UnknownName` if it makes no sense."""
    _check_keys(query)
    game = query.get("game", GAMES[0])
    if game not in known_games():
        raise UnknownName("game", game, known_games())
    record = recorded_game(game, "game")
    request = replace(choices.defaults, game=record, bases=query.get("bases") or None)
    options = _read_scale(query, PhotoOptions(game, "", request), choices)
    if choices.taught:
        options = options.with_taught(choices.taught)
    lens = query.get("lens")
    if not lens:
        return options
    return options.with_lens(_find_choice("lens", lens, choices.lenses))


def name_parameters(text: str) -> str:
    """What is wrong with an option, told of the parameter that the query has for it."""
    return re.sub(r"--[a-z-]+", lambda found: _PARAMETERS.get(found[0], found[0]), text)


def _check_keys(query: Mapping[str, str]) -> None:
    for key, value in query.items():
        if key not in QUERY_KEYS:
            raise UnknownName("query", key, QUERY_KEYS)
        if len(value) > MAX_VALUE_CHARS:
            raise UploadRefused(f"{key}: is too long", 422)


def _read_scale(query: Mapping[str, str], options: PhotoOptions, choices: Choices) -> PhotoOptions:
    """Add what is known of the table to the options."""
    given = [key for key in SCALE_KEYS if query.get(key)]
    if not given:
        keys = ", ".join(SCALE_KEYS)
        raise UploadRefused(f"say what is known of the table: one of {keys}", 422)
    if len(given) > 1:
        raise UploadRefused(f"{' and '.join(given)} exclude each other: give one of them", 422)
    value = query[given[0]]
    if given == ["markers"]:
        Node(value, "markers").choice((BY_KNOWN_MARKERS,))
        first = {"table": next(iter(choices.boards), "")}
        return replace(_read_scale(first, options, choices), by_markers=True)
    if given == ["table"]:
        text = _find_choice("table", value, choices.boards)
        request = replace(options.request, board=Path(BOARD_FILE))
        files = {BOARD_FILE: text, **_other_board_files(value, choices.boards)}
        return replace(options, table=value, request=request, files=files)
    if given == ["points"]:
        points = tuple(part.strip() for part in value.split(";") if part.strip())
        request = replace(options.request, point=points)
        return replace(options, table="places shown by hand", request=request)
    request = replace(
        options.request,
        marker_mm=_parse_marker_mm(value),
        dictionary=query.get("dictionary") or None,
    )
    return replace(options, table=f"markers of {value} mm", request=request)


def _other_board_files(chosen: str, boards: Mapping[str, str]) -> dict[str, str]:
    """The server's own boards beside the chosen one: the photo may show one of them instead."""
    usual = usual_boards()
    own = [text for name, text in boards.items() if name != chosen and usual.get(name) != text]
    return {OTHER_BOARD_FILE.format(number): text for number, text in enumerate(own, 1)}


def _parse_marker_mm(text: str) -> float:
    try:
        return read_length(Node(float(text), "marker_mm"))
    except BadInput as error:
        raise UploadRefused(str(error), 422) from None
    except ValueError:
        raise UploadRefused(f"marker_mm: expected a number, found {text!r}", 422) from None


def _find_choice(what: str, name: str, known: Mapping[str, str]) -> str:
    if name not in known:
        raise UnknownName(what, name, known)
    return known[name]


def write_options(folder: Path, request: MeasureRequest, files: Mapping[str, str]) -> None:
    """Write the files that a measurement needs; refuse now what no worker could measure."""
    for file, text in files.items():
        write_atomically(folder / file, text)
    try:
        load_options(request.in_folder(folder))
    except BadInput as error:
        raise UploadRefused(name_parameters(str(error)), 422) from None

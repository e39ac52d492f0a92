"""Boards by name: the usual tables, which the program knows, and the user's own board files."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from overruler.board import Board
from overruler.errors import BadInput, did_you_mean
from overruler.picture.sheets.marker_cards import CardSet

AUTO_BOARD = "auto"
"""Stands for a board that the markers in the photo tell."""
MM_PER_FOOT = 304.8
"""Millimetres in a foot."""
USUAL_TABLES_FT = ((6, 3), (6, 4), (4, 4), (3, 3), (2, 2))
"""Width and height of the tables that the usual cards lie round: those of `overruler markers --board-mm`."""
OTHER_NAMES = {"legion-6x3": "6x3", "table-4x4": "4x4", "table-3x3": "3x3"}
"""Names of the example board files, for the same boards."""
FOLDER = "boards"
"""Folder of the user's own board files, beside the user's configuration."""


def load_board(name: Path, where: str = "--board") -> Board:
    """Load a board file, or a known board by its name.

    Raises `BadInput` for a name that is neither; the message begins with `where` and lists the known ones.
    A known name stands for its board, whatever the working directory holds.
    """
    if name.suffix or name.parent != Path() or (name.is_file() and not _is_known(name)):
        return Board.load(name)
    own = own_board_file(name, where)
    return Board.load(own) if own else usual_boards()[_usual_name(name)]


def own_board_file(name: Path, where: str) -> Path | None:
    """The user's own file of a known board; None for a usual table. The working directory is not looked into.

    Raises `BadInput` for a name that is not known, as `load_board` does.
    """
    own = own_board_files()
    key = simplify_name(str(name))
    if key in own or _is_known(name):
        return own.get(key)
    known = sorted({*own, *usual_boards(), *OTHER_NAMES})
    hint = did_you_mean(key, known)
    raise BadInput(
        f"{where}: {str(name)!r} is neither a file nor a known board; "
        f"known: {', '.join(known)}; a file's name ends in .toml{hint}"
    )


def _is_known(name: Path) -> bool:
    return _usual_name(name) in usual_boards() or simplify_name(str(name)) in own_board_files()


def _usual_name(name: Path) -> str:
    key = simplify_name(str(name))
    return OTHER_NAMES.get(key, key)


def known_boards() -> Iterator[Board]:
    """Every board by name, the user's own first; those without places of markers are left out."""
    for path in own_board_files().values():
        board = Board.load(path)
        if board.layout_known:
            yield board
    yield from usual_boards().values()


@cache
def usual_boards() -> dict[str, Board]:
    """The usual tables by name, such as `6x3`, with the usual cards along their edges."""
    return {
        f"{width}x{height}": _board_of_cards(f"{width}x{height} ft", width, height)
        for width, height in USUAL_TABLES_FT
    }


def own_board_files() -> dict[str, Path]:
    """The user's own board files by name."""
    from overruler.apps.settings.config_path import config_path

    configuration = config_path()
    if configuration is None:
        return {}
    files = sorted((configuration.parent / FOLDER).glob("*.toml"))
    return {simplify_name(path.stem): path for path in files}


def simplify_name(name: str) -> str:
    """The name without what people write in different ways: `3x3 ft`, `3X3ft` and `3×3` are `3x3`."""
    simple = name.strip().casefold().replace("×", "x").replace("_", "-")
    return simple.removesuffix("ft").strip().replace(" ", "-")


def mm_from_feet(length_ft: float) -> float:
    """Convert feet to millimetres, without the last bits of a product."""
    return round(length_ft * MM_PER_FOOT, 4)


def _board_of_cards(name: str, width_ft: float, height_ft: float) -> Board:
    cards = CardSet()
    width_mm, height_mm = mm_from_feet(width_ft), mm_from_feet(height_ft)
    corners = cards.corners_mm(width_mm, height_mm)
    return Board(
        name=name,
        marker_mm=cards.size_mm,
        dictionary=cards.dictionary,
        width_mm=width_mm,
        height_mm=height_mm,
        corners_mm={marker: np.array(points) for marker, points in corners.items()},
    )

"""What pieces are called: for people who work with them, and for those who only watch."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from overruler.picture.text_layout import ISOLATES
from overruler.picture.view import View
from overruler.scene import Piece

_NUMBERED = re.compile(r"p\d+")
"""Ids that the program gives."""
ROWS = ("top", "", "bottom")
"""Words for the thirds of a picture's height."""
COLUMNS = ("left", "", "right")
"""Words for the thirds of its width."""


def is_numbered(name: str) -> bool:
    """Whether the program gave a piece its id, and no person."""
    return _NUMBERED.fullmatch(name) is not None


def piece_label(piece: Piece) -> str:
    """A piece's name for whoever works with it: its id, and before a number its unit."""
    if piece.unit and is_numbered(piece.id):
        return f"{piece.unit} {piece.id}"
    return piece.id


def arrow_text(names: Sequence[str]) -> str:
    """`A → B`: a name that is written from right to left turns neither the arrow nor the order."""
    return " → ".join(map(_isolated, names))


def _isolated(name: str) -> str:
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"{ISOLATES[0]}{name}{ISOLATES[1]}" if turns else name


def viewer_name(piece: Piece, players: Mapping[str, str]) -> str:
    """A piece's name for viewers: its own, its unit's, its player's; empty where it has none.

    `players` maps players to the names that are shown.
    """
    if not is_numbered(piece.id):
        return piece.id
    return piece.unit or players.get(piece.player or "", piece.player or "")


def viewer_names(view: View, pieces: tuple[Piece, ...], players: Mapping[str, str]) -> list[str]:
    """Names for viewers of the pieces of a ruling; empty where they would tell nothing.

    A piece without a name is told by its place in the picture. Two that are called the same get no
    names: the line shows which they are.
    """
    names = [viewer_name(piece, players) or place_words(view, piece) for piece in pieces]
    return names if len(set(names)) == len(names) else ["" for _ in names]


def place_words(view: View, piece: Piece) -> str:
    """A piece's place in the picture, in words: `top left`, `centre`."""
    x, y = view.to_px([piece.x_mm, piece.y_mm], piece.z_mm)
    width, height = view.size_px
    row = ROWS[min(max(int(3 * y / height), 0), 2)]
    column = COLUMNS[min(max(int(3 * x / width), 0), 2)]
    return " ".join(word for word in (row, column) if word) or "centre"

"""Names of pieces for people: whose they are, what they are, and where the photo shows them.

A number such as `p19` is written on no base. A name that a person gave is kept as it is.
"""

import re
from collections import Counter

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.view import View
from overruler.scene import Piece, Scene

NUMBERED_PATTERN = re.compile(r"p\d+")
"""Ids that the program gave, and nobody chose."""
COLUMNS = ("left", "", "right")
"""Thirds of the board in the photo, from left to right."""
ROWS = ("far", "", "near")
"""Thirds of the board in the photo, from top to bottom."""


def piece_names(scene: Scene, view: View) -> dict[str, str]:
    """A different name for each piece, by its id."""
    frame = _board_box_px(scene, view)
    names = {piece.id: _descriptive_name(piece, view, frame) for piece in scene.pieces}
    counts = Counter(names.values())
    used: Counter[str] = Counter()
    for piece_id, name in names.items():
        if counts[name] > 1:
            used[name] += 1
            names[piece_id] = f"{name.removesuffix(')')}, {used[name]})"
    return names


def _board_box_px(scene: Scene, view: View) -> Array:
    """The box (2, 2) round the board in the photo: least and largest x and y."""
    width, height = scene.board.width_mm, scene.board.height_mm
    corners = view.to_px(np.array([[0, 0], [width, 0], [0, height], [width, height]]))
    if not np.isfinite(corners).all():
        return np.array([[0.0, 0.0], view.size_px])
    return np.stack([corners.min(0), corners.max(0)])


def _descriptive_name(piece: Piece, view: View, frame: Array) -> str:
    if not NUMBERED_PATTERN.fullmatch(piece.id):
        return piece.id
    if piece.unit and piece.leader:
        return f"{piece.unit} (leader)"
    what = piece.unit or " ".join(part for part in (piece.player, piece.base.name) if part)
    return f"{what} ({_place_words(piece, view, frame)})"


def _place_words(piece: Piece, view: View, frame: Array) -> str:
    """The ninth of the board in which the photo shows a piece: `far left`, `middle`."""
    place = view.to_px([piece.x_mm, piece.y_mm], piece.z_mm)
    if not np.isfinite(place).all():
        return "outside the photo"
    share = (place - frame[0]) / np.maximum(frame[1] - frame[0], 1.0)
    column, row = np.clip(np.floor(3 * share), 0, 2).astype(int).tolist()
    return " ".join(part for part in (ROWS[row], COLUMNS[column]) if part) or "middle"

"""The pieces on the desk's picture: outlines to click, names, and where their labels stand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from overruler.apps.web.live.broadcast import Canvas, Dress, Plate, name_tag
from overruler.apps.web.live.placement import LabelPlacement
from overruler.apps.web.ready_scenes import camera_view
from overruler.geometry.pose import Array
from overruler.picture import svg
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.label_placement import LabelLayout
from overruler.picture.painters import base_outline
from overruler.picture.piece_names import piece_label, viewer_name
from overruler.picture.text_layout import FONT_FAMILY, text_width
from overruler.picture.view import View
from overruler.scene import Piece, Scene

LETTERS_PX = 13.0
"""Font size of a label on the screen, in CSS pixels."""
LABEL_LETTERS = 11.0
"""Greatest width of a label, in its font sizes: a longer unit's name is cut, and its piece's id stays."""
LEADER_LETTERS = 0.8
"""Distance of a label from its base, in its font sizes, from which a line connects the two."""

Size = tuple[float, float]
Marks = dict[str, dict[str, Any]]
"""What the desk draws of each piece, by its id."""


def mark_pieces(scene: Scene, dress: Dress) -> Marks:
    """Each piece's outline, centre, names and colour, in the camera's pixels."""
    view = camera_view(scene)
    return {piece.id: _mark(view, piece, dress) for piece in scene.pieces}


def _mark(view: View, piece: Piece, dress: Dress) -> dict[str, Any]:
    center = view.to_px([piece.x_mm, piece.y_mm], piece.z_mm)
    labels = {key: getattr(piece, key) for key in ("unit", "player", "leader")}
    return {
        "d": svg.path_data(base_outline(view, piece), closed=True),
        "center_px": [round(float(value), 1) for value in center],
        "base": piece.base.name,
        "label": piece_label(piece),
        "short": short_label(piece),
        "colour": dress.colour_of(piece.player) if piece.player else None,
        **{key: value for key, value in labels.items() if value},
        **_correctable(piece),
    }


def short_label(piece: Piece) -> str:
    """What a piece's label says: as much of its name as has room."""
    label = piece_label(piece)
    ending = f" {piece.id}" if label != piece.id else ""
    name = label.removesuffix(ending)
    if text_width(label) <= LABEL_LETTERS:
        return label
    while name and text_width(f"{name}…{ending}") > LABEL_LETTERS:
        name = name[:-1].rstrip()
    return f"{name}…{ending}"


def _correctable(piece: Piece) -> dict[str, Any]:
    """What a correction may change beside place and size: a heading, and whether it is a piece at all."""
    found: dict[str, Any] = {}
    if piece.base.shape != "circle":
        found["heading_deg"] = round(piece.heading_deg, 1)
    if piece.reason_for_doubt:
        found["doubt"] = dict(piece.reason_for_doubt)
    return found


def place_labels(scene: Scene, shown_width_px: float) -> dict[str, Any]:
    """Where each piece's label stands on a picture shown so wide, in the camera's pixels: x, y.

    Where it stands apart, x and y of the base's nearest point follow.

    A label that would hide a base or another label has no place.
    """
    view = camera_view(scene)
    letters = LETTERS_PX * view.size_px[0] / shown_width_px
    room = LabelLayout(view.size_px, 0.2 * letters)
    outlines = [base_outline(view, piece) for piece in scene.pieces]
    for outline in outlines:
        room.reserve_points(outline)
    labels: dict[str, list[float] | None] = {}
    for piece, outline in zip(scene.pieces, outlines, strict=True):
        size = (text_width(short_label(piece)) * letters + 0.5 * letters, 1.3 * letters)
        place = room.place_free_beside(size, outline)
        labels[piece.id] = None if place is None else _placed(place, size, outline, letters)
    return {"letters_px": letters, "labels": labels}


def _placed(center: Size, size: Size, outline: Array, letters: float) -> list[float]:
    """A label's centre; where it stands apart, also the nearest point of the outline (N, 2)."""
    nearest = outline[np.argmin(np.linalg.norm(outline - center, axis=1))]
    apart = np.linalg.norm(np.clip(np.abs(nearest - center) - np.array(size) / 2, 0, None))
    start = nearest.tolist() if apart > LEADER_LETTERS * letters else []
    return [round(float(value), 1) for value in (*center, *start)]


def svg_document(layers: Sequence[str], size_px: tuple[int, int]) -> str:
    """Combine layers into one drawing."""
    width, height = size_px
    return svg.element(
        "svg",
        *(layers or [""]),
        xmlns="http://www.w3.org/2000/svg",
        font_family=FONT_FAMILY,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def draw_tags(view: View, ruling: DrawableRuling, dress: Dress, placement: LabelPlacement) -> str:
    """Draw the names of the pieces that have one beside their bases, where there is room."""
    tags = []
    for piece in ruling.pieces:
        name = viewer_name(piece, dress.names)
        if not name:
            continue
        tag = name_tag(Canvas(view.size_px), name, dress.colour_of(piece.player), dress)
        edge, size = base_outline(view, piece), np.array(tag.size)
        center = placement.find_beside(edge, size)
        if center is not None:
            placement.occupy_box(center, size)
            corner = center - size / 2
            nearest = np.clip(edge.mean(0), corner, corner + size) - corner
            upright = svg.upright(tag.parts, *nearest.tolist())
            tags.append(Plate((upright,), tag.size).at(*corner.tolist()))
    return svg.group(tags)

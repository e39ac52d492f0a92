"""What is drawn over a recording at a moment: bases where they stand, ways, their doubt, and at rest a ruling."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from overruler.apps.analyze.merge import IN_MOTION_SIGMA_MM, FilmResults
from overruler.apps.analyze.photo_folder import position_sigma_mm
from overruler.apps.web.live.graphics import draw_graphics
from overruler.apps.web.live.placement import LabelPlacement
from overruler.apps.web.live.selection import Selection
from overruler.apps.web.scene_paths import camera_view
from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.picture.answer_style import YES_COLOUR
from overruler.picture.drawable_ruling import format_distance
from overruler.picture.painters import base_outline, draw_base
from overruler.picture.svg import (
    BLACK,
    WHITE,
    cased_line,
    element,
    group,
    path,
    text_plate,
    text_plate_size,
)
from overruler.picture.text_layout import FONT_FAMILY
from overruler.picture.view import View, offset_outline
from overruler.rules import matrix
from overruler.scene import Piece, Scene
from overruler.shot import PixelBox

Data = dict[str, Any]

PATH_SHOWN_S = 20.0
"""A way is shown for so long after its end."""
LETTER_HEIGHT, LINE_MARGIN = 9.0, 3.0
"""In units of the view: how high letters are, and how far lines reach beyond what they run along."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A transparent drawing over a part of the pictures: what is carried changes with every one, and is small."""

    svg: str
    box_px: PixelBox


@dataclass(frozen=True, eq=False)
class Overlay:
    """A film's findings as drawings; one for each moment."""

    film: FilmResults
    size_px: tuple[int, int]
    """Of the pictures that are drawn on."""

    def drawings_at(self, time_s: float) -> list[Drawing]:
        """The drawings for a moment, each over the one before; none before the table was first measured."""
        number = bisect_right(self._rest_times, time_s) - 1
        if number < 0:
            return []
        moving = tuple(
            k for k, move in enumerate(self.film.moves) if move["start_s"] <= time_s < move["end_s"]
        )
        shown = tuple(
            k
            for k, move in enumerate(self.film.moves)
            if 0 <= time_s - move["end_s"] < PATH_SHOWN_S
        )
        landed = tuple(
            k
            for k, move in enumerate(self.film.moves)
            if self._rest_times[number] < move["end_s"] <= time_s
        )
        carried = (self._draw_moving_piece(number, k, time_s) for k in moving)
        return [
            *(one for one in carried if one is not None),
            self._draw_static(number, moving, landed, shown),
        ]  # names last

    @cached_property
    def _rest_times(self) -> list[float]:
        return [rest["time_s"] for rest in self.film.rests]

    @lru_cache(maxsize=4)  # noqa: B019 - as long as the film is drawn
    def _scene_and_view(self, number: int) -> tuple[Scene, View]:
        scene = Scene.from_json(self.film.rests[number]["scene"])
        return scene, camera_view(scene)

    @lru_cache(maxsize=4)  # noqa: B019
    def _draw_static(
        self, number: int, moving: Sequence[int], landed: Sequence[int], shown: Sequence[int]
    ) -> Drawing:
        """Ways; bases and their names; the ruling: what stays the same while nothing happens."""
        scene, view = self._scene_and_view(number)
        away = {self.film.moves[k]["piece"] for k in moving}
        ends = {self.film.moves[k]["piece"]: self.film.moves[k] for k in landed}
        pieces = [
            _move_to_end(piece, ends.get(piece.id))
            for piece in scene.pieces
            if piece.id not in away
        ]
        room = LabelPlacement(view)
        room.protect_lines([base_outline(view, piece) for piece in pieces])
        ruling = _draw_ruling(scene, None if moving or landed else self._last_moved_piece(number))
        ways = [_draw_path(view, scene, self.film.moves[k], room) for k in shown]
        names = [_draw_name(view, piece, room) for piece in pieces]
        bases = (_draw_base(view, piece, position_sigma_mm(piece)) for piece in pieces)
        return self._make_drawing(
            number, [group(ways), group([*bases, *names]), ruling], (0, 0, *self.size_px)
        )

    def _last_moved_piece(self, number: int) -> str | None:
        """The piece that had moved last when the table came to that rest."""
        ended = [move for move in self.film.moves if move["end_s"] <= self._rest_times[number]]
        return max(ended, key=lambda move: float(move["end_s"]))["piece"] if ended else None

    def _draw_moving_piece(self, number: int, k: int, time_s: float) -> Drawing | None:
        """A piece on its way, and the way that it has come; None where no picture shows it."""
        scene, view = self._scene_and_view(number)
        move = self.film.moves[k]
        piece = next((piece for piece in scene.pieces if piece.id == move["piece"]), None)
        if piece is None:
            return None
        spots = np.array(_trail_points(move))
        x, y = (float(np.interp(time_s, spots[:, 0], spots[:, axis])) for axis in (1, 2))
        so_far = np.vstack([spots[spots[:, 0] <= time_s, 1:], [(x, y)]])
        piece, way = replace(piece, x_mm=x, y_mm=y), view.to_px(so_far, piece.z_mm)
        box = self._bounding_box_px(
            number, np.vstack([way, _outer_edge_px(view, piece, IN_MOTION_SIGMA_MM)])
        )
        if box is None:
            return None
        line = cased_line(way, YES_COLOUR, 1.2 * view.unit)
        return self._make_drawing(number, [line, _draw_base(view, piece, IN_MOTION_SIGMA_MM)], box)

    def _bounding_box_px(self, number: int, points: Array) -> PixelBox | None:
        """The pictures' part that shows what is drawn along the camera's pixels (N, 2); None where none does."""
        view = self._scene_and_view(number)[1]
        scale, wide = np.divide(self.size_px, view.size_px), LINE_MARGIN * view.unit
        seen = points[np.isfinite(points).all(1)]
        if not len(seen):
            return None
        low = np.clip(np.floor((seen.min(0) - wide) * scale), 0, self.size_px).astype(int).tolist()
        high = np.clip(np.ceil((seen.max(0) + wide) * scale), 0, self.size_px).astype(int).tolist()
        return (low[0], low[1], high[0], high[1]) if low[0] < high[0] and low[1] < high[1] else None

    def _make_drawing(self, number: int, layers: Sequence[str], box: PixelBox) -> Drawing:
        """Layers in the camera's own pixels, brought to the size of the pictures: what of them falls into a box."""
        left, top, right, bottom = box
        across, down = np.divide(self._scene_and_view(number)[1].size_px, self.size_px).tolist()
        part = left * across, top * down, (right - left) * across, (bottom - top) * down
        size = {
            "width": right - left,
            "height": bottom - top,
            "viewBox": " ".join(f"{value:.6g}" for value in part),
        }
        kept = {
            "xmlns": "http://www.w3.org/2000/svg",
            "preserveAspectRatio": "none",
            "font_family": FONT_FAMILY,
        }
        return Drawing(element("svg", *layers, **size, **kept), box)


def _trail_points(move: Data) -> list[tuple[float, float, float]]:
    """Where a piece was seen on its way, both ends included."""
    between = [(t, x, y) for t, x, y in move["trail"] if move["start_s"] < t < move["end_s"]]
    first = (move["start_s"], move["from_x_mm"], move["from_y_mm"])
    return [first, *between, (move["end_s"], move["to_x_mm"], move["to_y_mm"])]


def _move_to_end(piece: Piece, move: Data | None) -> Piece:
    return piece if move is None else replace(piece, x_mm=move["to_x_mm"], y_mm=move["to_y_mm"])


# --- parts ---


def _outer_edge_px(view: View, piece: Piece, sigma_mm: float) -> Array:
    """(N, 2): how far out a base's edge may lie (95 %)."""
    return view.to_px(offset_outline(piece.shape, 1.96 * sigma_mm), piece.z_mm)


def _draw_base(view: View, piece: Piece, sigma_mm: float) -> str:
    """A base and, dashed, how far out its edge may lie (95 %)."""
    edge = _outer_edge_px(view, piece, sigma_mm)
    dash = f"{2.5 * view.unit:.2f} {2 * view.unit:.2f}"
    return draw_base(view, piece) + group(
        (
            path(edge, True, stroke=BLACK, stroke_width=1.3 * view.unit, stroke_opacity=0.5),
            path(edge, True, stroke=WHITE, stroke_width=0.6 * view.unit, stroke_dasharray=dash),
        )
    )


def _draw_name(view: View, piece: Piece, room: LabelPlacement) -> str:
    """A piece's name and the doubt of its place, above it or below, where that hides nothing."""
    sigma = position_sigma_mm(piece)
    edge = base_outline(view, piece)
    away = LETTER_HEIGHT * 1.3 * view.unit
    middle = float(edge[:, 0].mean())
    places = [
        np.array([middle, edge[:, 1].min() - away]),
        np.array([middle, edge[:, 1].max() + away]),
    ]
    return _draw_plate(
        view, f"{piece.id} ± {1.96 * sigma:.1f} mm" if sigma else piece.id, places, room
    )


def _draw_path(view: View, scene: Scene, move: Data, room: LabelPlacement) -> str:
    """A way that has ended, and how long it was."""
    z_mm = next((piece.z_mm for piece in scene.pieces if piece.id == move["piece"]), 0.0)
    line = np.concatenate([view.line_px(a, b, z_mm) for a, b in pairwise(move["way_mm"])])
    if not np.isfinite(line).all():
        return ""
    sigma = move["path_sigma_mm"] if move["way_seen"] else move["sigma_mm"]
    text = format_distance(move["path_mm"], 1.96 * sigma, scene.game) + (
        "" if move["way_seen"] else ", way not seen"
    )
    label = _draw_plate(
        view, text, [line[round(share * (len(line) - 1))] for share in (0.5, 0.35, 0.65)], room
    )
    return cased_line(line, YES_COLOUR, 1.0 * view.unit, dash=(3.0, 3.0)) + label


def _draw_plate(view: View, text: str, places: Sequence[Array], room: LabelPlacement) -> str:
    size = np.array(text_plate_size(text, LETTER_HEIGHT * view.unit))
    place = next(
        (place for place in places if np.isfinite(place).all() and room.is_free(place, size)), None
    )
    if place is None:
        return ""
    room.occupy_box(place, size)
    return text_plate(text, float(place[0]), float(place[1]), LETTER_HEIGHT * view.unit, edge=BLACK)


def _draw_ruling(scene: Scene, name: str | None) -> str:
    """What the game says from the piece that moved last to its closest enemy, to anybody where players are unknown."""
    other = _closest_enemy(scene, name) if name is not None else None
    if name is None or other is None:
        return ""
    try:
        told = draw_graphics(
            scene, Selection(pair=(name, other)), frozenset(piece.id for piece in scene.pieces)
        )
    except BadInput:  # a question that this table cannot answer: a grid's, say
        return ""
    return group(told.layers.values())


def _closest_enemy(scene: Scene, name: str) -> str | None:
    found = matrix(scene)
    if name not in found.ids:
        return None
    players = {piece.id: piece.player for piece in scene.pieces}
    own, others = players[name], [other for other in found.ids if other != name]
    enemies = [other for other in others if own and players[other] and players[other] != own]
    row = dict(zip(found.ids, found.distance_mm[found.ids.index(name)].tolist(), strict=True))
    return min(enemies or others, key=row.__getitem__, default=None)

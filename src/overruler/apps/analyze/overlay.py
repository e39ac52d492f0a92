"""The drawings over a recording: bases with their doubt, paths of moves, names, and at rest a ruling."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from overruler.apps.analyze.merge import IN_MOTION_SIGMA_MM, Data, FilmResults
from overruler.apps.analyze.photo_folder import position_sigma_mm
from overruler.apps.web.live.broadcast import Dress
from overruler.apps.web.live.graphics import NO_GRAPHICS, Graphics, Stage, draw_graphics
from overruler.apps.web.live.look import Look
from overruler.apps.web.live.placement import LabelPlacement
from overruler.apps.web.live.selection import Selection
from overruler.apps.web.ready_scenes import camera_view
from overruler.errors import BadInput
from overruler.frame import PixelBox
from overruler.geometry.pose import Array
from overruler.picture import svg
from overruler.picture.answer_style import YES_COLOUR
from overruler.picture.label_placement import centres_beside
from overruler.picture.painters import base_outline, draw_base
from overruler.picture.piece_names import piece_label
from overruler.picture.text_layout import FONT_FAMILY
from overruler.picture.view import View, offset_outline
from overruler.rules import matrix
from overruler.scene import Piece, Scene
from overruler.units import SIGMAS_95, format_length, format_number

PATH_SHOWN_S = 20.0
"""How long a path is shown after the end of its move."""
LETTER_HEIGHT = 9.0
"""Height of letters, in units of the view."""
LINE_MARGIN = 3.0
"""How far a drawing reaches beyond the points that it follows, in units of the view."""
LABEL_SHARES = (0.5, 0.35, 0.65)
"""Places of a path's label, as shares of its length, the best first."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A transparent drawing over part of the picture."""

    svg: str
    box_px: PixelBox
    """Left, top, right and bottom of the part."""


@dataclass(frozen=True, eq=False)
class Overlay:
    """The drawings of a film, for each moment."""

    film: FilmResults
    size_px: tuple[int, int]
    """Width and height of the pictures that are drawn on."""
    magnification: float = 1.0
    """How much larger than usual letters and lines are."""

    def drawings_at(self, time_s: float) -> list[Drawing]:
        """The drawings of a moment, from the back to the front; none before the first rest."""
        number = bisect_right(self._rest_times, time_s) - 1
        if number < 0:
            return []
        rest_s = self._rest_times[number]
        moving = self._moves_where(lambda move: move["start_s"] <= time_s < move["end_s"])
        shown = self._moves_where(lambda move: 0 <= time_s - move["end_s"] < PATH_SHOWN_S)
        landed = self._moves_where(lambda move: rest_s < move["end_s"] <= time_s)
        drawings = [self._draw_moving_piece(number, k, time_s) for k in moving]
        found = [drawing for drawing in drawings if drawing is not None]
        return [*found, self._draw_static(number, moving, landed, shown)]  # names last

    def _moves_where(self, condition: Callable[[Data], bool]) -> tuple[int, ...]:
        return tuple(k for k, move in enumerate(self.film.moves) if condition(move))

    @cached_property
    def _rest_times(self) -> list[float]:
        return [rest["time_s"] for rest in self.film.rests]

    @lru_cache(maxsize=4)  # noqa: B019 - as long as the film is drawn
    def _scene_and_view(self, number: int) -> tuple[Scene, View]:
        scene = Scene.from_json(self.film.rests[number]["scene"])
        return scene, replace(camera_view(scene), magnification=self.magnification)

    @lru_cache(maxsize=4)  # noqa: B019
    def _draw_static(
        self, number: int, moving: Sequence[int], landed: Sequence[int], shown: Sequence[int]
    ) -> Drawing:
        """Draw what stays the same between events: paths, bases with their names, the ruling."""
        scene, view = self._scene_and_view(number)
        moves = self.film.moves
        away = {moves[k]["piece"] for k in moving}
        last_moves = {moves[k]["piece"]: moves[k] for k in landed}
        pieces = [
            _move_to_end(piece, last_moves.get(piece.id))
            for piece in scene.pieces
            if piece.id not in away
        ]
        at_rest = not moving and not landed
        ruling = self._rule(scene, self._last_moved_piece(number)) if at_rest else NO_GRAPHICS
        paths = [(moves[k], _path_px(view, scene, moves[k])) for k in shown]
        placement = ruling.placement or LabelPlacement(view)
        placement.protect_lines([base_outline(view, piece) for piece in pieces])
        placement.protect_lines([line for _, line in paths])
        labels = [_draw_path_label(view, scene, move, line, placement) for move, line in paths]
        names = [_draw_name(view, piece, placement, scene.unit) for piece in pieces]
        bases = [_draw_base(view, piece, position_sigma_mm(piece)) for piece in pieces]
        drawn = [_draw_path(view, line) for _, line in paths]
        layers = [*drawn, *bases, *ruling.layers.values(), *labels, *names]  # words last
        return self._make_drawing(number, layers, (0, 0, *self.size_px))

    def _last_moved_piece(self, number: int) -> str | None:
        """The piece that moved last before a rest."""
        rest_s = self._rest_times[number]
        ended = [move for move in self.film.moves if move["end_s"] <= rest_s]
        if not ended:
            return None
        return str(max(ended, key=lambda move: float(move["end_s"]))["piece"])

    def _rule(self, scene: Scene, name: str | None) -> Graphics:
        """The ruling from a piece to its closest enemy, or without players to the closest piece."""
        other = _closest_enemy(scene, name) if name is not None else None
        if name is None or other is None:
            return NO_GRAPHICS
        standing = frozenset(piece.id for piece in scene.pieces)
        stage = Stage(dress=Dress(look=Look(size=self.magnification)))
        try:
            return draw_graphics(scene, Selection(pair=(name, other)), standing, stage)
        except BadInput:  # a question that this table cannot answer, such as a grid's
            return NO_GRAPHICS

    def _draw_moving_piece(self, number: int, k: int, time_s: float) -> Drawing | None:
        """Draw a piece on its way and the path behind it; None if the picture shows neither."""
        scene, view = self._scene_and_view(number)
        move = self.film.moves[k]
        piece = _find_piece(scene, move["piece"])
        if piece is None:
            return None
        trail = np.array(_trail_points(move))
        x_mm = float(np.interp(time_s, trail[:, 0], trail[:, 1]))
        y_mm = float(np.interp(time_s, trail[:, 0], trail[:, 2]))
        piece = replace(piece, x_mm=x_mm, y_mm=y_mm)
        travelled = np.vstack([trail[trail[:, 0] <= time_s, 1:], [(x_mm, y_mm)]])
        line = view.to_px(travelled, piece.z_mm)
        edge = _outer_edge_px(view, piece, IN_MOTION_SIGMA_MM)
        box = self._bounding_box_px(number, np.vstack([line, edge]))
        if box is None:
            return None
        path_svg = svg.cased_line(line, YES_COLOUR, 1.2 * view.unit)
        base_svg = _draw_base(view, piece, IN_MOTION_SIGMA_MM)
        return self._make_drawing(number, [path_svg, base_svg], box)

    def _bounding_box_px(self, number: int, points: Array) -> PixelBox | None:
        """The part of the picture round points (N, 2) of the camera; None if it shows none of them."""
        view = self._scene_and_view(number)[1]
        scale = np.divide(self.size_px, view.size_px)
        margin = LINE_MARGIN * view.unit
        finite = points[np.isfinite(points).all(1)]
        if not len(finite):
            return None
        low = np.floor((finite.min(0) - margin) * scale)
        high = np.ceil((finite.max(0) + margin) * scale)
        left, top = np.clip(low, 0, self.size_px).astype(int).tolist()
        right, bottom = np.clip(high, 0, self.size_px).astype(int).tolist()
        return (left, top, right, bottom) if left < right and top < bottom else None

    def _make_drawing(self, number: int, layers: Sequence[str], box: PixelBox) -> Drawing:
        """Scale layers from the camera's pixels to the picture's, and cut them to a box."""
        left, top, right, bottom = box
        view = self._scene_and_view(number)[1]
        across, down = np.divide(view.size_px, self.size_px).tolist()
        part = left * across, top * down, (right - left) * across, (bottom - top) * down
        text = svg.element(
            "svg",
            *layers,
            width=right - left,
            height=bottom - top,
            viewBox=" ".join(f"{value:.6g}" for value in part),
            xmlns="http://www.w3.org/2000/svg",
            preserveAspectRatio="none",
            font_family=FONT_FAMILY,
        )
        return Drawing(text, box)


def _find_piece(scene: Scene, name: str) -> Piece | None:
    return next((piece for piece in scene.pieces if piece.id == name), None)


def _trail_points(move: Data) -> list[tuple[float, float, float]]:
    """The points (time, x, y) of a move, both ends included."""
    start_s, end_s = move["start_s"], move["end_s"]
    between = [(t, x, y) for t, x, y in move["trail"] if start_s < t < end_s]
    first = (start_s, move["from_x_mm"], move["from_y_mm"])
    return [first, *between, (end_s, move["to_x_mm"], move["to_y_mm"])]


def _move_to_end(piece: Piece, move: Data | None) -> Piece:
    if move is None:
        return piece
    return replace(piece, x_mm=move["to_x_mm"], y_mm=move["to_y_mm"])


# --- parts ---


def _outer_edge_px(view: View, piece: Piece, sigma_mm: float) -> Array:
    """The outline (N, 2) within which a base lies with 95 %."""
    return view.to_px(offset_outline(piece.shape, SIGMAS_95 * sigma_mm), piece.z_mm)


def _draw_base(view: View, piece: Piece, sigma_mm: float) -> str:
    """Draw a base and, dashed, the outline within which it lies with 95 %."""
    edge = _outer_edge_px(view, piece, sigma_mm)
    dash = f"{2.5 * view.unit:.2f} {2 * view.unit:.2f}"
    casing = svg.path(
        edge, True, stroke=svg.BLACK, stroke_width=1.3 * view.unit, stroke_opacity=0.5
    )
    core = svg.path(
        edge, True, stroke=svg.WHITE, stroke_width=0.6 * view.unit, stroke_dasharray=dash
    )
    return draw_base(view, piece) + svg.group((casing, core))


def _draw_name(view: View, piece: Piece, placement: LabelPlacement, unit: str) -> str:
    """Draw a piece's name and the 95 % of its position, above it or below, where that hides nothing."""
    sigma_mm = position_sigma_mm(piece)
    edge = base_outline(view, piece)
    distance = LETTER_HEIGHT * 1.3 * view.unit
    center_x = float(edge[:, 0].mean())
    above = np.array([center_x, edge[:, 1].min() - distance])
    below = np.array([center_x, edge[:, 1].max() + distance])
    text = piece_label(piece)
    if sigma_mm:
        text = f"{text} ± {format_number(SIGMAS_95 * sigma_mm, unit)} {unit}"
    return _draw_plate(view, text, [above, below], placement)


def _path_px(view: View, scene: Scene, move: Data) -> Array:
    """The path (N, 2) of a move in the picture; no points where the picture cannot show it."""
    piece = _find_piece(scene, move["piece"])
    z_mm = piece.z_mm if piece is not None else 0.0
    legs = [view.line_px(a, b, z_mm) for a, b in pairwise(move["way_mm"])]
    line = np.concatenate(legs)
    return line if np.isfinite(line).all() else np.empty((0, 2))


def _draw_path(view: View, line: Array) -> str:
    """Draw the path (N, 2) of a move that has ended."""
    return svg.cased_line(line, YES_COLOUR, 1.0 * view.unit, dash=(3.0, 3.0)) if len(line) else ""


def _draw_path_label(
    view: View, scene: Scene, move: Data, line: Array, placement: LabelPlacement
) -> str:
    """Draw the length of a path (N, 2) beside it."""
    if not len(line):
        return ""
    size = np.array(svg.text_plate_size(_path_label(scene, move), LETTER_HEIGHT * view.unit))
    places = [line[round(share * (len(line) - 1))] for share in LABEL_SHARES]
    beside = [center for place in places for center in centres_beside(size, np.tile(place, 2))]
    return _draw_plate(view, _path_label(scene, move), beside, placement)


def _path_label(scene: Scene, move: Data) -> str:
    sigma_mm = move["path_sigma_mm"] if move["way_seen"] else move["sigma_mm"]
    length = format_length(move["path_mm"], SIGMAS_95 * sigma_mm, scene.unit)
    return length if move["way_seen"] else f"{length}, way not seen"


def _draw_plate(view: View, text: str, places: Sequence[Array], placement: LabelPlacement) -> str:
    """Draw a text at the first of the places (2,) where it hides nothing; nothing if there is none."""
    height = LETTER_HEIGHT * view.unit
    size = np.array(svg.text_plate_size(text, height))
    for place in places:
        if np.isfinite(place).all() and placement.is_free(place, size):
            placement.occupy_box(place, size)
            return svg.text_plate(text, float(place[0]), float(place[1]), height, edge=svg.BLACK)
    return ""


def _closest_enemy(scene: Scene, name: str) -> str | None:
    distances = matrix(scene)
    if name not in distances.ids:
        return None
    players = {piece.id: piece.player for piece in scene.pieces}
    player = players[name]
    others = [other for other in distances.ids if other != name]
    enemies = []
    for other in others:
        if player and players[other] and players[other] != player:
            enemies.append(other)
    row = distances.distance_mm[distances.ids.index(name)].tolist()
    distance_to = dict(zip(distances.ids, row, strict=True))
    return min(enemies or others, key=distance_to.__getitem__, default=None)

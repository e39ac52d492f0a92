"""What is drawn over a recording at a moment: bases where they stand, ways, their doubt, and at rest a ruling."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from overruler.apps.analyze.folder import sigma_of
from overruler.apps.analyze.merge import WAY_SIGMA_MM, Film
from overruler.apps.web.live.graphics import graphics
from overruler.apps.web.live.placement import Room
from overruler.apps.web.live.selection import Wanted
from overruler.apps.web.scene_paths import view_of
from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.picture.lettering import FAMILY
from overruler.picture.look import YES_COLOUR
from overruler.picture.painters import base, outline
from overruler.picture.story import length
from overruler.picture.svg import BLACK, WHITE, cased, element, group, path, plate, plate_size
from overruler.picture.view import View, ring
from overruler.rules import matrix
from overruler.scene import Piece, Scene
from overruler.shot import Box

Data = dict[str, Any]

FADES_S = 20.0
"""A way is shown for so long after its end."""
LETTERS, WIDEST = 9.0, 3.0
"""In units of the view: how high letters are, and how far lines reach beyond what they run along."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A transparent drawing over a part of the pictures: what is carried changes with every one, and is small."""

    svg: str
    box_px: Box


@dataclass(frozen=True, eq=False)
class Overlay:
    """A film's findings as drawings; one for each moment."""

    film: Film
    size_px: tuple[int, int]
    """Of the pictures that are drawn on."""

    def at(self, time_s: float) -> list[Drawing]:
        """The drawings for a moment, each over the one before; none before the table was first measured."""
        number = bisect_right(self._rest_times, time_s) - 1
        if number < 0:
            return []
        moving = tuple(k for k, move in enumerate(self.film.moves) if move["start_s"] <= time_s < move["end_s"])
        shown = tuple(k for k, move in enumerate(self.film.moves) if 0 <= time_s - move["end_s"] < FADES_S)
        landed = tuple(
            k for k, move in enumerate(self.film.moves) if self._rest_times[number] < move["end_s"] <= time_s
        )
        carried = (self._carried(number, k, time_s) for k in moving)
        return [*(one for one in carried if one is not None), self._still(number, moving, landed, shown)]  # names last

    @cached_property
    def _rest_times(self) -> list[float]:
        return [rest["time_s"] for rest in self.film.rests]

    @lru_cache(maxsize=4)  # noqa: B019 - as long as the film is drawn
    def _scene(self, number: int) -> tuple[Scene, View]:
        scene = Scene.from_json(self.film.rests[number]["scene"])
        return scene, view_of(scene)

    @lru_cache(maxsize=4)  # noqa: B019
    def _still(self, number: int, moving: Sequence[int], landed: Sequence[int], shown: Sequence[int]) -> Drawing:
        """Ways; bases and their names; the ruling: what stays the same while nothing happens."""
        scene, view = self._scene(number)
        away = {self.film.moves[k]["piece"] for k in moving}
        ends = {self.film.moves[k]["piece"]: self.film.moves[k] for k in landed}
        pieces = [_landed(piece, ends.get(piece.id)) for piece in scene.pieces if piece.id not in away]
        room = Room(view)
        room.keep([outline(view, piece) for piece in pieces])
        ruling = _ruling(scene, None if moving or landed else self._moved_last(number))
        ways = [_way(view, scene, self.film.moves[k], room) for k in shown]
        names = [_name(view, piece, room) for piece in pieces]
        bases = (_base(view, piece, sigma_of(piece)) for piece in pieces)
        return self._drawing(number, [group(ways), group([*bases, *names]), ruling], (0, 0, *self.size_px))

    def _moved_last(self, number: int) -> str | None:
        """The piece that had moved last when the table came to that rest."""
        ended = [move for move in self.film.moves if move["end_s"] <= self._rest_times[number]]
        return max(ended, key=lambda move: float(move["end_s"]))["piece"] if ended else None

    def _carried(self, number: int, k: int, time_s: float) -> Drawing | None:
        """A piece on its way, and the way that it has come; None where no picture shows it."""
        scene, view = self._scene(number)
        move = self.film.moves[k]
        piece = next((piece for piece in scene.pieces if piece.id == move["piece"]), None)
        if piece is None:
            return None
        spots = np.array(_spots(move))
        x, y = (float(np.interp(time_s, spots[:, 0], spots[:, axis])) for axis in (1, 2))
        so_far = np.vstack([spots[spots[:, 0] <= time_s, 1:], [(x, y)]])
        piece, way = replace(piece, x_mm=x, y_mm=y), view.px(so_far, piece.z_mm)
        box = self._box(number, np.vstack([way, _edge(view, piece, WAY_SIGMA_MM)]))
        if box is None:
            return None
        line = cased(way, YES_COLOUR, 1.2 * view.unit)
        return self._drawing(number, [line, _base(view, piece, WAY_SIGMA_MM)], box)

    def _box(self, number: int, points: Array) -> Box | None:
        """The pictures' part that shows what is drawn along the camera's pixels (N, 2); None where none does."""
        view = self._scene(number)[1]
        scale, wide = np.divide(self.size_px, view.size_px), WIDEST * view.unit
        seen = points[np.isfinite(points).all(1)]
        if not len(seen):
            return None
        low = np.clip(np.floor((seen.min(0) - wide) * scale), 0, self.size_px).astype(int).tolist()
        high = np.clip(np.ceil((seen.max(0) + wide) * scale), 0, self.size_px).astype(int).tolist()
        return (low[0], low[1], high[0], high[1]) if low[0] < high[0] and low[1] < high[1] else None

    def _drawing(self, number: int, layers: Sequence[str], box: Box) -> Drawing:
        """Layers in the camera's own pixels, brought to the size of the pictures: what of them falls into a box."""
        left, top, right, bottom = box
        across, down = np.divide(self._scene(number)[1].size_px, self.size_px).tolist()
        part = left * across, top * down, (right - left) * across, (bottom - top) * down
        size = {"width": right - left, "height": bottom - top, "viewBox": " ".join(f"{value:.6g}" for value in part)}
        kept = {"xmlns": "http://www.w3.org/2000/svg", "preserveAspectRatio": "none", "font_family": FAMILY}
        return Drawing(element("svg", *layers, **size, **kept), box)


def _spots(move: Data) -> list[tuple[float, float, float]]:
    """Where a piece was seen on its way, both ends included."""
    between = [(t, x, y) for t, x, y in move["trail"] if move["start_s"] < t < move["end_s"]]
    first = (move["start_s"], move["from_x_mm"], move["from_y_mm"])
    return [first, *between, (move["end_s"], move["to_x_mm"], move["to_y_mm"])]


def _landed(piece: Piece, move: Data | None) -> Piece:
    return piece if move is None else replace(piece, x_mm=move["to_x_mm"], y_mm=move["to_y_mm"])


# --- parts ---


def _edge(view: View, piece: Piece, sigma_mm: float) -> Array:
    """(N, 2): how far out a base's edge may lie (95 %)."""
    return view.px(ring(piece.shape, 1.96 * sigma_mm), piece.z_mm)


def _base(view: View, piece: Piece, sigma_mm: float) -> str:
    """A base and, dashed, how far out its edge may lie (95 %)."""
    edge = _edge(view, piece, sigma_mm)
    dash = f"{2.5 * view.unit:.2f} {2 * view.unit:.2f}"
    return base(view, piece) + group(
        (
            path(edge, True, stroke=BLACK, stroke_width=1.3 * view.unit, stroke_opacity=0.5),
            path(edge, True, stroke=WHITE, stroke_width=0.6 * view.unit, stroke_dasharray=dash),
        )
    )


def _name(view: View, piece: Piece, room: Room) -> str:
    """A piece's name and the doubt of its place, above it or below, where that hides nothing."""
    sigma = sigma_of(piece)
    edge = outline(view, piece)
    away = LETTERS * 1.3 * view.unit
    middle = float(edge[:, 0].mean())
    places = [np.array([middle, edge[:, 1].min() - away]), np.array([middle, edge[:, 1].max() + away])]
    return _plate(view, f"{piece.id} ± {1.96 * sigma:.1f} mm" if sigma else piece.id, places, room)


def _way(view: View, scene: Scene, move: Data, room: Room) -> str:
    """A way that has ended, and how long it was."""
    z_mm = next((piece.z_mm for piece in scene.pieces if piece.id == move["piece"]), 0.0)
    line = np.concatenate([view.line(a, b, z_mm) for a, b in pairwise(move["way_mm"])])
    if not np.isfinite(line).all():
        return ""
    sigma = move["path_sigma_mm"] if move["way_seen"] else move["sigma_mm"]
    text = length(move["path_mm"], 1.96 * sigma, scene.game) + ("" if move["way_seen"] else ", way not seen")
    label = _plate(view, text, [line[round(share * (len(line) - 1))] for share in (0.5, 0.35, 0.65)], room)
    return cased(line, YES_COLOUR, 1.0 * view.unit, dash=(3.0, 3.0)) + label


def _plate(view: View, text: str, places: Sequence[Array], room: Room) -> str:
    size = np.array(plate_size(text, LETTERS * view.unit))
    place = next((place for place in places if np.isfinite(place).all() and room.free(place, size)), None)
    if place is None:
        return ""
    room.take(place, size)
    return plate(text, float(place[0]), float(place[1]), LETTERS * view.unit, edge=BLACK)


def _ruling(scene: Scene, name: str | None) -> str:
    """What the game says from the piece that moved last to its closest enemy, to anybody where players are unknown."""
    other = _closest(scene, name) if name is not None else None
    if name is None or other is None:
        return ""
    try:
        told = graphics(scene, Wanted(pair=(name, other)), frozenset(piece.id for piece in scene.pieces))
    except BadInput:  # a question that this table cannot answer: a grid's, say
        return ""
    return group(told.layers.values())


def _closest(scene: Scene, name: str) -> str | None:
    found = matrix(scene)
    if name not in found.ids:
        return None
    players = {piece.id: piece.player for piece in scene.pieces}
    own, others = players[name], [other for other in found.ids if other != name]
    enemies = [other for other in others if own and players[other] and players[other] != own]
    row = dict(zip(found.ids, found.distance_mm[found.ids.index(name)].tolist(), strict=True))
    return min(enemies or others, key=row.__getitem__, default=None)

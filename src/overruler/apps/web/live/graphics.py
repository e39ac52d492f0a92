"""What goes over the camera's picture, as SVG in the camera's own pixels: range bands, lines, the ruling in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from overruler.apps.web.live.placement import LabelPlacement
from overruler.apps.web.live.selection import (
    Selection,
    distance_question,
    find_pair_question,
    pieces_named,
    question_of_pair,
)
from overruler.apps.web.quick_questions import arc_outlines as arcs_of
from overruler.apps.web.scene_paths import camera_view, range_lines_mm
from overruler.geometry.pose import Array
from overruler.picture.banner import build_banner
from overruler.picture.drawable_ruling import (
    DrawableRuling,
    drawable_ruling,
    format_distance,
)
from overruler.picture.painters import base_outline, draw_base, draw_measured_line, draw_range_lines
from overruler.picture.painters import range_arcs as arcs_round
from overruler.picture.svg import (
    BLACK,
    WHITE,
    element,
    group,
    path,
    path_data,
    text_plate,
    text_plate_size,
)
from overruler.picture.text_layout import FONT_FAMILY
from overruler.picture.view import View, offset_outline
from overruler.rules import ask
from overruler.scene import Piece, Scene
from overruler.units import inches_from_mm

LAYERS = ("bands", "lines", "verdict")
"""From the back to the front."""
RING_POINTS = 360
MIN_ZOOM_SHARE = 0.14
"""The narrowest part of the picture that is shown large."""


@dataclass(frozen=True, slots=True)
class Graphics:
    """What can be on air of that."""

    layers: dict[str, str]
    ruling: dict[str, Any] | None = None
    box_px: tuple[float, float, float, float] | None = None
    """x, y, width and height of the picture round the gap, for showing it large."""
    ends_px: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Where the measured line begins and ends."""


def draw_graphics(scene: Scene, wanted: Selection, standing: frozenset[str]) -> Graphics:
    """The graphics that hold now: nothing about a piece that does not stand where it was measured."""
    view = camera_view(scene)
    room, pieces = (
        LabelPlacement(view),
        {piece.id: piece for piece in scene.pieces if piece.id in standing},
    )
    told = (
        rule_on_pair(scene, wanted)
        if wanted.pair and pieces_named(scene, wanted.pair) <= set(pieces)
        else None
    )
    over = (
        _ruling_graphics(view, told, room, ruler=told.pieces[0].id not in wanted.bands)
        if told is not None
        else Graphics({})
    )
    round_them = [
        draw_bands(scene, view, pieces[name], room) for name in wanted.bands if name in pieces
    ]
    round_them += [draw_arcs(scene, view, pieces[name]) for name in wanted.arcs if name in pieces]
    return replace(over, layers={"bands": group(round_them), **over.layers})


def _ruling_graphics(
    view: View, told: DrawableRuling, room: LabelPlacement, ruler: bool
) -> Graphics:
    """A ruling's own graphics; without `ruler` its lines are there already."""
    line = view.line_px(told.from_mm, told.to_mm, told.z_mm)
    room.protect_lines([line, *(base_outline(view, piece) for piece in told.pieces)])
    on_table = [
        draw_range_lines(view, told) if ruler else "",
        *(draw_base(view, piece, told.style) for piece in told.pieces),
    ]
    layers = {
        "lines": group((*on_table, draw_measured_line(view, told))),
        "verdict": _draw_words(view, told, room),
    }
    for _, arc in arcs_round(view, told) if ruler else ():
        for place in arc[[0, -1]]:
            room.occupy_box(place, np.array(text_plate_size("0", 9 * view.unit)))
    (u, v), (x, y) = line[[0, -1]].tolist()
    return Graphics(layers, _ruling_json(told), _zoom_box_px(view, told), ((u, v), (x, y)))


def rule_on_pair(scene: Scene, wanted: Selection) -> DrawableRuling:
    """What the pair asks; an answer that rests on no distance is shown on the line between the two."""
    asked = question_of_pair(scene, wanted)
    verdict = ask(scene, asked)
    if asked["question"] == "distance":
        told = drawable_ruling(scene, verdict)
        said = format_distance(told.distance_mm, 1.96 * told.sigma_mm, scene.game).partition(" (")[
            0
        ]
        return replace(told, headline=f"{' → '.join(piece.id for piece in told.pieces)}: {said}")
    if verdict.from_point_mm and verdict.to_point_mm:
        return drawable_ruling(scene, verdict)
    line = ask(scene, distance_question(asked))
    places = {
        key: getattr(line, key)
        for key in ("distance_mm", "sigma_mm", "from_point_mm", "to_point_mm", "pair")
    }
    told = drawable_ruling(scene, replace(verdict, **places))
    label = find_pair_question(scene.game, wanted.tap)["label"]
    return replace(told, detail="  ·  ".join(part for part in (label, told.detail) if part))


def draw_arcs(scene: Scene, view: View, ship: Piece) -> str:
    """A ship's arcs; `BadInput` where nobody knows which side is its front."""
    lines = "".join(d for one in arcs_of(scene, ship) for d in one["lines"])
    below = element(
        "path", d=lines, fill="none", stroke=BLACK, stroke_width=4.2 * view.unit, stroke_opacity=0.6
    )
    return group(
        (
            below,
            element("path", d=lines, fill="none", stroke=WHITE, stroke_width=1.9 * view.unit),
            draw_base(view, ship),
        )
    )


def draw_bands(scene: Scene, view: View, piece: Piece, room: LabelPlacement) -> str:
    """Every range line round a base, each with its number where the picture has room for it."""
    segment = scene.segment_mm
    lines, numbers = [], []
    room.protect_lines([base_outline(view, piece)])
    for line_mm in range_lines_mm(scene):
        places = view.to_px(offset_outline(piece.shape, line_mm, steps=RING_POINTS), piece.z_mm)
        closed = np.concatenate([places, places[:1]])
        lines += [
            path(closed, stroke=BLACK, stroke_width=4.2 * view.unit, stroke_opacity=0.6),
            path(closed, stroke=WHITE, stroke_width=1.9 * view.unit),
        ]
        numbers += _place_numbers(
            view,
            places,
            f"{line_mm / segment:.0f}" if segment else f"{inches_from_mm(line_mm):g} in",
            room,
        )
    return group((*lines, draw_base(view, piece), *numbers))


def _place_numbers(view: View, places: Array, name: str, room: LabelPlacement) -> list[str]:
    """A line's name at up to four places along it, a quarter of the way round apart, where they hide nothing."""
    size, marks = 11 * view.unit, []
    for quarter in np.split(places, 4):
        for place in quarter[:: RING_POINTS // 60]:
            if room.is_free(place, np.array(text_plate_size(name, size))):
                room.occupy_box(place, np.array(text_plate_size(name, size)))
                marks.append(text_plate(name, float(place[0]), float(place[1]), size, edge=BLACK))
                break
    return marks


def _draw_words(view: View, told: DrawableRuling, room: LabelPlacement) -> str:
    """The ruling in words, in a corner where it hides neither line nor bases."""
    plate_ = build_banner([told], view.size_px)
    size = np.array([plate_.wide, plate_.high])
    left, top = room.find_corner(size).tolist()
    room.occupy_box(np.array([left, top]) + size / 2, size)
    return plate_.to_svg(left, top)


def _ruling_json(told: DrawableRuling) -> dict[str, Any]:
    names = [piece.id for piece in told.pieces]
    headline = told.headline.split(": ", 1)[-1]
    measure = {"distance_mm": round(told.distance_mm, 3), "sigma_mm": round(told.sigma_mm, 3)}
    return {
        "between": names,
        "headline": headline,
        "detail": told.detail,
        "word": told.style.word,
        **measure,
    }


def _zoom_box_px(view: View, told: DrawableRuling) -> tuple[float, float, float, float]:
    """The part of the picture round the gap, of the picture's own shape."""
    ends = view.to_px(np.stack([told.from_mm, told.to_mm]), told.z_mm)
    size = np.array(view.size_px, float)
    share = min(1.0, max(MIN_ZOOM_SHARE, 1.8 * float((np.ptp(ends, axis=0) / size).max())))
    wide = share * size
    low = np.clip(ends.mean(0) - wide / 2, 0, size - wide)
    return float(low[0]), float(low[1]), float(wide[0]), float(wide[1])


# --- pieces to click, and pictures without a browser ---


def bases_json(scene: Scene) -> dict[str, dict[str, Any]]:
    """Each piece's outline and middle in the camera's pixels."""
    view = camera_view(scene)
    return {
        piece.id: {
            "d": path_data(base_outline(view, piece), closed=True),
            "center_px": [
                round(float(v), 1) for v in view.to_px([piece.x_mm, piece.y_mm], piece.z_mm)
            ],
            "base": piece.base.name,
            **{
                key: value for key in ("unit", "player", "leader") if (value := getattr(piece, key))
            },
        }
        for piece in scene.pieces
    }


def svg_document(layers: Sequence[str], size_px: tuple[int, int]) -> str:
    """Layers as one drawing."""
    width, height = size_px
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element(
        "svg",
        *(layers or [""]),
        xmlns="http://www.w3.org/2000/svg",
        font_family=FONT_FAMILY,
        **size,
    )

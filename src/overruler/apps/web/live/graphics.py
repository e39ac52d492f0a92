"""The graphics over the camera's picture, as SVG in its pixels: lines, bases and rulings in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from overruler.apps.web.live.broadcast import Canvas, Dress, ruling_plate, show_boxes
from overruler.apps.web.live.piece_marks import draw_tags
from overruler.apps.web.live.placement import LabelPlacement
from overruler.apps.web.live.selection import (
    Selection,
    distance_question,
    find_pair_question,
    pieces_named,
    question_of_pair,
)
from overruler.apps.web.live.show import Show
from overruler.apps.web.quick_questions import arc_outlines
from overruler.apps.web.ready_scenes import camera_view
from overruler.apps.web.scene_paths import (
    RING_POINTS,
    line_name,
    range_lines_mm,
    range_ring_px,
)
from overruler.errors import OverrulerError
from overruler.geometry.pose import Array
from overruler.picture import svg
from overruler.picture.drawable_ruling import DrawableRuling, drawable_ruling
from overruler.picture.painters import (
    base_outline,
    draw_base,
    draw_measured_line,
    draw_range_lines,
    range_arcs,
)
from overruler.picture.piece_names import viewer_names
from overruler.picture.shades import draw_shade, draw_shade_words
from overruler.picture.view import View
from overruler.rules import ask
from overruler.scene import Piece, Scene
from overruler.units import SIGMAS_95, format_length
from overruler.verdict import Shade

LAYERS = ("bands", "lines", "verdict")
"""Layers of what was measured, from the back to the front."""
SHOW_LAYER = "show"
"""The layer in front of them: what the caster tells of the show."""
MIN_ZOOM_SHARE = 0.14
"""Least part of the picture's width that is shown enlarged."""
CASING_WIDTH = 4.2
"""Width of the dark casing of a range line, in units of the view."""
CASING_OPACITY = 0.6
"""Opacity of that casing."""
LINE_WIDTH = 1.9
"""Width of the light core of a range line, in units of the view."""
NUMBER_HEIGHT = 11.0
"""Height of a range line's number, in units of the view."""
ARC_NUMBER_HEIGHT = 9.0
"""Height of the numbers of the ruler along a measured line, in units of the view."""


@dataclass(frozen=True, slots=True)
class Graphics:
    """The graphics of one moment."""

    layers: dict[str, str]
    """SVG by the names of `LAYERS`."""
    ruling: dict[str, Any] | None = None
    """The ruling in words and numbers; None without a pair that stands."""
    box_px: tuple[float, float, float, float] | None = None
    """x, y, width and height of the picture's part round the gap, for showing it enlarged."""
    ends_px: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Ends of the measured line."""
    placement: LabelPlacement | None = None
    """What is occupied by the ruling."""


NO_GRAPHICS = Graphics({})
"""The graphics while nothing is on air."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the caster tells, and how everything looks."""

    show: Show = field(default_factory=Show)
    dress: Dress = field(default_factory=Dress)


_BARE_STAGE = Stage()


def draw_what_can_be(
    scene: Scene, selection: Selection, standing: frozenset[str], stage: Stage
) -> tuple[Graphics, str]:
    """Draw the selection; leave out the pair, the areas or both if they cannot be drawn, and return why."""
    reason = ""
    without_pair = replace(selection, pair=None)
    bare = (selection.without_areas(), without_pair.without_areas())
    for possible in (selection, without_pair, *bare):
        try:
            return draw_graphics(scene, possible, standing, stage), reason
        except OverrulerError as error:
            reason = reason or str(error)
    return Graphics({}), reason


def draw_graphics(
    scene: Scene, selection: Selection, standing: frozenset[str], stage: Stage = _BARE_STAGE
) -> Graphics:
    """Draw the selection; leave out every piece that does not stand where it was measured."""
    view = replace(camera_view(scene), magnification=stage.dress.look.size)
    placement = LabelPlacement(view)
    for center, size in show_boxes(Canvas(view.size_px), stage.show, stage.dress):
        placement.occupy_box(center, size)
    for piece in scene.pieces:
        placement.add_bystanders(view.to_px([[piece.x_mm, piece.y_mm]], piece.z_mm))
    pieces = {piece.id: piece for piece in scene.pieces if piece.id in standing}
    graphics = Graphics({})
    shades: list[Shade] = []
    if selection.pair and pieces_named(scene, selection.pair) <= set(pieces):
        ruling = rule_on_pair(scene, selection)
        has_ruler = ruling.pieces[0].id not in selection.bands
        graphics = _ruling_graphics(view, ruling, placement, has_ruler, stage.dress)
        shades += ruling.shades
    for name, question in selection.areas:
        if name in pieces:
            shades += ask(scene, question).shades
    parts = [draw_shade(view, shade, number) for number, shade in enumerate(shades)]
    parts += [draw_shade_words(view, shade) for shade in shades]
    for name in selection.bands:
        if name in pieces:
            parts.append(draw_bands(scene, view, pieces[name], placement))
    for name in selection.arcs:
        if name in pieces:
            parts.append(draw_arcs(scene, view, pieces[name]))
    return replace(graphics, layers={"bands": svg.group(parts), **graphics.layers})


def _ruling_graphics(
    view: View, ruling: DrawableRuling, placement: LabelPlacement, has_ruler: bool, dress: Dress
) -> Graphics:
    """Draw a ruling, with the ruler's lines along the measured line if `has_ruler`."""
    line = view.line_px(ruling.from_mm, ruling.to_mm, ruling.z_mm)
    placement.protect_lines([line, *(base_outline(view, piece) for piece in ruling.pieces)])
    bases = [draw_base(view, piece, ruling.style) for piece in ruling.pieces]
    names = viewer_names(view, ruling.pieces, dress.names)
    words = _draw_words(view, ruling, names, dress, placement)
    ruler = _draw_ruler(view, ruling, placement) if has_ruler else ""
    tags = draw_tags(view, ruling, dress, placement)
    layers = {
        "lines": svg.group((ruler, *bases, draw_measured_line(view, ruling), tags)),
        "verdict": words,
    }
    (x0, y0), (x1, y1) = line[[0, -1]].tolist()
    told, box = _ruling_json(ruling, names), _zoom_box_px(view, ruling)
    return Graphics(layers, told, box, ((x0, y0), (x1, y1)), placement)


def _draw_ruler(view: View, ruling: DrawableRuling, placement: LabelPlacement) -> str:
    """Draw the ruler's lines along the measured line; no number stands under what is shown above it."""
    size = np.array(svg.text_plate_size("0", ARC_NUMBER_HEIGHT * view.unit))
    ruler = draw_range_lines(view, ruling, is_free=lambda end: not placement.hides_box(end, size))
    for _, arc in range_arcs(view, ruling):
        for place in arc[[0, -1]]:
            placement.occupy_box(place, size)
    return ruler


def rule_on_pair(scene: Scene, selection: Selection) -> DrawableRuling:
    """Rule on the pair; an answer that rests on no distance is drawn on the line between the two."""
    question = question_of_pair(scene, selection)
    verdict = ask(scene, question)
    if question["question"] == "distance":
        return _distance_ruling(scene, drawable_ruling(scene, verdict))
    if verdict.from_point_mm and verdict.to_point_mm:
        return drawable_ruling(scene, verdict)
    distance = ask(scene, distance_question(question))
    measured = replace(
        verdict,
        distance_mm=distance.distance_mm,
        sigma_mm=distance.sigma_mm,
        from_point_mm=distance.from_point_mm,
        to_point_mm=distance.to_point_mm,
        pair=distance.pair,
    )
    ruling = drawable_ruling(scene, measured)
    label = find_pair_question(scene.game, selection.tap)["label"]
    return replace(ruling, detail="  ·  ".join(part for part in (label, ruling.detail) if part))


def _distance_ruling(scene: Scene, ruling: DrawableRuling) -> DrawableRuling:
    """A bare distance with the distance as its headline."""
    half_width_mm = SIGMAS_95 * ruling.sigma_mm
    text = format_length(ruling.distance_mm, half_width_mm, scene.unit)
    return replace(ruling, answer=text.partition(" (")[0])


# --- arcs and range lines ---


def draw_arcs(scene: Scene, view: View, ship: Piece) -> str:
    """Draw a ship's arcs; raise `BadInput` if its front is not known."""
    lines = "".join(line for arc in arc_outlines(scene, ship) for line in arc["lines"])
    return svg.group((*_cased_path(view, lines), draw_base(view, ship)))


def _cased_path(view: View, lines: str) -> tuple[str, str]:
    """SVG path data as a dark casing and a light core."""
    casing = svg.element(
        "path",
        d=lines,
        fill="none",
        stroke=svg.BLACK,
        stroke_width=CASING_WIDTH * view.unit,
        stroke_opacity=CASING_OPACITY,
    )
    core = svg.element(
        "path", d=lines, fill="none", stroke=svg.WHITE, stroke_width=LINE_WIDTH * view.unit
    )
    return casing, core


def draw_bands(scene: Scene, view: View, piece: Piece, placement: LabelPlacement) -> str:
    """Draw every range line round a base, with its number where the picture has room."""
    placement.protect_lines([base_outline(view, piece)])
    lines: list[str] = []
    numbers: list[str] = []
    for line_mm in range_lines_mm(scene):
        ring = range_ring_px(view, piece, line_mm)
        lines += _cased_path(view, svg.path_data(np.concatenate([ring, ring[:1]])))
        numbers += _draw_numbers(view, ring, line_name(scene, line_mm), placement)
    return svg.group((*lines, draw_base(view, piece), *numbers))


def _draw_numbers(view: View, ring: Array, name: str, placement: LabelPlacement) -> Iterator[str]:
    """Draw a line's name up to four times, once a quarter of the way round, where it hides nothing."""
    height = NUMBER_HEIGHT * view.unit
    size = np.array(svg.text_plate_size(name, height))
    for quarter in np.split(ring, 4):
        for place in quarter[:: RING_POINTS // 60]:
            if placement.is_free(place, size):
                placement.occupy_box(place, size)
                x, y = place.tolist()
                yield svg.text_plate(name, x, y, height, edge=svg.BLACK)
                break


# --- words ---


def _draw_words(
    view: View,
    ruling: DrawableRuling,
    names: Sequence[str],
    dress: Dress,
    placement: LabelPlacement,
) -> str:
    """Draw the ruling in words, in a corner where it hides neither line nor bases."""
    plate = ruling_plate(Canvas(view.size_px), ruling, names, dress)
    size = np.array(plate.size)
    left, top = placement.find_corner(size).tolist()
    placement.occupy_box(np.array([left, top]) + size / 2, size)
    return plate.at(left, top, id="ruling")


def _ruling_json(ruling: DrawableRuling, names: Sequence[str]) -> dict[str, Any]:
    return {
        "between": [piece.id for piece in ruling.pieces],
        "names": list(names),
        "headline": ruling.answer,
        "detail": ruling.detail,
        "word": ruling.style.word,
        "distance_mm": round(ruling.distance_mm, 3),
        "sigma_mm": round(ruling.sigma_mm, 3),
    }


def _zoom_box_px(view: View, ruling: DrawableRuling) -> tuple[float, float, float, float]:
    """The part of the picture round the gap, of the picture's own shape: x, y, width, height."""
    ends = view.to_px(np.stack([ruling.from_mm, ruling.to_mm]), ruling.z_mm)
    picture = np.array(view.size_px, float)
    gap_share = float((np.ptp(ends, axis=0) / picture).max())
    share = min(1.0, max(MIN_ZOOM_SHARE, 1.8 * gap_share))
    size = share * picture
    low = np.clip(ends.mean(0) - size / 2, 0, picture - size)
    return float(low[0]), float(low[1]), float(size[0]), float(size[1])

"""A report drawn as SVG: the photo, bases, rulings, range lines, magnifier, scale bar and words."""

from itertools import pairwise

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture import loupe as magnifier
from overruler.picture.answer_style import AnswerStyle
from overruler.picture.banner import MAX_ROWS, SAFE_SHARE, Banner, build_banner
from overruler.picture.drawable_ruling import DrawableRuling, drawable_rulings
from overruler.picture.label_placement import LabelLayout
from overruler.picture.painters import (
    base_outline,
    draw_arc_borders,
    draw_base,
    draw_measured_line,
    draw_range_lines,
    draw_scale_bar,
    draw_terrain,
    draw_warning,
    height_text,
)
from overruler.picture.raster import data_uri, font_face_css, output_size
from overruler.picture.shades import WORD_SIZE, draw_shade, draw_shade_words, with_shade_colours
from overruler.picture.svg import BLACK, WHITE, element, group, path, text_plate, text_plate_size
from overruler.picture.text_layout import text_width, wrap_text
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Piece, Terrain
from overruler.units import format_nominal, told_unit

BYSTANDER_FONT_SIZE = 8.5
"""Font size of a label beside a piece without a ruling, in units of the view."""
RULING_FONT_SIZE = 12.0
"""Font size of a label beside a piece with a ruling, in units of the view."""
WARNING_FONT_SIZE = 11.5
"""Font size of a warning, in units of the view."""
BYSTANDER_COLOUR = "#15191e"
MAX_WARNINGS = 2
WARNING_WIDTH_SHARES = (0.4, 0.3, 0.22)
"""Widths of a warning's lines, as shares of the picture; the first is preferred."""
PIECE_OVERLAP_WEIGHT = 4.0
"""Cost of covering a piece, relative to a label."""
DECISIVE_OVERLAP_WEIGHT = 25.0
"""Cost of covering a piece that a ruling is about, relative to a label."""
SCALE_BAR_MM = 100.0
"""Length of the scale bar for a game whose ruler has none, in mm."""
LEADER_SIZES = 2.2
"""Distance from base to label, in its font sizes, from which a leader line connects them."""


def draw_report(report: Report) -> str:
    """Return the annotated photo as SVG, with photo and font embedded."""
    width, height = report.frame.size_px
    address = data_uri(report.frame.pixels, output_size((width, height)))
    photo = element("image", href=address, width=width, height=height, preserveAspectRatio="none")
    return _svg_document(report, [element("style", font_face_css()), photo, *_svg_layers(report)])


def draw_overlay(report: Report) -> str:
    """Return everything that `draw_report` draws on the photo, on a transparent background."""
    return _svg_document(report, _svg_layers(report))


def _svg_document(report: Report, layers: list[str]) -> str:
    width, height = report.frame.size_px
    shown = output_size((width, height))
    size = {"viewBox": f"0 0 {width} {height}", "width": shown[0], "height": shown[1]}
    return element("svg", *layers, xmlns="http://www.w3.org/2000/svg", **size)


def _svg_layers(report: Report) -> list[str]:
    """Return all that lies on the photo, from back to front; what is placed first has most room."""
    view = View(report.calibration.camera, report.frame.size_px)
    told = with_shade_colours(drawable_rulings(report.scene, report.verdicts))
    claims = [claim for claim in told if claim.has_line]
    shades = [shade for claim in told for shade in claim.shades]
    looks = {piece.id: claim.style for claim in reversed(claims) for piece in claim.pieces}
    room = _reserve_pieces(view, report, claims)
    range_lines = draw_range_lines(view, claims[0], room) if claims else ""
    first_plate = len(room.boxes)
    banner = _draw_banner(view, room, told)
    plates = room.boxes[first_plate:]
    loupe = _draw_loupe(view, report, room, claims)
    first_plate = len(room.boxes)
    warnings = _place_warnings(view, report, room)
    plates += room.boxes[first_plate:]
    scale = _place_scale_bar(view, report, room)
    labels = _draw_labels(view, report, room, looks, claims, plates)
    return [
        *(draw_shade(view, shade, number) for number, shade in enumerate(shades)),
        *(draw_terrain(view, terrain) for terrain in report.scene.terrain),
        range_lines,
        *(draw_arc_borders(view, claim) for claim in claims),
        *(draw_base(view, piece, looks.get(piece.id)) for piece in report.scene.pieces),
        *(draw_measured_line(view, claim) for claim in reversed(claims)),
        *(draw_shade_words(view, shade) for shade in shades),
        scale,
        loupe,
        warnings,
        banner,
        labels,
    ]


def _reserve_pieces(view: View, report: Report, claims: list[DrawableRuling]) -> LabelLayout:
    """Return a layout in which bases and measured lines are reserved."""
    room = LabelLayout(view.size_px, 0.012 * max(view.size_px))
    decisive = {piece.id for claim in claims for piece in claim.pieces}
    for piece in report.scene.pieces:
        weight = DECISIVE_OVERLAP_WEIGHT if piece.id in decisive else PIECE_OVERLAP_WEIGHT
        room.reserve_points(base_outline(view, piece), view.unit, weight=weight)
    for claim in claims:
        line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
        for start, end in pairwise(line[::2]):
            room.reserve_points(np.stack([start, end]), 4 * view.unit)
        for _, place in (word for shade in claim.shades for word in shade.labels_mm):
            room.reserve_points(view.to_px(place)[None], WORD_SIZE * view.unit)
    return room


def _draw_banner(view: View, room: LabelLayout, claims: list[DrawableRuling]) -> str:
    """Draw the banner at the foot or the head, with fewer rows if it would cover its pieces."""
    for rows in range(min(len(claims), MAX_ROWS), 0, -1):
        banner = build_banner(claims, view.size_px, rows)
        size = (banner.wide, banner.high)
        corners = _banner_corners(view, banner)
        middles = corners + np.array(size) / 2
        cost = 0.0 if rows == 1 else room.least_overlap_cost(size, middles)
        if cost < DECISIVE_OVERLAP_WEIGHT / 4:
            left, top = corners[room.reserve_best(size, middles, DECISIVE_OVERLAP_WEIGHT)]
            return banner.to_svg(float(left), float(top))
    return ""


def _banner_corners(view: View, banner: Banner) -> Array:
    """Return candidates for a banner's upper left corner (6, 2): the foot first, from the left."""
    size = np.array(view.size_px)
    left, top = SAFE_SHARE * size
    right, bottom = size - [left, top] - [banner.wide, banner.high]
    columns = (left, (left + right) / 2, right)
    return np.array([(x, y) for y in (bottom, top) for x in columns])


def _draw_loupe(view: View, report: Report, room: LabelLayout, claims: list[DrawableRuling]) -> str:
    """Draw the magnifier on the first ruling that it helps."""
    for claim in claims:
        loupe = magnifier.place_loupe(view, claim, room)
        if loupe:
            return magnifier.draw_loupe(view, claim, loupe, report.frame.pixels)
    return ""


# --- labels ---


def _draw_labels(
    view: View,
    report: Report,
    room: LabelLayout,
    looks: dict[str, AnswerStyle],
    claims: list[DrawableRuling],
    hidden: list[Array],
) -> str:
    """Label lines first, then pieces with rulings, then bystanders: later ones get worse places.

    A bystander under one of the `hidden` boxes has no label.
    """
    leaders = []
    plates = [_ruling_label(view, claim, room) for claim in claims]
    for piece in sorted(report.scene.pieces, key=lambda piece: piece.id not in looks):
        look = looks.get(piece.id)
        edge = base_outline(view, piece)
        if view.contains_all(edge) and (look or not _is_covered(edge.mean(0), hidden)):
            leader, plate = _piece_label(view, room, piece, edge, look)
            leaders.append(leader)
            plates.append(plate)
    unit = told_unit(report.scene.state)
    heights = [_height_label(view, terrain, room, unit) for terrain in report.scene.terrain]
    return group(leaders + plates + heights)


def _piece_label(
    view: View, room: LabelLayout, piece: Piece, edge: Array, look: AnswerStyle | None
) -> tuple[str, str]:
    """Return the leader line from a base's edge (N, 2) to the piece's label, and the label."""
    size = (RULING_FONT_SIZE if look else BYSTANDER_FONT_SIZE) * view.unit
    text = f"{piece.id}?" if piece.reason_for_doubt else piece.id
    x, y = room.place_beside(text_plate_size(text, size), _bounding_box(edge))
    plate = text_plate(text, x, y, size, fill=look.colour if look else BYSTANDER_COLOUR)
    return _leader_line(view, edge, np.array([x, y]), size), plate


def _bounding_box(points: Array) -> Array:
    return np.concatenate([points.min(0), points.max(0)])


def _is_covered(point: Array, boxes: list[Array]) -> bool:
    """Tell whether a point (2,) lies in one of some boxes."""
    return any((box[:2] < point).all() and (point < box[2:]).all() for box in boxes)


def _height_label(view: View, terrain: Terrain, room: LabelLayout, unit: str) -> str:
    """Label raised ground, if all of it is visible."""
    edge = view.to_px(terrain.footprint_mm, terrain.top_z_mm)
    if not view.contains_all(edge):
        return ""
    size, text = BYSTANDER_FONT_SIZE * view.unit, height_text(terrain, unit)
    x, y = room.place_beside(text_plate_size(text, size), _bounding_box(edge))
    return text_plate(text, x, y, size)


def _leader_line(view: View, edge: Array, label: Array, size: float) -> str:
    """Draw a thin line from a base's edge (N, 2) to a distant label."""
    nearest = edge[np.argmin(np.linalg.norm(edge - label, axis=1))]
    if np.linalg.norm(nearest - label) < LEADER_SIZES * size:
        return ""
    line = np.stack([nearest, label])
    casing = path(line, stroke=BLACK, stroke_width=2.0 * view.unit)
    return casing + path(line, stroke=WHITE, stroke_width=0.9 * view.unit)


def _ruling_label(view: View, claim: DrawableRuling, room: LabelLayout) -> str:
    size = RULING_FONT_SIZE * view.unit
    line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
    middle = line[len(line) // 2]
    if not view.contains_all(middle[None]):
        return ""
    x, y = room.place_beside(text_plate_size(claim.line_label, size), (*middle, *middle))
    return text_plate(claim.line_label, x, y, size, fill=claim.style.colour)


# --- scale bar and warnings ---


def _place_scale_bar(view: View, report: Report, room: LabelLayout) -> str:
    """Draw a bar of true length on the board where it covers least, preferably near the viewer."""
    ruler = report.scene.range_ruler
    length = ruler.lines_mm[0] if ruler else SCALE_BAR_MM
    width, height = report.calibration.board_mm
    columns = np.linspace(0, width - length, 9)
    grid = np.meshgrid(columns, np.linspace(0, height, 9))
    starts = np.stack(grid, -1).reshape(-1, 2)
    bar = np.array([length, 0.0])
    ends = view.to_px(np.stack([starts, starts + bar], 1))
    border = SAFE_SHARE * min(view.size_px)
    ends = ends[np.array([view.contains_all(pair, border) for pair in ends])]
    if not len(ends):
        return ""
    longest = float(np.ptp(ends[..., 0], axis=1).max())
    size = (longest + 8 * view.unit, 30 * view.unit)
    middles = ends.mean(1) - [0, 6 * view.unit]
    chosen = ends[room.reserve_best(size, middles)]
    return draw_scale_bar(view, chosen, format_nominal(length, told_unit(report.scene.state)), 4)


def _place_warnings(view: View, report: Report, room: LabelLayout) -> str:
    """Draw the calibration's worst problems in a corner, wrapped so that they cover least."""
    size = WARNING_FONT_SIZE * view.unit
    problems = [problem.text for problem in report.calibration.problems[:MAX_WARNINGS]]
    if not problems:
        return ""
    candidates, costs = [], []
    for share in WARNING_WIDTH_SHARES:
        width = share * view.size_px[0]
        lines = [line for text in problems for line in wrap_text(text, size, width)]
        box = _warning_size(lines, size)
        candidates.append((lines, box))
        costs.append(room.least_overlap_cost(box, _corner_centres(view, box)))
    cheapest = int(np.argmin(np.round(costs, 1)))
    lines, box = candidates[cheapest]
    middles = _corner_centres(view, box)
    chosen = middles[room.reserve_best(box, middles, DECISIVE_OVERLAP_WEIGHT)]
    left, top = chosen - np.array(box) / 2
    return draw_warning(lines, left, top, size, box[0])


def _warning_size(lines: list[str], size: float) -> tuple[float, float]:
    """Return the width and height of a warning."""
    wide = max(map(text_width, lines)) * size + 3.0 * size
    return wide, (len(lines) * 1.35 + 0.6) * size


def _corner_centres(view: View, box: tuple[float, float]) -> Array:
    """Return the centres (4, 2) of a box in the picture's corners, the upper left first."""
    left, top = SAFE_SHARE * np.array(view.size_px)
    right, bottom = np.array(view.size_px) * (1 - SAFE_SHARE) - np.array(box)
    corners = np.array([(left, top), (right, top), (left, bottom), (right, bottom)])
    return corners + np.array(box) / 2

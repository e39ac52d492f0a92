"""A report drawn once, as SVG: the photo with its bases, rulings, range lines, magnifier, scale bar and words."""

from itertools import pairwise

import numpy as np

from overruler.games import facts_of
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
from overruler.picture.svg import BLACK, WHITE, element, group, path, text_plate, text_plate_size
from overruler.picture.text_layout import text_width as text_width
from overruler.picture.text_layout import wrap_text
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Terrain

BYSTANDER_FONT_SIZE, RULING_FONT_SIZE = 8.5, 12.0
"""Letters of a label, in units of the view: a bystander's and that of a piece in a ruling."""
MAX_WARNINGS = 2
WARNING_WIDTH_SHARES = (0.4, 0.3, 0.22)
"""How wide a warning may be, in shares of the picture; the first is best."""
PIECE_OVERLAP_WEIGHT, DECISIVE_OVERLAP_WEIGHT = 4.0, 25.0
"""How much worse it is to cover a piece than a word: any piece, and one that a ruling is about."""
SCALE_BAR_MM = 100.0
"""The scale bar's length where the game's ruler has none."""


def draw_report(report: Report) -> str:
    """The annotated photo as SVG, with the photo and the font inside: it looks the same wherever it is opened."""
    width, height = report.frame.size_px
    address = data_uri(report.frame.pixels, output_size((width, height)))
    photo = element("image", href=address, width=width, height=height, preserveAspectRatio="none")
    return _svg_document(report, [element("style", font_face_css()), photo, *_svg_layers(report)])


def draw_overlay(report: Report) -> str:
    """All that `draw_report` draws on the photo, on a transparent ground."""
    return _svg_document(report, _svg_layers(report))


def _svg_document(report: Report, layers: list[str]) -> str:
    width, height = report.frame.size_px
    shown = output_size((width, height))
    size = {"viewBox": f"0 0 {width} {height}", "width": shown[0], "height": shown[1]}
    return element("svg", *layers, xmlns="http://www.w3.org/2000/svg", **size)


def _svg_layers(report: Report) -> list[str]:
    """Everything that lies on the photo, from the back to the front."""
    view = View(report.calibration.camera, report.frame.size_px)
    told = drawable_rulings(report.scene, report.verdicts)
    looks = {piece.id: claim.style for claim in reversed(told) for piece in claim.pieces}
    room = _reserve_pieces(view, report, told)
    lines = draw_range_lines(view, told[0], room) if told else ""
    taken = len(room.boxes)
    plaque = _draw_banner(view, room, told)
    plates = room.boxes[taken:]
    magnified = _draw_loupe(view, report, room, told)
    taken = len(room.boxes)
    warnings = _place_warnings(view, report, room)
    plates += room.boxes[taken:]
    scale = _place_scale_bar(view, report, room)
    return [
        *(draw_terrain(view, terrain) for terrain in report.scene.terrain),
        lines,
        *(draw_arc_borders(view, claim) for claim in told),
        *(draw_base(view, piece, looks.get(piece.id)) for piece in report.scene.pieces),
        *(draw_measured_line(view, claim) for claim in reversed(told)),
        scale,
        magnified,
        warnings,
        plaque,
        _draw_labels(view, report, room, looks, told, plates),
    ]


def _reserve_pieces(view: View, report: Report, told: list[DrawableRuling]) -> LabelLayout:
    """The drawing with its bases and measured lines taken."""
    room = LabelLayout(view.size_px, 0.012 * max(view.size_px))
    told_of = {piece.id for claim in told for piece in claim.pieces}
    for piece in report.scene.pieces:
        room.reserve_points(
            base_outline(view, piece),
            view.unit,
            weight=DECISIVE_OVERLAP_WEIGHT if piece.id in told_of else PIECE_OVERLAP_WEIGHT,
        )
    for claim in told:
        line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
        for start, end in pairwise(line[::2]):
            room.reserve_points(np.stack([start, end]), 4 * view.unit)
    return room


def _draw_banner(view: View, room: LabelLayout, told: list[DrawableRuling]) -> str:
    """The banner at the foot of the picture or its head, shorter where it would cover what it is about."""
    for rows in range(min(len(told), MAX_ROWS), 0, -1):
        plate_ = build_banner(told, view.size_px, rows)
        size, corners = (plate_.wide, plate_.high), _banner_corners(view, plate_)
        if (
            rows == 1
            or room.least_overlap_cost(size, corners + np.array(size) / 2)
            < DECISIVE_OVERLAP_WEIGHT / 4
        ):
            left, top = corners[
                room.reserve_best(size, corners + np.array(size) / 2, DECISIVE_OVERLAP_WEIGHT)
            ]
            return plate_.to_svg(float(left), float(top))
    return ""


def _banner_corners(view: View, plate_: Banner) -> Array:
    """Where a banner's upper left corner may lie (6, 2): the foot first, from the left."""
    border = SAFE_SHARE * np.array(view.size_px)
    high = np.array(view.size_px) - border - [plate_.wide, plate_.high]
    columns = (border[0], (border[0] + high[0]) / 2, high[0])
    return np.array([(x, y) for y in (high[1], border[1]) for x in columns])


def _draw_loupe(view: View, report: Report, room: LabelLayout, told: list[DrawableRuling]) -> str:
    """The magnifier on the first ruling that it helps."""
    for claim in told:
        glass = magnifier.place_loupe(view, claim, room)
        if glass:
            return magnifier.draw_loupe(view, claim, glass, report.frame.pixels)
    return ""


def _draw_labels(
    view: View,
    report: Report,
    room: LabelLayout,
    looks: dict[str, AnswerStyle],
    told: list[DrawableRuling],
    hidden: list[Array],
) -> str:
    """The words on lines first, then the pieces in rulings, then the bystanders: the later, the less good its place.

    A bystander under one of the `hidden` boxes has none.
    """
    leaders, plates = [], [_ruling_label(view, claim, room) for claim in told]
    for piece in sorted(report.scene.pieces, key=lambda piece: piece.id not in looks):
        look, edge = looks.get(piece.id), base_outline(view, piece)
        if not view.contains_all(edge) or (not look and _is_covered(edge.mean(0), hidden)):
            continue
        size = (RULING_FONT_SIZE if look else BYSTANDER_FONT_SIZE) * view.unit
        x, y = room.place_beside(text_plate_size(piece.id, size), (*edge.min(0), *edge.max(0)))
        leaders.append(_leader_line(view, edge, np.array([x, y]), size))
        plates.append(text_plate(piece.id, x, y, size, fill=look.colour if look else "#15191e"))
    return group(
        leaders + plates + [_height_label(view, terrain, room) for terrain in report.scene.terrain]
    )


def _is_covered(point: Array, boxes: list[Array]) -> bool:
    """Whether a place (2,) lies in one of some boxes."""
    return any(bool((box[:2] < point).all() and (point < box[2:]).all()) for box in boxes)


def _height_label(view: View, terrain: Terrain, room: LabelLayout) -> str:
    """The words beside raised ground."""
    edge, size, text = (
        view.to_px(terrain.footprint_mm, terrain.top_z_mm),
        BYSTANDER_FONT_SIZE * view.unit,
        height_text(terrain),
    )
    if not view.contains_all(edge):
        return ""
    x, y = room.place_beside(text_plate_size(text, size), (*edge.min(0), *edge.max(0)))
    return text_plate(text, x, y, size)


def _leader_line(view: View, edge: Array, label: Array, size: float) -> str:
    """A thin line from a base's edge (N, 2) to its label, where that lies so far off that it could be another's."""
    nearest = edge[np.argmin(np.linalg.norm(edge - label, axis=1))]
    if np.linalg.norm(nearest - label) < 2.2 * size:
        return ""
    line = np.stack([nearest, label])
    return path(line, stroke=BLACK, stroke_width=2.0 * view.unit) + path(
        line, stroke=WHITE, stroke_width=0.9 * view.unit
    )


def _ruling_label(view: View, claim: DrawableRuling, room: LabelLayout) -> str:
    size = RULING_FONT_SIZE * view.unit
    line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
    middle = line[len(line) // 2]
    if not view.contains_all(middle[None]):
        return ""
    x, y = room.place_beside(text_plate_size(claim.line_label, size), (*middle, *middle))
    return text_plate(claim.line_label, x, y, size, fill=claim.style.colour)


def _place_scale_bar(view: View, report: Report, room: LabelLayout) -> str:
    """A bar of true length lying along the board, where it covers least, the near edge first."""
    ruler = facts_of(report.scene.game).ruler
    length = ruler.segment_mm if ruler else SCALE_BAR_MM
    width, height = report.calibration.board_mm
    x, y = np.meshgrid(np.linspace(0, width - length, 9), np.linspace(0, height, 9))
    starts = np.stack([x, y], -1).reshape(-1, 2)
    ends = view.to_px(np.stack([starts, starts + np.array([length, 0.0])], 1))
    shown = np.array([view.contains_all(pair, SAFE_SHARE * min(view.size_px)) for pair in ends])
    if not shown.any():
        return ""
    ends = ends[shown]
    size = (float(np.ptp(ends[..., 0], axis=1).max()) + 8 * view.unit, 30 * view.unit)
    chosen = ends[room.reserve_best(size, ends.mean(1) - [0, 6 * view.unit])]
    return draw_scale_bar(view, chosen, f"{length:g} mm", 4)


def _place_warnings(view: View, report: Report, room: LabelLayout) -> str:
    """The calibration's worst problems, in the upper left corner or where there is room, in longer lines or shorter."""
    size, problems = (
        11.5 * view.unit,
        [problem.text for problem in report.calibration.problems[:MAX_WARNINGS]],
    )
    if not problems:
        return ""
    ways = [
        [line for text in problems for line in wrap_text(text, size, share * view.size_px[0])]
        for share in WARNING_WIDTH_SHARES
    ]
    costs = [
        room.least_overlap_cost(box, _corner_centres(view, box))
        for box in (_warning_size(lines, size) for lines in ways)
    ]
    lines = ways[int(np.argmin(np.round(costs, 1)))]
    box = _warning_size(lines, size)
    middles = _corner_centres(view, box)
    x, y = middles[room.reserve_best(box, middles, DECISIVE_OVERLAP_WEIGHT)] - np.array(box) / 2
    return draw_warning(lines, float(x), float(y), size, box[0])


def _warning_size(lines: list[str], size: float) -> tuple[float, float]:
    """Width and height of a warning."""
    return max(map(text_width, lines)) * size + 3.0 * size, (len(lines) * 1.35 + 0.6) * size


def _corner_centres(view: View, box: tuple[float, float]) -> Array:
    """The middles (4, 2) of a box in the picture's corners, the upper left first."""
    (left, top), (wide, high) = SAFE_SHARE * np.array(view.size_px), box
    right, bottom = np.array(view.size_px) * (1 - SAFE_SHARE) - [wide, high]
    corners = np.array([(left, top), (right, top), (left, bottom), (right, bottom)])
    return corners + np.array(box) / 2

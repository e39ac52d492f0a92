"""A report drawn as SVG: the photo, bases, rulings, range lines, magnifier, scale bar and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.answer_style import AnswerStyle
from overruler.picture.banner import SAFE_SHARE, build_banner
from overruler.picture.drawable_ruling import DrawableRuling, drawable_rulings
from overruler.picture.label_placement import LabelLayout
from overruler.picture.loupe import draw_loupe
from overruler.picture.painters import (
    SCALE_FONT_SIZE,
    base_outline,
    draw_arc_borders,
    draw_base,
    draw_measured_line,
    draw_range_lines,
    draw_scale_bar,
    draw_terrain,
    height_text,
)
from overruler.picture.piece_names import piece_label
from overruler.picture.plates import Plates
from overruler.picture.raster import data_uri, font_face_css, output_size
from overruler.picture.shades import WORD_SIZE, draw_shade, draw_shade_words, with_shade_colours
from overruler.picture.svg import BLACK, WHITE, element, group, path, text_plate, text_plate_size
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Piece, Terrain
from overruler.units import INCHES, format_nominal, mm_from_inches

BYSTANDER_FONT_SIZE = 8.5
"""Font size of a label beside a piece without a ruling, in units of the view."""
RULING_FONT_SIZE = 12.0
"""Font size of a label beside a piece with a ruling, in units of the view."""
BYSTANDER_COLOUR = "#15191e"
PIECE_OVERLAP_WEIGHT = 4.0
"""Cost of covering a piece, relative to a label."""
DECISIVE_OVERLAP_WEIGHT = 25.0
"""Cost of covering a piece that a ruling is about, relative to a label."""
SCALE_BAR_MM = 100.0
"""Length of the scale bar for a game without a ruler, in mm."""
SCALE_BAR_IN = 6.0
"""Length of that scale bar where people read inches, in inches."""
LEADER_SIZES = 2.2
"""Distance from base to label, in its font sizes, from which a leader line connects them."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing on a photo, and below it on the strip that the words may need."""

    ground: tuple[str, ...]
    """SVG of what lies on the table, from back to front."""
    lines: tuple[str, ...]
    """SVG of what is measured."""
    ends_px: tuple[Array, ...]
    """The two ends (2, 2) of each measured line."""
    words: tuple[str, ...]
    """SVG of names, rulings, and the magnifier."""
    size_px: tuple[int, int]
    """Width and height, the strip's included."""
    strip_px: int
    """Height of the strip."""

    def document(self, *below: str) -> str:
        """The drawing as an SVG document, on top of what lies `below`."""
        parts = (*below, *self.ground, *self.lines, *self.words)
        return self.document_of(parts, output_size(self.size_px))

    def document_of(self, parts: Sequence[str], shown_px: tuple[int, int]) -> str:
        """Some of its parts as an SVG document of a size that it fills, as a resized photo does."""
        box = {"viewBox": "0 0 {} {}".format(*self.size_px), "preserveAspectRatio": "none"}
        size = {"width": shown_px[0], "height": shown_px[1]}
        return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **box, **size)


def draw_report(report: Report) -> str:
    """Return the annotated photo as SVG, with photo and font embedded."""
    width, height = report.frame.size_px
    address = data_uri(report.frame.shown, output_size((width, height)))
    photo = element("image", href=address, width=width, height=height, preserveAspectRatio="none")
    return draw_on_photo(report).document(element("style", font_face_css()), photo)


def draw_on_photo(report: Report) -> Drawing:
    """Draw all that lies on the photo, from back to front; what is placed first has most room."""
    view = View(report.calibration.camera, report.frame.size_px)
    told = with_shade_colours(drawable_rulings(report.scene, report.verdicts))
    claims = [claim for claim in told if claim.has_line]
    room = _reserve_pieces(view, report, claims)
    range_lines = draw_range_lines(view, claims[0], room) if claims else ""
    line_labels = [_ruling_label(view, claim, room) for claim in claims]
    plates = _place_plates(view, report, room, told)
    width, height = report.frame.size_px
    size_px = (width, height + plates.strip_px)
    scale = _place_scale_bar(view, report, room)
    ground = (
        _draw_strip(size_px, plates.strip_px),
        *_draw_ground(view, report, told),
        range_lines,
        *_draw_pieces(view, report, claims),
    )
    measured = claims[::-1]
    lines = tuple(draw_measured_line(view, claim) for claim in measured)
    ends = tuple(view.to_px([claim.from_mm, claim.to_mm], claim.z_mm) for claim in measured)
    words = (
        *(draw_shade_words(view, shade) for claim in told for shade in claim.shades),
        scale,
        _draw_loupe(view, report, plates, claims),
        *plates.parts,
        _draw_labels(view, report, room, claims, line_labels),
    )
    return Drawing(ground, lines, ends, words, size_px, plates.strip_px)


def _place_plates(
    view: View, report: Report, room: LabelLayout, told: Sequence[DrawableRuling]
) -> Plates:
    """Place the rulings in words, the magnifier on the first of them, and the warnings."""
    plates = Plates(view, room)
    plates.reserve_markers(report.calibration.corners_px)
    if told:
        plates.add_banner(build_banner(told, view.size_px))
    if told and told[0].has_line:
        plates.add_loupe(told[0])
    plates.add_warnings([one.sentence(report.scene.unit) for one in report.calibration.problems])
    return plates


def _draw_strip(size_px: tuple[int, int], strip_px: int) -> str:
    if not strip_px:
        return ""
    width, height = size_px
    return element("rect", y=height - strip_px, width=width, height=strip_px, fill=BLACK)


def _draw_ground(view: View, report: Report, told: Sequence[DrawableRuling]) -> list[str]:
    """Draw the ground that rulings are about, and raised ground."""
    shades = [shade for claim in told for shade in claim.shades]
    parts = [draw_shade(view, shade, number) for number, shade in enumerate(shades)]
    return parts + [draw_terrain(view, terrain) for terrain in report.scene.terrain]


def _draw_pieces(view: View, report: Report, claims: Sequence[DrawableRuling]) -> list[str]:
    """Draw the bases, and the borders of arcs."""
    looks = _looks(claims)
    return [
        *(draw_arc_borders(view, claim) for claim in claims),
        *(draw_base(view, piece, looks.get(piece.id)) for piece in report.scene.pieces),
    ]


def _looks(claims: Sequence[DrawableRuling]) -> dict[str, AnswerStyle]:
    """The look of each piece with a ruling, by its id: its first ruling's."""
    return {piece.id: claim.style for claim in reversed(claims) for piece in claim.pieces}


def _draw_loupe(
    view: View, report: Report, plates: Plates, claims: Sequence[DrawableRuling]
) -> str:
    if plates.loupe is None:
        return ""
    return draw_loupe(view, claims[0], plates.loupe, report.frame.shown)


def _reserve_pieces(view: View, report: Report, claims: list[DrawableRuling]) -> LabelLayout:
    """Return a layout in which bases and measured lines are reserved."""
    room = LabelLayout(view.size_px, 0.012 * max(view.size_px))
    decisive = {piece.id for claim in claims for piece in claim.pieces}
    for piece in report.scene.pieces:
        weight = DECISIVE_OVERLAP_WEIGHT if piece.id in decisive else PIECE_OVERLAP_WEIGHT
        room.reserve_points(base_outline(view, piece), view.unit, weight=weight)
    for claim in claims:
        line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
        room.reserve_line(line[[0, -1]])
        for start, end in pairwise(line[::2]):
            room.reserve_points(np.stack([start, end]), 4 * view.unit)
        for text, place in (word for shade in claim.shades for word in shade.labels_mm):
            half = np.array(text_plate_size(text, WORD_SIZE * view.unit)) / 2
            middle = view.to_px(place)
            room.reserve_points(np.stack([middle - half, middle + half]), kept=True)
    return room


# --- labels ---


def _draw_labels(
    view: View,
    report: Report,
    room: LabelLayout,
    claims: list[DrawableRuling],
    line_labels: list[str],
) -> str:
    """Label pieces with rulings, then bystanders: later ones get worse places. Lines have theirs."""
    leaders = []
    looks = _looks(claims)
    plates = list(line_labels)
    for piece in sorted(report.scene.pieces, key=lambda piece: piece.id not in looks):
        look = looks.get(piece.id)
        edge = base_outline(view, piece)
        if view.contains_all(edge):
            leader, plate = _piece_label(view, room, piece, edge, look)
            leaders.append(leader)
            plates.append(plate)
    unit = report.scene.unit
    heights = [_height_label(view, terrain, room, unit) for terrain in report.scene.terrain]
    return group(leaders + plates + heights)


def _piece_label(
    view: View, room: LabelLayout, piece: Piece, edge: Array, look: AnswerStyle | None
) -> tuple[str, str]:
    """Return the leader line from a base's edge (N, 2) to the piece's label, and the label."""
    size = (RULING_FONT_SIZE if look else BYSTANDER_FONT_SIZE) * view.unit
    label = piece_label(piece)
    text = f"{label}?" if piece.reason_for_doubt else label
    x, y = room.place_beside(text_plate_size(text, size), _bounding_box(edge))
    plate = text_plate(text, x, y, size, fill=look.colour if look else BYSTANDER_COLOUR)
    return _leader_line(view, edge, np.array([x, y]), size), plate


def _bounding_box(points: Array) -> Array:
    return np.concatenate([points.min(0), points.max(0)])


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
    length, text = _scale_bar_length(report)
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
    wide = max(longest + 8 * view.unit, text_plate_size(text, SCALE_FONT_SIZE * view.unit)[0])
    size = (wide, 30 * view.unit)
    middles = ends.mean(1) - [0, 6 * view.unit]
    chosen = ends[room.reserve_best(size, middles)]
    return draw_scale_bar(view, chosen, text)


def _scale_bar_length(report: Report) -> tuple[float, str]:
    """The scale bar's length in mm, and its words: the ruler's first band, or a round length."""
    scene = report.scene
    ruler = scene.range_ruler
    if ruler is None:
        length_mm = mm_from_inches(SCALE_BAR_IN) if scene.unit == INCHES else SCALE_BAR_MM
        return length_mm, format_nominal(length_mm, scene.unit)
    length_mm = ruler.lines_mm[0]
    band = f"range {ruler.line_label(length_mm)}"
    return length_mm, f"{band} · {format_nominal(length_mm, scene.unit)}"

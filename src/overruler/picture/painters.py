"""Small painters: each draws one thing, from millimetres and words to SVG."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from overruler.geometry.pose import Array, wrapped_turn
from overruler.picture.answer_style import AnswerStyle
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.label_placement import LabelLayout
from overruler.picture.svg import (
    BLACK,
    WHITE,
    cased_line,
    element,
    group,
    path,
    text_line,
    text_plate,
    text_plate_size,
)
from overruler.picture.view import View, offset_outline
from overruler.records import TerrainRecord
from overruler.scene import Piece, Terrain
from overruler.units import MILLIMETRES, SIGMAS_95, format_number

FRONT_TIP_SHARE = 0.2
"""Height of the tip on a plate's front, and its reach to either side, in sides of the plate."""
ARC_HALF_ANGLE_DEG = 16.0
"""How far a range line runs to either side of the measured line, seen from its piece, in degrees."""
RANGE_LINE_STEPS = 720
"""Points round a whole range line."""
MAX_LABEL_OVERLAP = 0.4
"""A range number stands at only one end of its arc if it would cover more than this."""
BOXES_PER_ARC = 8
"""Number of boxes along an arc that are reserved for it."""
SCALE_FONT_SIZE = 9.5
"""Font size of a scale bar's length, in units of the view."""
SCALE_BAR_PARTS = 4
"""Parts of a scale bar, light and dark by turns."""
LIGHT_BAR_COLOUR = WHITE
DARK_BAR_COLOUR = "#50565e"
WARNING_PLATE_COLOUR = "#3a2c00"
WARNING_COLOUR = "#ffd24a"


# --- bases and terrain ---


def base_outline(view: View, piece: Piece) -> Array:
    """Return the lower edge of a piece's base on the drawing (N, 2)."""
    return view.to_px(offset_outline(piece.shape), piece.z_mm)


def draw_base(view: View, piece: Piece, look: AnswerStyle | None = None) -> str:
    """Draw a base's outline, thin or in its ruling's colour, with a tip at a known front."""
    unit = view.unit
    edge = base_outline(view, piece)
    has_front = piece.base.is_square and "heading_modulo_deg" not in piece.extra
    front = _draw_front(view, piece, look) if has_front else ""
    if look:
        return group((front, cased_line(edge, look.colour, 1.5 * unit, closed=True)))
    casing = path(edge, True, stroke=BLACK, stroke_width=2.4 * unit, stroke_opacity=0.55)
    core = path(edge, True, stroke=WHITE, stroke_width=1.0 * unit, stroke_opacity=0.95)
    return group((front, casing, core))


def _draw_front(view: View, piece: Piece, look: AnswerStyle | None) -> str:
    """Draw a small filled triangle on the side that a plate faces."""
    length = piece.base.length_mm
    turn = np.radians(piece.heading_deg)
    c, s = np.cos(turn), np.sin(turn)
    forward, left = np.array([[c, s], [-s, c]])
    middle = np.array([piece.x_mm, piece.y_mm]) + length / 2 * forward
    corners = middle + FRONT_TIP_SHARE * length * np.stack([left, forward, -left])
    fill, stroke = (look.colour, WHITE) if look else (WHITE, BLACK)
    points = view.to_px(corners, piece.z_mm)
    return path(points, True, fill=fill, stroke=stroke, stroke_width=0.8 * view.unit)


def draw_terrain(view: View, terrain: Terrain) -> str:
    """Draw the top outline of raised ground, thin and dashed: nothing is measured from it."""
    unit = view.unit
    corners = np.array([*terrain.footprint_mm, terrain.footprint_mm[0]])
    sides = [view.line_px(start, end, terrain.top_z_mm)[:-1] for start, end in pairwise(corners)]
    edge = np.concatenate(sides)
    casing = path(edge, True, stroke=BLACK, stroke_width=1.8 * unit, stroke_opacity=0.4)
    stroke = {"stroke": WHITE, "stroke_width": 0.9 * unit, "stroke_opacity": 0.8}
    dash = f"{4 * unit:.2f} {3 * unit:.2f}"
    return group((casing, path(edge, True, **stroke, stroke_dasharray=dash)))


def height_text(terrain: Terrain, unit: str = MILLIMETRES) -> str:
    """Return raised ground's name and height, with half its 95 % interval if that is known."""
    sigma = TerrainRecord.from_json(terrain.extra).sigma_mm
    interval = ""
    if sigma is not None and sigma >= 0.5:
        interval = f" ± {format_number(SIGMAS_95 * sigma, unit, 0)}"
    return f"{terrain.id}: {format_number(terrain.top_z_mm, unit, 0)}{interval} {unit} high"


# --- rulings ---


def draw_measured_line(view: View, claim: DrawableRuling) -> str:
    """Draw the line between the closest points, with a bar across each end."""
    colour, width = claim.style.colour, 2.0 * view.unit
    line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
    parts = [cased_line(_bar_across(view, claim, end), colour, width) for end in (0.0, 1.0)]
    return group((*parts, cased_line(line, colour, width, dash=claim.style.dash)))


def _bar_across(view: View, claim: DrawableRuling, share: float) -> Array:
    """Return a short bar (2, 2) across the measured line, at a share of its length."""
    ends_mm = np.stack([claim.from_mm, claim.to_mm])
    start, end = view.to_px(ends_mm, claim.z_mm)
    along = end - start
    length = float(np.hypot(*along))
    across = np.array([0.0, 1.0])
    if length > 1e-6:
        across = np.array([-along[1], along[0]]) / length
    middle = start + share * along
    half = across * 5.0 * view.unit
    return np.stack([middle - half, middle + half])


def draw_arc_borders(view: View, claim: DrawableRuling) -> str:
    """Draw the borders of the arc that a ruling is about."""
    lines = [view.line_px(start, end, claim.z_mm) for start, end in claim.arc_mm]
    return group(_thin_lines(view, lines))


def _thin_lines(view: View, lines: Sequence[Array]) -> list[str]:
    """Draw thin white lines over the dark casings of all."""
    unit = view.unit
    casing = {"stroke": BLACK, "stroke_width": 2.6 * unit, "stroke_opacity": 0.6}
    core = {"stroke": WHITE, "stroke_width": 1.2 * unit}
    parts = [path(line, False, **casing, stroke_linecap="round") for line in lines]
    return parts + [path(line, False, **core, stroke_linecap="round") for line in lines]


def draw_range_lines(
    view: View,
    claim: DrawableRuling,
    room: LabelLayout | None = None,
    is_free: Callable[[Array], bool] = lambda place: True,
) -> str:
    """Draw the ruler's lines near the measured line, as numbered arcs round their piece.

    A number stands at either end of its arc that `is_free`; with `room`, it is reserved and stands
    where it covers little.
    """
    parts, size = [], 9 * view.unit
    for name, arc in range_arcs(view, claim):
        parts += _thin_lines(view, [arc])
        ends = arc[[0, -1]]
        if room:
            ends = room.reserve_uncovered(text_plate_size(name, size), ends, MAX_LABEL_OVERLAP)
        for x, y in filter(is_free, ends):
            parts.append(text_plate(name, x, y, size, edge=BLACK))
        if room:
            for stretch in np.array_split(arc, BOXES_PER_ARC):
                room.reserve_points(stretch, 2 * view.unit)
    return group(parts)


def range_arcs(view: View, claim: DrawableRuling) -> list[tuple[str, Array]]:
    """Return visible lines by name, up to the first beyond the distance, contact excepted."""
    needed = sum(line < claim.distance_mm for line in claim.lines_mm) + 1
    arcs = []
    for line in claim.lines_mm[:needed]:
        if line > 0:
            arc = _range_arc(view, claim, line)
            if len(arc) > 1 and view.contains_all(arc, 8 * view.unit):
                arcs.append((claim.line_name(line), arc))
    return arcs


def _range_arc(view: View, claim: DrawableRuling, distance_mm: float) -> Array:
    """Return the part of a range line (N, 2) near the measured line, on the drawing."""
    piece = claim.from_piece
    if piece is None:
        return np.empty((0, 2))
    centre = np.array([piece.x_mm, piece.y_mm])
    line = offset_outline(piece.shape, distance_mm, steps=RANGE_LINE_STEPS)
    x, y = claim.to_mm - centre
    dx, dy = (line - centre).T
    turn = np.arctan2(dy, dx) - np.arctan2(y, x)
    turn = wrapped_turn(turn, 2 * np.pi)
    near = np.flatnonzero(np.abs(turn) <= np.radians(ARC_HALF_ANGLE_DEG))
    order = near[np.argsort(turn[near])]
    return view.to_px(line[order], piece.z_mm)


# --- signs ---


def draw_icon(look: AnswerStyle, x: float, y: float, radius: float) -> str:
    """Draw the look's icon in a disc."""
    stroke = {"stroke": WHITE, "stroke_width": 0.2}
    ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    strokes = element("path", d=look.icon, fill="none", **stroke, **ends)
    disc = element("circle", r=1.0, fill=look.colour, stroke=WHITE, stroke_width=0.14)
    return group((disc, strokes), transform=f"translate({x:.2f} {y:.2f}) scale({radius:.2f})")


def draw_scale_bar(view: View, ends: Array, text: str) -> str:
    """Draw a bar between places (2, 2) in black and white parts, with its length above."""
    unit = view.unit
    height = 2.6 * unit
    steps = np.linspace(0, 1, SCALE_BAR_PARTS + 1)[:, None]
    joints = ends[0] * (1 - steps) + ends[1] * steps
    bars = [path(ends, stroke=BLACK, stroke_width=height + 1.4 * unit)]
    for i, (start, end) in enumerate(pairwise(joints)):
        colour = DARK_BAR_COLOUR if i % 2 else LIGHT_BAR_COLOUR
        bars.append(path(np.stack([start, end]), stroke=colour, stroke_width=height))
    x, y = ends.mean(0)
    return group((*bars, text_plate(text, x, y - 11 * unit, SCALE_FONT_SIZE * unit, edge=BLACK)))


def draw_warning(lines: Sequence[str], x: float, y: float, size: float, wide: float) -> str:
    """Draw lines of text and a warning triangle on a plate with its upper left corner at (x, y)."""
    high = (len(lines) * 1.35 + 0.6) * size
    box = {"x": x, "y": y, "width": wide, "height": high, "rx": size * 0.4}
    parts = [
        element("rect", **box, fill=WARNING_PLATE_COLOUR, fill_opacity=0.88),
        element("rect", **box, fill="none", stroke=WARNING_COLOUR, stroke_width=size * 0.09),
        _draw_triangle(x + 1.2 * size, y + 1.0 * size, 0.62 * size),
        text_line("!", x + 1.2 * size, y + 1.36 * size, 0.8 * size, fill=BLACK),
    ]
    for i, line in enumerate(lines):
        baseline = y + (1.35 * i + 1.36) * size
        parts.append(text_line(line, x + 2.2 * size, baseline, size, "start"))
    return group(parts)


def _draw_triangle(x: float, y: float, scale: float) -> str:
    transform = f"translate({x:.2f} {y:.2f}) scale({scale:.2f})"
    return element("path", d="M0 -.8L.85 .7L-.85 .7Z", fill=WARNING_COLOUR, transform=transform)

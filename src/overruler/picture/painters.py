"""Small painters: each draws one thing, from millimetres and words to SVG."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from overruler.geometry.pose import Array
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
from overruler.scene import Piece, Terrain

FRONT_TIP_SHARE = 0.2
"""How far the tip on the front of a plate stands out, and how far it reaches to either side, in sides."""
ARC_HALF_ANGLE_DEG = 16.0
"""How far a range line runs to either side of the measured line, seen from the piece it is measured from."""


def base_outline(view: View, piece: Piece) -> Array:
    """The lower edge of a piece's base on the drawing (N, 2)."""
    return view.to_px(offset_outline(piece.shape), piece.z_mm)


def draw_base(view: View, piece: Piece, look: AnswerStyle | None = None) -> str:
    """A base's outline: thin and white, or in the colour of the ruling it takes part in; a tip where its front is."""
    edge = base_outline(view, piece)
    front = (
        _draw_front(view, piece, look)
        if piece.base.is_square and "heading_modulo_deg" not in piece.extra
        else ""
    )
    if look:
        return group((front, cased_line(edge, look.colour, 1.5 * view.unit, closed=True)))
    return group(
        (
            front,
            path(edge, True, stroke=BLACK, stroke_width=2.4 * view.unit, stroke_opacity=0.55),
            path(edge, True, stroke=WHITE, stroke_width=1.0 * view.unit, stroke_opacity=0.95),
        )
    )


def _draw_front(view: View, piece: Piece, look: AnswerStyle | None) -> str:
    """A small filled triangle on the side that a plate faces."""
    turn = np.radians(piece.heading_deg)
    forward, left = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    middle = np.array([piece.x_mm, piece.y_mm]) + piece.base.length_mm / 2 * forward
    corners = middle + FRONT_TIP_SHARE * piece.base.length_mm * np.stack([left, forward, -left])
    shown = look.colour if look else WHITE
    edge = WHITE if look else BLACK
    return path(
        view.to_px(corners, piece.z_mm), True, fill=shown, stroke=edge, stroke_width=0.8 * view.unit
    )


def draw_terrain(view: View, terrain: Terrain) -> str:
    """The outline of raised ground, at the height of its top: thin and dashed, for nothing is measured from it."""
    corners = np.array([*terrain.footprint_mm, terrain.footprint_mm[0]])
    edge = np.concatenate([view.line_px(a, b, terrain.top_z_mm)[:-1] for a, b in pairwise(corners)])
    dash = f"{4 * view.unit:.2f} {3 * view.unit:.2f}"
    return group(
        (
            path(edge, True, stroke=BLACK, stroke_width=1.8 * view.unit, stroke_opacity=0.4),
            path(
                edge,
                True,
                stroke=WHITE,
                stroke_width=0.9 * view.unit,
                stroke_opacity=0.8,
                stroke_dasharray=dash,
            ),
        )
    )


def height_text(terrain: Terrain) -> str:
    """Raised ground's name and height, with its doubt (95 %) where there is one."""
    sigma = terrain.extra.get("sigma_mm")
    doubt = f" ± {1.96 * sigma:.0f}" if isinstance(sigma, int | float) and sigma >= 0.5 else ""
    return f"{terrain.id}: {terrain.top_z_mm:.0f}{doubt} mm high"


def draw_measured_line(view: View, claim: DrawableRuling) -> str:
    """The line between the closest points, with a bar across each end."""
    look, width = claim.style, 2.0 * view.unit
    line = view.line_px(claim.from_mm, claim.to_mm, claim.z_mm)
    ends = [_bar_across(view, claim, share, 5.0) for share in (0.0, 1.0)]
    return group(
        (
            *(cased_line(end, look.colour, width) for end in ends),
            cased_line(line, look.colour, width, dash=look.dash),
        )
    )


def _bar_across(view: View, claim: DrawableRuling, share: float, half_length: float) -> Array:
    """A short bar (2, 2) across the measured line, at a share of its length."""
    start, end = view.to_px(np.stack([claim.from_mm, claim.to_mm]), claim.z_mm)
    along = end - start
    length = float(np.hypot(*along))
    across = np.array([-along[1], along[0]]) / length if length > 1e-6 else np.array([0.0, 1.0])
    middle = start + share * along
    return np.stack(
        [middle - across * half_length * view.unit, middle + across * half_length * view.unit]
    )


def draw_arc_borders(view: View, claim: DrawableRuling) -> str:
    """The borders of the arc that a ruling is about."""
    return group(
        _thin_lines(
            view, [view.line_px(border[0], border[1], claim.z_mm) for border in claim.arc_mm]
        )
    )


def _thin_lines(view: View, lines: Sequence[Array]) -> list[str]:
    """Thin white lines, all over a dark casing."""
    cases = (BLACK, 2.6 * view.unit, 0.6), (WHITE, 1.2 * view.unit, None)
    return [
        path(
            line, stroke=colour, stroke_width=width, stroke_opacity=opacity, stroke_linecap="round"
        )
        for colour, width, opacity in cases
        for line in lines
    ]


MAX_LABEL_OVERLAP = 0.4
"""A number that covers more than this of what is there stands at the arc's other end alone."""
BOXES_PER_ARC = 8
"""An arc takes the room of so many boxes along it."""


def draw_range_lines(view: View, claim: DrawableRuling, room: LabelLayout | None = None) -> str:
    """The ruler's lines near the measured line, as arcs round the piece they are counted from, with their numbers.

    A number stands at either end of its arc, or where there is `room` for it, which is then taken.
    """
    parts, size = [], 9 * view.unit
    for name, arc in range_arcs(view, claim):
        parts += _thin_lines(view, [arc])
        ends = arc[[0, -1]]
        for x, y in (
            room.reserve_uncovered(text_plate_size(name, size), ends, MAX_LABEL_OVERLAP)
            if room
            else ends
        ):
            parts.append(text_plate(name, float(x), float(y), size, edge=BLACK))
        if room:
            for stretch in np.array_split(arc, BOXES_PER_ARC):
                room.reserve_points(stretch, 2 * view.unit)
    return group(parts)


def range_arcs(view: View, claim: DrawableRuling) -> list[tuple[str, Array]]:
    """The lines up to the first past the measured distance, by name, where the picture holds them.

    Contact is no line: it would lie on the base's own edge.
    """
    needed = sum(line < claim.distance_mm for line in claim.lines_mm) + 1
    found = [
        (claim.line_name(line), _range_arc(view, claim, line))
        for line in claim.lines_mm[:needed]
        if line > 0
    ]
    return [
        (name, arc) for name, arc in found if len(arc) > 1 and view.contains_all(arc, 8 * view.unit)
    ]


def _range_arc(view: View, claim: DrawableRuling, distance_mm: float) -> Array:
    piece = claim.from_piece
    if piece is None:
        return np.empty((0, 2))
    centre = np.array([piece.x_mm, piece.y_mm])
    line = offset_outline(piece.shape, distance_mm, steps=720)
    way = claim.to_mm - centre
    turn = np.arctan2(line[:, 1] - centre[1], line[:, 0] - centre[0]) - np.arctan2(way[1], way[0])
    turn = (turn + np.pi) % (2 * np.pi) - np.pi
    near = np.flatnonzero(np.abs(turn) <= np.radians(ARC_HALF_ANGLE_DEG))
    return view.to_px(line[near[np.argsort(turn[near])]], piece.z_mm)


def draw_icon(look: AnswerStyle, x: float, y: float, radius: float) -> str:
    """The look's icon in a disc."""
    strokes = element(
        "path",
        d=look.icon,
        fill="none",
        stroke=WHITE,
        stroke_width=0.2,
        stroke_linecap="round",
        stroke_linejoin="round",
    )
    disc = element("circle", r=1.0, fill=look.colour, stroke=WHITE, stroke_width=0.14)
    return group((disc, strokes), transform=f"translate({x:.2f} {y:.2f}) scale({radius:.2f})")


def draw_scale_bar(view: View, ends: Array, text: str, parts: int) -> str:
    """A bar whose ends (2, 2) are places on the drawing, in black and white parts, with its length above."""
    height, steps = 2.6 * view.unit, np.linspace(0, 1, parts + 1)[:, None]
    joints = ends[0] * (1 - steps) + ends[1] * steps
    bars = [path(ends, stroke=BLACK, stroke_width=height + 1.4 * view.unit)]
    for i, (start, end) in enumerate(pairwise(joints)):
        bars.append(
            path(np.stack([start, end]), stroke=(WHITE, "#50565e")[i % 2], stroke_width=height)
        )
    middle = ends.mean(0)
    return group(
        (
            *bars,
            text_plate(text, middle[0], middle[1] - 11 * view.unit, 9.5 * view.unit, edge=BLACK),
        )
    )


def draw_warning(lines: Sequence[str], x: float, y: float, size: float, wide: float) -> str:
    """Lines of text on a plate with a warning triangle, its upper left corner at (x, y)."""
    high = (len(lines) * 1.35 + 0.6) * size
    box = element(
        "rect", x=x, y=y, width=wide, height=high, rx=size * 0.4, fill="#3a2c00", fill_opacity=0.88
    )
    edge = element(
        "rect",
        x=x,
        y=y,
        width=wide,
        height=high,
        rx=size * 0.4,
        fill="none",
        stroke="#ffd24a",
        stroke_width=size * 0.09,
    )
    triangle = element(
        "path",
        d="M0 -.8L.85 .7L-.85 .7Z",
        fill="#ffd24a",
        transform=f"translate({x + 1.2 * size:.2f} {y + 1.0 * size:.2f}) scale({0.62 * size:.2f})",
    )
    mark = text_line("!", x + 1.2 * size, y + 1.36 * size, 0.8 * size, fill=BLACK)
    rows: Iterable[str] = (
        text_line(line, x + 2.2 * size, y + (1.35 * i + 1.36) * size, size, "start")
        for i, line in enumerate(lines)
    )
    return group((box, edge, triangle, mark, *rows))

"""The gauge: a page with four markers and places for bases, to measure one's own accuracy.

A place is told by ticks around it, not by a ring: nothing printed there looks like a base. The table
kit is a gauge whose markers are cards: cut out, they lie on the corners of a table.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overruler.board import Board
from overruler.geometry.pose import Array
from overruler.picture.sheets.marker_cards import CardSet, marker_pattern, trace_outlines
from overruler.picture.sheets.marker_sheet import (
    BAR_STRIP_MM,
    FOOTER_MM,
    MARGIN_MM,
    PAPERS_MM,
    draw_card,
    draw_check_bars,
    fill_black,
    loop_in_mm,
    new_document,
)

if TYPE_CHECKING:
    from fpdf import FPDF

DICTIONARY = "DICT_4X4_50"
"""The markers' family."""
COLUMNS = 3
"""Places for each size."""
TICKS = 12
"""Ticks around a place."""
TICK_MM = 3.0
"""Length of a tick, in mm."""
TICK_GAP_MM = 0.7
"""Gap between a base that stands right and the ticks, in mm."""
KIT_CARDS = CardSet(4, 40.0, DICTIONARY)
"""The cards of a table kit."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands on a page."""

    title: str
    first_marker: int
    """Id of the lower left marker."""
    marker_mm: float
    """Side of a marker's black square."""
    quiet_mm: float
    """White border of a marker."""
    sizes_mm: tuple[float, ...]
    """Diameters of the bases that have places: one each row."""
    steps: tuple[str, ...]
    """What to do, written between the two upper markers."""
    more_steps: tuple[str, ...] = ()
    """What to do then, written between the two lower markers."""
    text_pt: float = 8.0
    """Font size of the steps, in points."""

    @property
    def corner_mm(self) -> float:
        """Side of the square that a marker and its border take."""
        return self.marker_mm + 2 * self.quiet_mm


GAUGE = Layout(
    title="How accurate is it here?",
    first_marker=40,  # the table's own cards begin at 0
    marker_mm=30.0,
    quiet_mm=5.0,  # a printed module
    sizes_mm=(25.0, 32.0, 40.0),
    steps=(
        "Print at 100 %. Lay the page flat, or tape it down.",
        "Stand a base of the printed size on each place, in the middle of its ticks.",
        "Photograph the page as you would the table, and run: overruler gauge check PHOTO",
    ),
)
KIT = Layout(
    title="Table kit",
    first_marker=0,
    marker_mm=KIT_CARDS.size_mm,
    quiet_mm=KIT_CARDS.border_mm,
    sizes_mm=(25.0, 32.0),
    steps=(
        "Print at 100 %. Measure both bars.",
        "How accurate is it here? Stand bases on the places, photograph the page, and run: "
        "overruler gauge check PHOTO --kit",
    ),
    more_steps=(
        "Cut out the four cards. Lay them flat on the corners of the table, edges flush, the arrows "
        "pointing away from you: 0 and 1 near you, 0 left.",
        "Photograph the whole table, all cards in sight, and run: overruler measure PHOTO "
        "--board kit.toml",
    ),
    text_pt=7.0,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a base; the page's lower left corner is the origin."""

    name: str
    x_mm: float
    y_mm: float
    diameter_mm: float


def gauge_places(paper: str, layout: Layout = GAUGE) -> tuple[Place, ...]:
    """The places on a sheet of `paper`, row by row from the top."""
    left, bottom, right, top = _inner_box_mm(paper)
    low, high = bottom + layout.corner_mm - 5, top - layout.corner_mm + 5
    row_mm = (high - low) / len(layout.sizes_mm)
    column_mm = (right - left) / COLUMNS
    places = []
    for row, diameter_mm in enumerate(layout.sizes_mm):
        for column in range(COLUMNS):
            x_mm = left + (column + 0.5) * column_mm
            y_mm = high - (row + 0.5) * row_mm
            name = f"{'ABC'[row]}{column + 1}"
            places.append(Place(name, round(x_mm, 3), round(y_mm, 3), diameter_mm))
    return tuple(places)


def gauge_board(paper: str, layout: Layout = GAUGE) -> Board:
    """The board of a sheet of `paper`."""
    width_mm, height_mm = PAPERS_MM[paper]
    return Board(
        name=f"{layout.title} ({paper})",
        marker_mm=layout.marker_mm,
        dictionary=DICTIONARY,
        width_mm=width_mm,
        height_mm=height_mm,
        corners_mm=dict(_marker_corners_mm(paper, layout)),
    )


def gauge_sheet_pdf(paper: str, layout: Layout = GAUGE) -> bytes:
    """Return the PDF of the page; raises `MissingExtra` without fpdf2."""
    pdf = new_document(paper, "Overruler gauge" if layout is GAUGE else "Overruler table kit")
    pdf.add_page()
    draw_check_bars(pdf)
    for number, corners_mm in _marker_corners_mm(paper, layout):
        left_mm, top_mm = float(corners_mm[0, 0]), pdf.h - float(corners_mm[0, 1])
        if layout is KIT:
            quiet = layout.quiet_mm
            draw_card(pdf, KIT_CARDS, number, left_mm - quiet, top_mm - quiet)
            continue
        module = layout.marker_mm / len(marker_pattern(DICTIONARY, number))
        outlines = trace_outlines(marker_pattern(DICTIONARY, number))
        fill_black(pdf, [loop_in_mm(loop, left_mm, top_mm, module) for loop in outlines])
    for place in gauge_places(paper, layout):
        _draw_place(pdf, place)
    _draw_steps(pdf, layout)
    return bytes(pdf.output())


def _inner_box_mm(paper: str) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of the part of the page without check bars."""
    width_mm, height_mm = PAPERS_MM[paper]
    left = MARGIN_MM + BAR_STRIP_MM
    return left, MARGIN_MM + FOOTER_MM, width_mm - MARGIN_MM, height_mm - MARGIN_MM


def _marker_corners_mm(paper: str, layout: Layout) -> Iterator[tuple[int, Array]]:
    """Each marker's id and corners (4, 3), the printed top left first, then clockwise."""
    left, bottom, right, top = _inner_box_mm(paper)
    side, quiet = layout.marker_mm, layout.quiet_mm
    xs = (left + quiet, right - quiet - side)
    ys = (bottom + quiet, top - quiet - side)
    places = [(x, y) for y in ys for x in xs]
    if layout is KIT:  # as cards lie on a table: anticlockwise
        places = [places[0], places[1], places[3], places[2]]
    for index, (x, y) in enumerate(places):
        loop = [(x, y + side), (x + side, y + side), (x + side, y), (x, y)]
        yield layout.first_marker + index, np.array([(*corner, 0.0) for corner in loop])


def _draw_place(pdf: "FPDF", place: Place) -> None:
    """Draw the ticks around a place, and its name."""
    pdf.set_draw_color(0)
    pdf.set_line_width(0.2)
    inner = place.diameter_mm / 2 + TICK_GAP_MM
    for k in range(TICKS):
        dx, dy = math.cos(math.tau * k / TICKS), math.sin(math.tau * k / TICKS)
        x, y = place.x_mm, pdf.h - place.y_mm
        near, far = inner, inner + TICK_MM
        pdf.line(x + near * dx, y + near * dy, x + far * dx, y + far * dy)
    pdf.set_text_color(0)
    pdf.set_font("Helvetica", size=7)
    below = pdf.h - place.y_mm + inner + TICK_MM + 3.5
    pdf.text(place.x_mm - 6, below, f"{place.name}  {place.diameter_mm:g} mm")


def _draw_steps(pdf: "FPDF", layout: Layout) -> None:
    """Write what to do between the two upper markers, and then between the two lower ones."""
    left = MARGIN_MM + BAR_STRIP_MM + layout.corner_mm + 3
    width = pdf.w - MARGIN_MM - layout.corner_mm - 2 - left
    pdf.set_xy(left, MARGIN_MM + 3)
    pdf.set_text_color(0)
    pdf.set_font("Helvetica", style="B", size=13)
    pdf.cell(width, 7, layout.title, new_x="LEFT", new_y="NEXT")
    pdf.set_font("Helvetica", size=layout.text_pt)
    for number, step in enumerate(layout.steps + layout.more_steps, 1):
        if number == len(layout.steps) + 1:
            pdf.set_xy(left, pdf.h - MARGIN_MM - FOOTER_MM - layout.corner_mm + 3)
        text = f"{number}. {step}"
        pdf.multi_cell(width, 4.2, text, align="L", new_x="LEFT", new_y="NEXT")

"""The gauge: a page with four markers and nine places for bases, to measure one's own accuracy.

A place is told by ticks around it, not by a ring: nothing printed there looks like a base.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overruler.board import Board
from overruler.geometry.pose import Array
from overruler.picture.sheets.marker_cards import marker_pattern, trace_outlines
from overruler.picture.sheets.marker_sheet import (
    BAR_STRIP_MM,
    FOOTER_MM,
    MARGIN_MM,
    PAPERS_MM,
    draw_check_bars,
    fill_black,
    loop_in_mm,
    new_document,
)

if TYPE_CHECKING:
    from fpdf import FPDF

DICTIONARY = "DICT_4X4_50"
"""The markers' family."""
FIRST_MARKER = 40
"""Id of the first marker: the table's own cards begin at 0."""
MARKER_MM = 30.0
"""Side of a marker's black square, in mm."""
QUIET_MM = 5.0
"""White border of a marker, in mm: its printed module."""
SIZES_MM = (25.0, 32.0, 40.0)
"""Diameters of the bases that have places, in mm: one each row."""
COLUMNS = 3
"""Places for each size."""
TICKS = 12
"""Ticks around a place."""
TICK_MM = 3.0
"""Length of a tick, in mm."""
TICK_GAP_MM = 0.7
"""Gap between a base that stands right and the ticks, in mm."""

STEPS = (
    "Print at 100 %. Lay the page flat, or tape it down.",
    "Stand a base of the printed size on each place, in the middle of its ticks.",
    "Photograph the page as you would the table, and run: overruler gauge check PHOTO",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a base; the page's lower left corner is the origin."""

    name: str
    x_mm: float
    y_mm: float
    diameter_mm: float


def gauge_places(paper: str) -> tuple[Place, ...]:
    """The places on a sheet of `paper`, row by row from the top."""
    left, bottom, right, top = _inner_box_mm(paper)
    low, high = bottom + MARKER_MM + QUIET_MM, top - MARKER_MM - QUIET_MM
    row_mm = (high - low) / len(SIZES_MM)
    column_mm = (right - left) / COLUMNS
    places = []
    for row, diameter_mm in enumerate(SIZES_MM):
        for column in range(COLUMNS):
            x_mm = left + (column + 0.5) * column_mm
            y_mm = high - (row + 0.5) * row_mm
            name = f"{'ABC'[row]}{column + 1}"
            places.append(Place(name, round(x_mm, 3), round(y_mm, 3), diameter_mm))
    return tuple(places)


def gauge_board(paper: str) -> Board:
    """The board of a sheet of `paper`."""
    width_mm, height_mm = PAPERS_MM[paper]
    return Board(
        name=f"gauge ({paper})",
        marker_mm=MARKER_MM,
        dictionary=DICTIONARY,
        width_mm=width_mm,
        height_mm=height_mm,
        corners_mm=dict(_marker_corners_mm(paper)),
    )


def gauge_sheet_pdf(paper: str) -> bytes:
    """Return the PDF of the gauge; raises `MissingExtra` without fpdf2."""
    pdf = new_document(paper, "Overruler gauge")
    pdf.add_page()
    draw_check_bars(pdf)
    for number, corners_mm in _marker_corners_mm(paper):
        module = MARKER_MM / len(marker_pattern(DICTIONARY, number))
        left_mm, top_mm = float(corners_mm[0, 0]), pdf.h - float(corners_mm[0, 1])
        outlines = trace_outlines(marker_pattern(DICTIONARY, number))
        fill_black(pdf, [loop_in_mm(loop, left_mm, top_mm, module) for loop in outlines])
    for place in gauge_places(paper):
        _draw_place(pdf, place)
    _draw_steps(pdf)
    return bytes(pdf.output())


def _inner_box_mm(paper: str) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of the part of the page without check bars."""
    width_mm, height_mm = PAPERS_MM[paper]
    left = MARGIN_MM + BAR_STRIP_MM
    return left, MARGIN_MM + FOOTER_MM, width_mm - MARGIN_MM, height_mm - MARGIN_MM


def _marker_corners_mm(paper: str) -> Iterator[tuple[int, Array]]:
    """Each marker's id and corners (4, 3), the printed top left first, then clockwise."""
    left, bottom, right, top = _inner_box_mm(paper)
    xs = (left + QUIET_MM, right - QUIET_MM - MARKER_MM)
    ys = (bottom + QUIET_MM, top - QUIET_MM - MARKER_MM)
    for index, (x, y) in enumerate((x, y) for y in ys for x in xs):
        loop = [(x, y + MARKER_MM), (x + MARKER_MM, y + MARKER_MM), (x + MARKER_MM, y), (x, y)]
        yield FIRST_MARKER + index, np.array([(*corner, 0.0) for corner in loop])


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


def _draw_steps(pdf: "FPDF") -> None:
    """Write what to do between the two upper markers."""
    left, width = MARGIN_MM + BAR_STRIP_MM + MARKER_MM + 2 * QUIET_MM + 4, 100.0
    pdf.set_xy(left, MARGIN_MM + 3)
    pdf.set_font("Helvetica", style="B", size=13)
    pdf.cell(width, 7, "How accurate is it here?", new_x="LEFT", new_y="NEXT")
    pdf.set_font("Helvetica", size=8)
    for number, step in enumerate(STEPS, 1):
        pdf.multi_cell(width, 4.2, f"{number}. {step}", align="L", new_x="LEFT", new_y="NEXT")

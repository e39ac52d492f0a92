"""Marker cards as a PDF at true scale: a page of steps, then the cards.

Every page has bars to check its scale.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from overruler.errors import BadInput, MissingExtra
from overruler.picture.sheets.marker_cards import (
    LABEL_STRIP_MM,
    MARKER_PLACES,
    CardSet,
    Loop,
    marker_pattern,
    trace_outlines,
)
from overruler.units import MM_PER_INCH, format_count

if TYPE_CHECKING:
    from fpdf import FPDF

PAPERS_MM = {"a4": (210.0, 297.0), "letter": (215.9, 279.4), "a3": (297.0, 420.0)}
"""Width and height of each paper in mm, upright."""

MARGIN_MM = 8.0
"""Width of the edge that a printer leaves white, in mm."""
BAR_STRIP_MM = 11.0
"""Width of the strip for the upright check bar at the left, in mm."""
FOOTER_MM = 24.0
"""Height of the level check bar and the words at the bottom, in mm."""
CARD_GAP_MM = 3.0
"""Gap between two cards, in mm."""
CHECK_BAR_MM = 100.0
"""Length of a check bar, in mm."""
BAR_INCHES = 3
"""Inches that the other side of a check bar is marked with."""
CARD_TEXT_PT = 7.0
"""Font size on a card, in points."""
TEXT_GREY = 110

STEPS = (
    "Print at 100 % (actual size). Never 'fit to page', never 'shrink to printable area'.",
    "Measure both bars on every page with a good ruler: 100 mm along and 100 mm up, or 3 inches on "
    "their other side. If one differs, "
    "printing scaled the page: print again, or give the black squares' measured side as the "
    "markers' size.",
    "Cut along the thin lines. Keep the white border: the camera needs it.",
    "Glue the cards flat on stiff card; matt paper shows less glare.",
    "Lay them flat on the board as drawn below: edges flush with the board's edge, every arrow "
    "pointing away from you.",
    "Photograph the whole board from above at a tilt of 20 to 40 degrees, with every marker in the "
    "picture.",
)


def marker_sheet_pdf(cards: CardSet, paper: str) -> bytes:
    """Return the PDF of a set of cards; raises `BadInput` if they do not fit on the paper."""
    columns, rows = _cards_per_page(cards, paper)
    pdf = new_document(paper, "Overruler markers")
    pdf.add_page()
    draw_check_bars(pdf)
    _draw_instructions(pdf, cards)
    step = cards.card_mm + CARD_GAP_MM
    for page in _split_pages(range(cards.count), columns * rows):
        pdf.add_page()
        draw_check_bars(pdf)
        for slot, marker in enumerate(page):
            x = MARGIN_MM + BAR_STRIP_MM + slot % columns * step
            y = MARGIN_MM + slot // columns * step
            draw_card(pdf, cards, marker, x, y)
    return bytes(pdf.output())


def _cards_per_page(cards: CardSet, paper: str) -> tuple[int, int]:
    """Return how many columns and rows of cards fit on a page."""
    width, height = PAPERS_MM[paper]
    room = (width - 2 * MARGIN_MM - BAR_STRIP_MM, height - 2 * MARGIN_MM - FOOTER_MM)
    step = cards.card_mm + CARD_GAP_MM
    columns, rows = (int((side + CARD_GAP_MM) // step) for side in room)
    if min(columns, rows) < 1:
        most = int((min(room) - 2 * LABEL_STRIP_MM) / (1 + 2 / cards.modules))
        problem = f"a marker of {cards.size_mm:g} mm does not fit on {paper}"
        raise BadInput(f"{problem}; the largest is {most} mm")
    return columns, rows


def _split_pages(markers: Sequence[int], per_page: int) -> Iterator[list[int]]:
    rest = iter(markers)
    while page := list(islice(rest, per_page)):
        yield page


def new_document(paper: str, title: str) -> "FPDF":
    """Return an empty PDF in millimetres that asks not to be scaled when printed."""
    try:
        from fpdf import FPDF
        from fpdf.prefs import ViewerPreferences
    except ImportError:
        problem = "a sheet of markers needs fpdf2, which is not installed"
        raise MissingExtra.with_install_hint(problem, "print") from None
    pdf = FPDF(unit="mm", format=PAPERS_MM[paper])
    pdf.set_auto_page_break(False)
    pdf.set_margin(MARGIN_MM)
    pdf.viewer_preferences = ViewerPreferences(print_scaling="None")
    pdf.set_title(title)
    pdf.set_creation_date(datetime(2026, 1, 1, tzinfo=UTC))  # equal sheets are equal files
    return pdf


# --- one card ---


def draw_card(pdf: "FPDF", cards: CardSet, marker: int, x_mm: float, y_mm: float) -> None:
    """Draw a card with its cut line; (x, y) is its upper left corner on the page."""
    _draw_cut_line(pdf, x_mm, y_mm, cards.card_mm)
    left = x_mm + cards.border_mm
    top = y_mm + cards.border_mm
    module = cards.size_mm / cards.modules
    outlines = trace_outlines(marker_pattern(cards.dictionary, marker))
    fill_black(pdf, [loop_in_mm(loop, left, top, module) for loop in outlines])
    text = f"{marker}  {cards.place_name(marker)}   {cards.size_mm:g} mm   {cards.dictionary}"
    strip = (x_mm, y_mm + cards.card_mm - LABEL_STRIP_MM, cards.card_mm, LABEL_STRIP_MM)
    _draw_centred_text(pdf, text, strip, TEXT_GREY, CARD_TEXT_PT)
    _draw_arrow(pdf, x_mm + cards.card_mm / 2, y_mm + LABEL_STRIP_MM / 2)


def _draw_cut_line(pdf: "FPDF", x_mm: float, y_mm: float, side_mm: float) -> None:
    pdf.set_draw_color(170)
    pdf.set_line_width(0.1)
    pdf.rect(x_mm, y_mm, side_mm, side_mm)


def loop_in_mm(loop: Loop, x_mm: float, y_mm: float, module_mm: float) -> Loop:
    """Convert an outline from modules to mm on the page."""
    return [(x_mm + column * module_mm, y_mm + row * module_mm) for column, row in loop]


def fill_black(pdf: "FPDF", loops: Sequence[Loop]) -> None:
    """Fill closed loops, in mm on the page, as one path by the even-odd rule, without seams."""
    with pdf.new_path() as path:
        path.style.fill_color = "#000000"
        path.style.stroke_color = None
        path.style.paint_rule = "FILL_EVENODD"
        for first, *rest in loops:
            path.move_to(*first)
            for point in rest:
                path.line_to(*point)
            path.close()


def _draw_arrow(pdf: "FPDF", x_mm: float, y_mm: float) -> None:
    pdf.set_fill_color(TEXT_GREY)
    left, right = x_mm - 1.3, x_mm + 1.3
    foot = y_mm + 1.1
    pdf.polygon([(x_mm, y_mm - 1.1), (left, foot), (right, foot)], style="F")


def _draw_centred_text(
    pdf: "FPDF", text: str, box_mm: tuple[float, float, float, float], grey: int, size_pt: float
) -> None:
    """Write a line of text in the middle of a box (x, y, width, height), smaller if need be."""
    left, top, width, height = box_mm
    pdf.set_text_color(grey)
    pdf.set_font("Helvetica", size=size_pt)
    pdf.set_font_size(size_pt * min(1.0, 0.94 * width / pdf.get_string_width(text)))
    x = left + (width - pdf.get_string_width(text)) / 2
    pdf.text(x, top + height / 2 + 0.12 * size_pt, text)


# --- parts of every page ---


def draw_check_bars(pdf: "FPDF") -> None:
    """Draw a ruler along the page and one up it, with their words."""
    x = MARGIN_MM + BAR_STRIP_MM
    y = pdf.h - MARGIN_MM - 12
    _draw_check_bar(pdf, (x, y), (1, 0))
    _draw_check_bar(pdf, (MARGIN_MM + 4, y), (0, -1))
    pdf.set_text_color(0)
    pdf.set_font("Helvetica", size=7)
    pdf.text(
        x,
        y + 6.5,
        "Each bar must measure exactly 100 mm from end to end, along and up (3 in to the 3).",
    )
    pdf.set_font("Helvetica", style="B", size=8)
    pdf.text(x, y + 10.5, "Print at 100 % (actual size), not 'fit to page'.")


def _draw_check_bar(pdf: "FPDF", start: tuple[float, float], way: tuple[int, int]) -> None:
    """Draw a ruler of 100 mm from `start` along `way`: ticks every 10 mm, and inches across them."""
    pdf.set_draw_color(0)
    pdf.set_line_width(0.25)
    (x, y), (dx, dy) = start, way
    pdf.line(x, y, x + CHECK_BAR_MM * dx, y + CHECK_BAR_MM * dy)
    for step in range(11):
        tick_x = x + 10 * step * dx
        tick_y = y + 10 * step * dy
        length = 3.0 if step % 5 == 0 else 1.8
        pdf.line(tick_x, tick_y, tick_x - length * dy, tick_y + length * dx)
    pdf.set_font("Helvetica", size=5)
    pdf.set_text_color(0)
    for inches in range(1, BAR_INCHES + 1):
        tick_x = x + inches * MM_PER_INCH * dx
        tick_y = y + inches * MM_PER_INCH * dy
        pdf.line(tick_x, tick_y, tick_x + 2.2 * dy, tick_y - 2.2 * dx)
        pdf.text(tick_x + 0.6 * dx + 1.0 * dy, tick_y - 0.6 * dx + 2.0 * dy, f"{inches}")


# --- the first page ---


def _draw_instructions(pdf: "FPDF", cards: CardSet) -> None:
    left = MARGIN_MM + BAR_STRIP_MM
    width = pdf.w - left - MARGIN_MM - 4
    pdf.set_text_color(0)
    pdf.set_xy(left, MARGIN_MM + 4)
    pdf.set_font("Helvetica", style="B", size=20)
    pdf.cell(width, 10, "Overruler markers", new_x="LEFT", new_y="NEXT")
    pdf.set_font("Helvetica", size=10)
    markers = f"{format_count(cards.count, 'marker')} of {cards.size_mm:g} mm, {cards.dictionary}"
    summary = f"{markers}; cards of {cards.card_mm:.1f} mm."
    pdf.cell(width, 8, summary, new_x="LEFT", new_y="NEXT")
    for number, step in enumerate(STEPS, 1):
        pdf.set_x(left)
        pdf.cell(6, 5.4, f"{number}.")
        pdf.multi_cell(width - 6, 5.4, step, align="L", new_x="LEFT", new_y="NEXT")
        pdf.ln(1.2)
    _draw_board_plan(pdf, cards, left, pdf.get_y() + 6, width)


def _draw_board_plan(
    pdf: "FPDF", cards: CardSet, x_mm: float, y_mm: float, width_mm: float
) -> None:
    """Draw the board from above, with each marker's number in its place."""
    height, card = width_mm / 2, 13.0
    pdf.set_draw_color(0)
    pdf.set_line_width(0.3)
    pdf.rect(x_mm, y_mm, width_mm, height)
    for marker, (_, x_share, y_share) in enumerate(MARKER_PLACES[: cards.count]):
        x = x_mm + x_share * (width_mm - card)
        y = y_mm + (1 - y_share) * (height - card)
        pdf.rect(x, y, card, card)
        pdf.set_fill_color(0)
        pdf.rect(x + 2, y + 2, card - 4, card - 4, style="F")
        _draw_centred_text(pdf, str(marker), (x, y, card, card), 255, size_pt=14)
        _draw_arrow(pdf, x + card / 2, y - 1.8)
    middle = (x_mm, y_mm + height / 2 - 4, width_mm, 6)
    _draw_centred_text(pdf, "the board, seen from above", middle, TEXT_GREY, size_pt=10)
    foot = (x_mm, y_mm + height + 1, width_mm, 6)
    _draw_centred_text(pdf, "the near edge: you stand here", foot, 0, size_pt=10)

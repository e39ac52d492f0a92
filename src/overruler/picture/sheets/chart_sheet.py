"""The sheet for lens calibration, as a PDF at true scale."""

from dataclasses import replace
from typing import TYPE_CHECKING

from overruler.chart import Chart
from overruler.picture.sheets.marker_cards import Loop, marker_pattern, trace_outlines
from overruler.picture.sheets.marker_sheet import (
    BAR_STRIP_MM,
    CHECK_BAR_MM,
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

UNIT_SQUARE: Loop = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
INSTRUCTION_LINES = (
    "Lens sheet of {columns} × {rows} squares of {square:g} mm, {dictionary}.",
    "Glue it flat on glass or stiff board. Take ten photos by one",
    "camera at one zoom, from the front and leaning to every side,",
    "filling the picture and its corners. Then: overruler calibrate lens",
)


def chart_for_paper(paper: str) -> Chart:
    """Return the usual chart with as many rows as fit on a paper."""
    usual = Chart()
    room = PAPERS_MM[paper][1] - 2 * MARGIN_MM - FOOTER_MM
    return replace(usual, rows=min(usual.rows, int(room // usual.square_mm)))


def chart_sheet_pdf(paper: str) -> bytes:
    """Return the PDF of one page."""
    chart = chart_for_paper(paper)
    pdf = new_document(paper, "Overruler lens sheet")
    pdf.add_page()
    draw_check_bars(pdf)
    fill_black(pdf, _black_loops(chart, MARGIN_MM + BAR_STRIP_MM, MARGIN_MM))
    _draw_instructions(pdf, chart)
    return bytes(pdf.output())


def _black_loops(chart: Chart, left_mm: float, top_mm: float) -> list[Loop]:
    """Return all black outlines: the squares, and the markers inside the white ones."""
    side = chart.square_mm
    loops = []
    for row in range(chart.rows):
        for column in range(chart.columns):
            if (column + row) % 2 == 0:
                x = left_mm + column * side
                y = top_mm + row * side
                loops.append(loop_in_mm(UNIT_SQUARE, x, y, side))
    for number, corners in chart.markers_mm.items():
        cells = marker_pattern(chart.dictionary, number)
        x = left_mm + float(corners[0, 0])
        y = top_mm - float(corners[0, 1])
        module = float(corners[1, 0] - corners[0, 0]) / len(cells)
        loops += [loop_in_mm(loop, x, y, module) for loop in trace_outlines(cells)]
    return loops


def _draw_instructions(pdf: "FPDF", chart: Chart) -> None:
    pdf.set_font("Helvetica", size=7)
    pdf.set_text_color(0)
    x = MARGIN_MM + BAR_STRIP_MM + CHECK_BAR_MM + 5
    y = pdf.h - MARGIN_MM - 12
    counts = {"columns": chart.columns, "rows": chart.rows}
    details = {"square": chart.square_mm, "dictionary": chart.dictionary}
    for number, line in enumerate(INSTRUCTION_LINES):
        pdf.text(x, y + 3.5 * number, line.format(**counts, **details))

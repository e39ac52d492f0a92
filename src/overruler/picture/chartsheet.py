"""The sheet that a lens is measured by, as a PDF at true scale."""

from dataclasses import replace
from typing import TYPE_CHECKING

from overruler.chart import Chart
from overruler.picture.markercard import Loop, outlines, pattern
from overruler.picture.sheet import (
    BAR_MM,
    BAR_STRIP_MM,
    FOOTER_MM,
    MARGIN_MM,
    PAPERS_MM,
    black,
    cell_loop,
    check_bars,
    document,
)

if TYPE_CHECKING:
    from fpdf import FPDF

WORDS = (
    "Lens sheet of {columns} × {rows} squares of {square:g} mm, {dictionary}.",
    "Glue it flat on glass or stiff board. Take ten photos by one",
    "camera at one zoom, from the front and leaning to every side,",
    "filling the picture and its corners. Then: overruler calibrate lens",
)


def chart_on(paper: str) -> Chart:
    """The sheet of a paper: the usual one, with as many rows as fit."""
    usual = Chart()
    room = PAPERS_MM[paper][1] - 2 * MARGIN_MM - FOOTER_MM
    return replace(usual, rows=min(usual.rows, int(room // usual.square_mm)))


def chart_sheet(paper: str) -> bytes:
    """The PDF of one page."""
    chart = chart_on(paper)
    pdf = document(paper, "Overruler lens sheet")
    pdf.add_page()
    check_bars(pdf)
    black(pdf, _loops(chart, MARGIN_MM + BAR_STRIP_MM, MARGIN_MM))
    _words(pdf, chart)
    return bytes(pdf.output())


def _loops(chart: Chart, left_mm: float, top_mm: float) -> list[Loop]:
    """Everything black: the squares, and the markers within the white ones."""
    square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    loops = [
        cell_loop(square, left_mm + column * chart.square_mm, top_mm + row * chart.square_mm, chart.square_mm)
        for row in range(chart.rows)
        for column in range(chart.columns)
        if (column + row) % 2 == 0
    ]
    for number, corners in chart.markers_mm.items():
        cells = pattern(chart.dictionary, number)
        x, y = left_mm + float(corners[0, 0]), top_mm - float(corners[0, 1])
        module = float(corners[1, 0] - corners[0, 0]) / len(cells)
        loops += [cell_loop(loop, x, y, module) for loop in outlines(cells)]
    return loops


def _words(pdf: "FPDF", chart: Chart) -> None:
    pdf.set_font("Helvetica", size=7)
    pdf.set_text_color(0)
    x, y = MARGIN_MM + BAR_STRIP_MM + BAR_MM + 5, pdf.h - MARGIN_MM - 12
    size = {"columns": chart.columns, "rows": chart.rows, "square": chart.square_mm, "dictionary": chart.dictionary}
    for number, line in enumerate(WORDS):
        pdf.text(x, y + 3.5 * number, line.format(**size))

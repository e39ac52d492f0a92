"""The lens sheet is a physical thing: it is rendered, and OpenCV's own detector measures it."""

from pathlib import Path

import cv2
import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pytest

from overruler.picture.lens_coverage import (
    GREATEST_ERROR_RGB,
    LEAST_ERROR_RGB,
    draw_coverage,
    encode_drawing,
    error_colour,
)
from overruler.picture.sheets.chart_sheet import chart_for_paper, chart_sheet_pdf
from overruler.picture.sheets.marker_sheet import PAPERS_MM

ROOT = Path(__file__).parents[3]
DPI = 200
MM_PER_PX = 25.4 / DPI


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_opencv_finds_every_corner_of_the_sheet_where_the_chart_has_it(paper: str) -> None:
    chart, pdf = chart_for_paper(paper), chart_sheet_pdf(paper)
    document = pypdfium2.PdfDocument(pdf)
    assert len(document) == 1
    assert np.array(document[0].get_size()) / 72 * 25.4 == pytest.approx(PAPERS_MM[paper], abs=0.01)
    page = np.asarray(document[0].render(scale=DPI / 72, grayscale=True).to_numpy()).squeeze()
    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, chart.dictionary))
    assert chart.marker_mm is not None
    board = cv2.aruco.CharucoBoard(
        (chart.columns, chart.rows), chart.square_mm, chart.marker_mm, family
    )
    corners, ids, _, markers = cv2.aruco.CharucoDetector(board).detectBoard(page)
    assert np.ravel(ids).tolist() == list(range(len(chart.corners_mm)))
    assert sorted(np.ravel(markers).tolist()) == sorted(chart.markers_mm)
    found = np.reshape(corners, (-1, 2)) * MM_PER_PX * [1, -1]
    apart = found - found.mean(0) - (chart.corners_mm[:, :2] - chart.corners_mm[:, :2].mean(0))
    assert np.abs(apart).max() < 0.05
    assert b"/PrintScaling /None" in pdf


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_the_sheet_keeps_off_the_bars_and_the_paper_s_edge(paper: str) -> None:
    page = np.asarray(
        pypdfium2.PdfDocument(chart_sheet_pdf(paper))[0]
        .render(scale=DPI / 72, grayscale=True)
        .to_numpy()
    )
    dark = page.squeeze() < 128
    edge = int(6 / MM_PER_PX)
    inner = dark[edge:-edge, edge:-edge]
    assert inner.sum() == dark.sum()
    chart = chart_for_paper(paper)
    left, right = 19.0, 19.0 + chart.size_mm[0]
    assert right < PAPERS_MM[paper][0] - 6
    strip = dark[: int(200 / MM_PER_PX), int(15.5 / MM_PER_PX) : int((left - 0.3) / MM_PER_PX)]
    assert not strip.any()


def test_the_same_sheet_is_the_same_file() -> None:
    assert chart_sheet_pdf("a4") == chart_sheet_pdf("a4")


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_the_stored_sheet_prints_as_the_program_s_own(paper: str) -> None:
    stored = (ROOT / "calibration" / "sheets" / f"lens-{paper}.pdf").read_bytes()
    pages = [
        np.asarray(pypdfium2.PdfDocument(pdf)[0].render(scale=DPI / 72, grayscale=True).to_numpy())
        for pdf in (stored, chart_sheet_pdf(paper))
    ]
    assert np.array_equal(pages[0], pages[1])


def test_coverage_shows_every_corner_and_the_errors_in_words() -> None:
    places = np.stack(np.meshgrid(np.linspace(0, 799, 17), np.linspace(0, 599, 13)), -1)
    errors = 0.05 + 0.4 * np.linspace(0, 1, 17) * np.ones((13, 1))
    svg = draw_coverage(
        (800, 600),
        [np.array([[100.0, 200.0], [300.0, 400.0]]), np.zeros((0, 2))],
        places,
        errors,
        ["one"],
    )
    assert svg.count("<circle") == 2
    assert 'cx="150"' in svg
    assert svg.count(">0.05<") == 4
    assert svg.count(">0.45<") == 4
    drawn = cv2.imdecode(np.frombuffer(encode_drawing(svg, ".png"), np.uint8), cv2.IMREAD_COLOR)
    assert drawn is not None
    assert drawn.shape[1] == 1200
    row = drawn[-200, ::80].astype(int).sum(1)
    assert row[1] > row[-2] + 60
    assert encode_drawing(svg, ".svg") == svg.encode()
    small = cv2.imdecode(np.frombuffer(encode_drawing(svg, ".jpg"), np.uint8), cv2.IMREAD_COLOR)
    assert small is not None
    assert np.abs(small.astype(float) - drawn).mean() < 3


def test_greater_errors_are_darker() -> None:
    tones = [
        sum(int(error_colour(error)[i : i + 2], 16) for i in (1, 3, 5))
        for error in (0.0, 0.01, 0.1, 0.5, 1.0, 9.0)
    ]
    assert tones == sorted(tones, reverse=True)
    assert (
        tones[0] == tones[1] == round(255 * sum(LEAST_ERROR_RGB))
        or abs(tones[0] - 255 * sum(LEAST_ERROR_RGB)) < 2
    )
    assert abs(tones[-1] - 255 * sum(GREATEST_ERROR_RGB)) < 2

"""Raised ground on the picture and in the summary: where it is seen, how high, and what stands on it."""

from dataclasses import replace

import numpy as np

from overruler.apps.measure.summary import raised_ground_lines
from overruler.picture import report_drawing
from overruler.picture.painters import draw_terrain, height_text
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Terrain
from tests.reports import SIZE_PX, camera, report

CORNERS = ((250.0, 350.0), (420.0, 350.0), (420.0, 500.0), (250.0, 500.0))
HILL = Terrain("h1", CORNERS, 36.0, extra={"sigma_mm": 3.0, "probability": 0.99})


def on_a_hill(hill: Terrain = HILL) -> Report:
    """The usual report, one of its pieces on a hill."""
    plain = report()
    placed = [
        replace(piece, z_mm=36.0, extra={"on": "h1"}) if piece.id == "p03" else piece
        for piece in plain.scene.pieces
    ]
    return replace(plain, scene=replace(plain.scene, pieces=tuple(placed), terrain=(hill,)))


def test_the_outline_is_drawn_at_the_height_of_the_top() -> None:
    view = View(camera(), SIZE_PX)
    drawn = draw_terrain(view, HILL)
    x, y = view.to_px(np.array(CORNERS[0]), 36.0)
    assert f"{x:.2f} {y:.2f}" in drawn
    x, y = view.to_px(np.array(CORNERS[0]), 0.0)
    assert f"{x:.2f} {y:.2f}" not in drawn


def test_its_height_is_said_with_its_doubt() -> None:
    assert height_text(HILL) == "h1: 36 ± 6 mm high"
    assert height_text(replace(HILL, extra={})) == "h1: 36 mm high"
    assert "h1: 36 ± 6 mm high" in report_drawing.draw_on_photo(on_a_hill()).document()


def test_a_picture_without_hills_says_nothing_of_them() -> None:
    assert "mm high" not in report_drawing.draw_on_photo(report()).document()
    assert raised_ground_lines(report()) == []


def test_the_summary_says_what_stands_on_what() -> None:
    (line,) = raised_ground_lines(on_a_hill())
    assert line.plain == "p03 on h1, 36 ± 6 mm high (95 %)"
    (line,) = raised_ground_lines(
        on_a_hill(replace(HILL, extra={"sigma_mm": 3.0, "probability": 0.6}))
    )
    assert line.plain.endswith("(perhaps only printed)")

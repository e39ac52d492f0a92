"""Which way a plate faces, on the picture and in the summary."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from overruler.apps.measure.summary import piece_table
from overruler.bases import Base
from overruler.picture.painters import FRONT_TIP_SHARE, draw_base
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Piece
from tests.reports import SIZE_PX, camera, report

VIEW = View(camera(), SIZE_PX)
PLATE = Piece("p01", Base.rectangle(60, 60), 300.0, 250.0, heading_deg=30.0)


@pytest.mark.parametrize("heading_deg", [0.0, 30.0, 135.0, 270.0])
def test_a_tip_stands_ahead_of_a_plate(heading_deg: float) -> None:
    turn = np.radians(heading_deg)
    tip = np.array([300.0, 250.0]) + (30 + 60 * FRONT_TIP_SHARE) * np.array(
        [np.cos(turn), np.sin(turn)]
    )
    x, y = VIEW.to_px(tip)
    assert f"{x:.2f} {y:.2f}" in draw_base(VIEW, replace(PLATE, heading_deg=heading_deg))


@pytest.mark.parametrize(
    "other",
    [
        replace(PLATE, extra={"heading_modulo_deg": 180}),
        replace(PLATE, base=Base.circle(60)),
        replace(PLATE, base=Base.oval(42, 75)),
    ],
    ids=["front or rear", "round", "oval"],
)
def test_what_has_no_front_that_is_known_has_no_tip(other: Piece) -> None:
    assert draw_base(VIEW, other).count("<path") < draw_base(VIEW, PLATE).count("<path")


def faced(**extra: Any) -> Report:
    plain = report()
    first = replace(plain.scene.pieces[0], base=PLATE.base, extra=extra)
    return replace(plain, scene=replace(plain.scene, pieces=(first, *plain.scene.pieces[1:])))


@pytest.mark.parametrize(
    ("extra", "note"),
    [
        ({}, ""),
        ({"heading_modulo_deg": 90.0}, "front not seen"),
        ({"heading_modulo_deg": 180.0}, "front or rear"),
    ],
)
def test_the_summary_says_where_the_front_is_open(extra: dict[str, Any], note: str) -> None:
    notes = list(piece_table(faced(**extra)).columns[-1].cells)
    assert notes[0] == "; ".join(filter(None, ["or 25 mm", note]))

"""Corrections of a table by several photos: what nobody touched stays as sure as it was."""

from typing import Any

import numpy as np
import pytest

from overruler.errors import BadInput
from overruler.fixes import read_fixes
from overruler.geometry.covariance import Covariance
from overruler.reading import Node
from overruler.report import Report
from overruler.vision.assembly.corrections import apply_corrections
from tests.vision.fusion.test_look_at_all import measure, table


@pytest.fixture(scope="module")
def report() -> Report:
    return measure(table(3))


def fixed(report: Report, *entries: dict[str, Any]) -> Report:
    return apply_corrections(
        report, read_fixes(Node({"schema": "overruler/fix/1", "fix": list(entries)}, "fix.json"))
    )


def covariance_of(report: Report) -> Covariance:
    assert report.scene.covariance is not None
    return report.scene.covariance


def test_pieces_that_nobody_touched_keep_place_and_joint_doubt(report: Report) -> None:
    after = fixed(
        report,
        {"do": "remove", "id": "p02"},
        {"do": "name", "id": "p04", "new_id": "leader"},
        {"do": "move", "id": "p03", "xy_mm": [520, 160]},
    )
    before = {piece.id: k for k, piece in enumerate(report.scene.pieces)}
    now = {piece.id: k for k, piece in enumerate(after.scene.pieces)}
    for one, other, old in (("p01", "leader", "p04"), ("p05", "p06", "p06")):
        stated = covariance_of(after).of_difference(now[one], now[other])
        assert stated == covariance_of(report).of_difference(before[one], before[old])
    kept = {piece.id: (piece.x_mm, piece.y_mm) for piece in after.scene.pieces}
    for piece in report.scene.pieces:
        if piece.id not in ("p02", "p03", "p04"):
            assert kept[piece.id] == (piece.x_mm, piece.y_mm)
    moved = after.scene.pieces[now["p03"]]
    assert (moved.x_mm, moved.y_mm) == pytest.approx((520, 160), abs=0.01)
    assert len(moved.extra["images"]) == 3
    block = np.array(covariance_of(after).cross_covariance(now["p03"], now["p03"]))
    assert np.sqrt(np.trace(block)) > 1  # two pixels of a finger
    assert covariance_of(after).cross_covariance(now["p03"], now["p01"]) == ((0, 0), (0, 0))


def test_a_place_may_be_pointed_at_in_any_photo(report: Report) -> None:
    camera = report.photos[1].calibration.camera
    pixel = camera.project(np.array([520.0, 160.0, 0.0])).tolist()
    after = fixed(report, {"do": "add", "base": 27, "xy_px": pixel, "photo": 1})
    added = after.scene.pieces[-1]
    assert (added.x_mm, added.y_mm) == pytest.approx((520, 160), abs=0.05)
    with pytest.raises(BadInput, match="there is no photo 3; they count from 0 to 2"):
        fixed(report, {"do": "add", "base": 27, "xy_px": pixel, "photo": 3})

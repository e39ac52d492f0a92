"""Corrections of a table by several photos: what nobody touched stays as sure as it was."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, NO_BUDGET
from overruler.bases import Base
from overruler.calibration import Calibration, TableBow
from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.fixes import CLICK_SIGMA_PX, read_fixes
from overruler.frame import Frame
from overruler.geometry.covariance import Covariance
from overruler.geometry.pose import Array
from overruler.reading import Node
from overruler.report import Report
from overruler.vision.assembly import pointed_at
from overruler.vision.assembly.corrections import apply_corrections
from overruler.vision.detection.near_point import place_by_hand
from tests.vision.fusion.test_look_at_all import measure, table

SCALE_SHARE = 0.01
"""Large, so that the print's scale outweighs a finger."""
BOW = TableBow(np.array(BOARD_MM) / 2, np.array(BOARD_MM) / 2, np.array([4.0, 0.0]))


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


def test_a_piece_placed_anew_shares_the_errors_of_the_table() -> None:
    """A print too large moves the two sides of a board apart: distances are no surer than its scale."""
    budget = replace(NO_BUDGET, scale_share=SCALE_SHARE, specified_scale_share=SCALE_SHARE)
    photos = [replace(one, calibration=replace(one.calibration, budget=budget)) for one in table(3)]
    after = fixed(measure(photos), {"do": "move", "id": "p08", "xy_mm": [880, 300]})
    after = fixed(after, {"do": "move", "id": "p07", "xy_mm": [860, 200]})
    pieces = after.scene.pieces
    for number in (6, 7):
        apart_mm = np.hypot(
            pieces[number].x_mm - pieces[0].x_mm, pieces[number].y_mm - pieces[0].y_mm
        )
        block = np.array(covariance_of(after).of_difference(0, number))
        assert np.sqrt(block[0, 0]) > 0.95 * SCALE_SHARE * apart_mm
    near = np.trace(covariance_of(after).of_difference(6, 7))
    each = [np.trace(covariance_of(after).cross_covariance(k, k)) for k in (6, 7)]
    assert near < 0.6 * sum(each)


def test_a_piece_placed_anew_errs_with_those_that_its_photo_placed() -> None:
    (photo,) = table(1)
    after = fixed(measure([photo]), {"do": "move", "id": "p03", "xy_mm": [520, 160]})
    places = [one.xy_mm for one in after.detections]
    calibration = photo.calibration
    jacobians = [calibration.camera.board_point_jacobian([*xy, 0.0]) for xy in places]
    camera = calibration.covariance
    for k in (0, 1, 3, 4, 5, 6, 7):
        truth = jacobians[2] @ camera @ jacobians[k].T
        assert np.array(covariance_of(after).cross_covariance(2, k)) == pytest.approx(
            truth, rel=1e-3, abs=1e-5
        )


def test_a_turned_piece_stays_as_it_was_measured() -> None:
    photos = [replace(one, calibration=replace(one.calibration, bow=BOW)) for one in table(3)]
    bowed = measure(photos)
    turned = fixed(bowed, {"do": "turn", "id": "p03", "heading_deg": 30})
    assert covariance_of(turned).rows == covariance_of(bowed).rows
    before, after = bowed.scene.pieces[2], turned.scene.pieces[2]
    assert (after.x_mm, after.y_mm) == (before.x_mm, before.y_mm)
    assert [one["seen"] for one in after.extra["images"]] == 3 * [True]


def test_a_name_given_later_leaves_a_corrected_piece_on_the_bowed_table() -> None:
    photos = [replace(one, calibration=replace(one.calibration, bow=BOW)) for one in table(3)]
    moved = fixed(measure(photos), {"do": "move", "id": "p03", "xy_mm": [520, 160]})
    named = fixed(moved, {"do": "name", "id": "p03", "new_id": "leader"})
    placed = named.scene.pieces[2]
    assert (placed.x_mm, placed.y_mm) == pytest.approx((520, 160), abs=0.01)


def test_a_place_may_be_pointed_at_in_any_photo(report: Report) -> None:
    camera = report.photos[1].calibration.camera
    pixel = camera.project(np.array([520.0, 160.0, 0.0])).tolist()
    after = fixed(report, {"do": "add", "base": 27, "xy_px": pixel, "photo": 1})
    added = after.scene.pieces[-1]
    assert (added.x_mm, added.y_mm) == pytest.approx((520, 160), abs=0.05)
    with pytest.raises(
        BadInput, match=r"photo = 3 is the fourth photo \(0 is the first\); only 3 are given"
    ):
        fixed(report, {"do": "add", "base": 27, "xy_px": pixel, "photo": 3})


def test_a_place_in_mm_is_measured_in_the_photo_that_the_correction_names(report: Report) -> None:
    place = {"xy_mm": [520, 160], "photo": 2}
    for entry in ({"do": "move", "id": "p03"}, {"do": "add", "base": 27, "id": "new"}):
        after = fixed(report, entry | place)
        placed = next(one for one in after.scene.pieces if one.id == entry["id"])
        stated = np.sqrt(np.diag(np.array(placed.covariance_mm2)))
        assert stated == pytest.approx(_sigmas_of_pointing(report, 2), rel=0.05)
        assert not np.allclose(stated, _sigmas_of_pointing(report, 0), rtol=0.05)
    with pytest.raises(BadInput, match="photo = 3 is the fourth photo"):
        fixed(report, {"do": "move", "id": "p03", "xy_mm": [520, 160], "photo": 3})


def _sigmas_of_pointing(report: Report, photo: int) -> Array:
    """1 σ in x and y of a finger at the place, in one of the photos."""
    camera = report.photos[photo].calibration.camera
    _, by_point, _ = camera.project_with_jacobians(np.array([520.0, 160.0, 0.0]))
    mm_per_px = np.linalg.inv(by_point[:, :2])
    return np.asarray(np.sqrt(np.diag(CLICK_SIGMA_PX**2 * mm_per_px @ mm_per_px.T)))


@pytest.mark.parametrize("sees", [0, 1, 2])
def test_a_place_in_mm_is_measured_in_the_photo_that_shows_a_base_there(
    report: Report, sees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(
        frame: Frame, calibration: Calibration, base: Base, xy_mm: Array, z_mm: float, px: float
    ) -> Detection | None:
        if calibration is not report.photos[sees].calibration:
            return None
        placed = place_by_hand(calibration.camera, base, xy_mm, z_mm, px, 0.0)
        return replace(placed, is_seen=True)

    monkeypatch.setattr(pointed_at, "find_near_point", find)
    after = fixed(
        report,
        {"do": "add", "base": 27, "id": "new", "xy_mm": [520, 160]},
        {"do": "stand", "id": "new", "z_mm": 5},
    )
    added = after.scene.pieces[-1]
    assert added.extra["fitted"]
    assert [one["photo"] for one in added.extra["images"] if one["seen"]] == [sees]

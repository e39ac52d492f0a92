"""Photos that hang on others: they err as these do, add no votes, and go with them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from evaluate.drawn.views import CAMERA_SIGMA, without
from overruler.board import Board
from overruler.calibration import Covariances
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.report import Report
from overruler.vision.camera.told import Told
from overruler.vision.fusion import look_at_all as module
from overruler.vision.fusion.joint_cameras import joint_camera_covariances
from overruler.vision.fusion.look_at_all import look_at_all
from overruler.vision.fusion.same_table import leave_out
from overruler.vision.hanging.hang import Hung
from overruler.vision.hanging.lean import Lean
from overruler.vision.pairing.sighting import SeenPhoto
from tests.vision.fusion.test_look_at_all import BASES, KNOWN, report_of, table

LEAN = np.diag(np.r_[np.zeros(9), np.full(6, 0.8), 0, 0])


def hung_on(photo: SeenPhoto, *others: SeenPhoto) -> SeenPhoto:
    """A photo that errs by 0.8 of what each of the others errs, and by nothing else."""
    covariance = sum(
        (LEAN @ one.calibration.covariances.rare @ LEAN.T for one in others), np.zeros((17, 17))
    )
    calibration = replace(photo.calibration, covariances=Covariances.same(covariance))
    leans = tuple(Lean(one.frame, LEAN, np.zeros(17)) for one in others)
    return replace(photo, calibration=calibration, leans=leans)


def test_a_hung_photo_errs_as_those_that_it_hangs_on() -> None:
    first, second, third, fourth = table(4)
    photos = [first, second, hung_on(third, first), hung_on(fourth, first, second)]
    found = joint_camera_covariances(photos, "rare")
    own = np.zeros((17, 17))
    own[:15, :15] = np.diag(CAMERA_SIGMA**2)
    assert found[2, 0] == pytest.approx(LEAN @ own)
    assert not found[2, 1].any()
    assert found[2, 3] == pytest.approx(LEAN @ own @ LEAN.T)
    whole = np.zeros((68, 68))
    for (i, j), block in found.items():
        whole[17 * i : 17 * i + 17, 17 * j : 17 * j + 17] = block
        whole[17 * j : 17 * j + 17, 17 * i : 17 * i + 17] = block.T
    assert np.linalg.eigvalsh(whole).min() > -1e-9


def test_the_height_of_the_ground_is_off_alike_in_all_photos_that_hang() -> None:
    """Two of them see it from two sides: what it does to both does not average away."""
    first, *others = table(3)
    height = np.r_[np.zeros(12), 0.3, -0.2, 0.5, 0, 0]
    hung = []
    for one, sign in zip(others, (1.0, -0.5), strict=True):
        lean = Lean(first.frame, LEAN, sign * height)
        calibration = hung_on(one, first).calibration
        uneven = np.outer(lean.by_height, lean.by_height)
        grown = calibration.map_covariances(partial(np.add, uneven))
        hung.append(replace(one, calibration=grown, leans=(lean,)))
    found = joint_camera_covariances([first, *hung], "rare")
    by_first = LEAN @ first.calibration.covariances.rare @ LEAN.T
    assert found[1, 2] - by_first == pytest.approx(-0.5 * np.outer(height, height))
    assert found[1, 1] - by_first == pytest.approx(np.outer(height, height))


def test_a_photo_whose_references_are_gone_errs_by_itself() -> None:
    first, second, third = table(3)
    found = joint_camera_covariances([second, hung_on(third, first)], "rare")
    assert set(found) == {(1, 1), (2, 2)}


def test_what_hangs_on_an_odd_photo_is_left_out_with_it() -> None:
    first, second, third = table(3)
    photos = [first, second, hung_on(third, first)]
    rest, problems = leave_out(photos, first)
    assert [photo.frame.name for photo in rest] == ["photo1.jpg"]
    assert [problem.flag for problem in problems] == ["photo_left_out"] * 2
    assert len(leave_out(photos, second)[0]) == 2


def measure_with_hung(photos: list[SeenPhoto], monkeypatch: pytest.MonkeyPatch) -> Report:
    """Measure photos of which the last shows no markers and hangs on the first."""
    last = len(photos) - 1
    hung = hung_on(photos[last], photos[0])
    found = Hung(hung.calibration, (photos[0].frame,), hung.leans)
    monkeypatch.setattr(module, "hang_lost_photos", lambda *_: {last: found})

    def look(frame: Frame, index: int, board: Board | None, told: Told) -> Report:
        if index == last and told.calibration is None:
            raise CannotMeasure("no marker of the board was found")
        return report_of(replace(hung if index == last else photos[index], frame=frame))

    return look_at_all([one.frame for one in photos], look, KNOWN, lambda text: None)


def test_a_hung_photo_is_measured_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    photos = table(2)
    report = measure_with_hung(photos, monkeypatch)
    assert len(report.photos) == 2
    (problem,) = report.calibration.problems
    assert problem.flag == "photo_hangs"
    assert problem.text.startswith("photo1.jpg hangs on photo0.jpg by the ground")
    assert len(report.scene.pieces) == len(BASES)


def test_a_hung_photo_that_contradicts_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no vote against the photo that it hangs on."""
    photos = table(2)
    shifted = tuple(
        replace(one, xy_mm=one.xy_mm + np.array([6.0, 0])) for one in photos[1].detections
    )
    report = measure_with_hung([photos[0], replace(photos[1], detections=shifted)], monkeypatch)
    assert [photo.frame.name for photo in report.photos] == ["photo0.jpg"]
    assert {problem.flag for problem in report.calibration.problems} == {
        "photo_hangs",
        "photo_left_out",
    }


def test_a_hung_close_up_of_other_bases_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables may have one mat: the ground alone does not tell them apart."""
    photos = table(2, BASES[:2])
    elsewhere = tuple(
        replace(one, xy_mm=one.xy_mm + np.array([90.0, 0])) for one in photos[1].detections
    )
    report = measure_with_hung([photos[0], replace(photos[1], detections=elsewhere)], monkeypatch)
    assert [photo.frame.name for photo in report.photos] == ["photo0.jpg"]
    assert len(report.scene.pieces) == 2


def test_a_hung_close_up_that_shows_one_of_two_bases_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    photos = table(2, BASES[:2])
    report = measure_with_hung([photos[0], without(photos[1], 0)], monkeypatch)
    assert len(report.photos) == 2

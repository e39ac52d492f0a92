"""The referee listens to the bases between finding them and laying them on the board."""

from dataclasses import replace

import numpy as np
import pytest

from overruler import referee
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.referee import Referee
from overruler.vision.assembly import one_photo
from tests.reports import report


def test_the_report_holds_what_the_bases_made_surer(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = report()
    surer = plain.calibration.map_covariances(lambda covariance: covariance / 4)
    moved = tuple(replace(one, xy_mm=one.xy_mm + np.array([1.0, 2.0])) for one in plain.detections)
    asked: list[tuple[Frame, Calibration, tuple[Detection, ...]]] = []

    def listen(
        frame: Frame, found: Calibration, bases: tuple[Detection, ...]
    ) -> tuple[Calibration, tuple[Detection, ...]]:
        asked.append((frame, found, bases))
        return surer, moved

    monkeypatch.setattr(referee, "calibrate", lambda *given: plain.calibration)
    monkeypatch.setattr(one_photo, "detect", lambda *given, **options: plain.detections)
    monkeypatch.setattr(one_photo, "refine_by_bases", listen)
    seen = Referee(Board.free(60.0)).look(plain.frame)
    assert asked == [(plain.frame, plain.calibration, plain.detections)]
    assert seen.calibration.covariances is surer.covariances
    wanted = sorted((one.xy_mm + np.array([1.0, 2.0])).tolist() for one in plain.detections)
    assert np.array(
        sorted([piece.x_mm, piece.y_mm] for piece in seen.scene.pieces)
    ) == pytest.approx(np.array(wanted))

"""Advice on another photo comes true: the imagined photo leaves the doubt that was promised."""

import numpy as np
import pytest

from evaluate.drawn.views import Truth, camera_from, see
from overruler.report import Report
from overruler.verdict import Verdict
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.fusion.next_photo import advise_photo

PAIR: list[Truth] = [(200.0, 250.0, 0.0, 27.0), (700.0, 380.0, 0.0, 27.0)]


def report(scale: float) -> Report:
    """A photo from the near side that fits both bases badly along its view."""
    photo = see(0, camera_from(0.0), PAIR)
    for detection in photo.detections:
        detection.covariance_mm2[:] = np.diag([0.04, scale])
    scene = build_scene(photo.calibration, photo.detections, "legion")
    return Report(photo.frame, photo.calibration, photo.detections, scene)


def ruling(probability: float) -> Verdict:
    odds = {"2": probability, "3": 1 - probability}
    return Verdict({}, "range 2", (), 440.0, 0.5, pair=("p01", "p02"), probability=odds, value=2)


def test_an_open_ruling_gets_advice_with_its_effect() -> None:
    advice = advise_photo(report(4.0), [ruling(0.6)])
    assert advice is not None
    assert advice.text.startswith("a photo from the ")
    assert "p01 and p02" in advice.text
    assert advice.after_mm < 0.7 * advice.before_mm


@pytest.mark.parametrize(("scale", "probability"), [(4.0, 0.99999), (1e-4, 0.6)])
def test_a_certain_ruling_or_a_sure_place_gets_none(scale: float, probability: float) -> None:
    assert advise_photo(report(scale), [ruling(probability)]) is None

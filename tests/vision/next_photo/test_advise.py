"""Advice on another photo comes true: the imagined photo leaves the doubt that was promised."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import Truth, camera_from, see
from overruler.calibration import Light
from overruler.report import Report
from overruler.verdict import Verdict
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.next_photo.advise import advise_photo

PAIR: list[Truth] = [(200.0, 250.0, 0.0, 27.0), (700.0, 380.0, 0.0, 27.0)]


def report(scale: float, light: Light | None = None, pair: Sequence[Truth] = PAIR) -> Report:
    """A photo from the near side that fits both bases badly along its view."""
    photo = see(0, camera_from(0.0), pair)
    photo = replace(photo, calibration=replace(photo.calibration, light=light))
    for detection in photo.detections:
        detection.covariance_mm2[:] = np.diag([0.04, scale])
    scene = build_scene(photo.calibration, photo.detections, "legion")
    return Report(photo.frame, photo.calibration, photo.detections, scene)


def ruling(probability: float, sigma_mm: float = 2.0) -> Verdict:
    odds = {"2": probability, "3": 1 - probability}
    return Verdict(
        {}, "range 2", (), 440.0, sigma_mm, pair=("p01", "p02"), probability=odds, value=2
    )


def test_an_open_ruling_gets_advice_with_its_effect() -> None:
    advice = advise_photo(report(4.0), [ruling(0.6)])
    assert advice is not None
    assert advice.text == f"a photo from {advice.place} would reduce the doubt between p01 and p02"
    assert advice.after_mm < 0.7 * advice.before_mm


def test_bases_close_together_in_a_photo_from_afar_ask_for_a_close_up() -> None:
    near: list[Truth] = [(420.0, 280.0, 0.0, 27.0), (520.0, 310.0, 0.0, 27.0)]
    advice = advise_photo(report(1.0, pair=near), [ruling(0.6, 0.9)])
    assert advice is not None
    assert advice.text == "a close-up of both would reduce the doubt between p01 and p02"
    assert 0.05 < advice.after_mm < 0.5 * advice.before_mm


def test_what_this_photo_does_not_know_of_sizes_does_not_make_another_photo_exact() -> None:
    """Another photo tells the size as well: its own fit errs as it would without that doubt."""
    plain, unknown = report(4.0), report(4.0)
    for detection in unknown.detections:
        detection.unmodelled_mm2[:] = detection.covariance_mm2
    promised, other = (advise_photo(one, [ruling(0.6)]) for one in (plain, unknown))
    assert promised is not None
    assert other is not None
    assert other.after_mm == pytest.approx(promised.after_mm)


def test_the_doubt_that_would_shrink_is_the_one_that_the_ruling_tells() -> None:
    for sigma_mm in (2.0, 2.5):
        advice = advise_photo(report(4.0), [ruling(0.6, sigma_mm)])
        assert advice is not None
        assert advice.before_mm == sigma_mm


def test_another_photo_has_the_same_lamp() -> None:
    lamp = Light(np.array([1e5, 300.0]), 0.4)
    plain, shaded = (advise_photo(report(4.0, light), [ruling(0.6)]) for light in (None, lamp))
    assert plain is not None
    assert shaded is not None
    assert shaded.after_mm > np.hypot(plain.after_mm, 0.15)


@pytest.mark.parametrize(("scale", "probability"), [(4.0, 0.99999), (1e-4, 0.6)])
def test_a_certain_ruling_or_a_sure_place_gets_none(scale: float, probability: float) -> None:
    assert advise_photo(report(scale), [ruling(probability)]) is None


def test_a_photo_that_would_change_no_digit_is_not_advised() -> None:
    """Half-widths of 95 %: ± 0.2 mm that becomes ± 0.1 mm matters, a gain of half of that does not."""
    promised = advise_photo(report(4.0), [ruling(0.6)])
    assert promised is not None
    for gain_mm, is_advised in ((0.11, True), (0.09, False)):
        doubtful = ruling(0.6, promised.after_mm + gain_mm / 1.96)
        assert (advise_photo(report(4.0), [doubtful]) is not None) == is_advised


def test_no_photo_tells_where_a_moved_piece_stands() -> None:
    found = report(4.0)
    moved = {"id": "p02", "photo": 0, "x_mm": 650.0, "y_mm": 380.0}
    scene = replace(found.scene, extra={**found.scene.extra, "moved": [moved]})
    assert advise_photo(replace(found, scene=scene), [ruling(0.6)]) is None

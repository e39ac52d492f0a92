"""The markers of each photo are searched for once; what is told of a photo goes with it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, as_stated, camera_over, known_board
from overruler.frame import Frame
from overruler.vision.camera import calibrate as calibration_module
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.fusion import photos_to_measure as module
from overruler.vision.fusion.photos_to_measure import (
    TableKnowledge,
    hang_lost_photos,
    tell_of_each,
)
from overruler.vision.markers.marker import Marker
from tests.vision.sight import blank

BOARD = known_board(EIGHT)
KNOWN = TableKnowledge(BOARD, None, np.zeros(0), elsewhere=(7,))


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the photos that were searched: two show all markers, the last one shows none."""
    asked: list[str] = []

    def search(frame: Frame, board: object) -> Sequence[Marker]:
        asked.append(frame.name)
        random, turn_deg = np.random.default_rng(3), 120.0 * int(frame.name)
        shown = {} if frame.name == "2" else BOARD.corners_mm or {}
        return as_stated(camera_over(30, turn_deg=turn_deg), dict(shown), random)

    monkeypatch.setattr(module, "search_markers", search)
    return asked


def test_each_photo_is_searched_once(searches: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    frames = {k: replace(blank(), name=f"{k}", camera="one") for k in range(3)}
    photos = tell_of_each(frames, KNOWN)
    assert sorted(searches) == ["0", "1", "2"]
    monkeypatch.delattr(calibration_module, "find_markers")
    found = calibrate(frames[0], BOARD, told=photos[0].told)
    assert found.markers == tuple(sorted(set(EIGHT) - {7}))
    assert [one.shows_too_few_markers for one in photos] == [False, False, True]
    assert photos[2].told.lens is not None
    assert photos[2].told.lens.mean[0] == pytest.approx(1250, rel=0.01)


def test_without_a_measured_photo_none_hangs(searches: list[str]) -> None:
    photos = tell_of_each({k: replace(blank(), name=f"{k}") for k in range(3)}, KNOWN)
    assert photos[2].told.lens is None
    assert hang_lost_photos(photos, {}, KNOWN) == {}

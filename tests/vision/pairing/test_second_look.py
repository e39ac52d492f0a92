"""Each photo is asked for the plates, ovals and stadiums that others see in it."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.pairing import second_look
from overruler.vision.pairing.second_look import Expected, look_again

PHOTO = see(0, camera_from(0.0), [(450.0, 350.0, 0.0, 40.0)])
PLATE = Base.rectangle(40, 40)
SEEN = replace(PHOTO.detections[0], base=PLATE)


@pytest.mark.parametrize(
    ("aside_mm", "score", "found"), [(2.0, 0.4, True), (2.0, 0.01, False), (30.0, 0.9, False)]
)
def test_a_plate_is_found_where_others_see_it_or_not_at_all(
    aside_mm: float, score: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ShapeCandidate] = []

    def find(_frame: object, _camera: object, guess: ShapeCandidate) -> Detection:
        asked.append(guess)
        return replace(SEEN, xy_mm=SEEN.xy_mm + np.array([aside_mm, 0.0]), score=score)

    monkeypatch.setattr(second_look, "find_plate_at", find)
    expected = Expected(7, PLATE, np.array([*SEEN.xy_mm, 0.0]), 1.0, 30.0)
    seen = look_again(PHOTO, [expected])
    assert [key for key, one in seen.items() if one.again] == [7] * found
    (guess,) = asked
    assert guess.width_mm == 40
    assert guess.turn_rad == pytest.approx(np.pi / 6)


@pytest.mark.parametrize(("aside_mm", "found"), [(2.0, True), (30.0, False)])
def test_an_oval_is_looked_for_where_others_see_it_as_they_see_it(
    aside_mm: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the plane that it stands on; a photo with markers shows a table that was prepared."""
    asked: list[tuple[Base, list[float], bool]] = []

    def find(*told: object) -> list[Detection]:
        _, camera, base, places, is_played, _ = told
        assert isinstance(camera, Camera)
        assert isinstance(base, Base)
        asked.append((base, np.asarray(places)[0].tolist(), bool(is_played)))
        at = np.asarray(places)[0, :2] + [aside_mm, 0.0]
        return [replace(SEEN, base=base, xy_mm=at, score=0.4)]

    monkeypatch.setattr(second_look, "find_ovals_at", find)
    oval, place = Base.oval(35, 60), np.array([450.0, 350.0, 20.0])
    seen = look_again(PHOTO, [Expected(3, oval, place, 1.0, 90.0)])
    assert list(seen) == [3] * found
    assert all(one.again and one.detection.z_mm == 20.0 for one in seen.values())
    ((base, place_told, is_played),) = asked
    assert (base, is_played) == (oval, False)
    assert place_told == pytest.approx([450.0, 350.0, np.pi / 2])


def test_a_stadium_is_looked_for_on_the_plane_that_it_stands_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the mat's plane a raised one looks too large, and its fit goes astray along the view."""
    heights: list[float] = []

    def find(
        _frame: object, camera: Camera, base: Base, places: Array, _least: float
    ) -> list[Detection]:
        heights.append(float(camera.center_mm[2]))
        return [replace(SEEN, base=base, xy_mm=places[0, :2], score=0.4)]

    monkeypatch.setattr(second_look, "find_stadiums_at", find)
    bike, places = Base.stadium(25, 70), np.array([[450.0, 350.0, 20.0], [200.0, 300.0, 0.0]])
    seen = look_again(
        PHOTO, [Expected(k, bike, place, 1.0, 90.0) for k, place in enumerate(places)]
    )
    assert {key: one.detection.z_mm for key, one in seen.items()} == {0: 20.0, 1: 0.0}
    assert heights == pytest.approx([heights[0], heights[0] - 20.0])


def test_rectangles_that_are_no_plates_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_look, "find_plate_at", None)
    card = Expected(1, Base.rectangle(40, 60), np.array([450.0, 350.0, 0.0]), 1.0, 0.0)
    assert look_again(PHOTO, [card]) == {}

"""A piece that is followed: at whatever times pictures come, and not where only something like it is seen."""

from itertools import pairwise

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.track_held import AGAIN, SEEN, Held
from tests.vision.test_track_patch import CAMERA, HOME, RADIUS_MM, picture

FASTER_MM_S2, FASTEST_S = 1000.0, 0.35


def held() -> Held:
    base, pixel = Base.circle(2 * RADIUS_MM), CAMERA.project(np.array([*HOME, 0.0]))
    here = Detection(base, HOME, 0.0, 0.0, np.eye(2), np.zeros((2, 15)), 1.0, 1.0, pixel, np.stack([pixel] * 3))
    return Held.of("p01", here, picture(HOME), CAMERA, 0.0)


def on_its_way(time_s: float) -> Array:
    """Faster and faster, then as fast as that."""
    done = min(time_s, FASTEST_S)
    gone_mm = FASTER_MM_S2 * (done**2 / 2 + done * (time_s - done))
    return np.asarray(HOME + np.array([-gone_mm, gone_mm / 4]))


@pytest.mark.parametrize("times_s", [np.arange(9) / 10, np.cumsum([0.0, *[0.15, 0.05] * 4])])
def test_it_is_followed_by_time_however_unevenly_pictures_come(times_s: Array) -> None:
    one = held()
    for before_s, time_s in pairwise(times_s.tolist()):
        one.follow(picture(on_its_way(time_s)), CAMERA, time_s, before_s)
        assert one.seen
        assert np.hypot(*(one.place_mm - on_its_way(time_s))) < 1.0


def test_hidden_before_more_of_it_must_be_seen_for_it_to_stand_there_still() -> None:
    gone, half = picture(HOME + np.array([150.0, 0.0])), picture(HOME, hidden_mm=0.0)
    surprised, patient = held(), held()
    assert SEEN < patient.at_home(half, CAMERA).share < AGAIN
    patient.follow(half, CAMERA, 0.2, 0.1)
    assert patient.seen
    surprised.follow(gone, CAMERA, 0.1, 0.0)
    assert not surprised.seen
    surprised.follow(half, CAMERA, 0.2, 0.1)
    assert not surprised.seen
    surprised.follow(picture(HOME), CAMERA, 0.3, 0.2)
    assert surprised.seen

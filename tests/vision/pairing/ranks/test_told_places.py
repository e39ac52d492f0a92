"""A photo says what it shows of bases at places that others tell, and of empty places."""

import numpy as np
import pytest

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.ranks.told_places import SeenPlace, look_at_places
from overruler.vision.plates.rectangle_fit import MIN_SIDE_NATS, BasePose
from overruler.vision.plates.regiments import MAX_STRETCH_NATS
from tests.vision.plates.test_regiments import TURN_RAD, unit

SQUARE = Base.rectangle(25, 25)


def seen_at(places: Array, base: Base = SQUARE) -> list[tuple[SeenPlace, Array | None]]:
    """What the painted photo says of each place, and where it finds the base."""
    frame, camera, _ = unit()
    looks = look_at_places(frame, camera, [BasePose(base, at, TURN_RAD) for at in places])
    return [(place, None if one is None else one.xy_mm) for place, one in looks]


def test_a_photo_shows_the_bases_at_told_places() -> None:
    *_, places = unit()
    for at, (place, found) in zip(places, seen_at(places + np.array([1.0, -0.7])), strict=True):
        assert found is not None
        assert np.hypot(*(found - at)) < 1.5
        assert MIN_SIDE_NATS < place.stretch_nats.sum() <= 12 * MAX_STRETCH_NATS
        assert place.size_chi2 < 9


def test_beside_a_unit_it_shows_none() -> None:
    *_, places = unit()
    step = places[1] - places[0]
    beside = np.array([places[2] + step, places[5] + step, places[8] + step])
    for (inside, _), (outside, _) in zip(seen_at(places[:3]), seen_at(beside), strict=True):
        assert outside.network_logit < -2 < inside.network_logit
        assert outside.stretch_nats.sum(1).min() < inside.stretch_nats.sum(1).min()


def test_the_size_of_a_base_tells_it_from_two() -> None:
    *_, places = unit()
    middle = (places[0] + places[1]) / 2
    turn = np.arctan2(*(places[1] - places[0])[::-1])
    frame, camera, _ = unit()
    (((place, _)),) = look_at_places(
        frame, camera, [BasePose(Base.rectangle(25, 50), middle, turn)]
    )
    assert place.size_chi2 > 9


@pytest.mark.parametrize("away_mm", [9.0])
def test_a_fit_that_strays_to_the_next_base_is_none(away_mm: float) -> None:
    *_, places = unit()
    along = (places[1] - places[0]) / np.hypot(*(places[1] - places[0]))
    ((_, found),) = seen_at(places[4:5] + away_mm * along)
    assert found is None or np.hypot(*(found - places[4])) > 4

"""A piece that is followed: at whatever times pictures come, and not where only something like it is seen."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import GreyImage
from overruler.vision.tracking.piece_track import MIN_REAPPEARED_SHARE, MIN_SEEN_SHARE, PieceTrack
from tests.vision.tracking.test_appearance import BOARD, CAMERA, HOME, RADIUS_MM, picture

FASTER_MM_S2, FASTEST_S = 1000.0, 0.35


def held() -> PieceTrack:
    base, pixel = Base.circle(2 * RADIUS_MM), CAMERA.project(np.array([*HOME, 0.0]))
    here = Detection(
        base, HOME, 0.0, 0.0, np.eye(2), np.zeros((2, 15)), 1.0, 1.0, pixel, np.stack([pixel] * 3)
    )
    return PieceTrack.of("p01", here, picture(HOME), CAMERA)


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
    assert MIN_SEEN_SHARE < patient.match_at_rest(half, CAMERA).share < MIN_REAPPEARED_SHARE
    patient.follow(half, CAMERA, 0.2, 0.1)
    assert patient.seen
    surprised.follow(gone, CAMERA, 0.1, 0.0)
    assert not surprised.seen
    surprised.follow(half, CAMERA, 0.2, 0.1)
    assert not surprised.seen
    surprised.follow(picture(HOME), CAMERA, 0.3, 0.2)
    assert surprised.seen


def followed(one: PieceTrack, places: list[Array], shown: Callable[[Array], GreyImage]) -> None:
    for step, place in enumerate(places):
        one.follow(shown(place), CAMERA, (step + 1) / 10, step / 10)


def test_it_is_followed_round_a_corner_at_full_speed() -> None:
    one = held()
    there = [on_its_way(step / 10) for step in range(1, 6)]
    back = [there[-1] + np.array([26.0, 8.0]) * k for k in (1, 2)]
    followed(one, [*there, *back], picture)
    assert one.seen
    assert np.hypot(*(one.place_mm - back[-1])) < 1.0


def half_hidden(xy_mm: Array, hidden: bool = True) -> GreyImage:
    """A plain dark piece on a mottled mat, and a hand without a mark that hides its right half and what is below."""
    x, y = BOARD[..., 0] - xy_mm[0], BOARD[..., 1] - xy_mm[1]
    away = np.hypot(x, y)
    mat = 140 + 6 * np.sin(BOARD[..., 0] / 7) * np.cos(BOARD[..., 1] / 9)
    base = np.where(away < RADIUS_MM, np.where(away > 0.9 * RADIUS_MM, 35, 62), mat)
    hand = (x > 0.15 * RADIUS_MM) & (y < 0.8 * RADIUS_MM) & hidden
    return np.asarray(np.where(hand, 175, base).round(), np.uint8)


@pytest.mark.parametrize("turn_deg", [-140, -105, -70, 70, 105, 140])
def test_half_hidden_it_is_followed_round_a_sharp_corner(turn_deg: float) -> None:
    there = [HOME + step * np.array([-2.0, -16.0]) for step in range(1, 6)]
    turn = np.radians(turn_deg)
    back = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ [-2.0, -16.0]
    one = PieceTrack.of("p01", held().rest_detection, half_hidden(HOME, hidden=False), CAMERA)
    places = [*there, *(there[-1] + step * back for step in (1, 2, 3))]
    followed(one, [HOME] * 2, half_hidden)
    followed(one, places, half_hidden)
    assert one.seen
    assert np.hypot(*(one.place_mm - places[-1])) < 1.5


def gripped(xy_mm: Array) -> GreyImage:
    """A hand of four fingers that hides most of the piece at a place."""
    x, y = BOARD[..., 0] - xy_mm[0], BOARD[..., 1] - xy_mm[1]
    fingers = 180 + 25 * np.cos(y / 4.5) + 25 * np.sin(x / 6)
    hand = (x > -0.4 * RADIUS_MM) & (np.abs(y) < 1.4 * RADIUS_MM)
    return np.asarray(np.where(hand, fingers, picture(xy_mm)).clip(0, 255).round(), np.uint8)


def test_a_hand_that_hides_most_of_it_leads_to_where_it_went() -> None:
    one = held()
    still, way = [HOME] * 3, [HOME + step * np.array([-11.0, 3.0]) for step in range(1, 7)]
    followed(one, [*still, *way], gripped)
    assert one.is_moving
    assert np.hypot(*(one.place_mm - way[-1])) < 3.0
    assert one.hand_places >= len(way) - 2


def test_a_hand_that_leaves_it_behind_does_not_take_it() -> None:
    one = held()
    followed(one, [HOME] * 3, gripped)
    followed(one, [HOME] * 2, picture)
    assert one.seen
    assert not one.is_moving
    assert one.hand_places == 0

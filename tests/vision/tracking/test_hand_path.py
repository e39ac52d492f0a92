"""A hand that hides what it carries: its way is the piece's, as far as it leads to where the piece stands."""

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import build_pyramid
from overruler.vision.tracking.hand_path import follow_hand
from overruler.vision.tracking.path import MovePath, estimate_path
from overruler.vision.tracking.table_state import CoarseShot, TableState
from tests.vision.tracking.test_redetect import AT, CAMERA, table

HAND = np.array(
    [(-12, -18), (-30, 20), (-28, 90), (24, 96), (30, 30), (16, -10), (12, 14), (4, -26), (-4, 10)]
)
"""Its outline in mm; fingers point down, the piece is at the origin."""
HIGH_MM = 35.0
"""So much higher than the piece: it seems to go farther."""
STARTS_S, ENDS_S = 3.0, 4.6
BARE = table(60.0)


def seen(hand_mm: Array | None, time_s: float, beside: bool = False) -> CoarseShot:
    """The table with a hand over it; `beside` AT lies something that has been put there since all was at rest."""
    grey = BARE.shot.grey.copy()
    if beside:
        x, y = CAMERA.project(np.array([*(AT + np.array([-42.0, -20.0])), 0.0]))
        cv2.circle(grey, (round(float(x)), round(float(y))), 12, (230,), -1)
    if hand_mm is not None:
        outline = CAMERA.project(np.column_stack([HAND + hand_mm, np.full(len(HAND), HIGH_MM)]))
        cv2.fillPoly(grey, [np.rint(outline * 16).astype(np.int32)], (190,), cv2.LINE_AA, 4)
    one = CoarseShot.of(time_s, build_pyramid(grey))
    noise = np.random.default_rng(round(time_s * 10)).normal(
        0, 0.0 if beside else 0.7, one.grey.shape
    )
    return replace(one, grey=np.asarray(np.clip(one.grey + noise, 0, 255), np.uint8))


def watched(
    corners: Array, leads_aside: Array | None = None, comes: bool = True, beside: bool = False
) -> TableState:
    """A table over which a hand has come, taken a piece along a line of legs, and gone again."""
    BARE.recent_shots.clear()
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    before = np.concatenate([[0], np.cumsum(lengths)])
    for k in range(round(STARTS_S * 10) - 8, round(ENDS_S * 10) + 9):
        share = np.clip((k / 10 - STARTS_S) / (ENDS_S - STARTS_S), 0, 1)
        along = (3 * share**2 - 2 * share**3) * before[-1]
        at = np.array([np.interp(along, before, corners[:, axis]) for axis in (0, 1)])
        away = max(STARTS_S - 0.2 - k / 10, k / 10 - ENDS_S - 0.2, 0) * np.array(
            [60.0, 9000.0 if beside else 900.0]
        )
        aside = share * leads_aside if leads_aside is not None else 0.0
        hand = at + away + aside if comes and away[1] < 500 else None
        BARE.recent_shots.append(seen(hand, k / 10, beside))
    return BARE


def unseen(corners: Array) -> MovePath:
    start, end = corners[0], corners[-1]
    way = estimate_path(
        np.array([[STARTS_S, *start], [ENDS_S, *end]]), start, end, CAMERA.center_mm
    )
    assert not way.seen
    return way


@settings(max_examples=12)
@given(st.floats(-150, 150), st.floats(60, 110), st.floats(40, 90))
def test_the_hands_way_is_the_pieces(turn_deg: float, first: float, second: float) -> None:
    turn = np.radians(turn_deg)
    corner = AT + np.array([first, 0.0])
    corners = np.array([AT, corner, corner + second * np.array([np.cos(turn), np.sin(turn)])])
    found = follow_hand(watched(corners), unseen(corners), 0.0)
    assert found is not None
    way, trail = found
    assert way.seen
    assert (way.start_s, way.end_s) == pytest.approx((STARTS_S, ENDS_S), abs=0.2)
    assert abs(way.length_mm - first - second) < max(2.5 * way.sigma_mm, 2.0)
    off = np.min(np.hypot(*(trail[:, None, 1:] - on(corners)).transpose(2, 0, 1)), axis=1)
    assert np.sqrt(np.mean(off**2)) < 1.0  # 0.5 to 0.85 mm on twelve other paths
    assert off.max() < 2.5  # three pixels of this film; 1.2 to 2.3 mm there


def test_errors_of_single_steps_do_not_add_up() -> None:
    turns = AT + np.array([(0, 0), (70, 10), (5, 25), (75, 45), (0, 60), (5, 5)])
    found = follow_hand(watched(turns), unseen(turns), 0.0)
    assert found is not None
    off = np.min(np.hypot(*(found[1][:, None, 1:] - on(turns)).transpose(2, 0, 1)), axis=1)
    assert off.max() < 1.5


def on(corners: Array) -> Array:
    """Places along a line of legs, a millimetre or so apart."""
    return np.vstack([a + np.linspace(0, 1, 120)[:, None] * (b - a) for a, b in pairwise(corners)])


STRAIGHT = np.array([AT, AT + np.array([90.0, 40.0])])


def test_a_hand_that_leads_elsewhere_was_not_this_pieces() -> None:
    assert (
        follow_hand(watched(STRAIGHT, leads_aside=np.array([0.0, -25.0])), unseen(STRAIGHT), 0.0)
        is None
    )
    assert (
        follow_hand(watched(STRAIGHT, leads_aside=np.array([0.0, -5.0])), unseen(STRAIGHT), 0.0)
        is not None
    )


def test_what_lies_beside_the_piece_is_no_hand_that_rests() -> None:
    assert follow_hand(watched(STRAIGHT, beside=True), unseen(STRAIGHT), 0.0) is not None


def test_without_a_hand_nobody_knows() -> None:
    assert follow_hand(watched(STRAIGHT, comes=False), unseen(STRAIGHT), 0.0) is None


def test_what_was_forgotten_tells_nothing() -> None:
    one = watched(STRAIGHT)
    while one.recent_shots[0].time_s <= STARTS_S:
        one.recent_shots.popleft()
    assert follow_hand(one, unseen(STRAIGHT), 0.0) is None


@pytest.mark.parametrize("later", [0, 1, 2])
def test_a_stream_that_stalled_meanwhile_tells_nothing(later: int) -> None:
    """Of the time in which the piece moved there is one picture, or two or three far apart."""
    one = watched(STRAIGHT)
    shots = [shot for shot in one.recent_shots if shot.time_s <= ENDS_S]
    before = [shot for shot in shots if shot.time_s <= STARTS_S]
    one.recent_shots.clear()
    one.recent_shots.extend([before[-1], *shots[len(shots) - later :]])
    assert follow_hand(one, unseen(STRAIGHT), 0.0) is None


def test_glimpses_are_coarse_and_few() -> None:
    for height, width in ((2160, 3840), (1080, 1920), (720, 1280), (480, 640)):
        grey = np.zeros((height, width), np.uint8)
        one = CoarseShot.of(0.0, build_pyramid(grey))
        assert 240 < max(one.grey.shape) <= 640
        assert max(one.grey.shape) == width >> one.pyramid_level
    assert BARE.recent_shots.maxlen is not None

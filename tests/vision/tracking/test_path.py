"""The way of a piece, from places taken on it: corners, length, times, whatever height it was carried at."""

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.tracking.path import MovePath, estimate_path
from overruler.vision.tracking.polyline_fit import _ordered_assignment

EYE = np.array([450.0, 450.0, 1300.0])


def carried(
    corners: Array,
    rise_mm: float,
    noise_mm: float,
    seed: int,
    start_s: float = 2.0,
    end_s: float = 3.6,
) -> Array:
    """The trail (N, 3) that a camera ten times a second sees of a piece carried along a line of legs."""
    random = np.random.default_rng(seed)
    times = np.arange(round((start_s - 0.5) * 10), round((end_s + 0.5) * 10) + 1) / 10
    q = np.clip((times - start_s) / (end_s - start_s), 0, 1)
    share = 3 * q**2 - 2 * q**3
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    before = np.concatenate([[0], np.cumsum(lengths)])
    places = np.stack([np.interp(share * before[-1], before, corners[:, k]) for k in (0, 1)], -1)
    lean = (places - EYE[:2]) / EYE[2]
    seen = (
        places
        + rise_mm * np.sin(np.pi * share)[:, None] * lean
        + random.normal(0, noise_mm, places.shape)
    )
    return np.column_stack([times, seen])


def way(corners: Array, rise_mm: float = 0.0, noise_mm: float = 0.0, seed: int = 0) -> MovePath:
    return estimate_path(carried(corners, rise_mm, noise_mm, seed), corners[0], corners[-1], EYE)


@settings(max_examples=20)
@given(st.floats(0, 2 * np.pi), st.floats(40, 300), st.floats(0, 6), st.integers(0, 100))
def test_a_straight_way_is_as_long_as_it_is(
    angle: float, length: float, rise_mm: float, seed: int
) -> None:
    corners = np.array(
        [[150.0, 700.0], [150 + length * np.cos(angle), 700 + length * np.sin(angle)]]
    )
    found = way(corners, rise_mm, 0.25, seed)
    assert found.length_mm == pytest.approx(length, abs=0.7)


@settings(max_examples=20)
@given(
    st.floats(25, 155), st.floats(50, 150), st.floats(50, 150), st.floats(0, 5), st.integers(0, 100)
)
def test_two_legs_are_both_in_the_length(
    turn_deg: float, first: float, second: float, rise_mm: float, seed: int
) -> None:
    turn = np.radians(turn_deg)
    corner = np.array([200.0 + first, 600.0])
    corners = np.array(
        [[200.0, 600.0], corner, corner + second * np.array([np.cos(turn), np.sin(turn)])]
    )
    found = way(corners, rise_mm, 0.2, seed)
    assert len(found.corners_mm) >= 3
    assert abs(found.length_mm - first - second) < max(3.5 * found.sigma_mm, 1.0)


def test_the_times_are_those_of_the_motion() -> None:
    found = way(np.array([[200.0, 600.0], [350.0, 600.0]]), noise_mm=0.2)
    assert found.start_s == pytest.approx(2.0, abs=0.15)
    assert found.end_s == pytest.approx(3.6, abs=0.15)


def test_one_place_taken_from_a_finger_makes_no_corner() -> None:
    corners = np.array([[200.0, 600.0], [350.0, 600.0]])
    trail = carried(corners, 3.0, 0.2, 1)
    trail[len(trail) // 2, 2] += 9.0
    assert estimate_path(trail, corners[0], corners[-1], EYE).length_mm == pytest.approx(
        150, abs=0.7
    )


def test_a_way_that_nobody_saw_says_so() -> None:
    ends = np.array([[200.0, 600.0], [350.0, 600.0]])
    unseen = estimate_path(np.array([[2.0, *ends[0]], [3.0, *ends[1]]]), ends[0], ends[1], EYE)
    assert unseen.length_mm == pytest.approx(150)
    assert unseen.sigma_mm > way(ends).sigma_mm
    assert unseen.sigma_mm > 1


def test_a_trail_that_leads_elsewhere_is_a_hands() -> None:
    corners = np.array([[200.0, 600.0], [350.0, 600.0]])
    trail = carried(corners, 0.0, 0.2, 1)
    trail[trail[:, 0] > 2.6, 1:] = 260.0, 660.0
    trail = np.vstack([trail, [trail[-1, 0] + 0.1, *corners[1]]])
    found = estimate_path(trail, corners[0], corners[1], EYE)
    assert found.length_mm == pytest.approx(150, abs=0.1)
    assert found.sigma_mm > 10
    assert found.start_s == pytest.approx(2.0, abs=0.3)


TURNS_BACK = np.array([[400.0, 500.0], [450.0, 425.0], [385.0, 366.0], [413.0, 422.0]])
"""Its last leg ends near its first corner."""


def test_a_way_that_turns_back_has_its_corners_in_the_order_of_time() -> None:
    found = way(TURNS_BACK, 3.0, 0.2)
    legs = np.hypot(*np.diff(TURNS_BACK, axis=0).T)
    assert len(found.corners_mm) == len(TURNS_BACK)
    assert found.length_mm == pytest.approx(legs.sum(), abs=3 * found.sigma_mm)


def led(trail: Array, corners: Array, grown: float) -> Array:
    """What the hand that hides the piece shows, nearer to the camera by so large a share."""
    return np.column_stack([trail[:, 0], corners[0] + (trail[:, 1:] - corners[0]) * (1 + grown)])


@pytest.mark.parametrize("grown", [0.0, 0.035])
def test_a_hand_that_led_to_a_place_went_as_far_as_the_piece_for_all_that_it_is_higher(
    grown: float,
) -> None:
    corners = np.array([[200.0, 600.0], [300.0, 640.0], [370.0, 560.0]])
    length = float(np.hypot(*np.diff(corners, axis=0).T).sum())
    trail = np.vstack([led(carried(corners, 3.0, 0.3, 4), corners, grown), [4.2, *corners[-1]]])
    found = estimate_path(trail, corners[0], corners[-1], EYE, hand_share=1.0)
    assert found.length_mm == pytest.approx(length, abs=3.0)
    assert found.sigma_mm > 2 * way(corners, 3.0, 0.3, 4).sigma_mm


def test_a_hand_that_was_followed_on_has_put_it_down_where_it_came_by() -> None:
    corners = np.array([[200.0, 600.0], [350.0, 600.0], [350.0, 680.0]])
    trail = carried(corners, 0.0, 0.2, 1)
    away = np.column_stack(
        [4.2 + np.arange(4) / 10, corners[-1] + np.outer(np.arange(1, 5), [40.0, 5.0])]
    )
    found = estimate_path(
        np.vstack([trail, away, [4.7, *corners[-1]]]), corners[0], corners[-1], EYE
    )
    assert found.seen
    assert found.length_mm == pytest.approx(230, abs=1.0)
    assert found.end_s == pytest.approx(3.6, abs=0.15)


SLIPPED = [
    (458.3, 544.2),
    (451.2, 544.0),
    (442.8, 545.9),
    (432.0, 546.7),
    (422.3, 548.5),
    (413.6, 549.8),
    (405.7, 549.2),
]
"""Places to which a hand has led that slipped as it let go of the piece."""


FROM, TO = np.array([459.6, 544.8]), np.array([405.9, 552.8])


def found_by(places: Array) -> MovePath:
    """The way from `FROM` to `TO` by places on it."""
    beyond = (405.0, 548.8), (405.9, 553.1), (405.5, 552.8)
    trail = np.vstack([FROM, FROM, (459.3, 544.9), places, *beyond, TO])
    times = 9.6 + np.arange(len(trail)) / 10
    return estimate_path(
        np.column_stack([times, trail]), FROM, TO, np.array([740.0, 582.0, 1280.0]), hand_share=0.08
    )


def test_a_hand_that_slipped_is_in_the_doubt() -> None:
    found = found_by(np.array(SLIPPED))
    assert abs(found.length_mm - np.hypot(*(TO - FROM))) < 1.96 * found.sigma_mm


def test_a_way_of_which_the_trail_says_less_than_nothing_is_taken_as_straight() -> None:
    found = found_by(
        np.array(SLIPPED)
        + 15.0 * np.array([[0, 1], [0, -1], [1, 1], [0, -1], [-1, 1], [1, -1], [0, 1]])
    )
    assert not found.seen
    assert found.length_mm == pytest.approx(np.hypot(*(TO - FROM)))
    assert found.sigma_mm > 0.2 * found.length_mm


@settings(max_examples=20)
@given(st.floats(40, 140), st.integers(6, 9), st.integers(0, 100))
def test_what_was_hidden_of_a_way_is_in_its_doubt(turn_deg: float, hidden: int, seed: int) -> None:
    turn, corner = np.radians(turn_deg), np.array([300.0, 600.0])
    corners = np.array(
        [[200.0, 600.0], corner, corner + 80.0 * np.array([np.cos(turn), np.sin(turn)])]
    )
    trail = carried(corners, 3.0, 0.2, seed)
    at = int(np.argmin(np.hypot(*(trail[:, 1:] - corner).T)))
    kept = np.delete(trail, np.arange(at - 1, at - 1 + hidden), axis=0)
    found = estimate_path(kept, corners[0], corners[-1], EYE)
    assert abs(found.length_mm - 180.0) < 1.96 * found.sigma_mm
    assert found.sigma_mm > 5 * estimate_path(trail, corners[0], corners[-1], EYE).sigma_mm


@settings(max_examples=20)
@given(st.floats(-40, 40), st.integers(0, 100))
def test_what_turned_aside_out_of_sight_is_in_the_doubt(aside_mm: float, seed: int) -> None:
    middle = np.array([260.0, 600.0])
    corners = np.array([[200.0, 600.0], middle, (260.0, 600.0 + aside_mm), middle, [320.0, 600.0]])
    trail = carried(corners, 3.0, 0.2, seed, end_s=4.0)
    hidden = np.abs(trail[:, 1] - middle[0]) < 8
    first, last = np.flatnonzero(hidden)[[0, -1]]
    kept = np.delete(trail, np.arange(first, max(last, first + 4) + 1), axis=0)
    found = estimate_path(kept, corners[0], corners[-1], EYE)
    assert (
        abs(found.length_mm - 120.0 - 2 * abs(aside_mm)) < 3.5 * found.sigma_mm
    )  # nobody goes faster


@settings(max_examples=20)
@given(st.floats(0, 2 * np.pi), st.floats(20, 40), st.integers(0, 100))
def test_a_shade_that_was_followed_in_place_of_the_piece_is_in_the_doubt(
    angle: float, far_mm: float, seed: int
) -> None:
    corners = np.array([[200.0, 600.0], [320.0, 600.0]])
    trail = carried(corners, 3.0, 0.2, seed)
    aside = (trail[:, 0] > 2.4) & (trail[:, 0] < 3.3)
    trail[aside, 1:] += far_mm * np.array([np.cos(angle), np.sin(angle)])
    found = estimate_path(trail, corners[0], corners[-1], EYE)
    assert abs(found.length_mm - 120.0) < 3.5 * found.sigma_mm


@settings(max_examples=20)
@given(st.floats(170, 190), st.floats(45, 120), st.floats(0.3, 0.7), st.integers(0, 100))
def test_a_way_there_and_back_was_both(
    turn_deg: float, first: float, back: float, seed: int
) -> None:
    turn, corner = np.radians(turn_deg), np.array([200.0 + first, 600.0])
    corners = np.array(
        [[200.0, 600.0], corner, corner + back * first * np.array([np.cos(turn), np.sin(turn)])]
    )
    found = estimate_path(
        carried(corners, 3.0, 1.0, seed), corners[0], corners[-1], EYE, hand_share=0.7
    )
    assert found.seen or found.sigma_mm > 50  # a way taken as straight says so
    assert abs(found.length_mm - first * (1 + back)) < 2.5 * found.sigma_mm


@settings(max_examples=20)
@given(st.floats(90, 130), st.floats(0.35, 0.6), st.floats(-3, 3), st.integers(0, 100))
def test_a_way_that_comes_back_along_itself_and_goes_on_has_all_its_legs_or_was_not_seen(
    first: float, back: float, aside: float, seed: int
) -> None:
    """Each place of the second leg lies on the first one, and those of the third lie on both."""
    x, y = 200.0, 600.0
    corners = np.array(
        [[x, y], [x + first, y], [x + (1 - back) * first, y + aside], [x + 1.2 * first, y]]
    )
    found = estimate_path(carried(corners, 3.0, 0.4, seed, 2.0, 5.0), corners[0], corners[-1], EYE)
    true = float(np.hypot(*np.diff(corners, axis=0).T).sum())
    assert found.length_mm > 0.8 * true or not found.seen
    assert abs(found.length_mm - true) < 3 * found.sigma_mm


@settings(max_examples=40)
@given(st.integers(1, 7), st.integers(1, 4), st.integers(0, 1000))
def test_places_are_put_on_legs_in_their_order_as_trying_them_all_would(
    rows: int, columns: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    apart, back = random.uniform(0, 9, (rows, columns)), random.uniform(0, 9, (rows - 1, columns))

    def cost(legs: tuple[int, ...]) -> float:
        stays = sum(back[i, leg] for i, (leg, after) in enumerate(pairwise(legs)) if leg == after)
        return float(apart[range(rows), legs].sum() + stays)

    found = tuple(_ordered_assignment(apart, back).tolist())
    assert list(found) == sorted(found)
    assert cost(found) == pytest.approx(
        min(map(cost, combinations_with_replacement(range(columns), rows)))
    )


@settings(max_examples=20)
@given(st.floats(95, 150), st.floats(35, 60), st.floats(45, 80), st.integers(0, 100))
def test_a_quick_way_back_is_no_straight_one(
    turn_deg: float, first: float, second: float, seed: int
) -> None:
    """Few places are seen on it, and none at its corner."""
    turn = np.radians(turn_deg)
    corner = np.array([200.0 + first, 600.0])
    corners = np.array(
        [[200.0, 600.0], corner, corner + second * np.array([np.cos(turn), np.sin(turn)])]
    )
    found = estimate_path(carried(corners, 3.0, 0.2, seed, 2.0, 2.8), corners[0], corners[-1], EYE)
    assert abs(found.length_mm - first - second) < max(3.5 * found.sigma_mm, 2.0)


@settings(max_examples=20)
@given(st.floats(4, 15), st.floats(-np.pi, np.pi))
def test_a_piece_that_seems_to_rest_beside_where_it_stands_went_no_further_for_that(
    off_mm: float, angle: float
) -> None:
    """Turned in the hand it looks otherwise, and seems to be off, the more the further it has come."""
    corners = np.array([[200.0, 600.0], [340.0, 640.0], [380.0, 500.0]])
    trail = carried(corners, 2.0, 0.1, 1)
    done = np.clip((trail[:, :1] - 2.0) / 1.6, 0, 1)
    trail[:, 1:] += (3 * done**2 - 2 * done**3) * off_mm * np.array([np.cos(angle), np.sin(angle)])
    trail = np.vstack([trail, [trail[-1, 0] + 0.05, *corners[-1]]])
    found = estimate_path(trail, corners[0], corners[-1], EYE)
    true_mm = float(np.hypot(*np.diff(corners, axis=0).T).sum())
    assert abs(found.length_mm - true_mm) < max(3.5 * found.sigma_mm, 1.0)
    assert found.sigma_mm < off_mm

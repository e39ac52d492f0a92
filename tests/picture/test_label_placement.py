"""Labels find room, and say no to what is taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.picture.label_placement import LabelLayout

SIZE = (1000.0, 800.0)


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.prod(np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None)))


def test_a_label_stands_beside_its_base_and_not_on_it() -> None:
    room = LabelLayout(SIZE)
    base = np.array([480.0, 380, 520, 420])
    room.reserve_box(base)
    x, y = room.place_beside((40, 16), base)
    assert overlap(room.boxes[-1], base) == 0
    assert np.hypot(x - 500, y - 400) < 60


@given(st.integers(2, 20), st.integers(0, 10_000))
def test_labels_of_a_crowd_keep_apart(count: int, seed: int) -> None:
    """Bases in a loose grid: there is room for everyone, so nobody may be covered."""
    chosen = np.random.default_rng(seed).permutation(49)[:count]
    middles = np.stack([chosen % 7 * 120 + 120, chosen // 7 * 90 + 100], -1)
    room = LabelLayout(SIZE)
    bases = [np.array([x - 12, y - 12, x + 12, y + 12], float) for x, y in middles]
    for base in bases:
        room.reserve_box(base)
    for base in bases:
        room.place_beside((34, 15), base)
    labels = room.boxes[count:]
    assert all(overlap(label, base) == 0 for label in labels for base in bases)
    assert all(overlap(a, b) == 0 for i, a in enumerate(labels) for b in labels[:i])


def test_a_label_stays_inside_the_border() -> None:
    room = LabelLayout(SIZE, border_px=20)
    corner = np.array([960.0, 5, 995, 40])
    room.reserve_box(corner)
    room.place_beside((40, 16), corner)
    assert (room.boxes[-1][:2] >= 20).all()
    assert (room.boxes[-1][2:] <= np.array(SIZE) - 20).all()


def test_the_first_of_equal_places_is_taken_and_the_covered_one_is_not() -> None:
    room = LabelLayout(SIZE)
    places = np.array([[100.0, 100], [500, 400], [800, 700]])
    assert room.reserve_best((50, 20), places) == 0
    assert room.reserve_best((50, 20), places) == 1


def test_what_weighs_more_is_covered_last() -> None:
    room = LabelLayout(SIZE)
    room.reserve_box((75, 90, 125, 110), weight=5)
    for _ in range(3):
        room.reserve_box((475, 390, 525, 410))
    assert room.reserve_best((50, 20), np.array([[100.0, 100], [500, 400]])) == 1


def test_a_whole_small_thing_counts_as_much_under_a_large_box_as_under_a_small_one() -> None:
    room = LabelLayout(SIZE)
    room.reserve_box((100, 100, 110, 110))
    boxes = np.array([[0.0, 0, 900, 700], [95, 95, 115, 115]])
    assert room.overlap_costs(boxes).tolist() == [1, 1]


def test_points_that_are_nowhere_take_nothing() -> None:
    room = LabelLayout(SIZE)
    room.reserve_points(np.full((4, 2), np.nan))
    assert not room.boxes


def test_where_no_place_is_free_the_least_taken_one_is_given() -> None:
    room, middles = LabelLayout((100, 100)), np.array([(20.0, 20.0), (60.0, 60.0), (80.0, 20.0)])
    for x, y in middles:
        room.reserve_box((x - 5, y - 5, x + 5, y + 5), weight=3.0 if x != 60 else 2.0)
    assert room.reserve_uncovered((10, 10), middles, 0.4).tolist() == [[60.0, 60.0]]
    below = middles + np.array([0.0, 30.0])
    assert room.reserve_uncovered((10, 10), below, 0.4).tolist() == below.tolist()
    assert len(room.boxes) == 3 + 1 + 3


@settings(max_examples=20)
@given(st.integers(2, 16), st.integers(0, 10_000))
def test_a_free_place_covers_nothing_or_there_is_none(count: int, seed: int) -> None:
    """Bases anywhere, also over each other: a label that has a place lies on no base and no label."""
    middles = np.random.default_rng(seed).uniform(30, 200, (count, 2))
    outlines = [middle + 12 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) for middle in middles]
    room = LabelLayout((230.0, 230.0), 2.0)
    for outline in outlines:
        room.reserve_points(outline)
    places = [room.place_free_beside((34, 15), outline) for outline in outlines]
    labels = room.boxes[count:]
    assert len(labels) == sum(place is not None for place in places)
    for number, label in enumerate(labels):
        assert all(overlap(label, other) == 0 for other in room.boxes[: count + number])
        assert (label[:2] >= 2).all()
    nowhere = np.full((4, 2), np.nan)
    assert room.place_free_beside((34, 15), nowhere) is None


@pytest.mark.parametrize("seed", range(300))
def test_the_names_of_a_stack_keep_apart(seed: int) -> None:
    """Five plates over each other: there is room for all names round them."""
    shifts = np.random.default_rng(seed).uniform(-30, 30, (5, 2))
    middles = shifts + np.array([500, 400])
    room = LabelLayout(SIZE)
    bases = [np.array([x - 20, y - 20, x + 20, y + 20]) for x, y in middles]
    for base in bases:
        room.reserve_box(base, 4.0)
    for base in bases:
        room.place_beside((34, 15), base)
    labels = room.boxes[5:]
    assert all(overlap(a, b) == 0 for i, a in enumerate(labels) for b in labels[:i])


def test_a_name_touches_no_marker_though_a_base_beside_it_is_covered_a_little() -> None:
    room = LabelLayout(SIZE)
    room.reserve_box((95, 0, 200, 200), kept=True)
    room.reserve_box((495, 380, 530, 420), weight=4.0)
    assert room.reserve_best((50, 20), np.array([[75.0, 100], [472, 400]])) == 1


def test_a_label_stands_where_its_leader_line_crosses_no_measured_line() -> None:
    base = np.array([480.0, 380, 520, 420])

    def beside_only(*lines: np.ndarray) -> float:
        """How high the label stands that has no room to the left and to the right."""
        room = LabelLayout(SIZE)
        for box in (base, (525, 380, 700, 420), (300, 380, 475, 420)):
            room.reserve_box(box)
        for line in lines:
            room.reserve_line(line)
        return room.place_beside((40, 16), base)[1]

    assert beside_only() < 380  # above the base
    assert beside_only(np.array([[300.0, 379], [700, 379]])) > 420  # below it


def test_only_a_leader_line_that_crosses_a_line_costs() -> None:
    room = LabelLayout(SIZE)
    room.reserve_line(np.array([[100.0, 100], [300, 100]]))
    room.reserve_line(np.full((2, 2), np.nan))  # out of sight
    tips = np.array([[200.0, 200], [200, 90], [500, 50], [20, 90]])
    costs = room.crossing_costs(np.array([200.0, 150]), tips)
    assert (costs > 0).tolist() == [False, True, False, False]
    beside = room.crossing_costs(np.array([200.0, 100]), np.array([[200.0, 160]]))
    assert beside[0] == 0  # what stands on the line itself may have a leader line

"""What lies over the table and is no piece."""

import numpy as np
import pytest

from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import BLOCK_PX
from overruler.vision.tracking.hands import HAND_STILL_S, OBJECT_STILL_S, is_disturbed, is_hand
from overruler.vision.tracking.table_state import TableState
from tests.vision.tracking.test_redetect import AT, table


@pytest.fixture
def watched() -> TableState:
    """A table on which all has been still for a second."""
    one = table(70.0)
    one.changes.last_moved_s[:] = -1.0
    return one


def changed(table: TableState, *places: Array) -> None:
    """What changes looks large at each place, though a base of 70 mm with its figure and shade can look so."""
    for place in places:
        table.changes.changed[table.blocks(place, 0.0, 60.0)] = True


def arm(table: TableState, sleeve: int) -> None:
    """A strip from the picture's left edge to the middle of the table as bright as `sleeve`; for 0 in the shade."""
    at = table.blocks(AT, 0.0, 40.0)[0]
    pixels = table.shot.colours(None).copy()
    strip = slice(at.start * BLOCK_PX, at.stop * BLOCK_PX), slice(0, pixels.shape[1] // 2)
    pixels[strip] = sleeve if sleeve else pixels[strip] // 2
    table.shots.append(Shot.of(Frame(pixels, "arm")))
    table.changes.changed[at, : pixels.shape[1] // 2 // BLOCK_PX] = True


def still_for(table: TableState, time_s: float) -> None:
    table.changes.last_moved_s[:] = table.shot.time_s - time_s


def test_what_reaches_in_over_the_edge_is_a_hand_until_it_has_lain_still_for_long(
    watched: TableState,
) -> None:
    changed(watched, AT - AT * [0, 1], AT * [1, 0.5], AT)
    assert is_disturbed(watched, 0.3)
    assert is_hand(watched, watched.changed_blocks)
    still_for(watched, OBJECT_STILL_S)
    assert not is_hand(watched, watched.changed_blocks)


def test_an_arm_that_comes_from_beyond_the_picture_may_lie_there_for_much_longer(
    watched: TableState,
) -> None:
    arm(watched, 200)
    for seconds, still_a_hand in (
        (0.5, True),
        (OBJECT_STILL_S, True),
        (HAND_STILL_S - 1.0, True),
        (HAND_STILL_S, False),
    ):
        still_for(watched, seconds)
        assert is_hand(watched, watched.changed_blocks) == still_a_hand


def test_a_shade_that_stays_is_nobodys_arm(watched: TableState) -> None:
    arm(watched, 0)
    still_for(watched, 0.5)
    assert is_hand(watched, watched.changed_blocks)
    still_for(watched, OBJECT_STILL_S)
    assert not is_hand(watched, watched.changed_blocks)


def test_the_table_may_be_told_though_an_arm_lies_on_it(watched: TableState) -> None:
    arm(watched, 200)
    still_for(watched, OBJECT_STILL_S)
    assert is_disturbed(watched, 0.3)
    assert not is_disturbed(watched, 0.3, OBJECT_STILL_S)


def test_what_changes_in_the_middle_of_the_table_is_a_piece_even_where_none_was_known(
    watched: TableState,
) -> None:
    changed(watched, AT, AT + np.array([190.0, 0.0]))
    assert not is_disturbed(watched, 0.3)
    assert not is_hand(watched, watched.changed_blocks)


def test_while_something_moves_a_hand_may_be_about(watched: TableState) -> None:
    watched.changes.last_moved_s[watched.blocks(AT, 0.0, 10.0)] = watched.shot.time_s
    assert is_disturbed(watched, 0.3)


def test_the_place_that_a_large_piece_has_left_at_the_edge_is_no_hand(watched: TableState) -> None:
    edge = np.array([AT[0], 0.0])
    changed(watched, edge)
    assert is_disturbed(watched, 0.3)
    watched.vacated_blocks |= watched.changes.changed
    assert not is_disturbed(watched, 0.3)

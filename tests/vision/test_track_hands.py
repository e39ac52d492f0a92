"""What lies over the table and is no piece."""

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.vision.track_hands import ABSORB_S, hand, handled
from overruler.vision.track_table import Watched
from tests.vision.test_track_sought import AT, table


@pytest.fixture
def watched() -> Watched:
    """A table on which all has been still for a second."""
    one = table(70.0)
    one.changes.moved_s[:] = -1.0
    return one


def changed(table: Watched, *places: Array) -> None:
    """What changes looks large at each place, though a base of 70 mm with its figure and shade can look so."""
    for place in places:
        table.changes.changed[table.blocks(place, 0.0, 60.0)] = True


def test_what_reaches_in_over_the_edge_is_a_hand_until_it_has_lain_still_for_long(watched: Watched) -> None:
    changed(watched, AT - AT * [0, 1], AT * [1, 0.5], AT)
    assert handled(watched, 0.3)
    assert hand(watched, watched.changed)
    watched.changes.moved_s[:] = watched.shot.time_s - ABSORB_S
    assert not hand(watched, watched.changed)


def test_what_changes_in_the_middle_of_the_table_is_a_piece_even_where_none_was_known(watched: Watched) -> None:
    changed(watched, AT, AT + [190.0, 0.0])
    assert not handled(watched, 0.3)
    assert not hand(watched, watched.changed)


def test_while_something_moves_a_hand_may_be_about(watched: Watched) -> None:
    watched.changes.moved_s[watched.blocks(AT, 0.0, 10.0)] = watched.shot.time_s
    assert handled(watched, 0.3)


def test_the_place_that_a_large_piece_has_left_at_the_edge_is_no_hand(watched: Watched) -> None:
    edge = np.array([AT[0], 0.0])
    changed(watched, edge)
    assert handled(watched, 0.3)
    watched.vacated |= watched.changes.changed
    assert not handled(watched, 0.3)

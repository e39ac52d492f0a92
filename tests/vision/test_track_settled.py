"""What lies over the table and is no piece."""

import numpy as np

from overruler.vision.track_settled import handled
from tests.vision.test_track_sought import AT, table


def test_the_place_that_a_large_piece_has_left_is_no_hand() -> None:
    watched = table(70.0)
    watched.changes.moved_s[:] = -1.0  # all has been still for a second
    place = watched.blocks(AT, 0.0, 60.0)
    watched.changes.changed[place] = True
    assert handled(watched)
    watched.vacated[place] = True
    assert not handled(watched)
    watched.changes.changed[watched.blocks(AT + np.array([190.0, 0.0]), 0.0, 60.0)] = True
    assert handled(watched)

"""Films as lamps, clouds and unsteady cameras change them: no piece in them moves."""

import numpy as np
import pytest

from synthetic.film_edits import FILM_EDITS, turned
from tests.tools.synthetic.test_edits import board

LENGTH_S = 10.0


@pytest.mark.parametrize("name", FILM_EDITS)
def test_an_edit_changes_the_look_and_keeps_the_picture(name: str) -> None:
    picture = board()
    edited = [FILM_EDITS[name](picture, time_s, LENGTH_S) for time_s in (3.1, 5.2, 9.3)]
    assert all(one.shape == picture.shape and one.dtype == np.uint8 for one in edited)
    assert (name == "as it is") == all(np.array_equal(one, picture) for one in edited)
    assert np.median(np.abs(edited[2].astype(int) - picture)) < 120


def test_a_camera_that_has_not_turned_sees_the_same() -> None:
    picture = board()
    assert np.array_equal(turned(picture, (0.0, 0.0, 0.0)), picture)


@pytest.mark.parametrize(("axis", "along"), [(0, 0), (1, 1)])
def test_a_thousandth_of_a_turn_is_a_thousandth_of_the_width(axis: int, along: int) -> None:
    picture = np.zeros((240, 400, 3), np.uint8)
    picture[110:130, 190:210] = 255
    turns = (0.01, 0.0, 0.0) if axis == 0 else (0.0, 0.01, 0.0)
    places = [
        np.array(np.nonzero(one[..., 0] > 127)).mean(1) for one in (picture, turned(picture, turns))
    ]
    shift = np.abs(places[1] - places[0])
    assert shift[along] == pytest.approx(4.0, abs=0.5)
    assert shift[1 - along] == pytest.approx(0.0, abs=0.5)

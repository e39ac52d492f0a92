"""The network that judges bases on tables in play, on discs drawn here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.frame import Frame
from overruler.vision.learned.in_play_net import (
    COLUMNS,
    SIZE,
    STRETCH,
    corrected_shapes,
    look_in_play,
)
from overruler.vision.learned.patches import photo_pyramid
from synthetic.flat_table import Plinth
from tests.tables import camera_over, photo

BASE, BARE = (250.0, 260.0, 16.0), (520.0, 140.0, 16.0)


@pytest.mark.parametrize("tilt_deg", [5.0, 40.0])
def test_a_base_is_likelier_one_than_bare_mat(tilt_deg: float) -> None:
    camera = camera_over(tilt_deg)
    frame = photo(camera, [Plinth(BASE[0], BASE[1], 32.0)])
    base, bare = look_in_play(photo_pyramid(frame), camera, np.array([BASE, BARE]))[:, 0]
    assert base > 0 > bare


def test_a_circle_is_judged_as_an_oval_of_equal_axes() -> None:
    camera = camera_over(20.0)
    levels = photo_pyramid(photo(camera, [Plinth(BASE[0], BASE[1], 32.0)]))
    x, y, radius = BASE
    oval = np.array([[x, y, radius, radius, 0.7]])
    as_circle = look_in_play(levels, camera, np.array([BASE]))
    assert look_in_play(levels, camera, oval) == pytest.approx(as_circle, abs=1e-3)


def test_a_table_and_its_mirror_image_are_judged_alike() -> None:
    """From straight above; the camera is as far to the left of the one as to the right of the other."""
    camera = camera_over(0.0, turn_deg=0.0, k1=0.0)
    frame = photo(camera, [Plinth(BASE[0], BASE[1], 32.0)])
    eye = camera.center_mm[0]
    mirrored = Frame(np.ascontiguousarray(frame.pixels[:, ::-1]), "mirrored")
    matrix = camera.matrix.copy()
    matrix[0, 2] = frame.pixels.shape[1] - 1 - matrix[0, 2]
    other = camera.with_lens(matrix, np.zeros(5))
    told = look_in_play(photo_pyramid(frame), camera, np.array([BASE]))[:, 0]
    twin = np.array([[2 * eye - BASE[0], *BASE[1:]]])
    is_mirrored = np.array([True])
    again = look_in_play(photo_pyramid(mirrored), other, twin, is_mirrored)[:, 0]
    assert again == pytest.approx(told, abs=0.1)


@given(
    st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)),
    st.floats(-0.5, 0.5),
    st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4)),
    st.floats(0.0, 3.1),
)
def test_corrections_keep_to_the_logarithms_that_the_network_tells(
    offset: tuple[float, float], size: float, stretch: tuple[float, float], turn: float
) -> None:
    """Area grows by twice the logarithm of the size; the middle moves by radii; a stretch back undoes one."""
    camera = camera_over(30.0)
    circle = np.array([[250.0, 260.0, 16.0, 16.0, turn]])
    answers = np.zeros((1, COLUMNS))
    answers[0, 1:3], answers[0, SIZE], answers[0, STRETCH] = offset, size, stretch
    (corrected,) = corrected_shapes(camera, circle, answers)
    away = corrected[:2] - circle[0, :2]
    assert np.hypot(*away) == pytest.approx(16 * np.hypot(*offset), abs=1e-9)
    assert corrected[2] * corrected[3] == pytest.approx(256 * np.exp(2 * size))
    assert np.log(corrected[2] / corrected[3]) == pytest.approx(2 * np.hypot(*stretch), abs=1e-9)


def test_no_circles_have_no_odds() -> None:
    camera = camera_over()
    levels = photo_pyramid(photo(camera, []))
    assert look_in_play(levels, camera, np.empty((0, 3))).shape == (0, 7)

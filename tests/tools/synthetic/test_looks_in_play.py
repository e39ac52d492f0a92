"""What the lessons of the network in play say of guesses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import camera_over

pytest.importorskip("torch", reason="training needs `uv sync --group train`")
from training.lessons.in_play.looks import label

CAMERA = camera_over(25.0)
OVAL = (250.0, 260.0, 30.0, 17.5, 0.6)
SEEN, HIDDEN = 0.8, 0.02


def said(guess: tuple[float, ...], visible: float = SEEN) -> float:
    truth = np.array([[*OVAL, visible, 0]])
    return float(label(CAMERA, np.array([guess]), truth)[0, 0])


@given(st.floats(-0.3, 0.3), st.floats(-0.2, 0.2), st.floats(-0.09, 0.09))
def test_a_guess_near_an_oval_is_one(shift: float, size: float, turn: float) -> None:
    x, y, long, wide, heading = OVAL
    at, scale = x + shift * wide, np.exp(size)
    assert said((at, y, long * scale, wide * scale, heading + turn)) == 1


@pytest.mark.parametrize("end", [-1, 1])
def test_a_circle_in_its_end_or_middle_is_none(end: int) -> None:
    x, y, long, wide, heading = OVAL
    step = end * (long - wide)
    at = x + step * np.cos(heading), y + step * np.sin(heading)
    assert said((*at, wide, wide, 0.0)) == 0
    assert said((x, y, np.sqrt(long * wide), np.sqrt(long * wide), 0.0)) == 0


def test_across_it_lies_none_and_a_hidden_one_is_none() -> None:
    x, y, long, wide, heading = OVAL
    assert said((x, y, long, wide, heading + np.pi / 2)) == 0
    assert (said(OVAL), said(OVAL, HIDDEN)) == (1, 0)


def test_the_answer_points_at_the_middle() -> None:
    """To the right and away from the camera, in the guess's own stretched radii."""
    x, y, radius = 250.0, 260.0, 16.0
    away = np.array([x, y]) - CAMERA.center_mm[:2]
    away /= np.linalg.norm(away)
    right = np.array([away[1], -away[0]])
    at = np.array([x, y]) + radius * (0.2 * right - 0.1 * away)
    truth = np.array([[*at, radius * 1.1, radius * 1.1, 0.0, SEEN, 0]])
    answer = label(CAMERA, np.array([[x, y, radius, radius, 0.0]]), truth)[0]
    assert answer == pytest.approx([1, 0.2, -0.1, np.log(1.1), SEEN, 0, 0, 0, 1], abs=0.01)


@pytest.mark.parametrize(("rectangle", "kinds"), [(0.0, (1, 0)), (1.0, (0, 1))])
def test_an_oval_and_a_rectangle_are_told_apart(rectangle: float, kinds: tuple[int, int]) -> None:
    answer = label(CAMERA, np.array([OVAL]), np.array([[*OVAL, SEEN, rectangle]]))[0]
    assert (answer[0], answer[5]) == kinds

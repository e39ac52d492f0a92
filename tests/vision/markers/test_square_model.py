"""The view of a square: what goes in comes out, and slopes are slopes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from overruler.geometry.pose import Array
from overruler.vision.markers.square_model import SquareModel, square_to_quad

SIZE = (2000, 1500)
CORNERS = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
PLACES = np.array([(0.0, 0.5), (0.3, 0.3), (1.0, 0.9), (0.6, 0.0)])
ACROSS = np.array([(-1.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, -1.0)])


@st.composite
def states(draw: st.DrawFn) -> Array:
    """A square somewhere in the picture or half outside, turned every way and seen askew."""
    turn, side = draw(st.floats(0, 6.28)), draw(st.floats(30, 300))
    c, s = np.cos(turn), np.sin(turn)
    corners = (CORNERS - 0.5) * side @ np.array([[c, s], [-s, c]])
    askew = [draw(st.floats(-0.12, 0.12)) * side for _ in range(8)]
    middle = np.array([draw(st.floats(-50, 2050)), draw(st.floats(-50, 1550))])
    bend = draw(st.floats(-0.1, 0.1))
    return np.concatenate([(corners + middle).ravel() + askew, [bend, draw(st.floats(-1, 1))]])


@given(states())
def test_the_corners_of_the_state_are_where_the_corners_are_seen(state: Array) -> None:
    assert_allclose(SquareModel(SIZE).predict(state, CORNERS), state[:8].reshape(4, 2), atol=1e-6)


@given(states())
def test_several_states_at_once_are_the_same_as_each_alone(state: Array) -> None:
    bent, two = SquareModel(SIZE), np.stack([state, state + 0.01])
    assert_allclose(
        bent.predict(two, PLACES), [bent.predict(one, PLACES) for one in two], atol=1e-9
    )


@given(states())
def test_normals_are_square_to_the_edge_and_point_to_its_bright_side(state: Array) -> None:
    bent = SquareModel(SIZE)
    here, normal = bent.normals(state, PLACES, ACROSS)
    assert_allclose(here, bent.predict(state, PLACES))
    ahead = bent.predict(state, PLACES + ACROSS[:, ::-1] * 1e-4) - here
    bright = bent.predict(state, PLACES + ACROSS * 1e-4) - here
    assert_allclose(np.linalg.norm(normal, axis=1), 1)
    assert np.abs((ahead * normal).sum(1)).max() < 1e-3 * np.linalg.norm(ahead, axis=1).min()
    assert ((bright * normal).sum(1) > 0).all()


@given(states())
def test_rows_are_the_slopes_of_the_residuals(state: Array) -> None:
    bent = SquareModel(SIZE)
    here, normal = bent.normals(state, PLACES, ACROSS)
    rows = bent.residual_jacobian(state, PLACES, normal)
    for i, step in enumerate(np.diag([0.02] * 8 + [2e-4, 0.02])):
        ahead, behind = (
            bent.residuals(state + sign * step, PLACES, here, normal) for sign in (1, -1)
        )
        assert_allclose(rows[:, i], (ahead - behind) / (2 * step[i]), rtol=2e-3, atol=2e-3)


def test_without_a_bend_lines_stay_straight_and_with_one_they_do_not() -> None:
    corners = np.array([(100.0, 100), (420, 130), (400, 450), (90, 400)])
    line = np.column_stack([np.linspace(0, 1, 9), np.zeros(9)])
    sag = []
    for bend in (0.0, 0.1):
        seen = SquareModel(SIZE).predict(np.concatenate([corners.ravel(), [bend, 0]]), line)
        along = (corners[1] - corners[0]) / np.linalg.norm(corners[1] - corners[0])
        sag.append(np.abs((seen - corners[0]) @ [along[1], -along[0]]).max())
    assert sag[0] < 1e-9
    assert sag[1] > 0.1


def test_a_homography_takes_the_square_to_its_corners() -> None:
    quads = np.array([[(0, 0), (2, 0), (2, 2), (0, 2)], [(5, 5), (9, 6), (8, 9), (4, 8)]], float)
    matrices = square_to_quad(quads)
    seen = np.column_stack([CORNERS, np.ones(4)]) @ np.swapaxes(matrices, 1, 2)
    assert_allclose(seen[..., :2] / seen[..., 2:], quads, atol=1e-12)

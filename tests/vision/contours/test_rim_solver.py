"""Rims are moved to their edges, and never farther than edges were searched for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.vision.contours.radial_edges import RadialEdges, ray_directions
from overruler.vision.contours.rim_solver import SEARCH_REACH_SIGMA, solve_reweighted

SCALE_MM, WIDE_PX = 0.5, 2.0
REACH_MM = SEARCH_REACH_SIGMA * SCALE_MM * WIDE_PX
RAYS = ray_directions(12.5, SCALE_MM)


def solve(directions: np.ndarray, offsets_mm: np.ndarray) -> np.ndarray:
    """The shift (2,) of one rim with an edge on each ray."""
    count = len(directions)
    edges = RadialEdges(np.arange(count), offsets_mm, np.ones(count))
    of, one = np.zeros(count, int), np.ones(1)
    shift, _, _ = solve_reweighted(edges, of, directions, offsets_mm, SCALE_MM * one, WIDE_PX * one)
    return np.asarray(shift[0])


@given(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2))
def test_a_rim_goes_where_all_its_edges_say(x: float, y: float) -> None:
    moved = solve(RAYS, RAYS @ np.array([x, y]))
    assert np.allclose(moved, [x, y], atol=0.02)


@given(st.integers(0, 1000), st.integers(8, 30))
def test_no_edges_move_it_beyond_their_reach(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    few = RAYS[:count]  # on one side only: what they say of the other direction is extrapolated
    moved = solve(few, rng.uniform(-REACH_MM, REACH_MM, count))
    assert np.hypot(*moved) <= REACH_MM + 1e-9

"""Every edge of a print is known, and lies between dark and bright."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from overruler.vision.markers.print_edges import place_stations

PRINTS = arrays(np.bool_, st.sampled_from([(4, 4), (6, 6)])).map(lambda inner: np.pad(inner, 1))
"""Random codes in a black frame."""


def bright(cells: NDArray[np.bool_], place: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether places (S, 2) on the print are white, its surroundings included."""
    at = np.floor(place * len(cells)).astype(int) + 1
    return np.asarray(np.pad(cells, 1, constant_values=True)[at[:, 1], at[:, 0]])


@given(PRINTS, st.floats(4, 40))
def test_stations_lie_between_dark_and_bright(cells: NDArray[np.bool_], cell_px: float) -> None:
    found = place_stations(cells, cell_px)
    step = found.across * 0.02
    assert bright(cells, found.place + step).all()
    assert not bright(cells, found.place - step).any()
    assert np.abs(found.across).sum(1) == pytest.approx(1)


@given(PRINTS)
def test_every_step_between_cells_is_an_edge(cells: NDArray[np.bool_]) -> None:
    white = np.pad(cells, 1, constant_values=True)
    steps = (white[:, 1:] != white[:, :-1]).sum() + (white[1:] != white[:-1]).sum()
    found = place_stations(cells, 10)
    assert len(found.line) == len(found.outer) == steps
    assert set(found.edge) == set(range(steps))
    assert found.outer.sum() == 4 * len(cells)


def test_edges_stop_short_of_corners_and_not_of_edges_that_go_on() -> None:
    found = place_stations(np.zeros((4, 4), bool), 40)
    left = found.place[(found.across == (-1, 0)).all(1)]
    assert left[:, 0] == pytest.approx(0)
    assert 0.0625 < left[:, 1].min() < 0.09
    assert 0.91 < left[:, 1].max() < 0.9375
    assert np.diff(np.sort(left[:, 1])).max() < 0.03


def test_edges_on_one_line_share_its_number() -> None:
    found = place_stations(np.zeros((4, 4), bool), 40)
    assert len(set(found.line)) == 4
    sides = [
        found.place[np.isin(found.edge, np.nonzero(found.line == line)[0])]
        for line in set(found.line)
    ]
    assert all(min(np.ptp(side, axis=0)) == 0 for side in sides)

"""A table has several hexagons or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from overruler.vision.hexagons.on_table import TABLE_SHARE, hexagon_probabilities

logits = arrays(float, st.integers(1, 30), elements=st.floats(-30, 30))


@given(logits, st.floats(0.001, 0.999))
def test_probabilities_lie_between_0_and_1_in_the_order_of_the_odds(
    odds: np.ndarray, table_share: float
) -> None:
    found = hexagon_probabilities(odds, table_share)
    assert ((found >= 0) & (found <= 1)).all()
    order = np.argsort(odds)
    assert (np.diff(found[order]) >= -1e-12).all()


@given(logits)
def test_a_likelier_table_has_likelier_hexagons(odds: np.ndarray) -> None:
    assert (hexagon_probabilities(odds, 0.9) >= hexagon_probabilities(odds, 0.1)).all()


def test_without_evidence_half_of_the_rims_of_a_table_with_hexagons_are_some() -> None:
    assert hexagon_probabilities(np.zeros(12), 0.4) == pytest.approx(np.full(12, 0.2))


def test_one_rim_alone_makes_no_hexagon_and_several_do() -> None:
    round_ones = np.full(20, -4.0)
    assert hexagon_probabilities(np.append(round_ones, 8.0)).max() < 0.1
    several = hexagon_probabilities(np.append(round_ones, np.full(6, 8.0)))
    assert several[-6:].min() > 0.9
    assert several[:-6].max() < 0.01


def test_one_rim_says_no_more_than_another() -> None:
    sure, surest = (hexagon_probabilities(np.array([value])) for value in (4.0, 400.0))
    assert sure == surest
    assert TABLE_SHARE < float(sure[0]) < 0.5


def test_no_rims_have_no_probabilities() -> None:
    assert hexagon_probabilities(np.zeros(0)).shape == (0,)

"""How likely two shapes come near, and how far a gap spreads: against SciPy's law and free draws."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.contact_region import gap_moments_mm, probability_within_mm
from overruler.geometry.covariance import Matrix2
from overruler.geometry.shapes import Disc, Shape, gap, rectangle, translate_shape
from tests.geometry.doubtful_shapes import DOUBTS, SHAPES

DRAWN = np.random.default_rng(5).standard_normal((200_000, 2))


def displaced(doubt: Matrix2, count: int) -> np.ndarray:
    root = np.linalg.cholesky(np.array(doubt) + 1e-15 * np.eye(2))
    return np.asarray(DRAWN[:count] @ root.T)


def apart(a: str, b: str, turn: float, gap_mm: float) -> tuple[Shape, Shape]:
    """Two shapes with this gap, the second one seen from the first in a direction."""
    first, away = SHAPES[a], 300.0
    for _ in range(60):
        second = translate_shape(SHAPES[b], away * math.cos(turn), away * math.sin(turn))
        away -= gap(first, second).distance_mm - gap_mm
    return first, second


@settings(max_examples=200)
@given(st.floats(0.05, 20), st.floats(0, 100), st.floats(0, 6.3), st.floats(0, 60))
def test_two_discs_follow_the_noncentral_chi_square(
    sigma: float, between: float, turn: float, line: float
) -> None:
    a, b = Disc((0, 0), 10), Disc((between * math.cos(turn), between * math.sin(turn)), 6)
    law = stats.ncx2.cdf(((16 + line) / sigma) ** 2, 2, (between / sigma) ** 2)
    variance = sigma * sigma
    found = probability_within_mm(a, b, ((variance, 0.0), (0.0, variance)), line)
    assert found == pytest.approx(law, abs=2e-4)


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("disc", "plate"),
        ("plate", "plate"),
        ("oval", "disc"),
        ("plank", "oval"),
        ("point", "plank"),
    ],
)
@pytest.mark.parametrize("line_mm", [0.0, 100.0])
def test_probabilities_agree_with_draws(a: str, b: str, doubt: str, line_mm: float) -> None:
    first, second = apart(a, b, 0.7, line_mm + 0.2)
    drawn = gaps_at_shifts(first, second, displaced(DOUBTS[doubt], 100_000))
    found = probability_within_mm(first, second, DOUBTS[doubt], line_mm + 1e-6)
    assert found == pytest.approx(np.mean(drawn <= line_mm + 1e-6), abs=0.005)


@pytest.mark.parametrize("degrees", [0, 20, 45, 85])
def test_a_corner_is_met_whatever_side_it_shows(degrees: int) -> None:
    """An edge along the gap is a cliff: one step across it decides between all and nothing."""
    plate, disc = rectangle((0, 0), 40, 40), Disc((0, 0), 8.0)
    turn = math.radians(degrees)
    disc = Disc((20 + 10 * math.cos(turn), 20 + 10 * math.sin(turn)), 8.0)
    for doubt in DOUBTS.values():
        drawn = gaps_at_shifts(plate, disc, displaced(doubt, 150_000))
        found = probability_within_mm(plate, disc, doubt, 2.0)
        assert found == pytest.approx(np.mean(drawn <= 2.0), abs=0.005)


@pytest.mark.parametrize("doubt", ["round", "slanted", "wide"])
@pytest.mark.parametrize(
    ("pair", "gap_mm"), list(product(["disc", "plate", "oval"], [0.0, 0.5, 2.0]))
)
def test_the_spread_near_contact_is_that_of_draws(doubt: str, pair: str, gap_mm: float) -> None:
    first, second = apart(pair, pair, -1.0, gap_mm)
    drawn = gaps_at_shifts(first, second, displaced(DOUBTS[doubt], 100_000))
    mean, sigma = gap_moments_mm(first, second, DOUBTS[doubt])
    assert sigma == pytest.approx(drawn.std(), rel=0.015)
    assert mean == pytest.approx(drawn.mean(), rel=0.015, abs=3e-3)

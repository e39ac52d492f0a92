"""Doubts of many pairs at once are those of each pair alone."""

from itertools import product

import numpy as np
import pytest

from overruler.geometry.batched.contact_regions import gap_sigmas, probabilities_within
from overruler.geometry.batched.support_columns import SupportColumns, separating_directions
from overruler.geometry.contact_region import gap_moments_mm, probability_within_mm
from overruler.geometry.shapes import gap
from tests.geometry.doubtful_shapes import DOUBTS, SHAPES
from tests.geometry.test_contact_region import apart

PAIRS = [
    apart(a, b, 0.4 + k, gap_mm)
    for k, (a, b) in enumerate(product(SHAPES, SHAPES))
    for gap_mm in (0.0, 0.6, 40.0)
]
FIRST, SECOND = (SupportColumns.of(shapes) for shapes in zip(*PAIRS, strict=True))


@pytest.mark.parametrize("doubt", DOUBTS)
def test_probabilities_are_those_of_each_pair(doubt: str) -> None:
    covariance = np.tile(DOUBTS[doubt], (len(PAIRS), 1, 1))
    lines = np.tile([0.3, 0.7, 40.2], len(PAIRS) // 3)
    found = probabilities_within(FIRST, SECOND, covariance, lines)
    alone = [
        probability_within_mm(a, b, DOUBTS[doubt], line)
        for (a, b), line in zip(PAIRS, lines.tolist(), strict=True)
    ]
    assert found == pytest.approx(alone, abs=1e-5)


def test_spreads_of_gaps_are_those_of_each_pair() -> None:
    covariance = np.tile(DOUBTS["slanted"], (len(PAIRS), 1, 1))
    gaps = np.array([gap(a, b).distance_mm for a, b in PAIRS])
    alone = [gap_moments_mm(a, b, DOUBTS["slanted"])[1] for a, b in PAIRS]
    found = gap_sigmas(FIRST, SECOND, covariance, gaps)
    assert found == pytest.approx(alone, rel=1e-4, abs=1e-6)


def test_directions_are_those_of_the_gaps() -> None:
    ux, uy = separating_directions(FIRST, SECOND)
    for k, (a, b) in enumerate(PAIRS):
        nearest = gap(a, b)
        if nearest.distance_mm > 0.1:
            along = np.subtract(nearest.to_point, nearest.from_point) / nearest.distance_mm
            assert (ux[k], uy[k]) == pytest.approx(tuple(along), abs=1e-5)

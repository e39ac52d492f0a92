"""What radius the network names for a rim, and how likely that makes each size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import ROUND_DIAMETERS_MM
from overruler.vision.rounds.size_likelihood import (
    PULLING_RADIUS_MM,
    expect_radii_mm,
    radius_log_likelihood,
)

RADII_MM = np.array(ROUND_DIAMETERS_MM) / 2
EYE_MM = np.array([1500.0])


def lower_rims(sigma_mm: float) -> list[float]:
    """The radii that the network names for lower rims of all sizes."""
    named = expect_radii_mm(RADII_MM, np.array([sigma_mm]), EYE_MM)[0, :, 0]
    return [float(radius) for radius in named]


@given(st.floats(0.01, 3.0))
def test_an_unsure_network_leans_to_one_size_but_keeps_the_order(sigma_mm: float) -> None:
    named = lower_rims(sigma_mm)
    assert named == sorted(named)
    for true, seen in zip(RADII_MM.tolist(), named, strict=True):
        assert min(true, PULLING_RADIUS_MM) <= seen <= max(true, PULLING_RADIUS_MM)


@pytest.mark.parametrize("diameter_mm", [25.0, 28.5])
def test_the_less_sure_it_is_the_more_it_leans_and_a_large_base_does_not(
    diameter_mm: float,
) -> None:
    at = list(ROUND_DIAMETERS_MM).index(diameter_mm)
    leaning = [abs(lower_rims(sigma)[at] - diameter_mm / 2) for sigma in (0.05, 0.3, 0.8)]
    assert leaning == sorted(leaning)
    assert leaning[0] < 0.03 < 0.2 < leaning[2]
    assert lower_rims(0.8)[-3:] == pytest.approx(RADII_MM[-3:].tolist())


def test_a_size_read_as_one_nearer_to_the_usual_is_still_the_likeliest() -> None:
    """On rendered tables it read 25 mm as 25.8 where it was as unsure as this."""
    share = radius_log_likelihood(np.array([12.9]), np.array([0.38]), RADII_MM, EYE_MM)[0, :, 0]
    assert 2 * RADII_MM[int(share.argmax())] == 25

"""Which widths a hexagon may have by what was seen, and how unsure its rim is for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import HEXAGON_WIDTHS_MM, Base
from overruler.vision.hexagons.widths import (
    hexagon_like,
    may_be_hexagon,
    nats_by_radius,
    rim_doubt_mm2,
)

HEXAGON = Base.hexagon(30.0)
WIDTHS_MM = {0: 30.0, 1: 32.0}


@pytest.mark.parametrize("width", HEXAGON_WIDTHS_MM)
def test_the_round_base_that_a_hexagon_looks_like_may_be_that_hexagon(width: float) -> None:
    hexagon = Base.hexagon(width)
    assert may_be_hexagon(hexagon.as_round, HEXAGON_WIDTHS_MM)
    assert hexagon_like(hexagon.as_round, HEXAGON_WIDTHS_MM) == hexagon


@pytest.mark.parametrize("base", [Base.circle(100.0), Base.circle(15.0), Base.rectangle(30, 30)])
def test_other_sizes_and_shapes_may_be_none(base: Base) -> None:
    assert not may_be_hexagon(base, HEXAGON_WIDTHS_MM)


@given(st.sampled_from(HEXAGON_WIDTHS_MM), st.floats(0.05, 2.0))
def test_the_likeliest_width_by_a_radius_is_that_which_it_stands_for(
    width: float, sigma_mm: float
) -> None:
    radius_mm = Base.hexagon(width).as_round.width_mm / 2
    nats = nats_by_radius(radius_mm, sigma_mm, HEXAGON_WIDTHS_MM)
    assert HEXAGON_WIDTHS_MM[int(nats.argmax())] == width


@given(st.floats(0.5, 1.0), st.floats(0.5, 1.0))
def test_the_rim_is_the_less_sure_the_less_likely_hexagon_and_width_are(
    probability: float, share: float
) -> None:
    doubt = rim_doubt_mm2(probability, HEXAGON, WIDTHS_MM, np.array([share, 1 - share]))
    surest = rim_doubt_mm2(1.0, HEXAGON, WIDTHS_MM, np.array([1.0, 0.0]))
    assert surest == 0
    corner_mm = (HEXAGON.length_mm - HEXAGON.width_mm) / 4
    assert doubt == pytest.approx((1 - share) * 1.0**2 + (1 - probability) * corner_mm**2)

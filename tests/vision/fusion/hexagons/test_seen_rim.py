"""What several photos say of one rim adds up, the less the more alike they err."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.vision.fusion.hexagons.seen_rim import LOGIT_CORRELATION, SeenRim, add_alike
from overruler.vision.hexagons.on_table import hexagon_logit
from tests.vision.fusion.hexagons.views import (
    COARSE_PX,
    SHARP_PX,
    decided,
    seen_from_all_sides,
)
from tests.vision.hexagons.table import row_of

HEXAGON, DISC = Base.hexagon(30.0), Base.circle(32.0)
ratios = st.lists(st.floats(-10, 10), min_size=1, max_size=10)


@given(ratios)
def test_log_odds_of_alike_photos_lie_between_their_mean_and_their_sum(odds: list[float]) -> None:
    total = add_alike(odds)
    assert abs(np.mean(odds)) - 1e-9 <= abs(total) <= abs(np.sum(odds)) + 1e-9
    assert total == pytest.approx(add_alike(odds[::-1]))


@given(st.floats(-10, 10), st.integers(1, 9))
def test_one_more_photo_that_says_the_same_makes_it_surer(odds: float, count: int) -> None:
    assert abs(add_alike((count + 1) * [odds])) >= abs(add_alike(count * [odds]))
    assert abs(add_alike(count * [odds])) <= abs(odds) / LOGIT_CORRELATION


def test_it_is_the_likelihood_ratio_of_normal_measurements_that_err_alike() -> None:
    """Those of a hexagon lie about a mean, those of a round base about its negative."""
    mean, measured = 1.3, np.array([0.4, 2.0, -0.7])
    alike = np.full((3, 3), LOGIT_CORRELATION) + (1 - LOGIT_CORRELATION) * np.eye(3)
    exact = 2 * mean * np.ones(3) @ np.linalg.solve(alike, measured)
    assert add_alike((2 * mean * measured).tolist()) == pytest.approx(float(exact))


@pytest.mark.parametrize(("base", "sign"), [(HEXAGON, 1), (DISC, -1)])
def test_three_photos_say_more_than_one(base: Base, sign: int) -> None:
    placed = row_of([base] * 2)
    one = decided(seen_from_all_sides(placed), placed)[0]
    by_all = SeenRim.of(one).logit
    by_each = [SeenRim.of(replace(one, sightings=(each,))).logit for each in one.sightings]
    assert by_all is not None
    assert sign * by_all > 3
    assert all(each is not None and sign * each < sign * by_all for each in by_each)


def test_too_few_pixels_say_nothing_of_the_sides() -> None:
    placed = row_of([HEXAGON] * 2)
    photos = seen_from_all_sides(placed, (SHARP_PX, COARSE_PX, COARSE_PX))
    rim = SeenRim.of(decided(photos, placed)[0])
    assert len(rim.evidence) == 3
    assert rim.logit == pytest.approx(hexagon_logit(rim.evidence[0]))
    coarse = SeenRim.of(decided(photos[1:], placed)[0])
    assert coarse.logit is None


def test_the_heading_is_that_of_all_photos() -> None:
    placed = row_of([HEXAGON] * 4)
    for one, (_, _, turn) in zip(decided(seen_from_all_sides(placed), placed), placed, strict=True):
        off_deg = np.degrees(SeenRim.of(one).heading_rad - turn)
        assert abs((off_deg + 30) % 60 - 30) < 4

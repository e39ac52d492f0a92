"""The probability that two shapes are nearer than a line, against drawing their displacement half a million times."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.batched.distances import farthest_distances, gaps_at_shifts
from overruler.geometry.covariance import Matrix2
from overruler.geometry.farthest import farthest_gap
from overruler.geometry.gap_probability import (
    intervals_within_distance,
    normal_cdf,
    slice_gaussian,
)
from overruler.geometry.shapes import Disc, Ellipse, Shape, gap
from overruler.units import CONTACT_TOLERANCE_MM
from tests.geometry.doubtful_shapes import DOUBTS, SHAPES

AGREED = 0.003
DRAWN = np.random.default_rng(11).standard_normal((500_000, 2))


def moved(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Disc):
        return Disc((x, y), shape.radius_mm)
    if isinstance(shape, Ellipse):
        return Ellipse((x, y), shape.length_mm, shape.width_mm, shape.heading_deg)
    return type(shape)(tuple((px + x, py + y) for px, py in shape.corners))


def displaced(doubt: Matrix2, count: int) -> np.ndarray:
    return np.asarray(DRAWN[:count] @ np.linalg.cholesky(np.array(doubt) + 1e-15 * np.eye(2)).T)


def toward(a: Shape, b: Shape) -> tuple[float, float]:
    x, y = b.center[0] - a.center[0], b.center[1] - a.center[1]
    return x / math.hypot(x, y), y / math.hypot(x, y)


def apart(a: str, b: str, turn: float, gap_mm: float) -> tuple[Shape, Shape]:
    """Two shapes with this gap, the second one seen from the first in a direction."""
    first, away = SHAPES[a], 300.0
    for _ in range(60):
        second = moved(SHAPES[b], away * math.cos(turn), away * math.sin(turn))
        away -= gap(first, second).distance_mm - gap_mm
    return first, second


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize(
    ("a", "b"),
    [("disc", "disc"), ("disc", "plate"), ("plate", "plate"), ("oval", "disc"), ("plank", "oval")],
)
@pytest.mark.parametrize("line_mm", [0.0, 100.0])
def test_shares_below_a_line_agree_with_draws(a: str, b: str, doubt: str, line_mm: float) -> None:
    first, second = apart(a, b, 0.7, line_mm + 0.2)
    slices = slice_gaussian(
        DOUBTS[doubt],
        toward(first, second),
        first.bounding_radius_mm + second.bounding_radius_mm + line_mm,
        slope=1.0,
    )
    round_ = isinstance(first, Disc) and isinstance(second, Disc)
    drawn = gaps_at_shifts(first, second, displaced(DOUBTS[doubt], 500_000 if round_ else 60_000))
    found = slices.probability_inside(
        intervals_within_distance(slices, first, second, line_mm + CONTACT_TOLERANCE_MM)
    )
    assert found == pytest.approx(
        np.mean(drawn <= line_mm + CONTACT_TOLERANCE_MM), abs=AGREED if round_ else 0.006
    )


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize(
    ("a", "b"), [("disc", "disc"), ("point", "plate"), ("plate", "disc"), ("oval", "plank")]
)
def test_shares_of_the_farthest_part_agree_with_draws(a: str, b: str, doubt: str) -> None:
    first, second = apart(a, b, 2.5, 60)
    drawn = farthest_distances(first, second, displaced(DOUBTS[doubt], 20_000))
    line = float(np.quantile(drawn, 0.4))
    slices = slice_gaussian(DOUBTS[doubt], toward(first, second), line)
    assert slices.probability_inside(
        intervals_within_distance(slices, first, second, line, farthest_gap)
    ) == pytest.approx(0.4, abs=0.01)


def test_an_interval_that_ends_where_the_search_starts_has_its_other_end_elsewhere() -> None:
    """A base that lies on the line just now is within it over its own width, and not only there."""
    first, second = Ellipse((0.0, 0.0), 30.0, 20.0, 0.0), Disc((40.0, 0.0), 10.0)
    line = gap(first, second).distance_mm
    slices = slice_gaussian(((900.0, 0.0), (0.0, 0.0)), (1.0, 0.0), line)
    ((low, high),) = intervals_within_distance(slices, first, second, line)
    assert (low, high) == pytest.approx((-80, 0), abs=1e-6)


def test_a_doubt_larger_than_the_bases_reaches_past_them() -> None:
    """Displaced by more than its own size a base may come to lie on the far side, and apart again."""
    doubt: Matrix2 = ((900.0, 0.0), (0.0, 900.0))
    for a, b in (("disc", "disc"), ("plank", "plank")):
        first, second = apart(a, b, 0.3, 0.1)
        slices = slice_gaussian(
            doubt, toward(first, second), first.bounding_radius_mm + second.bounding_radius_mm
        )
        drawn = gaps_at_shifts(first, second, displaced(doubt, 60_000))
        found = slices.probability_inside(
            intervals_within_distance(slices, first, second, CONTACT_TOLERANCE_MM)
        )
        assert found == pytest.approx(np.mean(drawn <= CONTACT_TOLERANCE_MM), abs=0.006)


@settings(max_examples=60)
@given(
    st.floats(0.01, 4),
    st.floats(0.01, 4),
    st.floats(-0.95, 0.95),
    st.floats(0, 6.3),
    st.floats(-3, 3),
    st.floats(0, 6),
)
def test_the_slices_hold_the_whole_gaussian(
    sx: float, sy: float, r: float, turn: float, line_sigmas: float, direction: float
) -> None:
    """Whatever way it is cut, a half plane holds its share."""
    covariance: Matrix2 = ((sx * sx, r * sx * sy), (r * sx * sy, sy * sy))
    slices = slice_gaussian(covariance, (math.cos(direction), math.sin(direction)), 1e9, slope=1.0)
    n = (math.cos(direction + turn / 8 - 0.4), math.sin(direction + turn / 8 - 0.4))
    sigma = math.sqrt(
        covariance[0][0] * n[0] ** 2
        + 2 * covariance[0][1] * n[0] * n[1]
        + covariance[1][1] * n[1] ** 2
    )
    along = slices.u[0] * n[0] + slices.u[1] * n[1]
    across = slices.u[0] * n[1] - slices.u[1] * n[0]
    ends = [(line_sigmas * sigma - v * across) / along for _, v, _ in slices.slices]
    below = [(-math.inf, end) if along > 0 else (end, math.inf) for end in ends]
    assert slices.probability_inside(below) == pytest.approx(normal_cdf(line_sigmas), abs=AGREED)

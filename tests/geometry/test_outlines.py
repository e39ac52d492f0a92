"""Outlines: which cross themselves, and what the convex parts of the others add up to."""

import math

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.outlines import convex_parts, first_self_intersection, signed_area_mm2
from overruler.geometry.shapes import Point

NOTCH = [(0, 0), (200, 0), (200, 200), (0, 200), (0, 160), (120, 160), (120, 40), (0, 40)]
COMB = [
    (0, 0),
    (50, 0),
    (50, 30),
    (40, 30),
    (40, 5),
    (30, 5),
    (30, 30),
    (20, 30),
    (20, 5),
    (10, 5),
    (10, 30),
    (0, 30),
]
STRAIGHT = [(0, 0), (5, 0), (10, 0), (10, 10), (5, 10), (0, 10)]
CLOSED = [(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)]
PINCHED = [(0, 0), (10, 0), (5, 5), (10, 10), (0, 10), (5, 5)]

star = st.lists(st.floats(5, 100), min_size=3, max_size=14).map(
    lambda radii: [
        (r * math.cos(2 * math.pi * k / len(radii)), r * math.sin(2 * math.pi * k / len(radii)))
        for k, r in enumerate(radii)
    ]
)


@pytest.mark.parametrize(
    "points", [NOTCH, COMB, STRAIGHT, CLOSED, PINCHED, NOTCH[::-1], COMB[::-1]]
)
def test_parts_make_up_the_outline(points: list[Point]) -> None:
    assert first_self_intersection(points) is None
    _check_parts(points)


@settings(max_examples=60)
@given(star, st.booleans())
def test_parts_make_up_any_star(points: list[Point], clockwise: bool) -> None:
    _check_parts(points[::-1] if clockwise else points)


def _check_parts(points: list[Point]) -> None:
    parts = [shapely.Polygon(part.corners) for part in convex_parts(points)]
    whole = shapely.Polygon(points).buffer(0)
    assert all(part.exterior.is_ccw for part in parts)
    assert all(part.convex_hull.area == pytest.approx(part.area, rel=1e-9) for part in parts)
    assert sum(part.area for part in parts) == pytest.approx(whole.area, rel=1e-9)
    assert shapely.union_all(parts).symmetric_difference(whole).area < 1e-6


def test_a_convex_outline_is_one_part() -> None:
    assert len(convex_parts([(0, 0), (10, 0), (12, 8), (0, 10)])) == 1


CROSSED = [
    ([(0, 0), (10, 10), (10, 0), (0, 10)], (0, 2)),  # a bow tie
    ([(0, 0), (10, 0), (10, 10), (4, -5), (0, 10)], (0, 2)),
    (
        [(math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)) for k in range(5)],
        (0, 2),
    ),  # a pentagram
]


@pytest.mark.parametrize(("points", "sides"), CROSSED)
def test_crossing_sides_are_named(points: list[Point], sides: tuple[int, int]) -> None:
    assert first_self_intersection(points) == sides


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=3, max_size=8, unique=True)
)
def test_what_crosses_is_no_valid_polygon_and_a_valid_one_does_not_cross(
    points: list[Point],
) -> None:
    if shapely.Polygon(points).is_valid:
        assert first_self_intersection(points) is None
    elif first_self_intersection(points) is None:  # then it only touches itself, or holds nothing
        assert not any(a.crosses(b) for a in _sides(points) for b in _sides(points))


def _sides(points: list[Point]) -> list[shapely.LineString]:
    return [
        shapely.LineString((p, q)) for p, q in zip(points, [*points[1:], points[0]], strict=True)
    ]


def test_area_is_signed() -> None:
    assert signed_area_mm2(CLOSED) == 100
    assert signed_area_mm2(CLOSED[::-1]) == -100

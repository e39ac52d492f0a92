"""The shortest way out of reach: it leads out, and nothing shorter does."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry import separating_shift
from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.separating_shift import (
    is_separated,
    shift_length_mm,
    shortest_separating_shift,
)
from overruler.geometry.shapes import (
    Disc,
    Ellipse,
    Gap,
    Polygon,
    Shape,
    gap,
    rectangle,
    translate_shape,
)
from overruler.geometry.tangents import Hull, signed_gap_mm
from tests.geometry.test_shapes import discs, shapes

Pair = tuple[Shape, Shape]
reaches = st.floats(0.001, 200)


def shorter_ways(length_mm: float, looks: int) -> np.ndarray:
    """Shifts (n, 2) all over the disc of those that are shorter."""
    k = np.arange(looks) + 0.5
    radius, turn = length_mm * np.sqrt(k / looks), k * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1)


def out_by(pairs: list[Pair], reach_mm: float, shifts: np.ndarray) -> np.ndarray:
    """How far past the reach (n,) the nearest pair is after each shift."""
    return np.asarray(np.min([gaps_at_shifts(b, a, shifts) for a, b in pairs], 0) - reach_mm)


@settings(max_examples=120)
@given(shapes, shapes, reaches)
def test_out_of_one_the_way_is_what_is_short(a: Shape, b: Shape, reach_mm: float) -> None:
    way = shortest_separating_shift([(a, b)], reach_mm)
    assert shift_length_mm(way) == pytest.approx(max(reach_mm - signed_gap_mm(a, b), 0), abs=1e-8)
    assert is_separated([(a, b)], way, reach_mm - 1e-8)


@settings(max_examples=60)
@given(st.lists(discs, min_size=1, max_size=3), st.lists(discs, min_size=1, max_size=4), reaches)
def test_out_of_several_discs_nothing_shorter_leads(
    few: list[Disc], others: list[Disc], reach_mm: float
) -> None:
    pairs: list[Pair] = [(a, b) for a in few for b in others]
    way = shortest_separating_shift(pairs, reach_mm)
    assert is_separated(pairs, way, reach_mm - 1e-7)
    assert (
        out_by(pairs, reach_mm, shorter_ways(shift_length_mm(way) - 1e-6, 4000)).max() <= 1e-7
        or shift_length_mm(way) <= 1e-6
    )


@settings(max_examples=12)
@given(st.lists(shapes, min_size=1, max_size=2), st.lists(shapes, min_size=1, max_size=2), reaches)
def test_out_of_several_shapes_nothing_much_shorter_leads(
    few: list[Shape], others: list[Shape], reach: float
) -> None:
    """A way out that no look found is narrower than the angle between two of them."""
    pairs: list[Pair] = [(a, b) for a in few for b in others]
    way = shortest_separating_shift(pairs, reach)
    assert is_separated(pairs, way, reach - 1e-7)
    if shift_length_mm(way) <= 1e-3:
        return
    narrow = shift_length_mm(way) * math.radians(2)
    assert (
        out_by(pairs, reach, shorter_ways(shift_length_mm(way) - 1e-3, 2000)).max() <= narrow + 1e-3
    )


def test_between_two_discs_the_way_out_is_where_their_circles_cross() -> None:
    point, others = Disc((0.0, 0.0)), [Disc((-30.0, 0.0), 20.0), Disc((30.0, 0.0), 20.0)]
    x, y = shortest_separating_shift([(point, b) for b in others], 30.0)
    # Either circle has a radius of 50; 40 above or below their middle is 50 from both centres.
    assert (x, abs(y)) == pytest.approx((0.0, 40.0))


def test_between_two_walls_the_way_out_is_along_them() -> None:
    point = Disc((0.0, 10.0))
    walls: list[Shape] = [rectangle((-40.0, 0.0), 20.0, 100.0), rectangle((40.0, 0.0), 20.0, 100.0)]
    # 40 from a corner at (±30, 50) and 30 aside of it: √(1600 - 900) = 26.4575 beyond the walls' ends.
    x, y = shortest_separating_shift([(point, wall) for wall in walls], 40.0)
    assert (x, y) == pytest.approx((0.0, 40 + math.sqrt(700)), abs=1e-6)


def test_what_is_out_stays() -> None:
    assert shortest_separating_shift([(Disc((0.0, 0.0), 5.0), Disc((30.0, 0.0), 5.0))], 20.0) == (
        0.0,
        0.0,
    )


def test_out_of_an_overlap_it_is_as_far_as_the_shapes_are_deep() -> None:
    a, b = rectangle((0.0, 0.0), 40.0, 20.0), rectangle((5.0, 12.0), 40.0, 20.0)
    x, y = shortest_separating_shift([(a, b)], 1e-6)
    assert (x, y) == pytest.approx((0.0, -8.0), abs=1e-5)
    assert gap(translate_shape(a, x, y), b).distance_mm == pytest.approx(1e-6, abs=1e-8)


def test_few_gaps_tell_the_way_out_of_terrain_of_many_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[None] = []

    def counting_gap(a: Shape, b: Shape) -> Gap:
        counted.append(None)
        return gap(a, b)

    monkeypatch.setattr(separating_shift, "gap", counting_gap)
    sight = Hull(Disc((100, 400), 15), Ellipse((1500, 430), 75, 42, 20))
    turns = [math.tau * k / 24 for k in range(24)]
    rim = [(math.cos(k) * (250 + 50 * math.sin(7 * k)), math.sin(k) * 300) for k in turns]
    corners = [(800 + x, 420 + y) for x, y in rim]
    parts = [Polygon(((800, 420), p, q)) for p, q in pairwise([*corners, corners[0]])]
    pairs = [(part, sight) for part in parts]
    way = shortest_separating_shift(pairs, 1e-6)
    assert is_separated(pairs, way, 1e-6)
    assert len(counted) < 1000
    assert not is_separated(pairs, (way[0] * 0.999999, way[1] * 0.999999), 1e-6)

"""The same distances for many displacements at once, and from whichever of several shapes is nearest."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.batched.distances import (
    farthest_distances,
    farthest_from_all,
    farthest_from_points,
    gaps_at_shifts,
    rim_farthest_from_all,
)
from overruler.geometry.batched.point_distances import distance_matrix
from overruler.geometry.farthest import farthest_gap
from overruler.geometry.shapes import Disc, Ellipse, Point, Polygon, Shape, gap, rectangle
from tests.geometry.test_shapes import moved, places, shapes

FEW = settings(max_examples=40)


@FEW
@given(shapes, shapes, st.lists(places, min_size=1, max_size=3))
def test_each_displacement_is_measured_as_if_alone(
    a: Shape, b: Shape, shifts: list[tuple[float, float]]
) -> None:
    alone = [moved(b, 0, shift) for shift in shifts]
    assert gaps_at_shifts(a, b, np.array(shifts)) == pytest.approx(
        [gap(a, one).distance_mm for one in alone], abs=1e-8
    )
    assert farthest_distances(a, b, np.array(shifts)) == pytest.approx(
        [farthest_gap(a, one).distance_mm for one in alone], abs=1e-8
    )


def test_points_about_a_sliver_are_as_far_from_it_as_one_by_one() -> None:
    sliver = Ellipse((3, 4), 200, 0.1, 37)
    points = np.random.default_rng(2).uniform(-120, 120, (600, 2))
    alone = [gap(sliver, Disc((x, y))).distance_mm for x, y in points.tolist()]
    assert distance_matrix([sliver], points)[0] == pytest.approx(alone, abs=1e-9)


@settings(max_examples=15)
@given(shapes, shapes)
def test_one_shape_alone_is_the_nearest(a: Shape, b: Shape) -> None:
    assert farthest_from_all([a], b) == pytest.approx(farthest_gap(a, b).distance_mm, abs=2e-9)


@settings(max_examples=15)
@given(st.lists(shapes, min_size=2, max_size=4), shapes)
def test_farthest_from_all_is_the_most_over_dense_points(several: list[Shape], b: Shape) -> None:
    points = _points_of(b)
    sampled = distance_matrix(several, points).min(0).max()
    found = farthest_from_all(several, b)
    # No point of b lies farther from a sampled one than a fifth of its reach, and a distance changes no faster.
    assert sampled - 1e-9 <= found <= sampled + b.bounding_radius_mm / 5
    assert found <= min(farthest_gap(shape, b).distance_mm for shape in several) + 1e-8


def _points_of(b: Shape) -> np.ndarray:
    """Points all over b: its rim drawn in to its centre."""
    if isinstance(b, Polygon):
        ends = zip(b.corners, b.corners[1:] + b.corners[:1], strict=True)
        rim = np.concatenate([np.linspace(start, end, 50) for start, end in ends])
    else:
        turn = np.linspace(0, 2 * np.pi, 400)
        rim = b.support_points(np.stack([np.cos(turn), np.sin(turn)], -1))
    return np.concatenate([b.center + share * (rim - b.center) for share in np.linspace(0, 1, 12)])


RING = [
    Disc((153 * math.cos(turn), 153 * math.sin(turn)), 5) for turn in np.radians([90, 210, 330])
]
SEVERAL = [
    (
        RING,
        Disc((0, 0), 80),
        148.0,
    ),  # the hole in the middle is farther from all three than any part of the rim
    ([Disc((-100, 0), 10), Disc((100, 0), 10)], Disc((0, 0), 50), math.hypot(100, 50) - 10),
    (
        [Disc((-100, 0), 10), Disc((100, 0), 10)],
        rectangle((0, 0), 60, 40),
        math.hypot(100, 20) - 10,
    ),
    (
        [rectangle((-100, 0), 10, 300), rectangle((100, 0), 10, 300)],
        rectangle((0, 0), 100, 60),
        95.0,
    ),
    ([Disc((-100, 0), 10), Disc((100, 0), 10)], Ellipse((0, 0), 40, 100), math.hypot(100, 50) - 10),
    ([Disc((0, 0), 50), Disc((10, 0), 50)], Disc((5, 0), 20), 0.0),
]


@pytest.mark.parametrize(("several", "b", "distance"), SEVERAL)
def test_farthest_from_all_by_hand(several: list[Shape], b: Shape, distance: float) -> None:
    assert farthest_from_all(several, b) == pytest.approx(distance, abs=2e-9)


@settings(max_examples=4)
@given(st.lists(shapes, min_size=2, max_size=3), shapes, places)
def test_the_rim_s_farthest_part_is_found_for_each_displacement(
    several: list[Shape], b: Shape, shift: Point
) -> None:
    found = rim_farthest_from_all(
        several, b, np.tile(np.array([(0.0, 0.0), shift]), (len(several), 1, 1))
    )
    assert rim_farthest_from_all(several, b, np.zeros((len(several), 1, 2)))[0] == pytest.approx(
        found[0], abs=1e-5
    )
    for rim, place in zip(found, (b, moved(b, 0, shift)), strict=True):
        exact = farthest_from_all(several, place)
        assert rim <= exact + 1e-8
        inside = distance_matrix(several, np.array([place.center]))[:, 0].min()
        assert rim == pytest.approx(exact, abs=1e-5) or exact > inside - place.bounding_radius_mm


@settings(max_examples=60)
@given(st.integers(0, 9999), st.integers(2, 6), st.floats(5, 60))
def test_the_farthest_part_of_a_disc_from_points_is_that_of_the_search(
    seed: int, count: int, radius: float
) -> None:
    random = np.random.default_rng(seed)
    centers, shift = random.normal(size=(count, 2)) * 60, random.normal(size=2) * 20
    moved = Disc((float(shift[0]), float(shift[1])), radius)
    found = farthest_from_points(centers, Disc((0.0, 0.0), radius), np.tile(shift, (count, 1, 1)))
    points = [Disc((float(x), float(y))) for x, y in centers]
    assert found[0] == pytest.approx(farthest_from_all(points, moved), abs=1e-6)

"""Outlines of terrain: what is repaired, what is refused, and that the order of the corners says nothing."""

import math
from typing import Any

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry.base import BaseGeometry

from overruler.errors import BadInput
from overruler.geometry.shapes import Point
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Scene, Terrain
from overruler.terrain import read_footprint

Ring = list[Point]
TEE: Ring = [(200, 0), (250, 0), (250, 50), (225, 50), (200, 50)]
SPIKED: Ring = [*TEE[:4], (225, 400), (225, 50), TEE[4]]
PINCHED = [(0, 0), (10, 0), (5, 5), (10, 10), (0, 10), (5, 5)]
WITH_HOLE = [
    *((0, 0), (90, 0), (90, 90), (0, 90), (0, 0)),
    *((30, 30), (30, 60), (60, 60), (60, 30), (30, 30)),
]
TWISTED_AT_A_CORNER = [(0, 0), (5, 5), (11, 11), (11, 0), (5, 5), (0, 10)]
TWICE_ROUND = [(0, 0), (10, 0), (10, 10), (0, 10)] * 2

star = st.lists(st.floats(5, 100), min_size=3, max_size=12).map(
    lambda radii: [
        (r * math.cos(math.tau * k / len(radii)), r * math.sin(math.tau * k / len(radii)))
        for k, r in enumerate(radii)
    ]
)


def read(points: Any) -> tuple[Point, ...]:
    return read_footprint(Node([list(point) for point in points], "scene", "footprint_mm"))


def area_of(points: Any) -> BaseGeometry:
    """The union of the convex parts of a footprint."""
    parts = Terrain("t", read(points), 50.0).parts
    union: BaseGeometry = shapely.union_all([shapely.Polygon(part.corners) for part in parts])
    return union


def distance_to(points: Any, *, x: float = 100.0, y: float = 100.0) -> float:
    """The distance of a round base from an outline, as `overruler ask` answers it."""
    base = {"shape": "circle", "diameter_mm": 27}
    scene = {
        "schema": "overruler/scene/1",
        "game": "legion",
        "board": {"width_mm": 900, "height_mm": 600},
        "pieces": [{"id": "a", "base": base, "x_mm": x, "y_mm": y}],
        "terrain": [{"id": "t", "footprint_mm": [list(p) for p in points], "top_z_mm": 50}],
    }
    verdict = ask(Scene.from_json(scene), {"question": "distance", "from": "a", "to": "t"})
    assert verdict.distance_mm is not None
    return verdict.distance_mm


def orders(points: Ring) -> list[Ring]:
    """The ring from each of its corners, in both directions."""
    rings = [points[start:] + points[:start] for start in range(len(points))]
    return [*rings, *(ring[::-1] for ring in rings)]


@pytest.mark.parametrize("points", orders(SPIKED))
def test_a_spike_without_a_width_is_removed_wherever_the_outline_begins(points: Ring) -> None:
    assert set(read(points)) == set(TEE)
    assert distance_to(points) == distance_to(TEE) == pytest.approx(98.303, abs=1e-3)


@pytest.mark.parametrize("points", [PINCHED, WITH_HOLE])
def test_an_outline_may_touch_itself(points: Ring) -> None:
    whole = area_of(points)
    assert whole.area == pytest.approx(shapely.make_valid(shapely.Polygon(points)).area)
    for ring in orders(points):
        assert area_of(ring).symmetric_difference(whole).area < 1e-9


@pytest.mark.parametrize("points", [TWISTED_AT_A_CORNER, TWICE_ROUND])
def test_an_outline_that_crosses_itself_where_it_touches_is_refused(points: Ring) -> None:
    for ring in orders(points):
        with pytest.raises(BadInput, match=r"scene: footprint_mm: crosses itself at \("):
            read(ring)


def test_crossing_sides_are_named_by_the_points_of_the_file() -> None:
    with pytest.raises(BadInput, match="the side from point 0 and the side from point 3"):
        read([(0, 0), (0, 0), (9, 9), (9, 0), (0, 9)])


spike_lengths = st.floats(-300, 300).map(lambda mm: round(mm, 3))  # no point a rounding error away


@settings(max_examples=60)
@given(
    star,
    st.integers(0, 11),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 11), spike_lengths, st.booleans()), max_size=3),
)
def test_neither_order_nor_repeated_points_nor_spikes_change_an_outline(
    ring: Ring, start: int, clockwise: bool, spikes: list[tuple[int, float, bool]]
) -> None:
    disturbed = list(ring)
    for corner, length, repeated in spikes:
        place = corner % len(disturbed)
        point = disturbed[place]
        tip = point if repeated else (point[0] + length, point[1] - length / 3)
        disturbed[place + 1 : place + 1] = [tip, point]
    start %= len(disturbed)
    disturbed = disturbed[start:] + disturbed[:start]
    disturbed = disturbed[::-1] if clockwise else disturbed
    assert set(read(disturbed)) == set(read(ring))
    assert area_of(disturbed).symmetric_difference(area_of(ring)).area < 1e-6
    assert distance_to(disturbed, x=250) == pytest.approx(distance_to(ring, x=250), abs=1e-9)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=9))
def test_what_is_read_is_the_area_that_the_outline_encloses(points: Ring) -> None:
    try:
        read(points)
    except BadInput:
        for ring in orders(points):
            with pytest.raises(BadInput):
                read(ring)
        return
    enclosed = area_of(points)
    valid = shapely.make_valid(shapely.Polygon(read(points)))
    assert enclosed.symmetric_difference(valid).area < 1e-9
    for ring in orders(points):
        assert area_of(ring).symmetric_difference(enclosed).area < 1e-9

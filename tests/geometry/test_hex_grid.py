"""Hexes against what they are: the nearest centre, a walk from neighbour to neighbour, polygons drawn out."""

from itertools import pairwise
from math import cos, dist, pi, sin, sqrt

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.hex_grid import NEIGHBOURS, Hex, HexGrid, hex_distance, hexes_between
from overruler.geometry.shapes import Point

HEX = st.tuples(st.integers(-40, 40), st.integers(-40, 40))
GRID = st.builds(
    HexGrid,
    st.booleans(),
    st.floats(0.5, 80),
    st.tuples(st.floats(-900, 900), st.floats(-900, 900)),
)
TURN_AND_OUT = st.tuples(st.floats(0, 2 * pi), st.floats(0, 1))


def outline(grid: HexGrid, hexagon: Hex) -> shapely.Polygon:
    (x, y), first = grid.center(hexagon), pi / 2 if grid.pointy else 0
    turns = [first + k * pi / 3 for k in range(6)]
    return shapely.Polygon(
        [(x + grid.size_mm * cos(turn), y + grid.size_mm * sin(turn)) for turn in turns]
    )


def near(grid: HexGrid, hexagon: Hex, place: Point) -> Point:
    """A point in or round a hex, from a turn and a share of its size."""
    x, y = grid.center(hexagon)
    return x + grid.size_mm * place[1] * cos(place[0]), y + grid.size_mm * place[1] * sin(place[0])


def around(hexagon: Hex, rings: int = 2) -> list[Hex]:
    span = range(-rings, rings + 1)
    return [(hexagon[0] + dq, hexagon[1] + dr) for dq in span for dr in span]


@pytest.mark.parametrize(
    ("pointy", "hexagon", "place"),
    [
        (True, (0, 0), (500, 400)),
        (True, (3, -1), (500 + 30 * sqrt(3) * 2.5, 355)),
        (True, (0, 2), (500 + 30 * sqrt(3), 490)),
        (False, (3, -1), (635, 400 + 30 * sqrt(3) * 0.5)),
        (False, (0, 2), (500, 400 + 60 * sqrt(3))),
    ],
)
def test_centers(pointy: bool, hexagon: Hex, place: Point) -> None:
    assert HexGrid(pointy, 30, (500, 400)).center(hexagon) == pytest.approx(place, abs=1e-9)


@given(GRID, HEX)
def test_the_center_of_a_hex_lies_in_it(grid: HexGrid, hexagon: Hex) -> None:
    assert grid.hex_at(grid.center(hexagon)) == hexagon


@given(GRID, HEX, TURN_AND_OUT)
def test_a_point_lies_in_the_hex_of_the_nearest_center(
    grid: HexGrid, hexagon: Hex, place: Point
) -> None:
    point = near(grid, hexagon, place)
    nearest = min(dist(point, grid.center(other)) for other in around(hexagon))
    assert dist(point, grid.center(grid.hex_at(point))) == pytest.approx(nearest, abs=1e-9)
    assert outline(grid, grid.hex_at(point)).distance(shapely.Point(point)) < 1e-9


@given(GRID, HEX, TURN_AND_OUT)
def test_borders_are_as_far_as_the_hexes_behind_them(
    grid: HexGrid, hexagon: Hex, place: Point
) -> None:
    point = near(grid, hexagon, place)
    borders = grid.neighbour_distances_mm(point)
    assert {hex_distance(grid.hex_at(point), other) for other in borders} == {1}
    assert len(borders) == 6
    for other, border_mm in borders.items():
        assert border_mm == pytest.approx(
            outline(grid, other).distance(shapely.Point(point)), abs=1e-9
        )


@given(
    GRID,
    st.lists(st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000)), min_size=1, max_size=20),
)
def test_many_points_lie_where_each_does(grid: HexGrid, points: list[Point]) -> None:
    found = grid.hexes_at(np.array(points))
    assert found.dtype.kind == "i"
    assert [(q, r) for q, r in found.tolist()] == [grid.hex_at(point) for point in points]


def test_steps_are_those_of_a_walk() -> None:
    reached, edge = {(0, 0): 0}, [(0, 0)]
    for count in range(1, 7):
        edge = [(q + dq, r + dr) for q, r in edge for dq, dr in NEIGHBOURS]
        for hexagon in edge:
            reached.setdefault(hexagon, count)
        edge = [hexagon for hexagon in set(edge) if reached[hexagon] == count]
    assert len(reached) == 1 + 6 * sum(range(1, 7))
    assert all(hex_distance((0, 0), hexagon) == count for hexagon, count in reached.items())


@given(HEX, HEX, HEX)
def test_steps_are_a_distance(a: Hex, b: Hex, c: Hex) -> None:
    assert hex_distance(a, b) == hex_distance(b, a)
    assert (hex_distance(a, b) == 0) == (a == b)
    assert hex_distance(a, c) <= hex_distance(a, b) + hex_distance(b, c)
    assert hex_distance(a, b) == hex_distance(
        (a[0] + c[0], a[1] + c[1]), (b[0] + c[0], b[1] + c[1])
    )


@given(st.booleans())
def test_neighbours_are_a_hex_s_width_away_and_run_counter_clockwise(pointy: bool) -> None:
    grid = HexGrid(pointy, 30)
    places = [complex(*grid.center(hexagon)) for hexagon in NEIGHBOURS]
    turns = [after / before for before, after in zip(places, places[1:] + places[:1], strict=True)]
    assert [abs(place) for place in places] == pytest.approx([30 * sqrt(3)] * 6)
    assert turns == pytest.approx([complex(0.5, sqrt(3) / 2)] * 6)


@given(GRID, HEX, HEX)
def test_hexes_between_two_are_a_shortest_way_along_the_straight_line(
    grid: HexGrid, a: Hex, b: Hex
) -> None:
    way = hexes_between(a, b)
    assert (way[0], way[-1], len(way)) == (a, b, hex_distance(a, b) + 1)
    assert all(hex_distance(p, q) == 1 for p, q in pairwise(way))
    line = shapely.LineString([grid.center(a), grid.center(b)])
    slack = 1e-4 * grid.size_mm
    assert all(outline(grid, hexagon).distance(line) <= slack for hexagon in way)


@given(GRID, HEX)
def test_corners_are_those_of_the_outline(grid: HexGrid, hexagon: Hex) -> None:
    from overruler.rules.hexes.answer import corners_of

    ring = shapely.Polygon(corners_of(grid, hexagon, grid.size_mm))
    assert ring.exterior.is_ccw
    assert ring.symmetric_difference(outline(grid, hexagon)).area <= 1e-6 * ring.area

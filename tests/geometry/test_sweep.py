"""Sweeps against what shapely says of fine polygons, against closed forms, and against themselves."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from overruler.geometry.batched import sweeps
from overruler.geometry.shapes import (
    Disc,
    Ellipse,
    Point,
    Polygon,
    Shape,
    rectangle,
    translate_shape,
)
from overruler.geometry.sweep import (
    contact_interval,
    entry_distance,
    first_contact_distance,
    lateral_overlap_mm,
    overlaps,
)
from overruler.geometry.tangents import signed_gap_mm

places = st.tuples(st.floats(-80, 80), st.floats(-80, 80))
sizes = st.floats(2, 70)
offsets = st.tuples(st.floats(-15, 15), st.floats(-15, 15))
turns = st.floats(0, 360)
triangles = st.builds(
    lambda at, a, b, c: translate_shape(Polygon(((0.0, 0.0), (a, 0.0), (c, b))), *at),
    places,
    sizes,
    sizes,
    st.floats(-40, 40),
)
shapes = st.one_of(
    st.builds(Disc, places, st.floats(1, 40)),
    st.builds(Ellipse, places, sizes, sizes, turns),
    st.builds(rectangle, places, sizes, sizes, turns),
    triangles,
)
lines = st.floats(0, math.tau).map(lambda turn: (math.cos(turn), math.sin(turn)))
A_DISC = Disc((0.0, 0.0), 15)
WALL = rectangle((100.0, 0.0), 20, 60)  # its near side at x = 90
RIGHT = (1.0, 0.0)


def outline(shape: Shape, inside: bool) -> shapely.Polygon:
    """A polygon of 720 corners within a shape, or one round it."""
    if isinstance(shape, Polygon):
        return shapely.Polygon(shape.corners)
    turn = np.linspace(0, math.tau, 720, endpoint=False)
    xx, xy, yy = (
        shape.matrix
        if isinstance(shape, Ellipse)
        else (shape.radius_mm**2, 0.0, shape.radius_mm**2)
    )
    # A circle's polygon, within it or round it, stretched with the circle.
    rim = np.stack([np.cos(turn), np.sin(turn)], 1) @ np.linalg.cholesky([[xx, xy], [xy, yy]]).T
    return shapely.Polygon(rim * (1 if inside else 1 / math.cos(math.pi / 720)) + shape.center)


def swept(shape: Shape, line: Point, length: float, inside: bool) -> shapely.Polygon:
    start = outline(shape, inside)
    end = shapely.affinity.translate(start, line[0] * length, line[1] * length)
    hull = shapely.union(start, end).convex_hull
    assert isinstance(hull, shapely.Polygon)
    return hull


def at(shape: Shape, line: Point, along: float) -> Shape:
    return translate_shape(shape, along * line[0], along * line[1])


def brought_over(shape: Shape, other: Shape, offset: tuple[float, float]) -> Shape:
    """The shape, moved so that its centre lies by the offset from the other's: most such pairs overlap."""
    return translate_shape(shape, *np.array(middle(other)) - middle(shape) + offset)


def middle(shape: Shape) -> tuple[float, float]:
    if isinstance(shape, Polygon):
        x, y = np.mean(shape.corners, axis=0)
        return float(x), float(y)
    return shape.center


# --- closed forms ---


def test_discs_meet_where_their_middles_are_two_radii_apart() -> None:
    met = contact_interval(A_DISC, Disc((100.0, 18.0), 15), *RIGHT)
    assert met == pytest.approx((100 - 24, 100 + 24), abs=1e-9)  # 30² = 18² + 24²


def test_a_disc_meets_a_side_and_a_corner() -> None:
    assert contact_interval(A_DISC, WALL, *RIGHT) == pytest.approx((75, 125), abs=1e-9)
    assert contact_interval(A_DISC, rectangle((100.0, 39.0), 20, 60), *RIGHT) == pytest.approx(
        (78, 122), abs=1e-9
    )  # 12, 9, 15


def test_an_oval_meets_what_its_end_meets() -> None:
    assert contact_interval(Ellipse((0.0, 0.0), 50, 30), WALL, *RIGHT) == pytest.approx(
        (65, 135), abs=1e-9
    )
    assert contact_interval(Ellipse((0.0, 0.0), 50, 30, 90), WALL, *RIGHT) == pytest.approx(
        (75, 125), abs=1e-9
    )


def test_sliding_along_a_side_is_contact_from_its_one_end_to_its_other() -> None:
    beside = rectangle((100.0, 45.0), 20, 60)
    for off in (0.0, 5e-7):
        assert contact_interval(translate_shape(A_DISC, 0, -off), beside, *RIGHT) == pytest.approx(
            (90, 110), abs=1e-4
        )
        assert entry_distance(translate_shape(A_DISC, 0, -off), beside, *RIGHT) is None
    assert contact_interval(translate_shape(A_DISC, 0, -2e-6), beside, *RIGHT) is None
    assert entry_distance(translate_shape(A_DISC, 0, 2e-6), beside, *RIGHT) == pytest.approx(
        90, abs=0.02
    )


def test_corners_that_only_touch_slide_by() -> None:
    a, b = rectangle((0.0, 0.0), 20, 20), rectangle((20.0, 20.0), 20, 20)
    assert signed_gap_mm(a, b) == pytest.approx(0, abs=1e-12)
    for line in ((1.0, 0.0), (0.0, 1.0), (math.sqrt(0.5), -math.sqrt(0.5)), (-1.0, 0.0)):
        assert entry_distance(a, b, *line) is None
    assert entry_distance(a, b, math.sqrt(0.5), math.sqrt(0.5)) == 0


def test_the_end_of_a_way_may_touch() -> None:
    assert entry_distance(A_DISC, WALL, *RIGHT, 75.0) is None
    assert entry_distance(A_DISC, WALL, *RIGHT, 75.001) == pytest.approx(75, abs=1e-9)
    assert first_contact_distance(A_DISC, WALL, *RIGHT) == pytest.approx(75, abs=1e-9)


def test_what_stands_in_contact_goes_in_only_by_pressing_on() -> None:
    for depth in (0.0, 0.2, -5e-7):
        held = at(A_DISC, RIGHT, 75 + depth)
        assert entry_distance(held, WALL, *RIGHT) == first_contact_distance(held, WALL, *RIGHT) == 0
        assert entry_distance(held, WALL, *RIGHT, 0.0) is None
        for line in ((-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (-0.6, 0.8)):
            assert entry_distance(held, WALL, *line) is None
            assert first_contact_distance(held, WALL, *line) is None


def test_what_lies_behind_is_not_met() -> None:
    assert entry_distance(A_DISC, WALL, -1.0, 0.0) is None
    assert first_contact_distance(A_DISC, WALL, -1.0, 0.0) is None


def test_a_graze_is_met_but_not_entered() -> None:
    other = Disc((100.0, 30.0), 15)
    assert first_contact_distance(A_DISC, other, *RIGHT) == pytest.approx(100, abs=1e-4)
    assert entry_distance(A_DISC, other, *RIGHT) is None


def test_depth_is_the_shortest_way_apart() -> None:
    assert signed_gap_mm(A_DISC, Disc((10.0, 0.0), 15)) == pytest.approx(-20)
    assert signed_gap_mm(at(A_DISC, RIGHT, 80), WALL) == pytest.approx(-5, abs=1e-9)
    assert signed_gap_mm(rectangle((95.0, 29.0), 20, 60), WALL) == pytest.approx(-15, abs=1e-9)
    assert signed_gap_mm(Ellipse((100.0, 0.0), 6, 10), WALL) == pytest.approx(-13, abs=1e-9)
    assert signed_gap_mm(A_DISC, A_DISC) == -30


# --- laws ---


@settings(max_examples=150)
@given(shapes, shapes, lines)
def test_at_both_ends_of_a_stretch_the_shapes_just_touch(a: Shape, b: Shape, line: Point) -> None:
    met = contact_interval(a, b, *line)
    assume(met is not None and lateral_overlap_mm(a, b, *line) > 1e-3)
    assert met is not None
    for along, outwards in ((met.first_mm, -1e-3), (met.last_mm, 1e-3)):
        assert signed_gap_mm(at(a, line, along), b) == pytest.approx(0, abs=1e-9)
        assert signed_gap_mm(at(a, line, along + outwards), b) > 0
        assert signed_gap_mm(at(a, line, along - outwards), b) < 0


@settings(max_examples=150)
@given(shapes, shapes, lines, st.floats(0, 200))
def test_a_sweep_agrees_with_shapely(a: Shape, b: Shape, line: Point, length: float) -> None:
    met = contact_interval(a, b, *line)
    meets_on_the_way = met is not None and met.first_mm <= length and met.last_mm >= 0
    if swept(a, line, length, True).intersects(outline(b, True)):
        assert meets_on_the_way
    if not swept(a, line, length, False).intersects(outline(b, False)):
        assert not meets_on_the_way


@settings(max_examples=100)
@given(shapes, shapes)
def test_separation_agrees_with_shapely(a: Shape, b: Shape) -> None:
    apart = signed_gap_mm(a, b)
    assert (apart > 0) or outline(a, False).intersects(outline(b, False))
    assert (apart <= 0) or outline(a, False).distance(outline(b, False)) <= apart + 1e-9
    assert signed_gap_mm(b, a) == pytest.approx(apart, abs=1e-9)
    assert overlaps(a, b) == (apart < -1e-6)


@settings(max_examples=40)
@given(shapes, shapes, offsets, lines)
def test_depth_is_how_far_one_must_move_to_be_apart(
    a: Shape, far: Shape, offset: tuple[float, float], line: Point
) -> None:
    b = brought_over(far, a, offset)
    depth = -signed_gap_mm(a, b)
    assume(depth > 0)
    met = contact_interval(a, b, *line)
    assert met is not None
    assert met.last_mm >= depth - 1e-9  # no way out is shorter
    least = min(
        found.last_mm
        for turn in np.linspace(0, math.tau, 240)
        if (found := contact_interval(a, b, math.cos(turn), math.sin(turn)))
    )
    assert least <= depth * 1.02 + 0.05


@settings(max_examples=100)
@given(shapes, shapes, lines, st.floats(0, math.tau), places)
def test_turned_and_moved_together_nothing_changes(
    a: Shape, b: Shape, line: Point, turn: float, by: tuple[float, float]
) -> None:
    c, s = math.cos(turn), math.sin(turn)

    def there(point: Point) -> Point:
        return c * point[0] - s * point[1] + by[0], s * point[0] + c * point[1] + by[1]

    def carried(shape: Shape) -> Shape:
        if isinstance(shape, Polygon):
            return Polygon(tuple(there(corner) for corner in shape.corners))
        if isinstance(shape, Disc):
            return Disc(there(shape.center), shape.radius_mm)
        return Ellipse(
            there(shape.center),
            shape.length_mm,
            shape.width_mm,
            shape.heading_deg + math.degrees(turn),
        )

    met = contact_interval(a, b, *line)
    assume(abs(lateral_overlap_mm(a, b, *line)) > 1e-3)
    moved = contact_interval(
        carried(a), carried(b), c * line[0] - s * line[1], s * line[0] + c * line[1]
    )
    assert (met is None) == (moved is None)
    if met and moved:
        assert moved == pytest.approx(met, abs=1e-7)


@settings(max_examples=40)
@given(shapes, shapes, st.integers(0, 2**32 - 1), st.floats(0, 150))
def test_many_at_once_say_what_each_says(a: Shape, b: Shape, seed: int, length: float) -> None:
    rng = np.random.default_rng(seed)
    shifts, turn = rng.normal(size=(20, 2)) * 20, rng.uniform(0, math.tau, 20)
    u = np.stack([np.cos(turn), np.sin(turn)], 1)
    firsts, lasts = sweeps.contact_intervals(a, b, shifts, u)
    ways = sweeps.entry_distances(a, b, shifts, u, length)
    met = sweeps.first_contact_distances(a, b, shifts, u)
    apart, normals = sweeps.signed_separations(a, b, shifts)
    over = sweeps.overlap_mask(a, b, shifts)
    for k in range(20):
        there, line = translate_shape(b, *shifts[k]), (float(u[k, 0]), float(u[k, 1]))
        if min(abs(signed_gap_mm(a, there)), abs(lateral_overlap_mm(a, there, *line))) < 1e-5:
            continue
        assert apart[k] == pytest.approx(signed_gap_mm(a, there), abs=1e-7)
        assert over[k] == overlaps(a, there)
        stretch = contact_interval(a, there, *line)
        assert (firsts[k], lasts[k]) == pytest.approx(stretch or (math.inf, -math.inf), abs=1e-5)
        if abs(normals[k] @ u[k]) > 1e-3:
            assert ways[k] == pytest.approx(
                _or_inf(entry_distance(a, there, *line, length)), abs=1e-5
            )
            assert met[k] == pytest.approx(
                _or_inf(first_contact_distance(a, there, *line)), abs=1e-5
            )


def _or_inf(along: float | None) -> float:
    return math.inf if along is None else along


@settings(max_examples=60)
@given(shapes, shapes, st.integers(0, 2**32 - 1))
def test_the_direction_that_parts_them_best_does(a: Shape, b: Shape, seed: int) -> None:
    shifts = np.random.default_rng(seed).normal(size=(20, 2)) * 40
    apart, normals = sweeps.signed_separations(a, b, shifts)
    there = (b.support_points(-normals) + shifts - a.support_points(normals)) * normals
    assert there.sum(1) == pytest.approx(apart, abs=1e-7)

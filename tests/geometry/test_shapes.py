"""Distances between exact shapes: laws that hold for all, cases worked out by hand, and fine polygons by shapely."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overruler.geometry.farthest import farthest_gap
from overruler.geometry.shapes import (
    Disc,
    Ellipse,
    Point,
    Polygon,
    Shape,
    gap,
    hexagon,
    rectangle,
    stadium,
)

FEW = settings(max_examples=120)
EXACT = 1e-9

along = st.floats(-150, 150) | st.integers(-20, 20).map(float)
places = st.tuples(along, along)
sizes = st.floats(1, 120) | st.integers(1, 20).map(float)
headings = st.floats(-360, 360) | st.sampled_from([0.0, 45.0, 90.0, 180.0])
discs = st.builds(
    Disc, places, st.floats(1e-6, 80) | st.integers(0, 20).map(float)
)  # as small as a scene has them
ellipses = st.builds(Ellipse, places, sizes, sizes, headings)
rectangles = st.builds(rectangle, places, sizes, sizes, headings) | st.builds(
    rectangle, places, st.floats(4, 120), st.floats(4, 120), headings, st.floats(0.1, 2)
)
long_sides, short_sides = st.floats(20, 60), st.floats(5, 20)
StadiumSize = tuple[Point, float, float, float]
"""Centre, length, width and heading."""
stadium_sizes = st.tuples(places, long_sides, short_sides, headings)
stadiums = stadium_sizes.map(lambda size: stadium(*size))
shapes = st.one_of(discs, ellipses, rectangles, stadiums)


def moved(shape: Shape, turn_deg: float, shift: Point) -> Shape:
    """The shape turned about the origin and then shifted."""
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))

    def move(p: Point) -> Point:
        return c * p[0] - s * p[1] + shift[0], s * p[0] + c * p[1] + shift[1]

    if isinstance(shape, Polygon):
        return Polygon(tuple(move(corner) for corner in shape.corners))
    if isinstance(shape, Ellipse):
        return replace(shape, center=move(shape.center), heading_deg=shape.heading_deg + turn_deg)
    return replace(shape, center=move(shape.center))


def away(shape: Shape, point: Point) -> float:
    return gap(shape, Disc(point)).distance_mm


def outline(shape: Shape, sides: int = 720) -> tuple[shapely.Polygon, float]:
    """A polygon with its corners on the shape's rim, and the most that it falls short of the shape."""
    if isinstance(shape, Polygon):
        return shapely.Polygon(shape.corners), 0.0
    a, b, turn = (
        (shape.radius_mm, shape.radius_mm, 0.0)
        if isinstance(shape, Disc)
        else (shape.length_mm / 2, shape.width_mm / 2, math.radians(shape.heading_deg))
    )
    t = np.arange(sides) * 2 * np.pi / sides
    along, across = a * np.cos(t), b * np.sin(t)
    c, s = math.cos(turn), math.sin(turn)
    points = np.stack([c * along - s * across, s * along + c * across], 1) + shape.center
    # An ellipse is a circle of radius max(a, b) pressed together: its polygon falls short by the circle's at most.
    return shapely.Polygon(points), max(a, b) * (1 - math.cos(math.pi / sides))


# --- laws ---


@FEW
@given(
    places,
    st.floats(5, 120),
    st.floats(5, 120),
    headings,
    st.floats(0.01, 1),
    st.floats(0, 2 * math.pi),
)
def test_a_rectangle_s_rounded_corners_lie_on_their_arcs(
    center: Point, length: float, width: float, heading: float, share: float, angle: float
) -> None:
    """In every direction it reaches as far as a smaller one grown by the radius, 2 % of that at most farther."""
    radius = share * min(length, width) / 2
    round_one = rectangle(center, length, width, heading, radius)
    inner = rectangle(center, length - 2 * radius, width - 2 * radius, heading)
    u = math.cos(angle), math.sin(angle)

    def reach(shape: Polygon) -> float:
        x, y = shape.support_point(*u)
        return x * u[0] + y * u[1]

    assert -1e-9 <= reach(round_one) - (reach(inner) + radius) <= 0.02 * radius + 1e-9


@given(headings, st.integers(0, 7))
def test_a_rounded_rectangle_is_exact_along_its_sides_and_diagonals(
    heading: float, eighth: int
) -> None:
    plate = rectangle((0, 0), 40, 40, heading, 1.5)
    angle = math.radians(heading + 45 * eighth)
    x, y = plate.support_point(math.cos(angle), math.sin(angle))
    exact = 20 if eighth % 2 == 0 else 18.5 * math.sqrt(2) + 1.5
    assert x * math.cos(angle) + y * math.sin(angle) == pytest.approx(exact, abs=1e-9)


@FEW
@given(shapes, shapes)
def test_gap_is_symmetric(a: Shape, b: Shape) -> None:
    there, back = gap(a, b), gap(b, a)
    assert there.distance_mm == pytest.approx(back.distance_mm, abs=EXACT)


@FEW
@given(shapes, shapes)
@example(Disc((0.0, 3.0), 3.0), Ellipse((1.0, 0.0), 1.0, 4.0))
def test_points_lie_on_their_shapes_and_the_gap_between_them(a: Shape, b: Shape) -> None:
    found = gap(a, b)
    assert math.dist(found.from_point, found.to_point) == pytest.approx(
        found.distance_mm, abs=EXACT
    )
    assert away(a, found.from_point) <= EXACT
    assert away(b, found.to_point) <= EXACT


@FEW
@given(shapes, shapes, headings, places)
def test_moving_everything_changes_no_distance(
    a: Shape, b: Shape, turn: float, shift: Point
) -> None:
    a2, b2 = moved(a, turn, shift), moved(b, turn, shift)
    assert gap(a2, b2).distance_mm == pytest.approx(gap(a, b).distance_mm, abs=EXACT)
    assert farthest_gap(a2, b2).distance_mm == pytest.approx(
        farthest_gap(a, b).distance_mm, abs=EXACT
    )


@FEW
@given(discs, shapes, st.floats(0, 40))
def test_a_disc_that_grows_comes_closer_by_as_much(disc: Disc, other: Shape, growth: float) -> None:
    grown = replace(disc, radius_mm=disc.radius_mm + growth)
    before = gap(disc, other).distance_mm
    if before > 0:
        assert gap(grown, other).distance_mm == pytest.approx(max(before - growth, 0), abs=EXACT)
    assert farthest_gap(other, grown).distance_mm >= farthest_gap(other, disc).distance_mm - EXACT


@FEW
@given(shapes, discs, st.floats(0, 40))
def test_the_farthest_part_of_a_disc_goes_out_as_it_grows(
    a: Shape, disc: Disc, growth: float
) -> None:
    if away(a, disc.center) > 0:
        assert farthest_gap(a, disc).distance_mm == pytest.approx(
            away(a, disc.center) + disc.radius_mm, abs=EXACT
        )
        grown = replace(disc, radius_mm=disc.radius_mm + growth)
        assert farthest_gap(a, grown).distance_mm == pytest.approx(
            farthest_gap(a, disc).distance_mm + growth, abs=EXACT
        )


@FEW
@given(shapes, shapes)
def test_gap_agrees_with_fine_polygons(a: Shape, b: Shape) -> None:
    (polygon_a, short_a), (polygon_b, short_b) = outline(a), outline(b)
    apart = polygon_a.distance(polygon_b)
    assert apart - short_a - short_b - 1e-7 <= gap(a, b).distance_mm <= apart + 1e-7


@FEW
@given(shapes, shapes)
def test_farthest_part_agrees_with_dense_points_of_the_rim(a: Shape, b: Shape) -> None:
    (polygon_a, short_a), (polygon_b, short_b) = outline(a), outline(b)
    points = shapely.points(shapely.get_coordinates(polygon_b))
    sampled = shapely.distance(polygon_a, points).max()
    assert sampled - short_a - 1e-7 <= farthest_gap(a, b).distance_mm <= sampled + short_b + 1e-7


@FEW
@given(shapes, shapes)
def test_farthest_part_is_that_point_of_the_shape_and_no_nearer_than_the_gap(
    a: Shape, b: Shape
) -> None:
    found = farthest_gap(a, b)
    assert away(b, found.to_point) <= EXACT
    assert away(a, found.to_point) == pytest.approx(found.distance_mm, abs=EXACT)
    assert found.distance_mm >= gap(a, b).distance_mm - EXACT


@FEW
@given(shapes, st.floats(0, 359), st.floats(0, 0.99))
@example(rectangle((0, 0), 40, 40), 0.0, 0.5)
def test_what_lies_inside_is_in_contact_and_reaches_nowhere(
    a: Shape, angle: float, share: float
) -> None:
    ux, uy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    px, py = a.support_point(ux, uy)
    inside = Disc(
        (a.center[0] + share * (px - a.center[0]), a.center[1] + share * (py - a.center[1]))
    )
    assert gap(a, inside).distance_mm <= EXACT
    assert farthest_gap(a, inside).distance_mm <= EXACT


@FEW
@given(shapes, shapes, st.floats(1e-7, 100))
def test_pulled_apart_along_the_gap_they_are_that_much_farther(
    a: Shape, b: Shape, pull: float
) -> None:
    found = gap(a, b)
    if found.distance_mm > 1e-3:
        share = pull / found.distance_mm
        (ax, ay), (bx, by) = found.from_point, found.to_point
        pulled = moved(b, 0, ((bx - ax) * share, (by - ay) * share))
        assert gap(a, pulled).distance_mm == pytest.approx(found.distance_mm + pull, abs=1e-8)


# --- by hand ---

BOX = rectangle((0, 0), 60, 40)
CASES = [
    (Disc((0, 0), 13.5), Disc((127, 0), 13.5), 100.0),
    (Disc((0, 0), 13.5), Disc((27, 0), 13.5), 0.0),
    (Disc((0, 0), 20), Disc((0, 0), 5), 0.0),
    (BOX, Disc((50, 0), 5), 15.0),  # across its length
    (BOX, Disc((0, 50), 5), 25.0),  # across its width
    (BOX, Disc((33, 24), 1), 4.0),  # a corner: 3-4-5
    (BOX, rectangle((100, 0), 60, 40), 40.0),  # edge to edge
    (BOX, rectangle((65, 45), 60, 40), math.hypot(5, 5)),  # corner to corner
    (BOX, rectangle((60, 0), 60, 40), 0.0),  # edges touch all along
    (BOX, rectangle((60, 40), 60, 40), 0.0),  # corners touch
    (BOX, rectangle((0, 0), 60, 40, 90), 0.0),  # crossed, one centre
    (BOX, rectangle((100, 0), 20 * math.sqrt(2), 20 * math.sqrt(2), 45), 50.0),  # edge to corner
    (Ellipse((0, 0), 60, 40), Disc((50, 0), 5), 15.0),
    (Ellipse((0, 0), 60, 40, 90), Disc((50, 0), 5), 25.0),
    (Ellipse((0, 0), 60, 40), Ellipse((100, 0), 60, 40, 90), 50.0),
    (Ellipse((0, 0), 50, 50, 33), Disc((30, 40), 5), 20.0),  # a circle, as an ellipse
    (Ellipse((0, 0), 60, 40), rectangle((0, 45), 200, 10), 20.0),
]


@pytest.mark.parametrize(("a", "b", "distance"), CASES)
def test_gap_by_hand(a: Shape, b: Shape, distance: float) -> None:
    assert gap(a, b).distance_mm == pytest.approx(distance, abs=EXACT)


FARTHEST = [
    (Disc((0, 0), 13.5), Disc((127, 0), 13.5), 127.0),
    (Disc((0, 0), 50), Disc((10, 0), 5), 0.0),
    (Disc((0, 0), 50), Disc((48, 0), 5), 3.0),
    (Disc((0, 0), 10), rectangle((33, 0), 6, 96), math.hypot(36, 48) - 10),
    (BOX, Disc((0, 0), 25), 5.0),  # pokes out of both long sides
    (BOX, Ellipse((0, 0), 80, 10), 10.0),
    (rectangle((0, 0), 60, 40, 90), Ellipse((0, 0), 80, 10), 20.0),
    (Ellipse((0, 0), 80, 10), Ellipse((0, 0), 80, 10, 90), 35.0),
    (BOX, rectangle((100, 0), 60, 40), 100.0),
]


@pytest.mark.parametrize(("a", "b", "distance"), FARTHEST)
def test_farthest_by_hand(a: Shape, b: Shape, distance: float) -> None:
    assert farthest_gap(a, b).distance_mm == pytest.approx(distance, abs=EXACT)


@FEW
@given(
    st.lists(st.integers(0, 359), min_size=12, max_size=40, unique=True),
    st.floats(-3, 3),
    st.floats(-3, 3),
)
def test_a_disc_in_a_polygon_reaches_out_past_the_nearest_side(
    angles: list[int], x: float, y: float
) -> None:
    rim = Ellipse((0, 0), 60, 40, 25)
    turns = [math.radians(angle) for angle in sorted(angles)]
    polygon = Polygon(tuple(rim.support_point(math.cos(turn), math.sin(turn)) for turn in turns))
    sides = zip(polygon.corners, polygon.corners[1:] + polygon.corners[:1], strict=True)
    depth = min(
        ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / math.dist((ax, ay), (bx, by))
        for (ax, ay), (bx, by) in sides
    )
    if depth > 0:
        assert farthest_gap(polygon, Disc((x, y), depth + 5)).distance_mm == pytest.approx(
            5, abs=EXACT
        )


def test_nearly_parallel_edges_and_thin_shapes_are_exact() -> None:
    thin = rectangle((0, 0), 200, 0.01, 0.001)
    assert gap(thin, rectangle((0, 10), 200, 0.01, -0.001)).distance_mm == pytest.approx(
        10 - 2 * (100 * math.sin(math.radians(0.001)) + 0.005 * math.cos(math.radians(0.001))),
        abs=EXACT,
    )


@pytest.mark.parametrize("step", [1e-6, 1e-8, 1e-10])
def test_a_gap_far_smaller_than_a_touch_is_still_seen(step: float) -> None:
    for a, b in ((BOX, Disc((33 + 4, 20 + 3), 5)), (Ellipse((0, 0), 60, 40), Disc((35, 0), 5))):
        far = replace(b, radius_mm=b.radius_mm - step)
        offset = gap(a, b).distance_mm
        assert gap(a, far).distance_mm - offset == pytest.approx(step, abs=2e-11)


@FEW
@given(st.floats(1e-9, 1e-5), st.floats(1, 1e6), headings, st.floats(0, math.tau))
def test_a_needle_has_a_farthest_point_in_every_direction(
    width: float, length: float, heading: float, turn: float
) -> None:
    """By the matrix, rounding made the square of its reach negative."""
    needle = Ellipse((3.0, -2.0), length, width, heading)
    across = math.radians(heading) + math.pi / 2
    for angle in (turn, across, across + 1e-12):
        u = math.cos(angle), math.sin(angle)
        exact = math.hypot(length / 2 * math.cos(angle - math.radians(heading)), width / 2)
        for x, y in (needle.support_point(*u), needle.support_points(np.array(u))):
            reach = (x - 3) * u[0] + (y + 2) * u[1]
            assert reach == pytest.approx(exact, abs=1e-9 * length)


def middle_line(
    center: Point, length_mm: float, width_mm: float, heading_deg: float
) -> shapely.LineString:
    """The line that a stadium lies within half its width of."""
    turn, half_mm = math.radians(heading_deg), (length_mm - width_mm) / 2
    step = np.array([math.cos(turn), math.sin(turn)]) * half_mm
    return shapely.LineString([center - step, center + step])


@FEW
@given(stadium_sizes, places)
def test_a_stadium_is_what_lies_within_half_its_width_of_a_line(
    one: StadiumSize, point: Point
) -> None:
    want = max(middle_line(*one).distance(shapely.Point(point)) - one[2] / 2, 0.0)
    assert away(stadium(*one), point) == pytest.approx(want, abs=0.0002 * one[2])


@FEW
@given(stadium_sizes, stadium_sizes)
def test_two_stadiums_are_as_far_apart_as_their_middle_lines_less_half_of_each_width(
    one: StadiumSize, other: StadiumSize
) -> None:
    """A stadium is the Minkowski sum of a segment and a disc."""
    lines = middle_line(*one).distance(middle_line(*other))
    widths = one[2] + other[2]
    found = gap(stadium(*one), stadium(*other)).distance_mm
    assert found == pytest.approx(max(lines - widths / 2, 0.0), abs=0.0002 * widths)


def test_a_hexagon_is_so_wide_from_side_to_side_and_points_along_its_heading() -> None:
    one = hexagon((10.0, 20.0), 30.0, 90.0)
    assert away(one, (45.0, 20.0)) == pytest.approx(20.0, abs=EXACT)
    assert away(one, (10.0, 60.0)) == pytest.approx(40 - 30 / 3**0.5, abs=EXACT)
    assert len(one.corners) == 6

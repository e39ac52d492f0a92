"""The part of a base in an arc: cases worked out by hand, laws that hold for all, and regions cut by shapely."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from overruler.geometry.arcs import (
    Region,
    Strip,
    Wedge,
    chord_on_edge,
    counterclockwise_turn_deg,
    distance_to_outline_mm,
    gap_inside_region,
)
from overruler.geometry.batched.arcs import (
    distances_inside_region,
    gaps_and_closest_points,
    region_contains,
)
from overruler.geometry.shapes import Disc, Ellipse, Gap, Point, Polygon, Shape, gap, rectangle
from tests.geometry.test_shapes import away, moved, outline

FEW = settings(max_examples=120)
EXACT = 1e-9
FAR_MM = 5000.0

places = st.tuples(st.floats(-100, 100), st.floats(-100, 100))
sizes = st.floats(3, 100)
headings = st.floats(-400, 400) | st.sampled_from([0.0, 45.0, 90.0, 180.0, 270.0])
discs = st.builds(Disc, places, st.floats(1, 50))
ellipses = st.builds(Ellipse, places, sizes, sizes, headings)
rectangles = st.builds(rectangle, places, sizes, sizes, headings)
shapes = st.one_of(discs, ellipses, rectangles)
wedges = st.builds(
    Wedge, places, headings, st.floats(1, 359) | st.sampled_from([90.0, 180.0, 270.0, 360.0])
)
strips = st.builds(Strip, places, headings, st.floats(1, 60))
regions: st.SearchStrategy[Region] = st.one_of(wedges, strips)
AHEAD = Wedge((0.0, 0.0), -45.0, 90.0)
SHIP = rectangle((0.0, 0.0), 40, 40)


def ray(start: Point, angle_deg: float) -> Point:
    turn = math.radians(angle_deg)
    return start[0] + FAR_MM * math.cos(turn), start[1] + FAR_MM * math.sin(turn)


def cut(region: Region) -> shapely.Polygon:
    """A region as far as the table goes."""
    if isinstance(region, Strip):
        turn = math.radians(region.ahead_deg + 90)
        half = arm(turn, region.width_mm / 2)
        left, right = (
            (region.apex[0] + side * half[0], region.apex[1] + side * half[1]) for side in (1, -1)
        )
        return shapely.Polygon(
            [left, right, ray(right, region.ahead_deg), ray(left, region.ahead_deg)]
        )
    if region.sweep_deg >= 360:
        return shapely.box(-FAR_MM, -FAR_MM, FAR_MM, FAR_MM)
    turns = np.linspace(region.from_deg, region.from_deg + region.sweep_deg, 25)
    return shapely.Polygon([region.apex, *(ray(region.apex, turn) for turn in turns)])


def arm(turn: float, size: float) -> Point:
    return size * math.cos(turn), size * math.sin(turn)


def turned(region: Region, turn_deg: float, shift: Point) -> Region:
    apex = moved(Disc(region.apex), turn_deg, shift).center
    if isinstance(region, Strip):
        return replace(region, apex=apex, ahead_deg=region.ahead_deg + turn_deg)
    return replace(region, apex=apex, from_deg=region.from_deg + turn_deg)


def far(found: Gap | None) -> float:
    return found.distance_mm if found else math.inf


# --- by hand ---


@pytest.mark.parametrize(
    ("region", "target", "distance_mm"),
    [
        (AHEAD, rectangle((150, 0), 40, 40), 110),
        (AHEAD, rectangle((95, 122), 60, 60), 72 * math.sqrt(2)),  # its closest in arc is (92, 92)
        (AHEAD, rectangle((-150, 0), 40, 40), math.inf),
        (AHEAD, rectangle((80, 120), 40, 40), 80 * math.sqrt(2)),  # a corner on the line
        (AHEAD, rectangle((79.999, 120), 40, 40), math.inf),
        (
            AHEAD,
            Polygon(((100, 100), (150, 150), (100, 200), (50, 150))),
            80 * math.sqrt(2),
        ),  # a side along the line
        (
            AHEAD,
            Disc((100, 100 + 30 * math.sqrt(2)), 30),
            80 * math.sqrt(2) + 30,
        ),  # the line grazes it
        (AHEAD, Disc((-40, 0), 40), 0),  # the apex lies on its rim, inside the attacker
        (AHEAD, Disc((0, 0), 100), 0),
        (
            Wedge((0, 0), 135, 270),
            rectangle((0, 150), 40, 40),
            math.inf,
        ),  # the notch of the wedge holds all of it
        (Wedge((0, 0), 45, 270), rectangle((150, 120), 40, 40), 110 * math.sqrt(2)),
        (Wedge((0, 0), 0, 360), rectangle((150, 0), 40, 40), 110),
        (
            Wedge((0, 0), 0, 180),
            rectangle((150, 0), 40, 40),
            110,
        ),  # half of a closest side lies inside
        (Wedge((300, 0), -10, 20), rectangle((150, 0), 40, 40), math.inf),
        (Wedge((150, 0), -10, 20), rectangle((150, 0), 40, 40), 130),  # the apex is the closest
        (Strip((0, 0), 0, 15), rectangle((150, 27.5), 40, 40), 110),
        (Strip((0, 0), 0, 15), rectangle((150, 27.501), 40, 40), math.inf),
        (
            Strip((150, 0), 0, 15),
            rectangle((150, 0), 40, 40),
            130,
        ),  # it begins in the middle of the target
        (Strip((0, 0), 180, 15), rectangle((150, 0), 40, 40), math.inf),
    ],
)
def test_worked_out_by_hand(region: Region, target: Shape, distance_mm: float) -> None:
    found = gap_inside_region(region, SHIP, target)
    assert far(found) == pytest.approx(distance_mm, abs=1e-5 if isinstance(target, Disc) else EXACT)


def test_a_line_belongs_to_its_arc_by_a_millionth_of_a_millimetre() -> None:
    near, off = (
        rectangle((80 - by, 120 + by), 40, 40) for by in (0.6e-6, 0.8e-6)
    )  # √2 · by from the line
    assert far(gap_inside_region(AHEAD, SHIP, near)) == pytest.approx(80 * math.sqrt(2), abs=2e-6)
    assert gap_inside_region(AHEAD, SHIP, off) is None


def test_an_apex_that_touches_a_base_is_a_part_of_it_in_the_arc() -> None:
    just_off, off = (Wedge((by, 5.0), -45.0, 90.0) for by in (0.9e-6, 1.1e-6))
    target = rectangle((-20, 0), 40, 40)  # its side at x = 0 faces the apex from behind
    found = gap_inside_region(just_off, rectangle((100, 5), 40, 40), target)
    assert far(found) == pytest.approx(80, abs=2e-6)
    assert gap_inside_region(off, SHIP, target) is None


@pytest.mark.parametrize(("point", "distance_mm"), [((30.0, 30.0), 30.0), ((30.0, -30.5), None)])
def test_a_base_may_be_a_single_point(point: Point, distance_mm: float | None) -> None:
    """A point on the arc's border is in the arc, one beside it is not; alone and among many."""
    attacker = Disc((30.0, 65.0), 5.0)
    found = gap_inside_region(AHEAD, attacker, Disc(point))
    many = distances_inside_region(AHEAD, attacker, Disc(point), np.zeros((3, 2)), free=False)
    assert (found and found.distance_mm) == (distance_mm and pytest.approx(distance_mm, abs=EXACT))
    assert many == pytest.approx(np.full(3, np.inf if distance_mm is None else distance_mm))


def test_a_side_along_an_arcs_line_counts_whole() -> None:
    along = rectangle(
        (100, 100 + 20 * math.sqrt(2)), 60, 40, 45
    )  # its lower side runs along the line
    for turn in (0.0, 1e-12, -1e-12):
        target = moved(along, turn, (0, 0))
        found = chord_on_edge(target, AHEAD.edges[1])
        assert found is not None
        ends = sorted(AHEAD.edges[1].along_and_left_mm(end)[0] for end in found.corners)
        middle = math.hypot(100, 100) + 20
        assert ends == pytest.approx([middle - 30, middle + 30], abs=1e-6)


@pytest.mark.parametrize(
    ("from_deg", "to_deg", "turn"),
    [
        (0, 90, 90),
        (0, 0, 360),
        (0, -90, 270),
        (350, 10, 20),
        (-10, 350, 360),
        (0, -720, 360),
        (10, -1000, 70),
        (0, 400, 400),
    ],
)
def test_sweeps_run_counter_clockwise(from_deg: float, to_deg: float, turn: float) -> None:
    assert counterclockwise_turn_deg(from_deg, to_deg) == turn


# --- laws ---


@FEW
@given(regions, shapes, shapes)
def test_agrees_with_cut_polygons(region: Region, a: Shape, b: Shape) -> None:
    (polygon_a, short_a), (polygon_b, short_b) = outline(a), outline(b)
    part = polygon_b.intersection(cut(region))
    found = gap_inside_region(region, a, b)
    if found is None:
        assert part.area < 1e-6
    elif not part.is_empty:
        # A rim cut by a line falls short along the line by more than it does across.
        slack = short_a + (0 if isinstance(b, Polygon) else math.sqrt(short_b)) + 1e-6
        assert polygon_a.distance(part) == pytest.approx(found.distance_mm, abs=slack)


@FEW
@given(regions, shapes, shapes)
def test_the_points_are_on_the_bases_and_one_in_the_arc(region: Region, a: Shape, b: Shape) -> None:
    found = gap_inside_region(region, a, b)
    assume(found is not None)
    assert found is not None
    assert math.dist(found.from_point, found.to_point) == pytest.approx(found.distance_mm, abs=1e-7)
    assert away(a, found.from_point) <= 1e-7
    assert away(b, found.to_point) <= 2e-6
    assert (
        region.contains(found.to_point)
        or distance_to_outline_mm(region, Disc(found.to_point)) <= 2e-6
    )
    assert found.distance_mm >= gap(a, b).distance_mm - EXACT


@FEW
@given(wedges, shapes, shapes, st.floats(0.1, 0.9))
def test_the_halves_of_an_arc_make_the_whole(
    region: Wedge, a: Shape, b: Shape, share: float
) -> None:
    first = replace(region, sweep_deg=region.sweep_deg * share)
    second = replace(
        region, from_deg=region.from_deg + first.sweep_deg, sweep_deg=region.sweep_deg * (1 - share)
    )
    whole = far(gap_inside_region(region, a, b))
    halves = min(far(gap_inside_region(half, a, b)) for half in (first, second))
    assert halves == pytest.approx(whole, abs=1e-5)


@FEW
@given(regions, rectangles, rectangles, headings, places)
def test_a_rigid_motion_changes_nothing(
    region: Region, a: Polygon, b: Polygon, turn: float, shift: Point
) -> None:
    assume(distance_to_outline_mm(region, b) > 1e-3 or chord_is_long(region, b))
    here = far(gap_inside_region(region, a, b))
    there = far(
        gap_inside_region(turned(region, turn, shift), moved(a, turn, shift), moved(b, turn, shift))
    )
    assert there == pytest.approx(here, abs=1e-6)


def chord_is_long(region: Region, b: Shape) -> bool:
    """Whether an edge that meets a base does not just graze it."""
    chords = [found for edge in region.edges if (found := chord_on_edge(b, edge))]
    return all(len(found.corners) == 2 and math.dist(*found.corners) > 1e-3 for found in chords)


@FEW
@given(regions, discs, shapes, st.floats(0.1, 10))
def test_an_attacker_grown_is_nearer_by_as_much(
    region: Region, a: Disc, b: Shape, growth_mm: float
) -> None:
    here = far(gap_inside_region(region, a, b))
    assume(here > growth_mm)
    grown = far(gap_inside_region(region, replace(a, radius_mm=a.radius_mm + growth_mm), b))
    assert grown == pytest.approx(here - growth_mm, abs=1e-6)


# --- many at once ---


@settings(max_examples=60)
@given(regions, shapes, shapes, st.integers(0, 1000))
def test_many_at_once_are_each_one_alone(region: Region, a: Shape, b: Shape, seed: int) -> None:
    shifts = np.random.default_rng(seed).normal(size=(12, 2)) * 6
    for shift, found in zip(
        shifts.tolist(), distances_inside_region(region, a, b, shifts).tolist(), strict=True
    ):
        target = moved(b, 0, (shift[0], shift[1]))
        if (
            distance_to_outline_mm(region, target) == 0
            or distance_to_outline_mm(region, target) > 1e-4
        ):  # no grazing
            assert found == pytest.approx(far(gap_inside_region(region, a, target)), abs=2e-4)


@settings(max_examples=60)
@given(shapes, shapes, st.integers(0, 1000))
def test_the_closest_points_of_many(a: Shape, b: Shape, seed: int) -> None:
    shifts = np.random.default_rng(seed).normal(size=(12, 2)) * 6
    for shift, found, point in zip(
        shifts.tolist(),
        *(part.tolist() for part in gaps_and_closest_points(a, b, shifts)),
        strict=True,
    ):
        target = moved(b, 0, (shift[0], shift[1]))
        assert found == pytest.approx(gap(a, target).distance_mm, abs=1e-5)
        assert away(target, (point[0], point[1])) <= 1e-5
        if found > 1e-3:
            assert away(a, (point[0], point[1])) == pytest.approx(found, abs=1e-5)


@FEW
@given(regions, st.lists(places, min_size=1, max_size=5))
def test_many_points_are_inside_as_each_one_is(region: Region, points: list[Point]) -> None:
    for point, found in zip(
        points, region_contains(region, np.array(points)).tolist(), strict=True
    ):
        if distance_to_outline_mm(region, Disc(point)) > 1e-5:
            assert found == region.contains(point)

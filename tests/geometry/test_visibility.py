"""Lines of sight between exact shapes: laws, cases worked out by hand, and every single line by shapely."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from overruler.geometry.batched.visibility import crosses_any_line, has_free_line
from overruler.geometry.chords import chord_of_line
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape, gap, rectangle
from overruler.geometry.tangents import Hull, inner_tangents, outer_tangents, widest_separation
from overruler.geometry.visibility import ObstructedView
from tests.geometry.test_shapes import moved, outline, shapes

FEW = settings(max_examples=60)
A, B = Disc((0, 0), 15), Disc((300, 0), 15)


def box(x0: float, y0: float, x1: float, y1: float) -> Polygon:
    return Polygon(((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


# --- by hand ---

CLEAR = [
    ([], True),
    ([box(140, -80, 160, 80)], False),
    ([box(140, -80, 160, 14.999)], True),
    ([box(140, -80, 160, 15)], True),  # a line may graze an edge
    ([box(140, -80, 160, 15 + 5e-7)], True),
    ([box(140, -80, 160, 15 + 2e-6)], False),
    ([box(140, -80, 160, 15.001)], False),
    ([box(99, -90, 100, 4.5), box(200, -4.5, 201, 90)], True),  # only slanting lines are left
    ([box(99, -90, 100, 5.5), box(200, -5.5, 201, 90)], False),
    ([box(140, -90, 150, 4), box(140, 4, 150, 90)], False),  # no gap
    ([box(140, -90, 150, 4), box(140, 4 + 5e-7, 150, 90)], False),
    ([box(140, -90, 150, 4), box(140, 4 + 2e-6, 150, 90)], True),
    ([box(140, -90, 150, 4), box(150, 4, 160, 90)], False),  # corner to corner
    ([box(140, -90, 150, 4), box(150, 4.001, 160, 90)], True),
    (
        [box(140, -90, 160, 15), box(140, 15, 160, 90)],
        False,
    ),  # the only line left runs between the two
    ([Disc((150, 0), 15.001)], False),
    ([Disc((150, 0), 15)], True),
    ([Ellipse((150, 0), 30.1, 10, 90)], False),
    ([Ellipse((150, 0), 29.9, 200, 90)], True),
    (
        [box(-120, -80, -20, 80), box(320, -80, 400, 80), box(100, 15.5, 200, 80)],
        True,
    ),  # behind and beside
]


@pytest.mark.parametrize(("obstacles", "clear"), CLEAR)
def test_clear_by_hand(obstacles: list[Shape], clear: bool) -> None:
    assert ObstructedView(A, B, tuple(obstacles)).is_clear is clear
    assert ObstructedView(B, A, tuple(obstacles)).is_clear is clear


@pytest.mark.parametrize(
    ("obstacle", "apart_mm"),
    [
        (box(140, -80, 160, -15), 0),
        (box(140, -80, 160, -16), 1),
        (box(140, -80, 160, -14.999), -0.001),
        (box(140, -80, 160, 0), -15),
        (Disc((150, 0), 10), -25),
        (Disc((-40, 0), 10), 15),
        (Ellipse((150, 40), 100, 40, 0), 5),
    ],
)
def test_how_far_an_obstacle_stands_from_the_lines(obstacle: Shape, apart_mm: float) -> None:
    assert widest_separation(Hull(A, B), obstacle).signed_gap_mm == pytest.approx(
        apart_mm, abs=1e-9
    )


def test_the_widest_way() -> None:
    assert ObstructedView(A, B, (box(140, -80, 160, 5),)).widest_opening.width_mm == pytest.approx(
        10
    )
    assert ObstructedView(A, B, (box(140, -80, 160, 80),)).widest_opening.width_mm == pytest.approx(
        -65
    )
    assert ObstructedView(
        A, B, (box(140, -80, 150, 4), box(140, 6, 150, 80))
    ).widest_opening.width_mm == pytest.approx(2, abs=1e-3)


# --- laws ---


@FEW
@given(shapes, shapes)
def test_parting_is_the_gap_or_the_shortest_way_apart(a: Shape, b: Shape) -> None:
    parted = widest_separation(a, b)
    assert max(parted.signed_gap_mm, 0) == pytest.approx(gap(a, b).distance_mm, abs=1e-8)
    if parted.signed_gap_mm < 0:
        away = -parted.signed_gap_mm
        beside = moved(b, 0, (away * math.cos(parted.angle), away * math.sin(parted.angle)))
        assert widest_separation(a, beside).signed_gap_mm == pytest.approx(0, abs=1e-8)


@FEW
@given(shapes, shapes)
def test_a_common_tangent_touches_both(a: Shape, b: Shape) -> None:
    parted = widest_separation(a, b)
    assume(parted.signed_gap_mm > 0.01)
    for sign, normals in (
        (1, outer_tangents(a, b, parted.angle)),
        (-1, inner_tangents(a, b, parted.angle)),
    ):
        assert abs(normals[0] - normals[1]) > 1e-9
        for angle in normals:
            ux, uy = math.cos(angle), math.sin(angle)
            p, q = a.support_point(ux, uy), b.support_point(sign * ux, sign * uy)
            assert (q[0] - p[0]) * ux + (q[1] - p[1]) * uy == pytest.approx(0, abs=1e-8)


views = st.tuples(shapes, shapes, st.lists(shapes, min_size=1, max_size=4))


def view_of(a: Shape, b: Shape, several: list[Shape]) -> ObstructedView:
    """Those that stand apart from both ends."""
    assume(
        gap(a, b).distance_mm > 1
        and min(shape.bounding_radius_mm for shape in (a, b, *several)) > 0.5
    )
    apart = [s for s in several if min(gap(s, a).distance_mm, gap(s, b).distance_mm) > 0.01]
    assume(bool(apart))
    return ObstructedView(a, b, tuple(apart))


@FEW
@given(views, st.floats(0, 360), st.tuples(st.floats(-50, 50), st.floats(-50, 50)))
def test_sight_is_mutual_and_the_same_wherever_the_table_stands(
    given: tuple[Shape, Shape, list[Shape]], turn_deg: float, shift: tuple[float, float]
) -> None:
    view = view_of(*given)
    assume(abs(view.widest_opening.width_mm) > 1e-4)
    turned = [moved(shape, turn_deg, shift) for shape in view.shapes]
    assert (
        ObstructedView(view.b, view.a, view.obstacles).is_clear
        == view.is_clear
        == (view.widest_opening.width_mm > 0)
    )
    assert ObstructedView(turned[0], turned[1], tuple(turned[2:])).is_clear == view.is_clear


@settings(max_examples=100)
@given(views)
def test_a_clear_view_has_a_line_and_another_has_none(
    given: tuple[Shape, Shape, list[Shape]],
) -> None:
    view = view_of(*given)
    assume(abs(view.widest_opening.width_mm) > 0.02)
    solid = [outline(shape)[0] for shape in view.shapes]
    if view.is_clear:
        segment = witness(view, solid)
        assert not any(segment.crosses(shape.buffer(-0.01)) for shape in solid[2:])
        return
    rims = [np.array(shape.exterior.segmentize(3).coords) for shape in solid[:2]]
    picks = [np.random.default_rng(3).integers(len(rim), size=2000) for rim in rims]
    lines = shapely.linestrings(
        np.stack([rim[pick] for rim, pick in zip(rims, picks, strict=True)], 1)
    )
    shut = [shapely.intersects(lines, shape.buffer(-1e-3)) for shape in solid[2:]]
    assert np.any(shut, 0).all()


def witness(view: ObstructedView, solid: list[shapely.Polygon]) -> shapely.LineString:
    """A line through the middle of the widest way, from the one end to the other."""
    angle = view.widest_opening.angle
    low, high, between = view.line_intervals(angle)
    shut, ways = low, []
    for least, most in [*between, (math.inf, math.inf)]:
        ways.append((min(least, high) - shut, (min(least, high) + shut) / 2))
        shut = max(shut, most)
    n = np.array([math.cos(angle), math.sin(angle)])
    d = np.array([n[1], -n[0]])
    line = shapely.LineString([n * max(ways)[1] - d * 999, n * max(ways)[1] + d * 999])
    near, far = (np.array(line.intersection(shape.buffer(0.01)).coords) for shape in solid[:2])
    return shapely.LineString([near[(near @ d).argmax()], far[(far @ d).argmin()]])


REACHING_IN = [
    (Disc((0, 0), 20), False),  # all of an end is under it
    (Disc((0, 0), 5), True),  # a line starts past it
    (Disc((-20, 0), 30), True),  # it lies behind, mostly
    (Disc((20, 0), 16), False),  # it lies before, and is wider
    (Disc((20, 0), 14), True),  # it lies before, and is narrower
    (box(10, -80, 20, 80), False),
    (box(-80, -80, 10, 80), True),  # a line starts at the front of the end
    (Disc((0, 30), 16), True),  # beside
    (Ellipse((300, 0), 80, 80.1, 0), False),
    (Ellipse((310, 0), 38, 50, 0), True),
]


@pytest.mark.parametrize(("obstacle", "clear"), REACHING_IN)
def test_an_obstacle_that_reaches_into_an_end(obstacle: Shape, clear: bool) -> None:
    assert ObstructedView(A, B, (obstacle,)).is_clear is clear
    assert ObstructedView(B, A, (obstacle,)).is_clear is clear


@FEW
@given(shapes, st.floats(0, 360), st.floats(-0.95, 0.95))
def test_a_chord_ends_on_the_rim(shape: Shape, turn_deg: float, share: float) -> None:
    assume(shape.bounding_radius_mm > 0.5)
    angle = math.radians(turn_deg)
    n, d = (math.cos(angle), math.sin(angle)), (math.sin(angle), -math.cos(angle))
    ends = [np.dot(shape.support_point(sign * n[0], sign * n[1]), n) for sign in (-1, 1)]
    c = (ends[0] + ends[1]) / 2 + share * (ends[1] - ends[0]) / 2
    first, last = chord_of_line(shape, angle, c)
    assert first <= last
    for t, beyond in ((first, first - 1e-3), (last, last + 1e-3)):
        assert gap(shape, Disc((c * n[0] + t * d[0], c * n[1] + t * d[1]))).distance_mm < 1e-6
        assert (
            gap(shape, Disc((c * n[0] + beyond * d[0], c * n[1] + beyond * d[1]))).distance_mm
            > 1e-8
        )


# --- many at once ---


@settings(max_examples=30)
@given(views, st.integers(0, 9))
def test_each_displacement_is_looked_at_as_if_alone(
    given: tuple[Shape, Shape, list[Shape]], seed: int
) -> None:
    view = view_of(*given)
    assume(
        min(
            widest_separation(p, q).signed_gap_mm
            for p in (view.a, view.b)
            for q in view.shapes
            if q not in (p,)
        )
        > 12
    )
    shifts = np.random.default_rng(seed).normal(scale=1.0, size=(len(view.shapes), 20, 2))
    found = has_free_line(view, shifts, np.ones(shifts.shape[:2], bool))
    for k, one in enumerate(found):
        alone = displaced(view, shifts[:, k])
        assert one == alone.is_clear or abs(alone.widest_opening.width_mm) < 1e-3
        for obstacle, shift in zip(view.obstacles, shifts[2:], strict=True):
            depth = -widest_separation(
                Hull(alone.a, alone.b), moved(obstacle, 0, tuple(shift[k]))
            ).signed_gap_mm
            crossed = crosses_any_line(
                view.a, view.b, obstacle, np.stack([shifts[0], shifts[1], shift])[:, [k]]
            )[0]
            assert crossed == (depth > 0) or abs(depth) < 1e-3


def displaced(view: ObstructedView, shifts: np.ndarray) -> ObstructedView:
    a, b, *rest = (
        moved(shape, 0, tuple(shift)) for shape, shift in zip(view.shapes, shifts, strict=True)
    )
    return ObstructedView(a, b, tuple(rest))


def test_what_does_not_count_is_looked_through() -> None:
    view = ObstructedView(A, B, (rectangle((150, 0), 20, 200),))
    present = np.array([[True, True], [True, True], [True, False]])
    assert has_free_line(view, np.zeros((3, 2, 2)), present).tolist() == [False, True]

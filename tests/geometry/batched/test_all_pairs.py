"""All gaps at once are the gaps one by one."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overruler.geometry.batched.all_pairs import gap_matrix
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape, gap, rectangle
from tests.geometry.test_shapes import moved, places, shapes

EXACT = 1e-9
TRIANGLE = Polygon(((0.0, 0.0), (30.0, 0.0), (10.0, 20.0)))


def one_by_one(several: list[Shape]) -> Array:
    return np.array(
        [[gap(a, b).distance_mm if a is not b else 0.0 for b in several] for a in several]
    )


@settings(max_examples=60)
@given(st.lists(shapes, min_size=1, max_size=9))
def test_every_gap_is_that_of_the_two_alone(several: list[Shape]) -> None:
    assert np.abs(gap_matrix(several) - one_by_one(several)).max() <= EXACT


def crowd(count: int, span_mm: float, seed: int) -> list[Shape]:
    """Discs, ellipses and rectangles in turn, anyhow."""
    draw = np.random.default_rng(seed)
    found: list[Shape] = []
    for kind in range(count):
        x, y = draw.uniform(0, span_mm, 2).tolist()
        length, width = draw.uniform(5, 120, 2).tolist()
        heading = float(draw.uniform(-180, 180))
        every = (
            Disc((x, y), width / 2),
            Ellipse((x, y), length, width, heading),
            rectangle((x, y), length, width, heading),
        )
        found.append(every[kind % 3])
    return found


@pytest.mark.parametrize("span_mm", [60.0, 250.0, 1800.0])
def test_a_crowd_is_measured_as_if_one_by_one(span_mm: float) -> None:
    several = crowd(45, span_mm, seed=int(span_mm))
    assert np.abs(gap_matrix(several) - one_by_one(several)).max() <= EXACT


SLIVERS: list[Shape] = [
    Ellipse((0.0, 0.0), 200.0, 0.5, 30.0),
    Ellipse((3.0, 40.0), 0.4, 160.0, -70.0),
    rectangle((60.0, 10.0), 150.0, 0.3, 31.0),
    Ellipse((80.0, -20.0), 0.4, 0.5, 10.0),
    Disc((100.0, 57.0)),
    Disc((-30.0, 4.0), 70.0),
]


def test_slivers_and_points() -> None:
    assert np.abs(gap_matrix(SLIVERS) - one_by_one(SLIVERS)).max() <= EXACT


def test_polygons_that_are_no_rectangles_are_measured_too() -> None:
    leaning = Polygon(((50.0, 0.0), (80.0, 0.0), (90.0, 20.0), (60.0, 20.0)))
    kite = Polygon(((100.0, 0.0), (130.0, 10.0), (100.0, 20.0), (95.0, 10.0)))
    several = [TRIANGLE, leaning, kite, *crowd(6, 150, seed=4)]
    assert np.abs(gap_matrix(several) - one_by_one(several)).max() <= EXACT


@settings(max_examples=40)
@given(st.lists(shapes, min_size=2, max_size=6), st.floats(-360, 360), places)
def test_turning_and_shifting_all_changes_nothing(
    several: list[Shape], turn_deg: float, shift: tuple[float, float]
) -> None:
    rigid = [moved(shape, turn_deg, shift) for shape in several]
    assert np.abs(gap_matrix(rigid) - gap_matrix(several)).max() <= EXACT


@settings(max_examples=80)
@given(shapes, shapes, st.floats(0, 360))
@example(rectangle((0.0, 0.0), 40.0, 40.0), Ellipse((0.0, 0.0), 60.0, 20.0, 45.0), 45.0)
def test_shapes_that_are_moved_into_contact_touch_there_and_part_beyond(
    a: Shape, b: Shape, turn_deg: float
) -> None:
    """A kiss: b is pushed up against a, and 0.001 mm off."""
    far = moved(
        b,
        0.0,
        (float(500 * np.cos(np.radians(turn_deg))), float(500 * np.sin(np.radians(turn_deg)))),
    )
    apart = gap(far, a)
    ux, uy = (
        (p - q) / apart.distance_mm for p, q in zip(apart.to_point, apart.from_point, strict=True)
    )
    for left_mm in (0.001, 0.0):
        step = apart.distance_mm - left_mm
        near = moved(far, 0.0, (step * ux, step * uy))
        assert gap_matrix([a, near])[0, 1] == pytest.approx(left_mm, abs=EXACT)


def test_nothing_and_one_alone() -> None:
    assert gap_matrix([]).shape == (0, 0)
    for shape in (TRIANGLE, *crowd(3, 100, seed=1)):
        assert gap_matrix([shape]).tolist() == [[0.0]]


def test_two_shapes_in_one_place_overlap() -> None:
    same: list[Shape] = [
        Disc((1.0, 2.0), 3.0),
        Ellipse((1.0, 2.0), 5.0, 4.0),
        rectangle((1.0, 2.0), 5.0, 4.0),
    ]
    assert not gap_matrix(same * 2).any()

"""Stands on tables in play: told where they outnumber what is round, of the size that the network names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.learned.in_play_net import (
    COLUMNS,
    LOG_SIGMA_PLACE,
    LOG_SIGMA_SIZE,
    LOG_SIGMA_STRETCH,
    LOGIT,
    RECTANGLE_LOGIT,
)
from overruler.vision.learned.rectangles_in_play import OVAL_TO_RECTANGLE
from overruler.vision.learned.shapes_in_play import NO_SHAPES, SeenShapes
from overruler.vision.plates.stands import FEWEST, find_stands, shows_stands
from tests.tables import camera_over


def seen(stands: int, rounds: int, sizes_mm: tuple[float, float] = (50.0, 32.0)) -> SeenShapes:
    """So many likely stands of a size, and likely round bases, side by side."""
    count = stands + rounds
    answers = np.full((count, COLUMNS), -3.0)
    answers[:stands, RECTANGLE_LOGIT], answers[stands:, LOGIT] = 4.0, 4.0
    answers[:, [LOG_SIGMA_PLACE, LOG_SIGMA_SIZE, LOG_SIGMA_STRETCH]] = np.log(0.04)
    half = np.tile(np.array(sizes_mm) / 2 / OVAL_TO_RECTANGLE, (count, 1))
    x = 60.0 + 70 * (np.arange(count) % 8)
    y = 60.0 + 70 * (np.arange(count) // 8)
    return SeenShapes(np.column_stack([x, y, half, np.full(count, 0.3)]), answers, np.ones(count))


@given(st.integers(0, 20), st.integers(0, 20))
def test_a_table_is_one_of_stands_where_enough_outnumber_round_bases(
    stands: int, rounds: int
) -> None:
    assert shows_stands(seen(stands, rounds)) == (stands >= FEWEST and stands >= rounds)


def test_shapes_in_one_place_count_once() -> None:
    four = seen(4, 0)
    twice = SeenShapes(*(np.concatenate([part, part]) for part in four))
    assert not shows_stands(twice)
    assert len(find_stands(camera_over(), twice)) == 4


@pytest.mark.parametrize("sizes_mm", [(50.0, 32.0), (32.0, 25.0), (64.0, 51.0)])
def test_a_stand_has_the_size_and_place_that_the_network_names(
    sizes_mm: tuple[float, float],
) -> None:
    shapes = seen(6, 2, sizes_mm)
    found = find_stands(camera_over(), shapes)
    places: Array = shapes.shapes[:6, :2]
    assert len(found) == 6
    for one in found:
        assert (one.base.length_mm, one.base.width_mm) == sizes_mm
        assert np.hypot(*(places - one.xy_mm).T).min() < 1e-9
        assert np.radians(one.heading_deg) == pytest.approx(0.3)
        assert one.heading_modulo_deg == 180
        radius = np.sqrt(np.prod(sizes_mm) / np.pi)
        assert np.sqrt(one.covariance_mm2[0, 0]) == pytest.approx(2 * 0.04 * radius, rel=1e-6)


def test_a_size_between_two_names_both() -> None:
    (one, *_) = find_stands(camera_over(), seen(5, 0, (45.0, 28.5)))
    told = {one.base, *one.alternative_bases}
    assert {(50.0, 32.0), (40.0, 30.0)} & {(base.length_mm, base.width_mm) for base in told}
    assert len(told) > 1


def test_nothing_seen_is_no_table_of_stands() -> None:
    assert not shows_stands(NO_SHAPES)
    assert find_stands(camera_over(), NO_SHAPES) == []

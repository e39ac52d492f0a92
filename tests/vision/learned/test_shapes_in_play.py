"""Which candidates the network in play is shown."""

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.vision.learned.shapes_in_play import (
    LEAST_UNIT,
    MOST_MATES,
    PLAIN_LOGIT,
    Corrected,
    _unit_mates,
)


def unit(count: int, logit: float = PLAIN_LOGIT + 1, radius_mm: float = 12.5) -> Corrected:
    """So many round bases in a row, 100 mm apart."""
    x = 100.0 * np.arange(count)
    radii = np.full(count, radius_mm)
    shapes = np.column_stack([x, np.zeros(count), radii, radii, np.zeros(count)])
    return Corrected(shapes, np.full(count, logit), np.full(count, 0.5))


def faint(*circles: tuple[float, float, float]) -> Array:
    """Faint candidates at (x, y) of a radius."""
    return np.array([[*circle, 0.03] for circle in circles])


def test_a_faint_candidate_of_a_units_size_is_looked_at() -> None:
    candidates = faint((50, 50, 12.5), (150, 80, 13.5), (250, 90, 16.0), (350, 60, 10.0))
    assert _unit_mates(candidates, unit(LEAST_UNIT)).tolist() == candidates[:2].tolist()


@pytest.mark.parametrize("seen", [unit(LEAST_UNIT - 1), unit(9, PLAIN_LOGIT - 0.1), unit(0)])
def test_without_a_plain_unit_none_is(seen: Corrected) -> None:
    assert not len(_unit_mates(faint((50, 50, 12.5)), seen))


def test_one_base_seen_several_times_is_no_unit() -> None:
    one = unit(1)
    often = Corrected(*(np.repeat(column, LEAST_UNIT, axis=0) for column in one))
    assert not len(_unit_mates(faint((50, 50, 12.5)), often))


def test_what_lies_on_a_plain_base_is_not_looked_at() -> None:
    assert not len(_unit_mates(faint((8, 5, 12.5)), unit(LEAST_UNIT)))


def test_the_likeliest_are_looked_at_where_there_are_many() -> None:
    many = faint(*((30.0 * k, 500.0, 12.5) for k in range(MOST_MATES + 20)))
    assert _unit_mates(many, unit(LEAST_UNIT)).tolist() == many[:MOST_MATES].tolist()

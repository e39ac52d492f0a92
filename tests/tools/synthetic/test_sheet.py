"""Pieces of tables with their truth: rectangles are told by their longer side."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from synthetic.from_above.sheet import lengthwise, traced_tables
from synthetic.painted.plates import spun

SIDES = st.floats(10, 120)


def corners(base: list[float]) -> Array:
    x, y, length, width, heading = base
    half = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [length, width] / 2
    return np.asarray(np.array([x, y]) + spun(half, heading))


def test_a_table_whose_photo_is_not_there_teaches_nothing(tmp_path: Path) -> None:
    for name in ("b.json", "b.jpg", "a.json", "c.jpg"):
        (tmp_path / name).touch()
    assert traced_tables(tmp_path) == [tmp_path / "b.json"]


@given(SIDES, SIDES, st.floats(-4, 4))
def test_lengthwise_is_the_same_rectangle_by_its_longer_side(
    length: float, width: float, heading: float
) -> None:
    base = [30.0, -20.0, length, width, heading]
    turned = lengthwise(base)
    assert turned[2] >= turned[3]
    apart = np.linalg.norm(corners(base)[:, None] - corners(turned), axis=-1)
    assert np.allclose(apart.min(0), 0, atol=1e-9)
    assert np.allclose(apart.min(1), 0, atol=1e-9)

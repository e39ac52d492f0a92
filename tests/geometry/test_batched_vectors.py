"""Lengths and directions of plane vectors."""

import numpy as np
import pytest

from overruler.geometry.batched.vectors import (
    distance,
    left_normals,
    step_lengths,
    unit_vectors,
    vector_lengths,
)

PATH = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 16.0]])


def test_a_path_is_as_long_as_its_steps() -> None:
    assert step_lengths(PATH).tolist() == [5.0, 12.0]
    assert vector_lengths(np.diff(PATH, axis=0)).tolist() == [5.0, 12.0]
    assert distance(PATH[0], PATH[1]) == 5.0


def test_left_of_a_direction_is_the_direction_a_quarter_turn_on() -> None:
    angle = np.linspace(-3, 3, 12).reshape(3, 4)
    assert left_normals(unit_vectors(angle)) == pytest.approx(unit_vectors(angle + np.pi / 2))

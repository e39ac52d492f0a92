"""Painted rings are told from bases by what lies inside of them, in any light."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluate.drawn.markers import camera_over
from overruler.vision.rounds.mat_print import MIN_LOG_CONTRAST, inside_contrast, is_printed

MAT, RED, SAND = (110, 95, 100), (40, 50, 200), (120, 150, 170)
PLACE, RADIUS = np.array([430.0, 520.0]), 16.0
CAMERA = camera_over(20.0)
SIZE_PX = 2000, 1500
GRAIN = np.random.default_rng(3).normal(0, 2.0, (SIZE_PX[1], SIZE_PX[0], 3))


def photo(inside: tuple[int, ...], figure: bool, gain: float = 1.0) -> NDArray[np.uint8]:
    """A mat with a ring on it, or a base with a top of a colour, maybe with something on it."""
    picture = np.full((SIZE_PX[1], SIZE_PX[0], 3), MAT, np.uint8)
    for radius, colour in ((RADIUS, RED), (0.86 * RADIUS, inside)):
        _disc(picture, radius, colour)
    if figure:
        _disc(picture, 0.5 * RADIUS, (60, 60, 50))
    return np.asarray((picture * gain + GRAIN).clip(0, 255), np.uint8)


def _disc(picture: NDArray[np.uint8], radius: float, colour: tuple[int, ...]) -> None:
    angles = np.linspace(0, 2 * np.pi, 90)
    ring = PLACE + radius * np.stack([np.cos(angles), np.sin(angles)], -1)
    seen = CAMERA.project(np.column_stack([ring, np.zeros(len(ring))]))
    cv2.fillPoly(picture, [np.rint(seen).astype(np.int32)], colour, cv2.LINE_AA)


@given(st.floats(0.4, 2.0), st.floats(-0.12, 0.12), st.floats(0.93, 1.07))
@settings(max_examples=15)
def test_a_ring_is_printed_in_any_light_even_if_it_is_a_little_off(
    gain: float, off: float, grown: float
) -> None:
    assert is_printed(photo(MAT, False, gain), CAMERA, PLACE + off * RADIUS, grown * RADIUS)


@pytest.mark.parametrize(("inside", "figure"), [(SAND, False), (SAND, True), (MAT, True)])
@pytest.mark.parametrize("gain", [0.4, 1.0, 1.5])
def test_what_has_a_top_of_its_own_or_carries_something_is_not(
    inside: tuple[int, ...], figure: bool, gain: float
) -> None:
    assert not is_printed(photo(inside, figure, gain), CAMERA, PLACE, RADIUS)


def test_a_small_spot_inside_does_not_make_a_ring_a_base() -> None:
    picture = photo(MAT, False)
    _disc(picture, 0.2 * RADIUS, SAND)
    assert is_printed(picture, CAMERA, PLACE, RADIUS)


def test_a_ring_at_the_pictures_edge_says_something_still() -> None:
    edge = CAMERA.unproject([3.0, 3.0])
    assert inside_contrast(photo(MAT, False), CAMERA, edge, RADIUS) < MIN_LOG_CONTRAST

"""Rims in the field of doubled gradient angles: drawn ovals respond where they lie, the way they lie."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from overruler.vision.candidates import orientation, slopes
from overruler.vision.rimfield import DIRECTIONS, STRIDE, Field, Rim

Picture = NDArray[np.uint8]
SIZE = 150, 170
REACH_PX = 40.0


def field_of(pixels: Picture) -> Field:
    return Field.of(orientation(slopes(pixels), np.ones(SIZE, np.float32)), REACH_PX)


def drawn(middle: tuple[int, int], half_px: tuple[float, float], turn_rad: float) -> Picture:
    """A light oval on darker ground."""
    pixels = np.full((*SIZE, 3), 90, np.uint8)
    axes = tuple(round(16 * half) for half in half_px)
    center = tuple(16 * at for at in middle)
    cv2.ellipse(pixels, center, axes, -np.degrees(turn_rad), 0, 360, (190, 180, 170), -1, cv2.LINE_AA, 4)
    return pixels


@settings(max_examples=25, deadline=None)
@given(
    x=st.integers(45, 125),
    y=st.integers(45, 105),
    length=st.floats(18, 34),
    slim=st.floats(0.5, 0.7),
    turn=st.floats(0, np.pi),
)
def test_an_oval_responds_at_its_middle_and_heading(x: int, y: int, length: float, slim: float, turn: float) -> None:
    half = length, slim * length
    field = field_of(drawn((x, y), half, turn))
    response = field.response(Rim.of(half, turn))
    row, column = np.unravel_index(response.argmax(), response.shape)
    (at,), (share,) = field.closer(np.array([[column, row]]) * STRIDE, [Rim.of(half, turn)])
    assert np.abs(at - (x, y)).max() <= 1
    assert share > 0.8
    assert share >= response.max() - 1e-6
    across = field.response(Rim.of(half, turn + np.pi / 2))
    assert across[row, column] < share - 0.2


@pytest.mark.parametrize("half", [(9.0, 9.0), (20.0, 12.0), (30.0, 13.0)])
def test_what_is_asked_at_a_place_is_what_lies_under_the_rim(half: tuple[float, float]) -> None:
    random = np.random.default_rng(3)
    pixels = random.integers(0, 255, (*SIZE, 3)).astype(np.uint8)
    cosine, sine = (
        cv2.GaussianBlur(part, (0, 0), 1.2) for part in orientation(slopes(pixels), np.ones(SIZE, np.float32))
    )
    rim = Rim.of(half, 0.4)
    response = field_of(pixels).response(rim)
    for row, column in ((22, 21), (30, 40), (25, 33)):
        x, y = (rim.at_px + np.array([column, row]) * STRIDE).T
        doubled = 2 * np.pi * rim.direction / DIRECTIONS
        expected = np.mean(cosine[y, x] * np.cos(doubled) + sine[y, x] * np.sin(doubled))
        assert response[row, column] == pytest.approx(expected, abs=1e-5)


def test_a_circle_looks_alike_however_it_is_turned() -> None:
    field = field_of(drawn((80, 70), (22.0, 22.0), 0.0))
    shares = [field.response(Rim.of((22.0, 22.0), turn))[35, 40] for turn in np.linspace(0, 3, 7)]
    assert min(shares) > 0.85
    assert max(shares) - min(shares) < 0.08

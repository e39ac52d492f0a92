"""Bands of light over a picture, and the picture without them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.stabilization.light_bands import GreyImage, LightBands, cell_means

SHAPE = 720, 1280


def table(seed: int = 1) -> GreyImage:
    """A mat with patches, brighter and darker."""
    rng = np.random.default_rng(seed)
    patches = rng.uniform(60, 150, (24, 40)).repeat(30, 0).repeat(32, 1)
    return np.asarray(patches + rng.normal(0, 1.5, SHAPE), np.uint8)


def lit(picture: GreyImage, rows: Array, columns: Array, seed: int = 2) -> GreyImage:
    noise = np.random.default_rng(seed).normal(0, 1.5, SHAPE)
    light = picture * rows[:, None] * columns
    return np.asarray(np.clip(light + noise, 0, 255), np.uint8)


def wave(size: int, height: float, period: float, phase: float = 0.0) -> Array:
    return np.asarray(1 + height * np.sin(2 * np.pi * np.arange(size) / period + phase))


def bands(rest: GreyImage, now: GreyImage) -> LightBands | None:
    return LightBands.between(cell_means(rest), cell_means(now))


@given(st.floats(0.03, 0.3), st.floats(250, 900), st.floats(0, 6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_bands_along_rows_or_columns_are_taken_out(
    height: float, period: float, phase: float, along_rows: bool
) -> None:
    rest = table()
    rows = wave(SHAPE[0], height if along_rows else 0.0, period, phase)
    columns = wave(SHAPE[1], 0.0 if along_rows else height, period, phase)
    now = lit(rest, rows, columns)
    found = bands(rest, now)
    assert found is not None
    means = cell_means(found.without(now, 1.0)) / cell_means(rest)
    assert np.quantile(np.abs(means / np.median(means) - 1), 0.95) < 0.02 + 0.05 * height


def test_a_shade_that_comes_from_one_side_is_taken_out() -> None:
    rest = table()
    columns = 0.5 + 0.5 / (1 + np.exp(-(np.arange(SHAPE[1]) - 700) / 90))
    now = lit(rest, np.ones(SHAPE[0]), columns)
    found = bands(rest, now)
    assert found is not None
    means = cell_means(found.without(now, 1.0)) / cell_means(rest)
    assert np.quantile(np.abs(means / np.median(means) - 1), 0.95) < 0.03


@pytest.mark.parametrize("gain", [0.6, 1.0, 1.4])
def test_even_light_has_no_bands(gain: float) -> None:
    rest = table()
    assert bands(rest, lit(rest, np.full(SHAPE[0], gain), np.ones(SHAPE[1]))) is None


def test_a_hand_and_its_arm_are_no_light() -> None:
    """Over what a hand does not cover, the picture stays as it is."""
    rest = table()
    now = lit(rest, wave(SHAPE[0], 0.1, 400), np.ones(SHAPE[1]))
    hand = now.copy()
    hand[:420, 500:640] = 190
    hand[300:420, 380:760] = 190
    free, covered = bands(rest, now), bands(rest, hand)
    assert free is not None
    assert covered is not None
    assert np.abs(covered.rows / free.rows - 1).max() < 0.03
    assert np.abs(covered.columns / free.columns - 1).max() < 0.03


def test_rows_that_a_cloth_covers_take_their_light_from_their_neighbours() -> None:
    rest = table()
    now = lit(rest, wave(SHAPE[0], 0.12, 1400), np.ones(SHAPE[1]))
    cloth = now.copy()
    cloth[300:360, :1000] = np.random.default_rng(3).integers(20, 240, (60, 1000))
    free, covered = bands(rest, now), bands(rest, cloth)
    assert free is not None
    assert covered is not None
    assert np.abs(covered.rows / free.rows - 1).max() < 0.06


def test_a_board_that_lies_over_the_picture_is_no_lamp() -> None:
    rest = table()
    covered = rest.astype(float)
    covered[200:460] *= 0.25
    assert bands(rest, np.asarray(covered, np.uint8)) is None


def test_black_and_white_tell_no_light() -> None:
    rest = np.full(SHAPE, 250, np.uint8)
    assert bands(rest, np.full(SHAPE, 120, np.uint8)) is None
    assert bands(np.full(SHAPE, 5, np.uint8), np.full(SHAPE, 9, np.uint8)) is None


def test_the_picture_becomes_as_bright_as_is_asked_for() -> None:
    rest = table()
    now = lit(rest, wave(SHAPE[0], 0.1, 400), np.ones(SHAPE[1]))
    found = bands(rest, now)
    assert found is not None
    plain, brighter = found.without(now, 1.0).astype(float), found.without(now, 1.3).astype(float)
    assert np.median(brighter / plain) == pytest.approx(1.3, abs=0.02)

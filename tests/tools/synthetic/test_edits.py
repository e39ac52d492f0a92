"""Photos as light, lenses and apps change them: nothing in them moves."""

import cv2
import numpy as np
import pytest

from synthetic.edits import EDITS, to_light, to_photo, veiled


def board() -> np.ndarray:
    """Dark and light blocks of many sizes."""
    rng = np.random.default_rng(3)
    picture = np.full((240, 320, 3), 120, np.uint8)
    for _ in range(60):
        x, y, side = rng.integers(0, 300), rng.integers(0, 220), rng.integers(6, 30)
        picture[y : y + side, x : x + side] = rng.integers(20, 230, 3)
    return picture


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_the_look_and_moves_nothing(name: str) -> None:
    photo = board()
    edited = EDITS[name](photo, np.random.default_rng(1))
    assert edited.shape == photo.shape
    assert edited.dtype == np.uint8
    assert (name == "as it is") == np.array_equal(edited, photo)
    before, after = (one.astype(np.float32).mean(2) for one in (photo, edited))
    (x, y), _ = cv2.phaseCorrelate(before, after)
    assert np.hypot(x, y) < 0.3


def test_light_and_codes_are_each_others_reverse() -> None:
    codes = np.arange(256, dtype=np.uint8)[None, :, None].repeat(3, 2)
    assert np.array_equal(to_photo(to_light(codes)), codes)


def test_a_veil_adds_light_and_leaves_white_white() -> None:
    photo = np.array([[[0, 0, 0], [255, 255, 255]]], np.uint8)
    dark, white = to_light(veiled(photo, 0.25))[0, :, 0]
    assert dark == pytest.approx(0.25, abs=0.005)
    assert white == 1

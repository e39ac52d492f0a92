"""Pictures made smaller."""

import numpy as np
import pytest

from overruler.picture.raster import Pixels, resize_by_area, shrink_quickly


def waves(width: int, height: int) -> Pixels:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    grey = 128 + 50 * np.sin(x / 31) + 50 * np.cos(y / 23)
    return np.repeat(grey[..., None], 3, -1).astype(np.uint8)


@pytest.mark.parametrize(
    ("size", "small"),
    [((1920, 1080), (800, 450)), ((601, 1303), (369, 800)), ((810, 99), (800, 98))],
)
def test_a_picture_shrunk_quickly_is_nearly_the_mean(
    size: tuple[int, int], small: tuple[int, int]
) -> None:
    quick = shrink_quickly(waves(*size), 800)
    assert quick.shape == (small[1], small[0], 3)
    assert np.abs(quick.astype(int) - resize_by_area(waves(*size), small)).mean() < 1.0


def test_a_small_picture_stays_as_it_is() -> None:
    assert shrink_quickly(waves(640, 360), 800).shape == (360, 640, 3)

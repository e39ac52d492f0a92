"""What the networks' cutouts are made of."""

import gc
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import numpy as np
import pytest

from overruler.frame import Frame
from overruler.vision.learned import patches
from overruler.vision.learned.patches import photo_pyramid


def photo(name: str) -> Frame:
    return Frame(np.zeros((600, 800, 3), np.uint8), name)


def test_photos_that_are_asked_in_turn_keep_their_pyramids(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    def build(pixels: patches.Picture) -> list[patches.Picture]:
        built.append(id(pixels))
        return [pixels]

    monkeypatch.setattr(patches, "build_pyramid", build)
    photos = [photo(name) for name in "abc"]
    with ThreadPoolExecutor(3) as pool:
        levels = list(pool.map(photo_pyramid, 4 * photos))
    assert sorted(built) == sorted(id(one.pixels) for one in photos)
    assert all(some[0] is one.pixels for some, one in zip(levels, 4 * photos, strict=True))


def test_a_pyramid_goes_with_its_photo() -> None:
    one = photo("gone")
    smaller = ref(photo_pyramid(one)[1])
    assert smaller() is not None
    del one
    gc.collect()
    assert smaller() is None

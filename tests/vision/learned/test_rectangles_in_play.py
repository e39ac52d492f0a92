"""What the network in play says of rectangles on a painted unit, and to what it corrects them."""

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.vision.learned.in_play_net import LOGITS
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.rectangles_in_play import (
    OVAL_TO_RECTANGLE,
    look_at_rectangles,
    rectangle_ovals,
)
from overruler.vision.learned.shapes_in_play import correct_shapes
from tests.vision.plates.test_regiments import TURN_RAD, unit


def squares(places: Array, side_mm: float) -> Array:
    count = len(places)
    return rectangle_ovals(places, np.full((count, 2), side_mm), np.full(count, TURN_RAD))


def test_a_rectangle_is_the_oval_of_its_area() -> None:
    ((_, _, half_length, half_width, _),) = rectangle_ovals(
        np.zeros((1, 2)), np.array([[50.0, 25.0]]), np.zeros(1)
    )
    assert np.pi * half_length * half_width == pytest.approx(50 * 25)
    assert half_length == pytest.approx(2 * half_width)


def test_a_base_of_its_size_is_likelier_and_would_be_changed_less() -> None:
    frame, camera, places = unit()
    looks = [
        look_at_rectangles(photo_pyramid(frame), camera, squares(at, side_mm))
        for at, side_mm in ((places, 25.0), (places, 36.0), (places + 100.0, 25.0))
    ]
    right, large, beside = (np.median(said, 0) for said in looks)
    assert right[0] > 0 > beside[0]
    assert right[1] < 0.1 < large[1]
    assert all((said[:, 0] >= LOGITS[0]).all() for said in looks)


def test_one_beside_a_base_is_corrected_to_it_and_none_larger_than_any_base_is_kept() -> None:
    frame, camera, places = unit()
    starts = np.concatenate([squares(places[[1, 8]] + 3.0, 30.0), squares(places[:1], 600.0)])
    numbers, ovals, _ = correct_shapes(photo_pyramid(frame), camera, starts, 3)
    assert numbers.tolist() == [0, 1]
    for at, oval in zip(places[[1, 8]], ovals, strict=True):
        assert np.hypot(*(oval[:2] - at)) < 2.5
        assert 2 * OVAL_TO_RECTANGLE * oval[2:4] == pytest.approx([25, 25], rel=0.15)

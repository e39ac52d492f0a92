"""No rectified picture is larger than memory and OpenCV take, however it is asked for."""

import numpy as np
import pytest

from overruler.errors import CannotMeasure
from overruler.vision.imaging.orthophoto import Orthophoto, rectify_photo, resample_orthophoto
from tests.tables import camera_over


def test_a_picture_that_is_too_large_is_refused_in_one_line() -> None:
    pixels = np.zeros((9, 12, 3), np.uint8)
    with pytest.raises(CannotMeasure, match="check the board's or"):
        rectify_photo(pixels, camera_over(), (0.0, 0.0, 1e6, 10.0), 1.0)
    coarse = Orthophoto(np.zeros((200, 200, 3), np.uint8), np.ones((200, 200), bool), 0, 0, 1000.0)
    with pytest.raises(CannotMeasure, match="200000 mm × 200000 mm") as error:
        resample_orthophoto(coarse, 1.0)
    assert "\n" not in str(error.value)


def test_a_picture_keeps_its_place_at_another_resolution() -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (40, 60, 3), np.uint8)
    view = Orthophoto(pixels, np.ones((40, 60), bool), -5.0, 70.0, 2.0)
    fine = resample_orthophoto(view, 1.0)
    assert fine.pixels.shape[:2] == (80, 120)
    assert fine.to_mm(fine.to_px([3.0, 7.0])) == pytest.approx([3.0, 7.0])
    assert (fine.left_mm, fine.top_mm) == (view.left_mm, view.top_mm)

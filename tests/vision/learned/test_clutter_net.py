"""The network that was taught on clutter, on discs drawn here."""

import numpy as np
import pytest

from overruler.frame import Frame
from overruler.vision.learned.clutter_net import clutter_net_logits
from overruler.vision.learned.patches import photo_pyramid
from synthetic.flat_table import Plinth
from tests.tables import camera_over, photo

BASE, BARE = (250.0, 260.0, 16.0), (520.0, 140.0, 16.0)


@pytest.mark.parametrize("tilt_deg", [5.0, 40.0])
def test_a_base_is_likelier_one_than_bare_mat(tilt_deg: float) -> None:
    camera = camera_over(tilt_deg)
    frame = photo(camera, [Plinth(BASE[0], BASE[1], 32.0)])
    base, bare = clutter_net_logits(photo_pyramid(frame), camera, np.array([BASE, BARE]))
    assert base > 0 > bare


def test_a_table_and_its_mirror_image_are_judged_alike() -> None:
    """From straight above; the camera is as far to the left of the one as to the right of the other."""
    camera = camera_over(0.0, turn_deg=0.0, k1=0.0)
    frame = photo(camera, [Plinth(BASE[0], BASE[1], 32.0)])
    eye = camera.center_mm[0]
    mirrored = Frame(np.ascontiguousarray(frame.pixels[:, ::-1]), "mirrored")
    matrix = camera.matrix.copy()
    matrix[0, 2] = frame.pixels.shape[1] - 1 - matrix[0, 2]
    other = camera.with_lens(matrix, np.zeros(5))
    told = clutter_net_logits(photo_pyramid(frame), camera, np.array([BASE]))
    twin = np.array([[2 * eye - BASE[0], *BASE[1:]]])
    again = clutter_net_logits(photo_pyramid(mirrored), other, twin)
    assert again == pytest.approx(told, abs=0.15)


def test_no_circles_have_no_odds() -> None:
    camera = camera_over()
    frame = photo(camera, [])
    assert clutter_net_logits(photo_pyramid(frame), camera, np.empty((0, 3))).shape == (0,)

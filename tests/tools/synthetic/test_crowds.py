"""Painted crowds: bases stand beside each other, and nothing lies behind the camera."""

import numpy as np
import pytest

from synthetic.camera import view_towards
from synthetic.from_above.crowds import OVERLAP_MM, any_view, crowded_scene, in_front
from synthetic.painted.light import corners_of
from synthetic.painted.plates import spun
from synthetic.tiles import library

TILES = library(5, 3)
REACH_MM = 190.0


@pytest.mark.parametrize("seed", range(6))
def test_bases_of_a_crowd_do_not_lie_in_each_other(seed: int) -> None:
    scene, sizes = crowded_scene(np.random.default_rng([seed, 3]), REACH_MM, TILES)
    turn = np.arange(72) * 2 * np.pi / 72
    for k, (plate, size) in enumerate(zip(scene.plates, sizes, strict=True)):
        if size is None:
            continue
        length, width, heading, _ = size
        rim = np.column_stack([length * np.cos(turn), width * np.sin(turn)]) / 2
        rim = plate.center_mm + spun(rim, heading)
        for other, its_size in list(zip(scene.plates, sizes, strict=True))[:k]:
            if its_size is None:
                continue
            local = spun(rim - other.center_mm, -its_size[2]) * 2 / its_size[:2]
            depth = (1 - np.hypot(*local.T).min()) * min(its_size[:2]) / 2
            assert depth < 3 * OVERLAP_MM


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_of_a_scene_lies_before_the_camera(seed: int) -> None:
    rng = np.random.default_rng([seed, 4])
    eye = np.array([90.0, 0.0, 50.0])
    view = view_towards(eye, np.zeros(3), 0.0, REACH_MM, 2.0)
    scene, sizes = crowded_scene(rng, REACH_MM, TILES)
    left, its_sizes = in_front(view, scene, sizes)
    assert len(left.plates) == len(its_sizes)
    for plate in left.plates:
        assert np.isfinite(view.camera.project(corners_of(plate))).all()
    for solid in left.solids:
        assert np.isfinite(view.camera.project(solid.points_mm)).all()


def test_cameras_look_down_at_the_table() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        view = any_view(rng)
        assert view.camera.center_mm[2] > 50
        assert np.isfinite(view.camera.project(np.zeros((1, 3)))).all()

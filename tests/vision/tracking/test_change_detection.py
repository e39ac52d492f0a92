"""Blocks: what has changed, what moves, what is still."""

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.vision.tracking.change_detection import (
    BLOCK_PX,
    BackgroundModel,
    block_means,
    blocks_near,
    build_pyramid,
    differing_blocks,
    label_areas,
    relit_areas,
)

RANDOM = np.random.default_rng(3)
SCENE = RANDOM.uniform(60, 190, (240, 320))


def shot(change: float = 0.0, light: float = 0.0, noise: float = 1.5) -> NDArray[np.uint8]:
    """The scene, with a square that differs, in other light, with noise."""
    picture = SCENE + light + RANDOM.normal(0, noise, SCENE.shape)
    picture[80:120, 160:208] += change
    return np.asarray(picture.clip(0, 255).round(), np.uint8)


def test_noise_and_light_are_no_change_and_a_thing_is() -> None:
    still = block_means(build_pyramid(shot()))
    assert not differing_blocks(block_means(build_pyramid(shot())), still, 2.5).any()
    assert not differing_blocks(block_means(build_pyramid(shot(light=12))), still, 2.5).any()
    found = differing_blocks(block_means(build_pyramid(shot(change=15))), still, 2.5)
    assert found[10:15, 20:26].all()
    assert found.sum() == 30


def test_noise_of_whole_levels_moves_nothing_though_most_blocks_agree() -> None:
    """A lively corner of a dim picture: the middle difference is 0, some are 3 levels."""
    still = np.full((135, 240), 60, np.float32)
    lively = still.copy()
    lively[:40, :60] += RANDOM.normal(0, 1.0, (40, 60)).round()
    lively[40:] += RANDOM.normal(0, 0.6, (95, 240)).round()
    assert (np.abs(lively - still) >= 3).any()
    assert not differing_blocks(lively, still, 2.5).any()
    lively[60:62, 100:102] += 9
    assert differing_blocks(lively, still, 2.5).sum() == 4


def test_what_has_changed_is_at_rest_once_nothing_moves_and_known_once_accepted() -> None:
    changes = BackgroundModel.of(block_means(build_pyramid(shot())), 0.0)
    moving = changes.update(block_means(build_pyramid(shot(change=20))), 0.1)
    assert moving.sum() == 30
    assert changes.changed.sum() == 30
    assert not changes.update(block_means(build_pyramid(shot(change=20))), 0.2).any()
    assert not changes.still_blocks(0.2, 0.3)[moving].any()
    assert changes.still_blocks(0.4, 0.3)[moving].all()
    changes.accept_background(changes.changed)
    changes.update(block_means(build_pyramid(shot(change=20))), 0.5)
    assert not changes.changed.any()


def test_the_table_at_rest_follows_slow_light_only_where_nothing_has_changed() -> None:
    changes = BackgroundModel.of(block_means(build_pyramid(shot())), 0.0)
    for step in range(60):
        changes.update(block_means(build_pyramid(shot(change=20, light=step / 4))), step / 10)
    assert changes.changed.sum() == 30


def test_areas_are_told_apart_and_gaps_bridged() -> None:
    mask = np.zeros((20, 30), bool)
    mask[2:5, 2:5] = mask[2:5, 6:8] = mask[12:14, 20:24] = True
    count, labels = label_areas(mask)
    assert count == 2
    assert labels[2, 2] == labels[2, 6] != labels[12, 20]
    assert not labels[~mask].any()


def test_no_blocks_lie_round_a_place_that_the_camera_cannot_see() -> None:
    assert not np.ones((30, 40))[blocks_near(np.full(2, np.nan), 20.0)].size


def test_blocks_round_a_place_hold_it() -> None:
    rows, columns = blocks_near(np.array([100.0, 60.0]), 20.0)
    assert rows.start * BLOCK_PX <= 40
    assert rows.stop * BLOCK_PX >= 80
    assert columns.start * BLOCK_PX <= 80
    assert columns.stop * BLOCK_PX >= 120


def lit(grey: NDArray[np.uint8], gain: float, offset: float) -> NDArray[np.uint8]:
    return np.asarray((grey * gain + offset).clip(0, 255), np.uint8)


def test_a_shadow_is_told_from_what_stands_there_now() -> None:
    draw = np.random.default_rng(4)
    then = np.asarray(
        cv2.GaussianBlur(draw.integers(60, 200, (160, 320)).astype(np.uint8), (0, 0), 2), np.uint8
    )
    now = np.asarray(then + draw.integers(0, 3, then.shape), np.uint8)
    now[16:48, 16:64] = lit(now[16:48, 16:64], 0.85, 0)
    cv2.circle(now, (160, 80), 20, 90, -1)
    where = np.zeros((20, 40), bool)
    where[2:6, 2:8] = where[8:12, 18:22] = True
    shadow = np.zeros_like(where)
    shadow[2:6, 2:8] = True
    assert np.array_equal(relit_areas(now, then, where), shadow)


def test_where_the_mat_has_no_texture_a_shadow_is_not_told() -> None:
    then = np.full((80, 80), 120, np.uint8)
    where = np.zeros((10, 10), bool)
    where[3:6, 3:6] = True
    assert not relit_areas(lit(then, 0.8, 0), then, where).any()

"""Prints on mats: where they lie, and what they leave alone."""

from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from synthetic import printed_mats as module
from synthetic.from_above.sheet import camera_of, read_truth
from synthetic.printed_mats import FORMS, Lookalike, print_on_mat

SAMPLE = Path(__file__).parents[3] / "sample_images" / "xwing_space.json"

sample = cache(read_truth)


def printed(form: str, seed: int = 3, count: int = 8) -> tuple[Any, Array, Array, list[Lookalike]]:
    """The truth of a sample, its photo before and after, and the prints."""
    truth, camera, photo = sample(SAMPLE)
    after, prints = print_on_mat(np.random.default_rng(seed), photo, camera, truth, count, form)
    return truth, photo.astype(float), after.astype(float), prints


@pytest.mark.parametrize("form", list(FORMS))
def test_prints_change_their_places_and_nothing_else(form: str) -> None:
    truth, before, after, prints = printed(form)
    assert len(prints) > 3
    camera = camera_of(truth["camera"])
    inside = np.zeros(before.shape[:2], np.uint8)
    turn = np.linspace(0, 2 * np.pi, 90)
    for one in prints:
        reach = 1.5 * one.radius_mm + 3
        circle = one.xy_mm + reach * np.column_stack([np.cos(turn), np.sin(turn)])
        outline = camera.project(np.column_stack([circle, np.zeros(90)]))
        cv2.fillPoly(inside, [outline.round().astype(np.int32)], 1)
    changed = np.abs(after - before).max(-1) > 0
    assert not changed[inside == 0].any()
    for one in prints:
        x, y = camera.project(np.array([*one.xy_mm, 0.0]))[:2].round().astype(int)
        rim = np.abs(after - before)[y - 25 : y + 26, x - 25 : x + 26]
        assert rim.max() > 5


def test_prints_keep_away_from_pieces_and_from_each_other() -> None:
    truth, *_, prints = printed("disc", seed=5, count=30)
    assert len(prints) > 10
    pieces = np.array([[one["x_mm"], one["y_mm"]] for one in truth["pieces"]])
    for k, one in enumerate(prints):
        assert np.hypot(*(pieces - one.xy_mm).T).min() > one.radius_mm + 15
        for other in prints[:k]:
            apart = np.hypot(*(one.xy_mm - other.xy_mm))
            assert apart > one.radius_mm + other.radius_mm


def test_the_same_seed_prints_the_same() -> None:
    (*_, once, prints), (*_, again, others) = printed("disc"), printed("disc")
    assert (once == again).all()
    assert [one.kind for one in prints] == [one.kind for one in others]
    assert (printed("disc", seed=4)[2] != once).any()


@pytest.mark.parametrize("form", list(FORMS))
def test_the_edge_of_a_print_is_soft(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A camera blurs it: about a pixel all along it lies between print and mat."""
    truth, camera, photo = sample(SAMPLE)
    monkeypatch.setattr(module, "NOISE", 0.0)
    monkeypatch.setattr(module, "KINDS", {"white": _white})
    black, rng = np.zeros_like(photo), np.random.default_rng(3)
    after, prints = print_on_mat(rng, black, camera, truth, 4, form)
    shade = after[..., 0] / after.max()
    between = np.count_nonzero((shade > 0.2) & (shade < 0.8))
    assert 0.7 < between / sum(_edge_px(camera, one) for one in prints) < 2.5


def _white(_: object, out: Array) -> tuple[Array, Array]:
    return np.ones((*out.shape, 3)), np.asarray(out <= 1, float)


def _edge_px(camera: Camera, one: Lookalike) -> float:
    """About how long a print's edge is in the photo."""
    reach = 8 if one.is_angular else 2 * np.pi
    place = np.array([*one.xy_mm, 0.0])
    return reach * float(one.half_mm.mean()) / float(camera.mm_per_px(place))

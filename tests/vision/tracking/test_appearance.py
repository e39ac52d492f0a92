"""A look is found again where it went, also half hidden and in other light."""

from typing import Any

import cv2
import numpy as np
import pytest

from evaluate.drawn.markers import camera_over
from overruler.geometry.pose import Array
from overruler.vision.tracking.appearance import (
    EARLY_STOP_ITERATION,
    EARLY_STOP_SHARE,
    MAX_ITERATIONS,
    align_patch,
    cut_patch,
    find_patch,
    linearize_projection,
)
from overruler.vision.tracking.change_detection import GreyImage

CAMERA = camera_over(8.0, size_px=(640, 480), focal_px=500.0, aim_mm=(450.0, 450.0))
RADIUS_MM = 25.0
BOARD = CAMERA.unproject(np.stack(np.meshgrid(np.arange(640), np.arange(480)), -1).astype(float))


def picture(xy_mm: Array, hidden_mm: float | None = None, gain: float = 1.0) -> GreyImage:
    """A textured disc on a textured mat; a flat thing hides what lies more than `hidden_mm` to the right of it."""
    x, y = BOARD[..., 0] - xy_mm[0], BOARD[..., 1] - xy_mm[1]
    mat = 150 + 14 * np.sin(BOARD[..., 0] / 9) * np.sin(BOARD[..., 1] / 13)
    disc = 80 + 30 * np.sin(x / 5) * np.cos(y / 7) - 40 * (np.hypot(x, y) > 0.85 * RADIUS_MM)
    seen = np.where(np.hypot(x, y) < RADIUS_MM, disc, mat) * gain
    if hidden_mm is not None:
        seen = np.where((x > hidden_mm) & (np.abs(y) < 60), 190, seen)
    return np.asarray(cv2.GaussianBlur(seen, (0, 0), 0.8).clip(0, 255).round(), np.uint8)


HOME = np.array([430.0, 470.0])
LOOK = cut_patch(picture(HOME), CAMERA, HOME, 0.0, RADIUS_MM)


@pytest.mark.parametrize("step", [(0.0, 0.0), (3.3, -7.1), (-10.4, 6.2)])
@pytest.mark.parametrize("hidden_mm", [None, 4.0])
@pytest.mark.parametrize("gain", [1.0, 0.85])
def test_it_is_found_where_it_went(
    step: tuple[float, float], hidden_mm: float | None, gain: float
) -> None:
    there = HOME + step
    match = find_patch(
        picture(there, hidden_mm, gain), CAMERA, [LOOK], HOME, 0.0, 12.0, gain + 0.03
    )  # a shot ago
    assert np.hypot(*(match.xy_mm - there)) < 0.6
    assert match.share > (0.8 if hidden_mm is None else 0.4)


def test_where_it_is_not_little_of_it_is_seen() -> None:
    far = picture(HOME + np.array([150.0, 0.0]))
    assert find_patch(far, CAMERA, [LOOK], HOME, 0.0, 12.0, 1.0).share < 0.38


def test_the_share_falls_with_what_is_hidden() -> None:
    shares = [
        align_patch(picture(HOME, hidden), CAMERA, LOOK, HOME, 0.0).share
        for hidden in (None, 10.0, 0.0, -10.0)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.95
    assert shares[-1] < 0.5


@pytest.mark.parametrize("z_mm", [0.0, 30.0])
def test_places_are_seen_where_the_camera_has_them(z_mm: float) -> None:
    pixel, slope = linearize_projection(CAMERA, HOME, z_mm)
    wanted, by_place, _ = CAMERA.project_with_jacobians(np.array([*HOME, z_mm]))
    assert pixel == pytest.approx(wanted, abs=1e-9)
    assert slope == pytest.approx(by_place[:, :2], abs=1e-4)


def test_a_look_that_is_not_there_is_soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, solve = list[Array](), cv2.solve

    def counted(known: Array, wanted: Array) -> Any:
        steps.append(known)
        return solve(known, wanted)

    monkeypatch.setattr(cv2, "solve", counted)
    rng = np.random.default_rng(2)
    rough = np.asarray(
        cv2.GaussianBlur(rng.integers(0, 255, BOARD.shape[:2]).astype(np.uint8), (0, 0), 2),
        np.uint8,
    )
    bright = np.asarray(200 + rough // 8, np.uint8)
    assert align_patch(bright, CAMERA, LOOK, HOME, 0.0).share < EARLY_STOP_SHARE
    assert len(steps) == EARLY_STOP_ITERATION < MAX_ITERATIONS
    steps.clear()
    assert align_patch(picture(HOME, 0.0), CAMERA, LOOK, HOME + 2.5, 0.0).share > 0.4
    assert len(steps) > EARLY_STOP_ITERATION, "half hidden, it is worth more"

"""Corners of what lies on a table, where it has no markers."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np

from overruler.vision.stabilization.corners import MAX_CORNERS, find_corners
from overruler.vision.stabilization.light_bands import GreyImage
from tests.tables import BOARD_MM, SIZE_PX, camera_over, exact

CAMERA = camera_over(10.0)
OUTLINE_PX = CAMERA.project(
    np.array([(0, 0, 0), (BOARD_MM[0], 0, 0), (*BOARD_MM, 0), (0, BOARD_MM[1], 0)], float)
)


def picture(seed: int = 1, blocks: int = 150) -> GreyImage:
    """Blocks everywhere, and far clearer ones beyond the table."""
    rng = np.random.default_rng(seed)
    grey = np.full(SIZE_PX[::-1], 110, np.uint8)
    for _ in range(blocks):
        x, y = rng.integers(0, SIZE_PX[0] - 30), rng.integers(0, SIZE_PX[1] - 30)
        level = (
            int(rng.integers(60, 160))
            if is_inside(float(x), float(y))
            else int(rng.choice([0, 255]))
        )
        grey[y : y + 25, x : x + 25] = level
    return grey


def is_inside(x: float, y: float) -> bool:
    outline = OUTLINE_PX.astype(np.float32)
    return cv2.pointPolygonTest(outline, (float(x), float(y)), True) > 0


def test_corners_lie_on_the_table_apart_and_off_the_bases() -> None:
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    base: Any = SimpleNamespace(
        outline_px=np.array([600.0, 450.0])
        + 120 * np.column_stack([np.cos(angles), np.sin(angles)])
    )
    squares = find_corners(picture(), exact(CAMERA), [base])
    centers = np.array([square.mean(0) for square in squares])
    assert 10 < len(squares) <= MAX_CORNERS
    margin_px = 60 / float(CAMERA.mm_per_px(np.array([350.0, 250.0, 0.0])))
    outline = OUTLINE_PX.astype(np.float32)
    inside = [cv2.pointPolygonTest(outline, (float(x), float(y)), True) for x, y in centers]
    assert min(inside) > -1.3 * margin_px
    assert np.hypot(*(centers - [600, 450]).T).min() > 230
    apart = np.linalg.norm(centers[:, None] - centers, axis=2) + 1e6 * np.eye(len(centers))
    assert apart.min() > 0.05 * SIZE_PX[0]


def test_a_plain_table_has_none() -> None:
    assert find_corners(np.full(SIZE_PX[::-1], 110, np.uint8), exact(CAMERA)) == []
    assert find_corners(picture(blocks=0), replace(exact(CAMERA), board_mm=(10.0, 10.0))) == []

"""The look of a piece that a hand has turned."""

import cv2
import numpy as np
import pytest

from overruler.vision.tracking.appearance import cut_patch, find_patch
from overruler.vision.tracking.reidentify import MIN_LOOK_SHARE, TRIED_TURNS_DEG, rotate_patch
from tests.tables import SIZE_PX, camera_over

CAMERA = camera_over(0.0)
PLACE = np.array([300.0, 220.0])


def picture(angle_deg: float) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Blotches, turned counter-clockwise round a place on the board."""
    width, height = SIZE_PX
    rough = (
        np.random.default_rng(5)
        .uniform(20, 230, (height // 14 + 1, width // 14 + 1))
        .astype(np.float32)
    )
    blotches = cv2.resize(rough, SIZE_PX, interpolation=cv2.INTER_CUBIC).clip(0, 255)
    x, y = CAMERA.project(np.array([*PLACE, 0.0])).tolist()
    turn = cv2.getRotationMatrix2D((x, y), angle_deg, 1.0)
    return np.asarray(cv2.warpAffine(blotches.astype(np.uint8), turn, SIZE_PX), np.uint8)


@pytest.mark.parametrize("angle_deg", [0.0, -37.0, 110.0])
def test_a_look_is_found_again_when_it_is_turned_about_as_far_and_not_otherwise(
    angle_deg: float,
) -> None:
    look, grey = cut_patch(picture(0.0), CAMERA, PLACE, 0.0, 25.0), picture(angle_deg)
    shares = {}
    for angle in TRIED_TURNS_DEG:
        match = find_patch(
            grey, CAMERA, [rotate_patch(look, angle)], PLACE + np.array([4.0, -3.0]), 0.0, 10.0, 1.0
        )
        shares[angle] = match.share if np.hypot(*(match.xy_mm - PLACE)) < 1.5 else 0.0
    best = max(shares, key=lambda angle: shares[angle])
    assert abs(best - angle_deg) <= 7.5
    far = [
        share for angle, share in shares.items() if abs((angle - angle_deg + 180) % 360 - 180) > 45
    ]
    assert max(far) < MIN_LOOK_SHARE

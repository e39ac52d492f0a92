"""How well markers' corners fit a plain perspective of the board."""

import cv2
import numpy as np

from overruler.geometry.pose import Array


def perspective_rms_px(on_board: Array, in_photo: Array) -> float:
    """RMS error of the best homography between corners (N, 4, 2); infinite where there is none."""
    source, target = on_board.reshape(-1, 2), in_photo.reshape(-1, 2)
    homography, _ = cv2.findHomography(source, target)
    if homography is None:
        return float("inf")
    predicted = np.column_stack([source, np.ones(len(source))]) @ homography.T
    error = predicted[:, :2] / predicted[:, 2:] - target
    return float(np.sqrt((error**2).sum(1).mean()))

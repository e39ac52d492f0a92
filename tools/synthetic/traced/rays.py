"""The exact ray behind each point of a picture."""

import numpy as np

from synthetic.arrays import Floats
from synthetic.camera import FOLD_MARGIN_PX, View

STEP_PX = FOLD_MARGIN_PX
"""The lens is inverted at every fourth pixel, and straight lines are good to 0.001 px in between."""


class Rays:
    """The exact ray through any point of the picture."""

    def __init__(self, view: View) -> None:
        width, height = view.size_px
        self.eye_mm = view.camera.center_mm
        self._turn = view.camera.T_camera_board.rotation
        across, down = (
            np.arange(-STEP_PX, width + 2 * STEP_PX, STEP_PX),
            np.arange(-STEP_PX, height + 2 * STEP_PX, STEP_PX),
        )
        nodes = view.camera.undistort(np.stack(np.meshgrid(across, down), -1))
        if np.isnan(nodes).any():
            raise ValueError("the lens folds over inside the picture")
        self._columns = len(across)
        self._nodes = np.concatenate([nodes, np.ones((*nodes.shape[:2], 1))], -1) @ self._turn
        self._nodes = self._nodes.reshape(-1, 3).astype(np.float32)

    def through(self, x_px: Floats, y_px: Floats) -> Floats:
        """Directions (N, 3), depth 1 along the axis, through pixels (N,), (N,)."""
        x, y = x_px * np.float32(1 / STEP_PX) + 1, y_px * np.float32(1 / STEP_PX) + 1
        column, row = x.astype(np.int32), y.astype(np.int32)
        u, v = (x - np.floor(x))[:, None], (y - np.floor(y))[:, None]
        cell, n = row * self._columns + column, self._nodes
        top = n[cell] + (n[cell + 1] - n[cell]) * u
        low = n[cell + self._columns]
        low = low + (n[cell + self._columns + 1] - low) * u
        return np.asarray(top + (low - top) * v)

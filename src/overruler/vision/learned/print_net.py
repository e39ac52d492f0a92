"""Networks that tell bases from what lies flat on the mat: planets, signs, lids of drains, cards.

They are of the kind of `rim_net`'s patch network, taught on mats with many prints, and look at what other
networks take for bases: one at round ones, one at those with corners.
"""

from functools import partial
from pathlib import Path

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.patch_net import augmented_logits, run_patch_network
from overruler.vision.learned.patches import Picture

ROUND_MODEL = WEIGHTS / "prints.onnx"
CORNERED_MODEL = WEIGHTS / "cards.onnx"


def rectangle_radius_mm(length_mm: float, width_mm: float) -> float:
    """Return the radius of the circle as large as a rectangle, in which `CORNERED_MODEL` sees it."""
    return float(np.sqrt(length_mm * width_mm / np.pi))


def rectangle_circles(xy_mm: Array, size_mm: Array) -> Array:
    """Return those circles (N, 3) for centres (N, 2), and lengths and widths (N, 2), all in mm."""
    return np.column_stack([xy_mm, [rectangle_radius_mm(*size) for size in size_mm]])


def unprinted_logits(
    levels: list[Picture], camera: Camera, circles: Array, model: Path = ROUND_MODEL
) -> Array:
    """Return the log odds (N,) that circles (N, 3) of x, y and radius in mm hold bases, the mean of several views."""
    if not len(circles):
        return np.zeros(0)
    look = partial(run_patch_network, model=model)
    return np.asarray(np.mean(augmented_logits(levels, camera, circles, look), 0)[:, 0])

"""A network that judges what looks like a base on a table in play.

It is the first part of EfficientNet-Lite2, whose first weights come from photographs, taught on tables
as people play on them. It sees more around a candidate than `rim_net`'s patch network.
`docs/rims.md` describes the training.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.patch_net import run_patch_network
from overruler.vision.learned.patches import (
    PatchFormat,
    Picture,
    shape_matrices_mm,
    upright_axes,
)

MODEL = WEIGHTS / "in_play.onnx"
WIDE_PATCH = PatchFormat(96, 2.4)
"""What the network sees of a candidate."""
COLUMNS = 11
"""Numbers that the network answers about a candidate."""
PLACE = [1, 2]
"""Columns of the way to a base's middle, in radii."""
LOGIT, SIZE, LOG_SIGMA_PLACE, LOG_SIGMA_SIZE, VISIBLE_LOGIT = 0, 3, 4, 5, 6
"""Columns of the log odds of a round base or oval, of the logarithm of its size by the candidate's, of the
logarithms of σ of place, in radii, and of that size, and of the log odds of the visible share."""
STRETCH, LOG_SIGMA_STRETCH, RECTANGLE_LOGIT = [7, 8], 9, 10
"""Columns of the logarithm of a base's stretch, along the right and between right and up, of the
logarithm of its σ, and of the log odds of a rectangle."""
LOGITS = (-8.0, 4.0)
"""Limits of log odds by which a score counts them."""
MAX_CHANGE, MAX_MOVE = 0.4, 0.5
"""The same of changes of size and proportions, which are logarithms, and of the place, in radii."""


def look_in_play(
    levels: list[Picture],
    camera: Camera,
    shapes: Array,
    mirrored: NDArray[np.bool_] | None = None,
) -> Array:
    """Look at circles (N, 3) or ovals (N, 5); answers (N, 7) as `run_patch_network` gives them."""
    return look_at_shapes(levels, camera, shapes, mirrored)[:, :7]


def look_at_shapes(
    levels: list[Picture],
    camera: Camera,
    shapes: Array,
    mirrored: NDArray[np.bool_] | None = None,
) -> Array:
    """Look at circles (N, 3) or ovals (N, 5); answers (N, 11).

    Those are the seven of `run_patch_network`, then what `STRETCH`, `LOG_SIGMA_STRETCH` and
    `RECTANGLE_LOGIT` name. A rectangle counts as the oval of its area and proportions.
    """
    return run_patch_network(levels, camera, shapes, mirrored, MODEL, WIDE_PATCH, COLUMNS)


def wanted_changes(answers: Array) -> Array:
    """Return by how much answers (N, 11) would change the size, the proportions and the place of each shape (N, 3)."""
    resized, moved = np.abs(answers[:, SIZE]), np.hypot(*answers[:, PLACE].T)
    stretched = np.hypot(*answers[:, STRETCH].T)
    changes = np.column_stack([resized, stretched, moved])
    return np.asarray(np.minimum(changes, [MAX_CHANGE, MAX_CHANGE, MAX_MOVE]))


def corrected_shapes(camera: Camera, shapes: Array, answers: Array) -> Array:
    """Return the ovals (N, 5) that the network's answers (N, 11) about shapes (N, 5) say are there."""
    upright, _ = upright_axes(camera, shapes)
    own = shape_matrices_mm(shapes)
    offset = np.einsum("nij,nkj,nk->ni", own, upright, answers[:, PLACE])
    size, (along, between) = answers[:, SIZE], answers[:, STRETCH].T
    logarithm = np.array([[size + along, between], [between, size - along]]).transpose(2, 0, 1)
    stretch, axes = np.linalg.eigh(logarithm)
    ratio = axes * np.exp(2 * stretch)[:, None] @ axes.transpose(0, 2, 1)
    turned = own @ upright.transpose(0, 2, 1)
    squares, axes = np.linalg.eigh(turned @ ratio @ turned.transpose(0, 2, 1))
    half = np.sqrt(squares[:, ::-1])
    heading = np.arctan2(axes[:, 1, 1], axes[:, 0, 1])
    return np.column_stack([shapes[:, :2] + offset, half, heading])

"""Look at candidates with the patch network of `rim_net`, or with another of its kind."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.inference import WEIGHTS, run_in_batches
from overruler.vision.learned.logits import MAX_LOGIT_PER_VIEW
from overruler.vision.learned.patches import (
    NEAR_PATCH,
    PatchFormat,
    Picture,
    auxiliary_input,
    cut_patches,
    equal_area_radius_mm,
    patch_input,
)

PATCH_MODEL = WEIGHTS / "rims.onnx"
TEST_TIME_AUGMENTATIONS = ((True, (0.0, 0.0)), (False, (0.07, 0.03)), (True, (-0.05, 0.06)))
"""Further views of likely bases: whether mirrored, and the offset (right, up) in radii."""
Look = Callable[[list[Picture], Camera, Array, NDArray[np.bool_] | None], Array]
"""Looks at shapes as `run_patch_network` does."""


def run_patch_network(
    levels: list[Picture],
    camera: Camera,
    shapes: Array,
    mirrored: NDArray[np.bool_] | None = None,
    model: Path = PATCH_MODEL,
    form: PatchFormat = NEAR_PATCH,
    columns: int = 7,
) -> Array:
    """Run a patch network on circles or ellipses, shaped as in `patches`; answers (N, 7).

    The network `model` sees patches of the format `form`. It may answer in more `columns`. The
    answers are the logit, dx, dy, log of the radius ratio, two log σ, and the logit of the visible
    share. dx and dy are in radii, to the right and away from the camera. Where `mirrored` (N,) is
    True, the network sees the mirror image.
    """
    flip = np.zeros(len(shapes), bool) if mirrored is None else mirrored

    def blob(rows: Array) -> Floats:
        some = rows[:, :-1]
        flipped = rows[:, -1] > 0
        patches = cut_patches(levels, camera, some, form)
        pictures = patch_input(patches, auxiliary_input(camera, some), form)
        pictures[flipped] = pictures[flipped][..., ::-1]
        return pictures

    return run_in_batches(model, blob, np.column_stack([shapes, flip])).reshape(-1, columns)


def augmented_logits(
    levels: list[Picture], camera: Camera, shapes: Array, look: Look
) -> list[Array]:
    """Return the log odds (N, 2) of score and visible share for each of the augmented views."""
    count = len(TEST_TIME_AUGMENTATIONS)
    mirrored = np.array([mirror for mirror, _ in TEST_TIME_AUGMENTATIONS])
    shifts = np.array([shift for _, shift in TEST_TIME_AUGMENTATIONS])
    moved = np.tile(shapes, (count, 1, 1))
    moved[..., :2] += equal_area_radius_mm(shapes)[:, None] * shifts[:, None]
    each_mirrored = np.repeat(mirrored, len(shapes))
    answer = look(levels, camera, np.concatenate(moved), each_mirrored)
    logits = answer[:, [0, 6]].clip(-MAX_LOGIT_PER_VIEW, MAX_LOGIT_PER_VIEW)
    return list(logits.reshape(count, -1, 2))

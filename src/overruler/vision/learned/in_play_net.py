"""A second opinion on what looks like a base on a table in play: base or lookalike.

The network is the first part of EfficientNet-Lite0, whose first weights come from photographs, taught on
tables as people play on them. It sees more around a candidate than the rim networks do, judges round
bases and ovals alike, and locates nothing. `docs/rims.md` describes the training.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.inference import WEIGHTS, run_in_batches
from overruler.vision.learned.logits import MAX_LOGIT_PER_VIEW
from overruler.vision.learned.patches import (
    PatchFormat,
    Picture,
    auxiliary_input,
    cut_patches,
    patch_input,
    square_angles_rad,
)

MODEL = WEIGHTS / "in_play.onnx"
WIDE_PATCH = PatchFormat(96, 2.4)
"""What the network sees of a candidate."""


def look_in_play(
    levels: list[Picture],
    camera: Camera,
    shapes: Array,
    mirrored: NDArray[np.bool_] | None = None,
    are_rectangles: bool = False,
) -> Array:
    """Look at shapes once; answers (N, 7) as those of `rim_net.run_patch_network`.

    Shapes are circles (N, 3), or ovals or rectangles (N, 5) of x, y, half length, half width and
    heading. Where `mirrored` (N,) is True, the network sees the mirror image.
    """
    flip = np.zeros(len(shapes), bool) if mirrored is None else mirrored

    def blob(rows: Array) -> Floats:
        some = rows[:, :-1]
        angles = square_angles_rad(camera, some) if are_rectangles else None
        patches = cut_patches(levels, camera, some, WIDE_PATCH)
        seen = patch_input(patches, auxiliary_input(camera, some), WIDE_PATCH, angles)
        flipped = rows[:, -1] > 0
        seen[flipped] = seen[flipped][..., ::-1]
        return seen

    return run_in_batches(MODEL, blob, np.column_stack([shapes, flip])).reshape(-1, 7)


def in_play_logits(
    levels: list[Picture], camera: Camera, shapes: Array, are_rectangles: bool = False
) -> Array:
    """Return the log odds (N,) that shapes are bases: the mean of a view and its mirror image."""
    twice = np.concatenate([shapes, shapes])
    is_mirrored = np.arange(len(twice)) >= len(shapes)
    answer = look_in_play(levels, camera, twice, is_mirrored, are_rectangles)
    logits = answer[:, 0].clip(-MAX_LOGIT_PER_VIEW, MAX_LOGIT_PER_VIEW)
    return np.asarray(logits.reshape(2, -1).mean(0))

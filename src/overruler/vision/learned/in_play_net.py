"""A network that judges what looks like a base on a table in play.

It is the first part of EfficientNet-Lite0, whose first weights come from photographs, taught on tables
as people play on them. It sees more around a candidate than `rim_net`'s patch network.
`docs/rims.md` describes the training.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.patch_net import run_patch_network
from overruler.vision.learned.patches import PatchFormat, Picture

MODEL = WEIGHTS / "in_play.onnx"
WIDE_PATCH = PatchFormat(96, 2.4)
"""What the network sees of a candidate."""


def look_in_play(
    levels: list[Picture],
    camera: Camera,
    shapes: Array,
    mirrored: NDArray[np.bool_] | None = None,
) -> Array:
    """Look at circles (N, 3) or ovals (N, 5); answers (N, 7) as `run_patch_network` gives them."""
    return run_patch_network(levels, camera, shapes, mirrored, MODEL, WIDE_PATCH)


def look_with_both(
    levels: list[Picture],
    camera: Camera,
    shapes: Array,
    mirrored: NDArray[np.bool_] | None = None,
) -> Array:
    """Return the mean of this network's answers and of those of `run_patch_network`.

    It tells ovals better than either alone.
    """
    known = run_patch_network(levels, camera, shapes, mirrored)
    return (known + look_in_play(levels, camera, shapes, mirrored)) / 2

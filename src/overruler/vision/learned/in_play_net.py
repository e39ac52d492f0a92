"""A second opinion on what looks like a base on a table in play: base or lookalike.

The network is the first part of EfficientNet-Lite0, whose first weights come from photographs, taught on
tables as people play on them. It sees more around a candidate than the rim networks do, judges round
bases and ovals alike, and locates nothing. `docs/rims.md` describes the training.
"""

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import MAX_LOGIT_PER_VIEW
from overruler.vision.learned.patches import PatchFormat, Picture
from overruler.vision.learned.rim_net import run_patch_network

MODEL = WEIGHTS / "in_play.onnx"
WIDE_PATCH = PatchFormat(96, 2.4)
"""What the network sees of a candidate."""


def in_play_logits(levels: list[Picture], camera: Camera, shapes: Array) -> Array:
    """Return the log odds (N,) that shapes are bases: the mean of a view and its mirror image.

    Shapes are circles (N, 3) or ovals (N, 5), as in `patches`. `levels` is the photo's pyramid.
    """
    if not len(shapes):
        return np.zeros(0)
    twice = np.concatenate([shapes, shapes])
    is_mirrored = np.arange(len(twice)) >= len(shapes)
    answer = run_patch_network(levels, camera, twice, is_mirrored, MODEL, WIDE_PATCH)
    logits = answer[:, 0].clip(-MAX_LOGIT_PER_VIEW, MAX_LOGIT_PER_VIEW)
    return np.asarray(logits.reshape(2, -1).mean(0))

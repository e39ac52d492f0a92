"""A second opinion on what looks like a round base: base or lookalike.

The network has the shape and the input of `rim_net`'s patch network. It learned from tables as people
play on them: tokens, gems, washers, cards and scenery beside bases in any paint. It judges and
locates nothing. `docs/rims.md` describes the training.
"""

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import MAX_LOGIT_PER_VIEW
from overruler.vision.learned.patches import Picture
from overruler.vision.learned.rim_net import run_patch_network

MODEL = WEIGHTS / "clutter.onnx"


def clutter_net_logits(levels: list[Picture], camera: Camera, circles: Array) -> Array:
    """Return the log odds (N,) that circles (N, 3) are bases: the mean of a view and its mirror image.

    `levels` is the photo's pyramid.
    """
    if not len(circles):
        return np.zeros(0)
    twice = np.concatenate([circles, circles])
    is_mirrored = np.arange(len(twice)) >= len(circles)
    answer = run_patch_network(levels, camera, twice, is_mirrored, MODEL)
    logits = answer[:, 0].clip(-MAX_LOGIT_PER_VIEW, MAX_LOGIT_PER_VIEW)
    return np.asarray(logits.reshape(2, -1).mean(0))

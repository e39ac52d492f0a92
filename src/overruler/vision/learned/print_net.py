"""A network that tells bases from what is printed on the mat: planets, signs, lids of drains, craters.

It is of the kind of `rim_net`'s patch network, taught on mats with many round prints, and looks at
guesses which that one takes for bases.
"""

from functools import partial

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.patch_net import augmented_logits, run_patch_network
from overruler.vision.learned.patches import Picture
from overruler.vision.learned.rim_net import RimEstimates

MODEL = WEIGHTS / "prints.onnx"


def unprinted_logits(levels: list[Picture], camera: Camera, guesses: RimEstimates) -> Array:
    """Return the log odds (N,) that guesses are bases, the mean of several views."""
    if not len(guesses.score):
        return np.zeros(0)
    circles = np.column_stack([guesses.xy_mm, guesses.radius_mm])
    look = partial(run_patch_network, model=MODEL)
    return np.asarray(np.mean(augmented_logits(levels, camera, circles, look), 0)[:, 0])

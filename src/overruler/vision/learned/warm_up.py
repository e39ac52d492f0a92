"""What libraries work out once, at their first use: done while other things are waited for, nobody waits for it."""

import cv2
import numpy as np

from overruler.vision.learned.inference import WEIGHTS, load_session

PRELOADED_NETWORKS = ("discs", "rims", "rings", "hills")
"""The networks that look at nearly every photo."""


def warm_up_libraries() -> None:
    """The tables of L*a*b* (80 ms), which every look at colours goes by, and the networks (50 ms)."""
    cv2.cvtColor(np.zeros((1, 1, 3), np.uint8), cv2.COLOR_BGR2Lab)
    for name in PRELOADED_NETWORKS:
        load_session(WEIGHTS / f"{name}.onnx")

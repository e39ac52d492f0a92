"""Initialise libraries ahead of their first use, while the program waits for something else."""

import cv2
import numpy as np

from overruler.vision.learned.inference import WEIGHTS, load_session

PRELOADED_NETWORKS = ("discs", "rims", "rings", "hills")
"""The networks that nearly every photo needs."""


def warm_up_libraries() -> None:
    """Build OpenCV's L*a*b* tables (80 ms) and load the networks (50 ms)."""
    cv2.cvtColor(np.zeros((1, 1, 3), np.uint8), cv2.COLOR_BGR2Lab)
    for name in PRELOADED_NETWORKS:
        load_session(WEIGHTS / f"{name}.onnx")

"""What OpenCV works out once, at its first use: done while other things are waited for, nobody waits for it."""

import cv2
import numpy as np


def ready() -> None:
    """The tables of L*a*b* (80 ms), which every look at colours goes by."""
    cv2.cvtColor(np.zeros((1, 1, 3), np.uint8), cv2.COLOR_BGR2Lab)

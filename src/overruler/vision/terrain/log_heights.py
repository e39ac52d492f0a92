"""Heights of raised ground, whose logarithms are distributed about normally: nothing raised has none."""

import numpy as np

from overruler.geometry.pose import Array


def mean_and_sigma(weight: Array, heights_mm: Array) -> tuple[float, float]:
    """Return the mean of heights (H,) in the logarithm, and its 1 σ in mm, for weights of sum 1."""
    logs = np.log(heights_mm)
    mean = float(weight @ logs)
    height = float(np.exp(mean))
    return height, height * float(np.sqrt(weight @ (logs - mean) ** 2))

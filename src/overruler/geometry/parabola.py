"""Peaks to a fraction of a step: the parabola through the highest of some values and those beside it."""

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array

FLATTEST_CURVATURE = -1e-6
"""No peak is bent less than this: three values that are the same have theirs in the middle."""


def parabolic_peak_offset(before: ArrayLike, highest: ArrayLike, after: ArrayLike) -> Array:
    """How far (...) after the highest of values a step apart the parabola through it and both beside it is highest.

    In steps, half a one at most.
    """
    one, middle, other = (np.asarray(values) for values in (before, highest, after))
    return np.asarray(
        np.clip(
            0.5 * (one - other) / np.minimum(one - 2 * middle + other, FLATTEST_CURVATURE),
            -0.5,
            0.5,
        )
    )

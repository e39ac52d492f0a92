"""Sub-sample peak positions, by the parabola through the highest value and its two neighbours."""

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array

FLATTEST_CURVATURE = -1e-6
"""Upper limit of a peak's second difference: three equal values have their peak in the middle."""


def parabolic_peak_offset(before: ArrayLike, highest: ArrayLike, after: ArrayLike) -> Array:
    """Return the parabola's peak (...) after the highest value, in spacings, half a one at most."""
    left, middle, right = (np.asarray(values) for values in (before, highest, after))
    curvature = np.minimum(left - 2 * middle + right, FLATTEST_CURVATURE)
    offset = 0.5 * (left - right) / curvature
    return np.asarray(np.clip(offset, -0.5, 0.5))

"""Non-maximum suppression of the rim networks' guesses: two bases do not stand in one place."""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place

MIN_NET_SCORE = 0.2
"""Guesses with a lower network score are not fitted."""
MIN_RADIUS_RATIO = 0.85
"""Smallest accepted radius, as a share of the smallest radius sought."""
MAX_RADIUS_RATIO = 1.15
"""Largest accepted radius, as a share of the largest radius sought."""
MAX_OVERLAP_SHARE = 0.25
"""Largest apparent overlap of two bases, as a share of the smaller diameter."""


def suppress_overlaps(guesses: RimEstimates, radii: Array) -> list[int]:
    """Return the guesses to keep, best first, of radii in the range of `radii` (C,), ascending."""
    smallest, largest = radii[0] * MIN_RADIUS_RATIO, radii[-1] * MAX_RADIUS_RATIO
    has_size = (smallest < guesses.radius_mm) & (guesses.radius_mm < largest)
    usable = np.flatnonzero((guesses.score >= MIN_NET_SCORE) & has_size)
    ours = guesses[usable]

    def overlap(k: int, others: list[int]) -> NDArray[np.bool_]:
        return _overlap(ours, k, others)

    kept = likeliest_of_each_place(ours.score, overlap)
    return [int(k) for k in usable[kept]]


def _overlap(guesses: RimEstimates, k: int, others: list[int]) -> NDArray[np.bool_]:
    """Tell which of the others guess `k` overlaps by more than `MAX_OVERLAP_SHARE`."""
    radius, radii = guesses.radius_mm[k], guesses.radius_mm[others]
    distances = np.hypot(*(guesses.xy_mm[others] - guesses.xy_mm[k]).T)
    overlap = MAX_OVERLAP_SHARE * 2 * np.minimum(radii, radius)
    return np.asarray(distances <= radii + radius - overlap)

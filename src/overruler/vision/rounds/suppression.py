"""Non-maximum suppression of the rim networks' guesses: two bases do not stand in one place."""

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.learned.rim_net import RimEstimates

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
    kept: list[int] = []
    smallest = radii[0] * MIN_RADIUS_RATIO
    largest = radii[-1] * MAX_RADIUS_RATIO
    for i in np.argsort(-guesses.score, kind="stable"):
        has_score = guesses.score[i] >= MIN_NET_SCORE
        has_size = smallest < guesses.radius_mm[i] < largest
        if has_score and has_size and _is_clear(guesses, i, kept):
            kept.append(int(i))
    return kept


def _is_clear(guesses: RimEstimates, i: int, kept: list[int]) -> bool:
    """Return whether guess `i` overlaps none of those kept by more than `MAX_OVERLAP_SHARE`."""
    radius = guesses.radius_mm[i]
    radii = guesses.radius_mm[kept]
    distances = np.hypot(*(guesses.xy_mm[kept] - guesses.xy_mm[i]).T)
    overlap = MAX_OVERLAP_SHARE * 2 * np.minimum(radii, radius)
    return bool(np.all(distances > radii + radius - overlap))

"""The two ends of a ruler, found in its strip; the edge of its shadow is no end."""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.rulers.strip import Strip

END_SEARCH_MM = 4.0
"""Search range of an end to either side of where the lines put it, in mm."""
END_WINDOW_MM = 0.9
"""Half the window of an end's centroid, in mm."""
MIN_PEAK_SHARE = 0.35
"""Least strength of an edge that may be the end, as a share of the strongest."""
SHADOW_BRIGHTNESS_RATIO = (0.4, 0.93)
"""Bounds of a shadow's brightness against that of the lit ground."""
MAX_SHADOW_COLOUR_DIFFERENCE = 5.0
"""Largest difference of a shadow's colour from that of the lit ground, in a*b* units."""


def locate_end(profile: Array, strip: Strip, near: float, side: int) -> float | None:
    """The outermost edge (mm) near a place that is no shadow's; `side` is -1 at the first end."""
    along = strip.along_mm
    slope = np.linalg.norm(np.diff(profile, axis=0), axis=1)
    steps_mm = (along[1:] + along[:-1]) / 2
    peaks = _edge_peaks(np.where(np.abs(steps_mm - near) < END_SEARCH_MM, slope, 0))
    if side > 0:
        peaks = peaks[::-1]
    while len(peaks) > 1 and _is_shadow(profile, along, steps_mm[peaks[0]], steps_mm[peaks[1]]):
        peaks = peaks[1:]
    if not len(peaks):
        return None
    weight = slope * (np.abs(steps_mm - steps_mm[peaks[0]]) < END_WINDOW_MM)
    return float((weight * steps_mm).sum() / weight.sum())


def _edge_peaks(height: Array) -> NDArray[np.intp]:
    """Indices of the local maxima of heights (S,) that are strong enough, in order."""
    is_maximum = (height >= np.roll(height, 1)) & (height > np.roll(height, -1))
    return np.flatnonzero(is_maximum & (height > MIN_PEAK_SHARE * height.max()))


def _is_shadow(profile: Array, along: Array, outer: float, inner: float) -> bool:
    """Whether the strip between two edges (mm) is the ground beyond the outer one, but in shadow."""
    outwards = np.sign(outer - inner) * (along - outer)
    beyond = (outwards > 1.0) & (outwards < 4.0)
    low, high = min(outer, inner), max(outer, inner)
    between = (along > low + 0.4) & (along < high - 0.4)
    if not beyond.any() or not between.any():
        return False
    lit, dark = profile[beyond].mean(0), profile[between].mean(0)
    ratio = dark[0] / max(lit[0], 1.0)
    if not SHADOW_BRIGHTNESS_RATIO[0] < ratio < SHADOW_BRIGHTNESS_RATIO[1]:
        return False
    colour_difference = np.hypot(*(dark[1:] - ratio * lit[1:]))
    return bool(colour_difference < MAX_SHADOW_COLOUR_DIFFERENCE)

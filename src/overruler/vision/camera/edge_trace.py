"""Tracing of a nearly straight edge in samples taken across it."""

import cv2
import numpy as np

from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array

SEARCH_REACH_MM = 20.0
"""Largest distance of the mat's edge from the board's."""
MAX_SLANT_MM = 8.0
"""Largest distance by which an edge turns off the board's over half its length."""
MAX_BEND_MM = 6.0
"""Largest bend of an edge."""
MAX_STEP_STRENGTH = 4.0
"""Colour steps count up to this many times the median step."""
COARSE_STRIDE = 2
"""Every n-th station is used for the coarse line."""
COARSE_HALF_WIDTH_MM = 2.0
"""Half the width over which colour steps are averaged for the coarse line."""
SEARCH_REACHES_PX = (6.0, 4.0, 3.0, 3.0)
"""Distance from the line within which the edge is searched for, in each round."""
INLIER_DISTANCE_PX = 0.8
"""Largest distance of an inlier from the line, and width of the robust loss (Cauchy's)."""
MIN_INLIER_SHARE = 0.6
"""Smallest share of inliers among the visible stations."""
MIN_INLIERS = 30
"""Smallest number of inliers."""
MIN_SPAN_SHARE = 0.5
"""Smallest share of the edge, from its first visible station to the last one, that shows its bend."""
S_SHAPE_FACTOR = 2.6
"""Factor that gives the S-shape s (1 - s²) a maximum of 1."""


def bend_basis(s: Array) -> Array:
    """Basis (N, 4) of an edge at stations (N,) in [-1, 1]: offset, slant, bend, S-shape; each up to 1."""
    parabola = 1 - s**2
    return np.stack([np.ones_like(s), s, parabola, S_SHAPE_FACTOR * s * parabola], -1)


def trace_edge(
    steps: Array, s: Array, across_mm: Array, mm_per_px: float
) -> tuple[Array, Array] | None:
    """Outward offsets (N,) of an edge in mm at stations (N,), and their weights (N,).

    `steps` (N, A, 3) are the colour steps at offsets `across_mm` (A,). None if there is no edge.
    """
    size = np.linalg.norm(steps, axis=-1)
    median_size = np.median(size) + 1e-3
    basis = bend_basis(s)
    line = _find_coarse_line(np.minimum(size / median_size, MAX_STEP_STRENGTH), s)
    near_line = np.abs(across_mm - line[:, None]) < COARSE_HALF_WIDTH_MM
    mat_to_table = np.median(steps[near_line], axis=0)
    length = max(float(np.linalg.norm(mat_to_table)), 1e-9)
    projected = steps @ mat_to_table / length / median_size
    for reach_px in SEARCH_REACHES_PX:
        offset_mm, strength = _find_step_peaks(projected, across_mm, line, reach_px * mm_per_px)
        for _ in range(3):
            residual = (offset_mm - line) / (INLIER_DISTANCE_PX * mm_per_px)
            weight = strength / (1 + residual**2)
            line = basis @ _weighted_fit(basis, offset_mm, weight)
    inlier = (np.abs(offset_mm - line) < INLIER_DISTANCE_PX * mm_per_px) & (strength > 0)
    if inlier.sum() < MIN_INLIERS or inlier.mean() < MIN_INLIER_SHARE:
        return None
    if np.ptp(s[inlier]) < 2 * MIN_SPAN_SHARE:
        return None
    return offset_mm, weight * inlier


def _weighted_fit(basis: Array, values: Array, weight: Array) -> Array:
    """Coefficients of the weighted least-squares fit of a basis (N, B) to values (N,)."""
    weighted = basis * weight[:, None]
    solution = np.linalg.lstsq(weighted.T @ basis, weighted.T @ values, rcond=None)
    return np.asarray(solution[0])


def _find_coarse_line(steps: Array, s: Array) -> Array:
    """The parabola (N,), to a millimetre or two, along which the steps (N, A) are largest."""
    few = s[::COARSE_STRIDE]
    reach = round(SEARCH_REACH_MM)
    size = (2 * reach + 1, len(few))
    by_mm = cv2.resize(steps[::COARSE_STRIDE], size, interpolation=cv2.INTER_AREA)
    margin = round(MAX_SLANT_MM + MAX_BEND_MM)
    blurred = cv2.blur(by_mm, (2 * round(COARSE_HALF_WIDTH_MM) + 1, 1))
    padded = np.pad(blurred, ((0, 0), (margin, margin)))
    slants = np.arange(-MAX_SLANT_MM, MAX_SLANT_MM + 1, 2.0)
    bends = np.arange(-MAX_BEND_MM, MAX_BEND_MM + 1, 2.0)
    slant, bend = np.meshgrid(slants, bends)
    lines = np.stack([slant.ravel(), bend.ravel()], -1)
    shift = np.rint(lines @ [few, 1 - few**2]).astype(int)
    columns = margin + np.arange(by_mm.shape[1]) + shift[..., None]
    totals = padded[np.arange(len(few))[:, None], columns].sum(1)
    best, offset = np.unravel_index(int(totals.argmax()), totals.shape)
    return np.asarray(offset - reach + lines[best] @ [s, 1 - s**2])


def _find_step_peaks(
    steps: Array, across_mm: Array, line_mm: Array, reach_mm: float
) -> tuple[Array, Array]:
    """Each station's largest step near the line: interpolated offset (N,), excess strength (N,)."""
    near = np.abs(across_mm - line_mm[:, None]) <= reach_mm
    largest = np.where(near, steps, -np.inf).argmax(1)
    peak = np.clip(largest, 1, len(across_mm) - 2)
    rows = np.arange(len(steps))
    before, at_peak, after = (steps[rows, peak + k] for k in (-1, 0, 1))
    fraction = parabolic_peak_offset(before, at_peak, after)
    offset_mm = across_mm[peak] + fraction * (across_mm[1] - across_mm[0])
    return offset_mm, np.clip(at_peak - 1, 0, MAX_STEP_STRENGTH)

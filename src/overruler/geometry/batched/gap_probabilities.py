"""The probabilities of `geometry.gap_probability` for many pairs of discs at once.

Alphabet: m pairs, L lines, s slices. Lengths are in mm.
"""

import numpy as np

from overruler.geometry.batched.vectors import Mask, left_normals, vector_lengths
from overruler.geometry.gap_probability import SLICED_SIGMAS, SLICES_PER_SLANT
from overruler.geometry.pose import Array

SLICE_COUNT = 65
"""Number of slices across the gap; pairs that need more are left out."""
MIN_SIGMA_MM = 1e-6
"""Least σ along a slice, in mm, for which slices are used."""


def probabilities_within_lines(
    apart_mm: Array, reach_mm: Array, covariance: Array, lines_mm: Array
) -> tuple[Array, Mask]:
    """Return the probability (m, L) that a gap is no longer than each line, and a mask (m,).

    The mask tells for which pairs the probabilities are valid. `apart_mm` (m, 2) is the vector
    between the centres, `reach_mm` (m,) the sum of the radii, and `covariance` (m, 2, 2) that of the
    relative displacement. The displacement is sliced across the line between the centres. In each
    slice a line is crossed at two places, and a Gaussian gives the probability between them.
    """
    from scipy.special import ndtr

    size = vector_lengths(apart_mm)
    u = apart_mm / np.where(size > 0, size, 1.0)[:, None]
    t = left_normals(u)
    along = np.einsum("mi,mij,mj->m", u, covariance, u)
    mixed = np.einsum("mi,mij,mj->m", u, covariance, t)
    across = np.einsum("mi,mij,mj->m", t, covariance, t)
    lean = np.divide(mixed, across, out=np.zeros_like(mixed), where=across > 0)
    sigma_along = np.sqrt(np.maximum(along - lean * mixed, 0.0))
    sigma_across = np.sqrt(np.maximum(across, 0.0))
    bend = SLICED_SIGMAS * sigma_across / np.maximum(size, sigma_across + 1e-300)
    slant = (np.abs(lean) + bend) * sigma_across
    is_sliced_finely = SLICES_PER_SLANT * slant <= SLICE_COUNT * sigma_along
    valid = (size > 0) & (sigma_along > MIN_SIGMA_MM) & is_sliced_finely
    sigma = np.where(valid, sigma_along, 1.0)[:, None, None]
    z = np.linspace(-SLICED_SIGMAS, SLICED_SIGMAS, SLICE_COUNT)
    weights = np.exp(-z * z / 2)
    aside = sigma_across[:, None] * z  # (m, s)
    mean = (size[:, None] + lean[:, None] * aside)[:, None]
    square = (reach_mm[:, None] + lines_mm)[..., None] ** 2 - aside[:, None] ** 2  # (m, L, s)
    half = np.sqrt(np.maximum(square, 0.0))
    between = ndtr((half - mean) / sigma) - ndtr((-half - mean) / sigma)
    probabilities = np.where(square > 0, between, 0.0)
    return np.asarray(probabilities @ (weights / weights.sum())), valid

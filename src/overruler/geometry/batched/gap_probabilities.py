"""How likely many pairs of discs are nearer than lines: `geometry.chance` for discs, in arrays.

Alphabet: m pairs, L lines, s slices. Lengths in mm.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.gap_probability import SLICED_SIGMAS
from overruler.geometry.pose import Array

SLICE_COUNT = 65
"""Steps across the gap; pairs that need more are left out."""


def probabilities_within_lines(
    apart_mm: Array, reach_mm: Array, covariance: Array, lines_mm: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """The probability (m, L) that a gap is no longer than each line, and for which pairs (m,) it is found so.

    `apart_mm` (m, 2): from centre to centre; `reach_mm` (m,): the sum of the two radii; `covariance` (m, 2, 2): of the
    displacement between the two. The displacement is cut into slices across the line between the centres: in each, a
    line is crossed at two places along, and a Gaussian says how much lies between.
    """
    from scipy.special import ndtr

    size = np.hypot(apart_mm[:, 0], apart_mm[:, 1])
    u = apart_mm / np.where(size > 0, size, 1.0)[:, None]
    t = np.stack([-u[:, 1], u[:, 0]], 1)
    along, both, across = (
        np.einsum("mi,mij,mj->m", p, covariance, q) for p, q in ((u, u), (u, t), (t, t))
    )
    lean = np.divide(both, across, out=np.zeros_like(both), where=across > 0)
    left, wide = np.sqrt(np.maximum(along - lean * both, 0.0)), np.sqrt(np.maximum(across, 0.0))
    slant = (np.abs(lean) + SLICED_SIGMAS * wide / np.maximum(size, wide + 1e-300)) * wide
    found = (size > 0) & (left > 1e-6) & (20 * slant <= SLICE_COUNT * left)
    left = np.where(found, left, 1.0)[:, None, None]
    z = np.linspace(-SLICED_SIGMAS, SLICED_SIGMAS, SLICE_COUNT)
    weights = np.exp(-z * z / 2)
    aside = wide[:, None] * z  # (m, s)
    middle = (size[:, None] + lean[:, None] * aside)[:, None]
    square = (reach_mm[:, None] + lines_mm)[..., None] ** 2 - aside[:, None] ** 2  # (m, L, s)
    half = np.sqrt(np.maximum(square, 0.0))
    share = np.where(square > 0, ndtr((half - middle) / left) - ndtr((-half - middle) / left), 0.0)
    return np.asarray(share @ (weights / weights.sum())), found

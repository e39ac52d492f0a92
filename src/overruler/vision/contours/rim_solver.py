"""The bounded least squares of many rims at once: edges are weighed anew in each iteration."""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import RadialEdges, association_weights

SEARCH_REACH_SIGMA = 2.2
"""Search reach on either side of the predicted outline, in σ of an edge."""
NARROW_EDGE_SIGMA_PX = 0.35
"""1 σ of an edge about the outline at its end, in px."""
REWEIGHTING_ITERATIONS = 6
"""Iterations of a pass."""


def solve_reweighted(
    edges: RadialEdges,
    edge_base: NDArray[np.intp],
    normal: Array,
    offset_mm: Array,
    mm_per_px: Array,
    wide_px: Array,
) -> tuple[Array, Array, Array]:
    """Solve for the centres' shifts (N, 2) by iterative reweighting.

    `edge_base` (M,) is each edge's base, `normal` (M, 2) the rim's normal there, and `offset_mm` (M,) the
    edge's distance outside of the rim. Also returns the edges' weights (M,) and the information
    matrices (N, 2, 2).
    """
    x, y = normal.T
    count, rays = len(wide_px), int(edges.ray.max(initial=-1)) + 1
    terms = [x * x, x * y, y * y]
    terms += [x * offset_mm, y * offset_mm]
    shift, weight = np.zeros((count, 2)), edges.strength
    reach_mm = SEARCH_REACH_SIGMA * wide_px * mm_per_px
    xx: Array = np.ones(count)
    xy = yy = xx
    for step in np.linspace(0, 1, REWEIGHTING_ITERATIONS).tolist():
        sigma = mm_per_px * wide_px * (NARROW_EDGE_SIGMA_PX / wide_px) ** step
        shift_x, shift_y = shift[edge_base].T
        off_mm = offset_mm - x * shift_x - y * shift_y
        weight = association_weights(edges, off_mm, sigma[edge_base], rays)
        sums = [np.bincount(edge_base, weight * term, count) for term in terms]
        xx, xy, yy, rhs_x, rhs_y = np.array(sums, float)
        xx, yy = xx + 1e-3, yy + 1e-3
        # Cramer's rule
        shift_x = yy * rhs_x - xy * rhs_y
        shift_y = xx * rhs_y - xy * rhs_x
        determinant = xx * yy - xy * xy
        shift = _bound_shift(np.stack([shift_x, shift_y], -1) / determinant[:, None], reach_mm)
    first, second = np.stack([xx, xy], -1), np.stack([xy, yy], -1)
    return shift, weight, np.stack([first, second], -1)


def _bound_shift(shift_mm: Array, reach_mm: Array) -> Array:
    """Shorten shifts (N, 2) to at most `reach_mm` (N,): no edge was searched for farther away."""
    length_mm = np.hypot(*shift_mm.T)
    share = np.minimum(1.0, reach_mm / np.maximum(length_mm, 1e-12))
    return np.asarray(shift_mm * share[:, None])

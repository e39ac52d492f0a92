"""The noise of a marker's edges: independent, shared by a line of the print, and shared by all."""

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.markers.marker_edges import MarkerEdges

EDGE_SIGMA_PX = 0.02
"""1 σ of a single edge beyond its pixels' noise, in px: print, paper and colour filling."""
LOCAL_SHIFT_SIGMA_PX = 0.025
"""1 σ of a marker's own part of the edge shift, in px: light and print vary over a table."""
OUTER_SHIFT_SIGMA_PX = 0.03
"""1 σ of the outer edges' extra shift, in px: the card may be less white than the print."""
SHAPE_SIGMA_PX = 0.025
"""1 σ of a marker's stretch and shear at its corner, in px: colour fringes, a curled card."""
PLACE_SIGMA_PX = 0.025
"""1 σ of the shift of a whole marker in the photo, in px."""
PLACE_SIGMA_MM = 0.05
"""1 σ of a marker's place against the board file, along x and y, in mm: printing, laying."""
PLACE_SPEC_SHARE = 0.5
"""The share of that which is 1 σ on a table that agrees with its board file."""


def edge_noise_covariance_px2(edges: MarkerEdges) -> Array:
    """Return the covariance (K, K) of the edges' own noise and of what those on one line share."""
    independent = np.diag(edges.sigma_px**2 + EDGE_SIGMA_PX**2)
    return np.asarray(independent + edges.line_covariance_px2)


def shape_noise_columns_px(edges: MarkerEdges) -> Array:
    """Return each edge's shift (K, 5) for 1 σ of stretch, shear and own edge shifts."""
    reach = edges.xy_px - edges.xy_px.mean(0)
    reach = reach / np.abs(reach).max()
    normal = edges.normal_px
    stretch = normal * reach * SHAPE_SIGMA_PX
    shear = normal * reach[:, ::-1] * SHAPE_SIGMA_PX
    shift = np.full(len(normal), LOCAL_SHIFT_SIGMA_PX)
    return np.column_stack([stretch, shear, shift, edges.is_outer * OUTER_SHIFT_SIGMA_PX])


def place_noise_columns_px(edges: MarkerEdges, mm_per_px: float) -> Array:
    """Return each edge's shift (K, 2) for 1 σ of its marker's place."""
    return np.asarray(edges.normal_px * np.hypot(PLACE_SIGMA_PX, PLACE_SIGMA_MM / mm_per_px))

"""The noise of a marker's edges: independent, shared by a line of the print, and shared by all."""

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.markers.marker_edges import MarkerEdges

EDGE_SIGMA_PX = 0.02
"""1 σ of a single edge beyond its pixels' noise, in px: print, paper and colour filling."""
LOCAL_SHIFT_SIGMA_PX = 0.025
"""1 σ of a marker's own part of the edge shift, in px: light and print vary over a table."""
LOCAL_SHIFT_SHARE = 0.3
"""The same as a share of the shift: white that is too bright for the picture spreads over black, and most where
the light is strongest."""
OUTER_SHIFT_SIGMA_PX = 0.03
"""1 σ of the outer edges' extra shift, in px: the card may be less white than the print."""
OUTER_SHIFT_SHARE = 0.2
"""The same as a share of the shift: wide white spreads as narrow white does not."""
SHAPE_SIGMA_PX = 0.025
"""1 σ of a marker's stretch and shear at its corner, in px: colour fringes, a curled card."""
SMALL_CELL_PX = 4.0
"""Side of the cells, in px, that lose their shape where white spreads over them. The loss falls with the
fourth power of the side. Measured on 721 markers on 116 rendered photos: cells of 4 px had the errors
below, cells of 5.5 px a third of them. Cells of 8 px had none beyond the noise of single edges."""
SMALL_OUTER_SHARE = 0.4
"""1 σ of the outer edges' extra shift on small cells, as a share of the shift."""
SMALL_SHAPE_SHARE = 0.27
"""1 σ of the stretch and shear of a marker with small cells, as a share of the shift."""
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


def shape_noise_columns_px(edges: MarkerEdges, shift_px: float, cell_px: float) -> Array:
    """Return each edge's shift (K, 6) for 1 σ of stretch, shear and own edge shifts.

    `shift_px` is the shift of the marker's edges towards their dark side, `cell_px` the side of a cell.
    """
    lost_px = shift_px * (SMALL_CELL_PX / cell_px) ** 4
    shape_px = np.hypot(SHAPE_SIGMA_PX, SMALL_SHAPE_SHARE * lost_px)
    local_px = np.hypot(LOCAL_SHIFT_SIGMA_PX, LOCAL_SHIFT_SHARE * shift_px)
    outer_px = np.linalg.norm(
        [OUTER_SHIFT_SIGMA_PX, OUTER_SHIFT_SHARE * shift_px, SMALL_OUTER_SHARE * lost_px]
    )
    reach = edges.xy_px - edges.xy_px.mean(0)
    reach = reach / np.abs(reach).max()
    normal = edges.normal_px
    stretch = normal * reach * shape_px
    shear = normal * reach[:, ::-1] * shape_px
    shift = np.full(len(normal), local_px)
    return np.column_stack([stretch, shear, shift, edges.is_outer * outer_px])


def place_noise_columns_px(edges: MarkerEdges, mm_per_px: float) -> Array:
    """Return each edge's shift (K, 2) for 1 σ of its marker's place."""
    return np.asarray(edges.normal_px * np.hypot(PLACE_SIGMA_PX, PLACE_SIGMA_MM / mm_per_px))

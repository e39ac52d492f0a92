"""How unsure the edges of a marker are, each for itself and all together."""

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.markers.square_fit import MarkerEdges

EDGE_SIGMA_PX = 0.02
"""1 σ of an edge for itself beside what its pixels say: print, paper and colour filling."""
LINE_SIGMA_PX = 0.03
"""1 σ of what edges on one line of the print share: the pixel grid runs along them."""
LOCAL_SHIFT_SIGMA_PX = 0.025
"""1 σ of a marker's own part of the photo's edge shift: light and print differ over a table."""
OUTER_SHIFT_SIGMA_PX = 0.03
"""1 σ of how much more the four sides' edges are shifted: the card beyond them may be less white than the print."""
SHAPE_SIGMA_PX = 0.025
"""1 σ of a marker's stretch and shear, in px at its corner: colour fringe, a curled card."""
PLACE_SIGMA_PX = 0.025
"""1 σ of a marker's shift as a whole in the photo."""
PLACE_SIGMA_MM = 0.05
"""1 σ of a marker's place against the board file, along x and y: how well a sheet is printed, or a card laid."""


PLACE_SPEC_SHARE = 0.5
"""Of that, 1 σ on a table that is as its board file says."""


def edge_noise_covariance_px2(edges: MarkerEdges) -> Array:
    """(K, K) px²: each edge's own noise, and what those on one line share."""
    same_line = edges.line[:, None] == edges.line
    return np.asarray(np.diag(edges.sigma_px**2 + EDGE_SIGMA_PX**2) + LINE_SIGMA_PX**2 * same_line)


def shape_noise_columns_px(edges: MarkerEdges) -> Array:
    """(K, 5) px: how each edge moves with one σ of its marker's stretch, shear and own edge shift."""
    reach = edges.xy_px - edges.xy_px.mean(0)
    reach = reach / np.abs(reach).max()
    n = edges.normal_px
    shift = np.full(len(n), LOCAL_SHIFT_SIGMA_PX)
    outer = ((edges.place < 1e-6) | (edges.place > 1 - 1e-6)).any(1) * OUTER_SHIFT_SIGMA_PX
    return np.column_stack(
        [n * reach * SHAPE_SIGMA_PX, n * reach[:, ::-1] * SHAPE_SIGMA_PX, shift, outer]
    )


def place_noise_columns_px(edges: MarkerEdges, mm_per_px: float) -> Array:
    """(K, 2) px: how each edge moves with one σ of its marker's place."""
    return np.asarray(edges.normal_px * np.hypot(PLACE_SIGMA_PX, PLACE_SIGMA_MM / mm_per_px))

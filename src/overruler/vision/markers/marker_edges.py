"""One marker's edges as seen, and the noise that the edges on one line of the print share.

Programs that draw a marker in whole pixels round the lines between its cells: all cells of a line
lie off by up to half a pixel of the drawing, at any size of the print. Where a marker's inner lines
scatter that much about its outline, they say little of its place; their two directions still
say how far edges shift.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

LINE_SIGMA_PX = 0.03
"""1 σ shared by the edges on one line of the print, in px: the pixel grid runs along them."""
MAX_LINE_SCATTER_PX = 0.2
"""Scatter of the inner lines from which they were rounded, in px. Of markers of 34 rendered photos
one has more where noise is low. In a picture of a drawn grid of 180 markers it is 0.48 at least."""
MIN_SCATTER_SPREADS = 1.3
"""Scatter from which lines were rounded, in spreads of single edges: noise scatters lines, too."""
SUSPECT_LINE_SCATTER_PX = 0.1
"""Scatter about the fit to all edges from which a fit to the four sides is tried, in px."""
FREE_LINE_SIGMA_PX = 1.0
"""1 σ of the places of lines that may lie anywhere, in px."""
SCATTER_PERCENTILE = 75
"""The lines' offset that counts as their scatter, as a percentile: an object lies on a few lines only."""
MAX_OWN_SHARE = 0.4
"""Scatter of the edges on one line, as a share of the lines' own, above which other things disturb."""
STRAY_SIGMAS = 4.7
"""Distance in robust σ of an edge from the others on its line from which it is something else."""
MIN_STRAY_PX = 0.1
"""Least distance of such an edge, in px."""
MIN_OWN_SIGMA_PX = 0.01
"""Least 1 σ of one edge beside its line's, in px."""


@dataclass(frozen=True, eq=False)
class MarkerEdges:
    """K pieces of edges as seen. Each contributes one number, its place along its normal."""

    place: Array
    """(K, 2): on the marker, in sides from the printed top left, u right and v down."""
    xy_px: Array
    """(K, 2): in the photo."""
    normal_px: Array
    """(K, 2): unit vectors across the edge, from dark to bright."""
    sigma_px: Array
    """(K,): 1 σ along the normal."""
    line: NDArray[np.intp]
    """(K,): a number for the straight line of the print on which it lies."""
    inner_line_sigma_px: float = 0.0
    """1 σ of the places of the lines between cells, where they were rounded."""

    @cached_property
    def is_outer(self) -> NDArray[np.bool_]:
        """(K,): whether it is on one of the marker's four sides."""
        return np.asarray(((self.place < 1e-6) | (self.place > 1 - 1e-6)).any(1))

    @cached_property
    def side(self) -> Array:
        """(K,): 1 or -1: edges on one line that are bright on different sides differ."""
        _, first, index = np.unique(self.line, return_index=True, return_inverse=True)
        return np.asarray(np.sign((self.normal_px * self.normal_px[first][index]).sum(1)))

    @property
    def line_covariance_px2(self) -> Array:
        """(K, K): covariance of what the edges on one line share."""
        same = self.line[:, None] == self.line
        shared = LINE_SIGMA_PX**2 * same
        if self.has_rounded_lines:
            moved = self.inner_line_sigma_px * self.side * ~self.is_outer
            shared = shared + same * np.outer(moved, moved)
        return np.asarray(shared)

    @property
    def has_rounded_lines(self) -> bool:
        """Whether the lines between the cells lie beside their places."""
        return self.inner_line_sigma_px > 0

    def without_strays(self, residual: Array) -> "MarkerEdges":
        """Leave out edges whose residual (K,) in px is not that of the other edges on their line."""
        away = np.abs(residual * self.side - self._medians_by_line(residual))
        keep = away <= max(STRAY_SIGMAS * 1.4826 * float(np.median(away)), MIN_STRAY_PX)
        return MarkerEdges(
            self.place[keep],
            self.xy_px[keep],
            self.normal_px[keep],
            self.sigma_px[keep],
            self.line[keep],
            self.inner_line_sigma_px,
        )

    def with_free_lines(self) -> "MarkerEdges":
        """Say that lines between cells may lie anywhere near their places."""
        return replace(self, inner_line_sigma_px=FREE_LINE_SIGMA_PX)

    def line_scatter_px(self, residual: Array) -> float:
        """Scatter of the lines between cells about the fit with residuals (K,) in px."""
        median = self._medians_by_line(residual)[~self.is_outer]
        lines = np.unique(self.line[~self.is_outer], return_index=True)[1]
        return (
            float(np.percentile(np.abs(median[lines]), SCATTER_PERCENTILE)) if len(lines) else 0.0
        )

    def with_scatter_of(self, residual: Array, spread_px: float) -> "MarkerEdges | None":
        """Take the noise from residuals (K,) in px; None if the inner lines were not rounded.

        Where they were, the four sides fit, and so do the edges on one line. `spread_px` is the
        scatter of single stations.
        """
        off = residual * self.side - self._medians_by_line(residual)
        own, scatter = float(np.sqrt(np.mean(off**2))), self.line_scatter_px(residual)
        least_px = max(MAX_LINE_SCATTER_PX, MIN_SCATTER_SPREADS * spread_px)
        if scatter < least_px or own > MAX_OWN_SHARE * scatter:
            return None
        sigma = np.full(len(residual), max(own, MIN_OWN_SIGMA_PX))
        return replace(self, sigma_px=sigma, inner_line_sigma_px=scatter)

    def _medians_by_line(self, residual: Array) -> Array:
        """(K,): the median offset of the line on which each edge lies."""
        moved, median = residual * self.side, np.zeros(len(residual))
        for line in np.unique(self.line):
            same = self.line == line
            median[same] = np.median(moved[same])
        return median

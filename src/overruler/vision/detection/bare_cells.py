"""Bare cells of the printed grid among what is found: detections, guesses of round bases, and circles."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.prints.printed_grid import PlacedBase, PrintedGrid, without_bare_cells


def without_bare_detections(
    grid: PrintedGrid | None, detections: Sequence[Detection]
) -> list[Detection]:
    """Leave out detections that are just bare cells of the grid on the mat."""
    return without_bare_cells(grid, detections, lambda one: (one.base, one.xy_mm, one.turn_rad))


def without_bare_rounds(grid: PrintedGrid | None, guesses: RimEstimates) -> RimEstimates:
    """Leave out guesses that are just bare cells: hundreds of dots, even unlikely ones, would tell all sizes."""
    circles = np.column_stack([guesses.xy_mm, guesses.radius_mm])
    return guesses[_not_bare(grid, circles)]


def without_bare_circles(grid: PrintedGrid | None, circles: Array) -> Array:
    """Leave out circles (N, 3 or more), x, y and radius in mm first, that are just bare cells."""
    return np.asarray(circles[_not_bare(grid, circles)])


def _not_bare(grid: PrintedGrid | None, circles: Array) -> NDArray[np.intp]:
    def placed(k: int) -> PlacedBase:
        return Base.circle(float(2 * circles[k, 2])), circles[k, :2], 0.0

    return np.array(without_bare_cells(grid, range(len(circles)), placed), np.intp)

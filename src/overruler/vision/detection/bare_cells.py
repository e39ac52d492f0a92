"""Bare cells of the printed grid among what is found: detections, and guesses of round bases."""

from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.prints.printed_grid import PlacedBase, PrintedGrid, without_bare_cells


def without_bare_detections(
    grid: PrintedGrid | None, detections: Sequence[Detection]
) -> list[Detection]:
    """Leave out detections that are just bare cells of the grid on the mat."""
    return without_bare_cells(grid, detections, lambda one: (one.base, one.xy_mm, one.turn_rad))


def without_bare_rounds(grid: PrintedGrid | None, guesses: RimEstimates) -> RimEstimates:
    """Leave out guesses that are just bare cells: hundreds of dots, even unlikely ones, would tell all sizes."""

    def placed(k: int) -> PlacedBase:
        return Base.circle(float(2 * guesses.radius_mm[k])), guesses.xy_mm[k], 0.0

    return guesses[np.array(without_bare_cells(grid, range(len(guesses.score)), placed), int)]

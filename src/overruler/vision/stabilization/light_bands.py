"""Light that is not the same all over the picture: bands of lamps that flicker, and shade that comes slowly.

A rolling shutter reads the picture row by row, so a lamp on alternating current writes bands into
it. They run along the rows, or along the columns of a picture that was turned. The light beside
that at rest is taken as the product of a profile along the rows and one along the columns.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

GreyImage = NDArray[np.uint8]
Cells = NDArray[np.float32]
"""(H / 32, W / 32): a picture's means over its cells."""
STEP_PX = 32
"""Side of the cells in which the light is compared."""
SUBSAMPLING_PX = 8
"""Of every so many rows and columns, a pixel counts in a cell's mean."""
USABLE_LEVELS = (25, 230)
"""Means of cells that tell the light: darker ones tell little, and brighter ones may be white."""
MIN_DEVIATION = 0.01
"""Median deviation of the cells' light from its median, as a share, up to which the light is even.

The noise of the cells is half of it."""
MAX_BAND = 0.6
"""A profile that differs from 1 by more is no lamp's: something lies over the picture."""
AGREEING_SHARE = 0.06
"""A cell agrees with its row if its light differs from the row's median by less, as a share."""
MIN_AGREEING = 0.5
"""Share of the cells of a row that must agree: else a hand covers it, and its neighbours tell its light."""
MIN_CELLS = 6
"""Least number of cells in a row that tell its light."""


def cell_means(grey: GreyImage) -> Cells:
    """The mean brightness of the cells of a picture."""
    coarse = grey[::SUBSAMPLING_PX, ::SUBSAMPLING_PX]
    rows, columns = (-(-size // STEP_PX) for size in grey.shape)
    means = cv2.resize(coarse, (columns, rows), interpolation=cv2.INTER_AREA)
    return np.asarray(means, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class LightBands:
    """How much brighter a picture is than at rest."""

    level: float
    """All of it, in the median."""
    rows: Array
    """(R,): rows of its cells, beside that."""
    columns: Array
    """(C,): columns of its cells, beside that."""

    @classmethod
    def between(cls, rest: Cells, now: Cells) -> "LightBands | None":
        """The bands in the light now; None if it is as even as it was at rest."""
        low, high = USABLE_LEVELS
        is_usable = (rest > low) & (rest < high) & (now > low / 2) & (now < high)
        known = now[is_usable] / rest[is_usable]
        if not len(known):
            return None
        level = float(np.median(known))
        known /= level
        if np.median(np.abs(known - 1)) < MIN_DEVIATION:
            return None
        ratios = np.full(rest.shape, np.nan)
        ratios[is_usable] = known
        rows = _profile(ratios)
        columns = _profile((ratios / rows[:, None]).T)
        largest = max(np.abs(rows - 1).max(), np.abs(columns - 1).max())
        return cls(level, rows, columns) if largest < MAX_BAND else None

    def without(self, grey: GreyImage, level: float) -> GreyImage:
        """The picture without the bands, and by `level` brighter than at rest."""
        gain = level / self.level / np.outer(self.rows, self.columns)
        grid = gain.astype(np.float32)
        field = cv2.resize(grid, grey.shape[::-1], interpolation=cv2.INTER_CUBIC)
        return np.asarray(cv2.multiply(grey, field, dtype=cv2.CV_8U), np.uint8)


def _profile(ratios: Array) -> Array:
    """(R,): the median of each row of light (R, C); covered rows lie between their neighbours."""
    is_known = ~np.isnan(ratios)
    enough = is_known.sum(1) >= MIN_CELLS
    medians = np.ones(len(ratios))
    medians[enough] = np.nanmedian(ratios[enough], axis=1)
    agrees = np.abs(ratios / medians[:, None] - 1) < AGREEING_SHARE
    sure = enough & (agrees.sum(1) >= MIN_AGREEING * is_known.sum(1))
    if not sure.any():
        return np.ones(len(ratios))
    at = np.arange(len(ratios))
    return np.asarray(np.interp(at, at[sure], medians[sure]))

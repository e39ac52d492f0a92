"""A seam in a JPEG's picture, which a flipped bit leaves even where the data end in step.

A JPEG codes the brightness of each unit (8 or 16 pixels square) as a difference to the one before.
A wrong difference shifts all units that follow: the rest of their row, and all rows below. The edge
is a staircase of one step: nothing on a table looks like that.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

MIN_JUMP = 6.0
"""Smallest jump across a seam that is told, in levels of 255."""
MAX_SPREAD_SHARE = 0.35
"""How far a column's jump may differ from the seam's, as a share of it."""
MIN_COLUMN_SHARE = 0.75
"""Share of the columns whose jump is the seam's: at the rest, levels are clipped."""
BORDER_SHARE = 0.04
"""A step this near to the border, as a share of the width, may be an edge of what is shown."""
MIN_COLUMNS = 20
"""Fewest columns of units in which a seam is looked for."""


def has_seam(pixels: NDArray[np.uint8], unit_px: tuple[int, int]) -> bool:
    """Tell whether a picture (H, W, 3), as it is stored, has a seam; units have width and height."""
    jumps = _jumps(pixels, unit_px)
    return any(_channel_has_seam(jumps[..., channel]) for channel in range(jumps.shape[2]))


def _jumps(pixels: NDArray[np.uint8], unit_px: tuple[int, int]) -> NDArray[np.float32]:
    """The jump at the upper edge of each unit (rows, columns, 3), less what the slope explains."""
    width, height = unit_px
    rows = np.arange(height, pixels.shape[0] - 1, height)
    columns = pixels.shape[1] // width
    if not len(rows) or not columns:
        return np.empty((0, 0, 3), np.float32)
    above, upper, lower, below = (pixels[rows + step, : columns * width] for step in (-2, -1, 0, 1))
    # (lower - upper) - ((upper - above) + (below - lower)) / 2, twice
    across = cv2.subtract(lower, upper, dtype=cv2.CV_16S)
    beside = cv2.subtract(above, below, dtype=cv2.CV_16S)
    jumps = np.asarray(3 * across + beside, np.float32)
    means = cv2.resize(jumps, (columns, len(rows)), interpolation=cv2.INTER_AREA)
    return np.asarray(means / 2, np.float32)


def _channel_has_seam(jumps: NDArray[np.float32]) -> bool:
    count, columns = jumps.shape
    if count < 2 or columns < MIN_COLUMNS:
        return False
    sums = np.cumsum(np.pad(jumps, ((0, 0), (1, 0))), axis=1, dtype=np.float64)
    # units right of the step shift against the row above, units left of it against the row below
    means = (sums[1:] + sums[:-1, -1:] - sums[:-1]) / columns
    border = max(1, round(BORDER_SHARE * columns))
    inner = np.abs(means[:, border : columns + 1 - border])
    steps = inner.argmax(1) + border
    rows = np.flatnonzero(inner.max(1) > MIN_COLUMN_SHARE * MIN_JUMP)
    return any(_is_seam(jumps[row], jumps[row + 1], steps[row]) for row in rows)


def _is_seam(upper: NDArray[np.float32], lower: NDArray[np.float32], step: int) -> bool:
    along = np.concatenate([lower[:step], upper[step:]])
    jump = float(np.median(along))
    is_alike = np.abs(along - jump) < MAX_SPREAD_SHARE * abs(jump)
    sides = (is_alike[:step], is_alike[step:])  # a straight edge has one side only
    return abs(jump) >= MIN_JUMP and all(side.mean() > MIN_COLUMN_SHARE for side in sides)

"""A line that grows from one end to the other, as a mask over what is drawn."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FADE_LENGTH_PX = 30.0
"""Length over which the growing line's tip fades, in pixels."""
MARGIN_SHARE = 0.1
"""How far the wipe starts before the first base and ends behind the other, as a share of the width."""


@dataclass(frozen=True, slots=True, eq=False)
class LineWipe:
    """The wipe along a line on a picture."""

    along: NDArray[np.float32]
    """Distance of each pixel (H, W) along the line, from its first end, in pixels."""
    reach: float
    """Way of the tip, in pixels."""
    margin: float
    """How far before the first end the tip starts, in pixels."""

    def shares(self, progress: float) -> NDArray[np.float32]:
        """How visible each pixel (H, W) is when the line has grown by a share `progress`."""
        if progress >= 1:
            return np.ones_like(self.along)
        tip = self.reach * progress - self.margin
        shares: NDArray[np.float32] = np.clip((tip - self.along) / FADE_LENGTH_PX, 0, 1)
        return shares


def wipe_along(size: tuple[int, int], ends: NDArray[np.float64]) -> LineWipe:
    """The wipe between the `ends` (2, 2) of a line on a picture of a `size`."""
    delta = ends[1] - ends[0]
    length = float(np.hypot(*delta))
    unit = delta / max(length, 1e-6)
    u = np.arange(size[0])[None] - ends[0, 0]
    v = np.arange(size[1])[:, None] - ends[0, 1]
    margin = MARGIN_SHARE * size[0]
    along = np.asarray(u * unit[0] + v * unit[1], np.float32)
    return LineWipe(along, length + 2 * FADE_LENGTH_PX + margin, margin)

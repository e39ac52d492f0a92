"""One picture of the table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture as a person sees it: the EXIF orientation has been applied."""

    pixels: NDArray[np.uint8]
    """(H, W, 3), blue green red, read-only."""
    name: str
    focal_px: float | None = None
    """The focal length that the picture's own metadata claims, in its pixels."""
    focal_share: float = 0.15
    """1 σ of that claim as a share of it: 0.03 at the sensor's full size, 0.15 where it may be cropped."""
    orientation: int = 1
    """The EXIF orientation that was applied (1 to 8): a lens file speaks of the pixels before it."""
    time_s: float = 0.0
    index: int = 0

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[1], self.pixels.shape[0]

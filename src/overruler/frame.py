"""A picture of the table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture with its EXIF orientation applied: as a person sees it."""

    pixels: NDArray[np.uint8]
    """(H, W, 3), BGR, read-only."""
    name: str
    focal_px: float | None = None
    """Focal length by the picture's metadata, in its pixels; None where they state none."""
    focal_share: float = 0.15
    """1 σ of `focal_px` as a share: 0.03 at the sensor's full size, 0.15 where it may be cropped."""
    orientation: int = 1
    """The EXIF orientation that was applied (1 to 8). A lens file refers to the pixels before it."""
    time_s: float = 0.0
    """Time since the start of the film."""
    index: int = 0
    """Number of the picture in its source, from 0."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[1], self.pixels.shape[0]

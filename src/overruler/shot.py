"""One picture of a film: its time, its brightness, and its colours only where somebody asks for them.

Turning a decoded picture into colours costs as much as decoding it, and of a table nothing moves on for most of the
time: the brightness tells that, and it comes free.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame

PixelBox = tuple[int, int, int, int]
"""Left, top, right and bottom in whole pixels, the last two not included."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One picture of a film, the right way up."""

    time_s: float
    """Since the film's first picture."""
    grey: NDArray[np.uint8]
    """(H, W): the brightness, for finding and following; nothing is measured by its absolute level."""
    colours: Callable[[PixelBox | None], NDArray[np.uint8]]
    """Makes the pixels (H, W, 3), blue green red, of a part of the picture or of all of it."""
    name: str

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.grey.shape[1], self.grey.shape[0]

    def frame(self) -> Frame:
        """The picture as a frame, as a photo would be."""
        pixels = np.ascontiguousarray(self.colours(None))
        pixels.setflags(write=False)
        return Frame(pixels, self.name, time_s=self.time_s)

    @classmethod
    def of(cls, frame: Frame) -> "Shot":
        """A frame that is already there, a web camera's say, as a shot."""
        blue, green, red = (frame.pixels[..., channel].astype(np.uint16) for channel in range(3))
        grey = ((29 * blue + 150 * green + 77 * red) >> 8).astype(
            np.uint8
        )  # ITU-R BT.601, in 256ths
        return cls(frame.time_s, grey, lambda box: crop_box(frame.pixels, box), frame.name)


def crop_box(pixels: NDArray[np.uint8], box: PixelBox | None) -> NDArray[np.uint8]:
    """A box of a picture (H, W, ...), or all of it."""
    if box is None:
        return pixels
    left, top, right, bottom = box
    return pixels[top:bottom, left:right]

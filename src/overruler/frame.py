"""A picture of the table, and one of a film, whose colours are computed on request.

Converting a decoded picture to colour costs as much as decoding it. Most pictures of a film show a
table on which nothing moves; the luma plane suffices to see that, and it needs no conversion.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.errors import BadInput
from overruler.reading.fields import check_kind

Picture = NDArray[np.uint8]
"""Pixels (H, W, 3), BGR."""
PixelBox = tuple[int, int, int, int]
"""Left, top, right and bottom in whole pixels, right and bottom excluded."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Frame:
    """A picture with its EXIF orientation applied: as a person sees it.

    `pixels` are (H, W, 3) of uint8, BGR; `BadInput` for others. `focal_px` is in pixels, `time_s` in seconds.
    """

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
    camera: str | None = None
    """The camera and its zoom by the picture's metadata; None where they name none."""
    taken: Picture | None = None
    """The pixels as they were taken, where `pixels` are cleared of a veil of light."""
    veil: NDArray[np.float64] | None = None
    """(3, 6): that veil, as `vision.imaging.veil` has it."""

    def __post_init__(self) -> None:
        _check_pixels(self.pixels, self.name)

    @property
    def shown(self) -> Picture:
        """The pixels (H, W, 3) that people know, to draw on."""
        return self.pixels if self.taken is None else self.taken

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[1], self.pixels.shape[0]


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture of a film, the right way up."""

    time_s: float
    """Time since the film's first picture."""
    grey: NDArray[np.uint8]
    """(H, W): luma, for detection and tracking. No measurement uses its absolute level."""
    colours: Callable[[PixelBox | None], NDArray[np.uint8]]
    """Returns the pixels (H, W, 3), BGR, of a box of the picture, or of all of it for None."""
    name: str
    orientation: int = 1
    """The EXIF orientation (1 to 8) that was applied, as `Frame.orientation`."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.grey.shape[1], self.grey.shape[0]

    def frame(self) -> Frame:
        """The picture as a `Frame`."""
        pixels = np.ascontiguousarray(self.colours(None))
        pixels.setflags(write=False)
        return Frame(pixels, self.name, orientation=self.orientation, time_s=self.time_s)

    @classmethod
    def of(cls, frame: Frame) -> "Shot":
        """Make a shot of a frame, such as a web camera's."""
        check_kind(frame, Frame, "Shot.of")
        blue, green, red = (frame.pixels[..., channel].astype(np.uint16) for channel in range(3))
        luma = (29 * blue + 150 * green + 77 * red) >> 8  # ITU-R BT.601, in 256ths
        grey = luma.astype(np.uint8)
        return cls(frame.time_s, grey, lambda box: crop_box(frame.pixels, box), frame.name)


def crop_box(pixels: NDArray[np.uint8], box: PixelBox | None) -> NDArray[np.uint8]:
    """Crop a picture (H, W, ...) to a box; return all of it for None."""
    if box is None:
        return pixels
    left, top, right, bottom = box
    return pixels[top:bottom, left:right]


def _check_pixels(pixels: object, name: object) -> None:
    """Raise `BadInput` for what are no pixels of a colour picture."""
    found = type(pixels).__name__
    if isinstance(pixels, np.ndarray):
        if pixels.shape[2:] == (3,) and pixels.dtype == np.uint8 and pixels.size:
            return
        found = f"{pixels.shape} of {pixels.dtype}"
    raise BadInput(
        f"{name}: expected pixels (H, W, 3) of uint8, blue, green and red, found {found}: "
        "convert them first, a grey picture by cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR)"
    )

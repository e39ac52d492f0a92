"""What is told of a photo before it is measured: by other photos of the table, or by a search."""

from collections.abc import Sequence
from dataclasses import dataclass

from overruler.calibration import Calibration
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.markers.marker import Marker


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What is known of a photo; None each where nothing is."""

    lens: LensPrior | None = None
    """Its lens by other photos of one camera. A lens file says it better."""
    markers: Sequence[Marker] | None = None
    """The board's markers that were found in it."""
    calibration: Calibration | None = None
    """Its camera by the ground that other photos show too."""


NOTHING_TOLD = Told()
"""A photo of which nothing is told."""

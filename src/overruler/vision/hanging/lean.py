"""How a camera that was found by another photo's ground follows that photo's camera."""

from dataclasses import dataclass

from overruler.frame import Frame
from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True, eq=False)
class Lean:
    """A hung photo's error by that of a photo that it hangs on."""

    frame: Frame
    """The photo that it hangs on."""
    by_camera: Array
    """(17, 17): derivative of its camera and bow by those of that photo."""
    by_height: Array
    """(17,): how they follow 1 σ of the ground's height, by the places that that photo knows."""

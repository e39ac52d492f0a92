"""Which way a plate looks: the front arc of its card is filled with colour, the rear and the flanks are not."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.plate_sides import normals_of
from overruler.vision.rays import View

RADII = np.linspace(0.5, 0.88, 8)
"""Where the four quarters of a card are looked at, in half sides from the middle, ..."""
LEANS = np.linspace(-0.5, 0.5, 7)
"""... and how far beside their middle lines, in half sides at the border."""
LEAST_CONTRAST, MOST_CONTRAST = 10.0, 30.0
"""The front must differ from all other quarters by so much (L*a*b* units); more than the second counts no more."""
ALIKE = 0.6
"""The rear must be like one of the flanks, to this share of what the front differs by: figures hide what they like."""


@dataclass(frozen=True, slots=True)
class Front:
    """Which way a plate looks, and what says so (L*a*b* units)."""

    opposite: bool
    """Whether it looks against the heading that it was fitted with."""
    contrast: float
    """By how much the front differs from the quarter most like it."""
    rest: float
    """By how much the rear differs from the flank more like it."""

    @property
    def known(self) -> bool:
        return self.contrast > LEAST_CONTRAST and self.rest < ALIKE * self.contrast


def front_of(view: View, xy_mm: Array, turn_rad: float, side_mm: float) -> Front:
    """Of heading `turn_rad` and its opposite the one that the card's colours speak for."""
    colours = _quarters(view, xy_mm, turn_rad, side_mm)
    apart = np.linalg.norm(colours[:, None] - colours, axis=-1)
    both = [Front(bool(k), float(np.delete(apart[k], k).min()), float(apart[2 - k, [1, 3]].min())) for k in (0, 2)]
    return max(both, key=lambda front: min(front.contrast, MOST_CONTRAST) - front.rest)


def _quarters(view: View, xy_mm: Array, turn_rad: float, side_mm: float) -> Array:
    """The usual colour (4, 3) of each quarter of the card: ahead, left, behind, right."""
    outward = normals_of(turn_rad)
    beside = np.stack([-outward[:, 1], outward[:, 0]], -1)
    radii = side_mm / 2 * RADII[:, None, None]
    points = xy_mm + radii * (outward[:, None, None] + LEANS[:, None] * beside[:, None, None])
    colours, _ = view.sample(points.reshape(4, -1, 2))
    return np.asarray(np.median(colours, axis=1), float)

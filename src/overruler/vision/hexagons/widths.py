"""Which widths a hexagon may have that was found as a round base, and fits of each of them."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.bases import HEXAGON_MEAN_RATIO, Base
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.rounds.oval_edge_fit import OvalFit, PosePrior, fit_oval

WIDTH_REACH = 0.12
"""Widths that differ by a larger share from what was seen are not fitted."""
LEAST_WIDTH_SIGMA_MM = 0.6
"""Least 1 σ of a width by the network that traced the rim: it knows no hexagons."""


def may_be_hexagon(base: Base, widths_mm: Iterable[float]) -> bool:
    """Tell whether a base was found as a round one of a size that a hexagon looks like."""
    seen_mm = base.width_mm / HEXAGON_MEAN_RATIO
    is_sized = any(abs(seen_mm / width - 1) < 2 * WIDTH_REACH for width in widths_mm)
    return base.shape == "circle" and is_sized


def hexagon_like(base: Base, widths_mm: Iterable[float]) -> Base | None:
    """Return the hexagon out of the widths that a round base of its size may be; None for none."""
    seen_mm = base.width_mm / HEXAGON_MEAN_RATIO
    near = [width for width in widths_mm if abs(seen_mm / width - 1) < WIDTH_REACH / 2]
    if not near:
        return None
    return Base.hexagon(min(near, key=lambda width: abs(seen_mm / width - 1)))


def fit_widths(
    pixels: NDArray[np.uint8],
    camera: Camera,
    start: PosePrior,
    z_mm: float,
    seen_mm: float,
    widths_mm: Sequence[float],
) -> dict[int, OvalFit]:
    """Fit a hexagon of each of the widths (C,) near the seen one; by the width's index."""
    attempts = {
        size: fit_oval(pixels, camera, start, Base.hexagon(width), z_mm)
        for size, width in enumerate(widths_mm)
        if abs(seen_mm / width - 1) < WIDTH_REACH
    }
    return {size: fit for size, fit in attempts.items() if fit is not None}


def nats_by_radius(radius_mm: float, sigma_mm: float, widths_mm: Sequence[float]) -> Array:
    """Return the log likelihoods (C,) of widths by the radius that the network measured, and 1 σ."""
    sigma = np.hypot(2 * sigma_mm, LEAST_WIDTH_SIGMA_MM)
    off = (2 * radius_mm / HEXAGON_MEAN_RATIO - np.array(widths_mm)) / sigma
    return np.asarray(-(off**2) / 2)


def rim_doubt_mm2(
    probability: float, base: Base, widths_mm: Mapping[int, float], share: Array
) -> float:
    """Return the variance of where the rim of a fitted hexagon lies, for it may be another base.

    It is a hexagon with that probability. `widths_mm` are those that were fitted, by their index, and
    `share` (C,) the probabilities of all widths.
    """
    off_mm = [(width - base.width_mm) / 2 for width in widths_mm.values()]
    corner_mm = (base.length_mm - base.width_mm) / 4  # a circle's rim lies between
    return float(share[[*widths_mm]] @ np.square(off_mm) + (1 - probability) * corner_mm**2)

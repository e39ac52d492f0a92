"""Lenses as cameras have them, by published calibrations."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from overruler.geometry.pose import Array


def straightened(random: Generator) -> Array:
    """A phone's own correction leaves a little of either sign (k1 k2 k3)."""
    return np.array([random.uniform(-0.05, 0.05), random.uniform(-0.03, 0.03), 0])


def moustache(random: Generator) -> Array:
    """A phone's or a good webcam's lens as it is: outwards, then inwards; published ones: (0.17, -0.72, 1.63),
    (0.27, -1.24, 1.85), (0.13, -0.31, 0), (0.11, -0.56, 0)."""
    k1 = random.uniform(0.04, 0.16)
    return np.array([k1, -k1 * random.uniform(1.8, 3.0), k1 * random.uniform(0, 3.0)])


def barrel(random: Generator) -> Array:
    """A cheap or wide lens: (-0.31, 0.08, 0), (-0.33, 0.07, 0), (-0.17, 0.11, 0), (-0.34, 0.14, -0.03) for some."""
    k1 = random.uniform(-0.35, -0.03)
    return np.array([k1, -k1 * random.uniform(0.1, 0.45), k1 * random.uniform(0, 0.08)])


def webcam(random: Generator) -> Array:
    """A webcam of today: a tenth of barrel."""
    return np.array([random.uniform(-0.16, 0.05), random.uniform(-0.03, 0.03), 0])


Family = Callable[[Generator], Array]
FAMILIES: dict[str, tuple[tuple[Family, float], ...]] = {
    "12 MP": ((straightened, 0.85), (moustache, 0.15)),
    "1080p": ((webcam, 0.6), (moustache, 0.15), (barrel, 0.25)),
}
"""Which lenses take pictures of a size, and how often."""

"""Which sightings in two photos may be of one base: those whose rays meet at some height."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.pairing.sighting import Sighting

MAX_HEIGHT_MM = 250.0
"""Largest height of a base over the board: that of the highest roof."""
MAX_MISS_MM = 40.0
"""Largest distance of the rays of two sightings of one base, along the board at one height: fits of
blurred rims are off by up to 15 mm."""


def find_crossing(some: Sequence[Sighting], more: Sequence[Sighting]) -> list[tuple[int, int]]:
    """Pairs of sightings whose rays meet at some height, about."""
    if not some or not more:
        return []
    low, high = (
        _places_at(some, z_mm)[:, None] - _places_at(more, z_mm)[None]
        for z_mm in (0.0, MAX_HEIGHT_MM)
    )
    step = high - low
    nearest = -np.sum(low * step, -1) / np.maximum(np.sum(step**2, -1), 1e-9)
    miss = low + np.clip(nearest, 0, 1)[..., None] * step
    return [(i, j) for i, j in np.argwhere(np.linalg.norm(miss, axis=-1) < MAX_MISS_MM).tolist()]


def _places_at(sightings: Sequence[Sighting], z_mm: float) -> Array:
    """The places (N, 2) of sightings at a height."""
    return np.array([one.place_at(z_mm) for one in sightings])

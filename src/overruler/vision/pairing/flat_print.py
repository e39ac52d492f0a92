"""How flat what looks like a base is: a token, a stain or a print is the same from all sides.

A figure stands up: from another side it covers other parts of its base.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.ground_squares import (
    correlate,
    cut_out_square,
    smooth_squares,
    square_grid,
)
from overruler.vision.pairing.sighting import SeenPhoto

FLAT_RADII = 1.15
"""Radius of the disc that is compared, in radii of the base: its rim with some ground around."""
MIN_SEEN_SHARE = 0.9
"""Least share of the disc that both photos show."""


def correlate_from_all_sides(base: Base, xyz_mm: Array, photos: Sequence[SeenPhoto]) -> float:
    """The least correlation of the lightness of a round base's disc in any two photos.

    It is -1 where fewer than two photos show the disc.
    """
    grid = square_grid(FLAT_RADII)
    disc = np.linalg.norm(grid, axis=-1) < FLAT_RADII
    squares = [cut_out_square(photo, grid * base.width_mm / 2, xyz_mm) for photo in photos]
    seen = [one for one in squares if one is not None and one.inside[disc].mean() >= MIN_SEEN_SHARE]
    alike = []
    for pair in combinations(seen, 2):
        here, there = smooth_squares(*pair)
        alike.append(correlate(here[disc][:, 0], there[disc][:, 0]))
    return min(alike, default=-1.0)

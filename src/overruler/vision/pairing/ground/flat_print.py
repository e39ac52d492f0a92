"""How flat what looks like a base is: a token, a card, a stain or a print is the same from all sides.

A figure stands up: from another side it covers other parts of its base.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import is_in_outline
from overruler.vision.pairing.ground.ground_squares import (
    correlate,
    cut_out_square,
    smooth_squares,
    square_grid,
)
from overruler.vision.pairing.sighting import SeenPhoto

FLAT_RADII = 1.15
"""Reach of what is compared, in half lengths and half widths of the base: its rim with some ground."""
CARD_RADII = 1.3
"""The same of a rectangle: small print looks different in each photo, the ground about it does not."""
STANDING_DIFFERENCE = 12.0
"""Difference in lightness (L*) between two photos of a rectangle that only what stands on it makes, once
contrast and brightness are matched. A dark stand on snow looks alike from all sides but for its
small figures: 12 such stands differed by 20 to 52, seven cards by 5 to 7."""
STANDING_COLOUR_DIFFERENCE = 22.0
"""The same in colour (L*a*b*): a brown figure on a green stand is as light as it. Those cards differed by 7 to
16, five such bases by 28 to 45."""
STANDING_PERCENT = 98
"""Percentile of the differences that is asked: figures 15 mm high cover a few hundredths of a stand."""
NOT_FLAT = -1.0
"""The correlation of what no photos show to be flat."""
MIN_SEEN_SHARE = 0.9
"""Least share of it that both photos show."""
MIN_RAYS_APART = 0.35
"""Least distance of the unit vectors from the base to two cameras, about 20°: a figure 30 mm high then
shifts by a third of a base of 27 mm. From nearer places a figure looks the same, too."""


def correlate_from_all_sides(
    base: Base, xyz_mm: Array, photos: Sequence[SeenPhoto], heading_deg: float = 0.0
) -> float:
    """The least correlation of the lightness of a base's place in any two photos.

    It is `NOT_FLAT` where fewer than two photos show the place from different sides, and where
    something stands on a rectangle.
    """
    grid = square_grid(_reach(base)) * (np.hypot(base.length_mm, base.width_mm) / 2)
    on = _is_on(base, grid, heading_deg)
    squares = [cut_out_square(photo, grid, xyz_mm) for photo in photos]
    seen = [
        (square, _ray(photo, xyz_mm))
        for photo, square in zip(photos, squares, strict=True)
        if square is not None and square.inside[on].mean() >= MIN_SEEN_SHARE
    ]
    pairs = []
    for (one, from_one), (other, from_other) in combinations(seen, 2):
        if np.linalg.norm(from_one - from_other) >= MIN_RAYS_APART:
            here, there = smooth_squares(one, other)
            pairs.append([np.asarray(each[on], float) for each in (here, there)])
    if not pairs:
        return NOT_FLAT
    alike = [correlate(here[:, 0], there[:, 0]) for here, there in pairs]
    least = int(np.argmin(alike))
    if base.shape == "rectangle" and _show_standing(*pairs[least]):
        return NOT_FLAT
    return alike[least]


def _show_standing(here: Array, there: Array) -> bool:
    """Whether two photos' colours (N, 3) of a place differ as only what stands there makes them."""
    here, there = here - here.mean(0), there - there.mean(0)
    contrast = there[:, 0].std() / max(here[:, 0].std(), 1e-6)
    off = there - here * [contrast, 1.0, 1.0]
    lightness = np.percentile(np.abs(off[:, 0]), STANDING_PERCENT)
    colour = np.percentile(np.linalg.norm(off, axis=1), STANDING_PERCENT)
    return bool(lightness > STANDING_DIFFERENCE or colour > STANDING_COLOUR_DIFFERENCE)


def _is_on(base: Base, places_mm: Array, heading_deg: float) -> NDArray[np.bool_]:
    """Which places (..., 2) about its middle lie on a base, or on the ground close to it."""
    return is_in_outline(base, places_mm, float(np.radians(heading_deg)), _reach(base))


def _reach(base: Base) -> float:
    """Reach of what is compared, in half lengths and half widths of the base."""
    return CARD_RADII if base.shape == "rectangle" else FLAT_RADII


def _ray(photo: SeenPhoto, xyz_mm: Array) -> Array:
    """The unit vector (3,) from a place to a photo's camera."""
    ray = photo.calibration.camera.center_mm - xyz_mm
    return np.asarray(ray / np.linalg.norm(ray))

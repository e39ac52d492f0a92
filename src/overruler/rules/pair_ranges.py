"""Ranges between all pieces of a scene, in arrays: what a game makes of their distances.

Alphabet: N pieces, R ranges, L lines between bands.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, MM_PER_INCH

PAST_RULER = -1
"""The range of a pair past the ruler's end, and of a piece with itself."""

Mask = NDArray[np.bool_]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """N pieces against N pieces, in the scene's order. Every array is symmetric.

    `distance_mm` and `sigma_mm` (1 σ) are (N, N) in mm, `band` is (N, N), `probability` (N, N, R).
    """

    ids: tuple[str, ...]
    distance_mm: Array
    """(N, N), edge to edge; 0 in contact and of a piece with itself."""
    sigma_mm: Array
    """(N, N), 1 σ of the distance; 0 where it is exact."""
    ranges: tuple[int, ...] = ()
    """(R,) all ranges of the game, ascending, `PAST_RULER` last where a ruler ends; on a grid,
    numbers of hexes. Empty for a game without ranges."""
    band: IntArray | None = None
    """(N, N), the range of each pair, `PAST_RULER` on the diagonal; None without ranges."""
    probability: Array | None = None
    """(N, N, R), of each of `ranges` for each pair, 0 on the diagonal; None in an exact scene."""

    @property
    def distance_in(self) -> Array:
        """(N, N), the distances in inches."""
        return self.distance_mm / MM_PER_INCH


class PairRanges(Protocol):
    """How a game reads the distances of a scene as ranges."""

    @property
    def lines_mm(self) -> tuple[float, ...]:
        """(L,) the distances at which the range changes, ascending; empty on a grid."""
        ...

    def add_to(self, matrix: Matrix, band_probability: Array | None) -> Matrix:
        """Add the ranges, given the probability (N, N, L + 1) of each band between the lines."""
        ...


@dataclass(frozen=True, slots=True)
class RulerRanges:
    """Ranges by the bands of a ruler, as `rules.bands` counts them."""

    lines_mm: tuple[float, ...]
    """(L,) where each band ends, contact first."""
    contact_range: int = 0
    """The range of a pair in contact: 0, or 1 where contact counts as the first band."""
    held_pairs: frozenset[tuple[str, str]] = frozenset()
    """The ids of pairs at range 0 whatever their distance."""
    apart_in_height: Mask | None = None
    """(N, N) whether two pieces stand one above the other, so that they cannot touch; None: nowhere."""

    def add_to(self, matrix: Matrix, band_probability: Array | None) -> Matrix:
        first = self.contact_range
        ranges = (*range(first, len(self.lines_mm)), PAST_RULER)
        index = np.searchsorted(np.array(self.lines_mm), matrix.distance_mm - CONTACT_TOLERANCE_MM)
        band = np.where(index == len(self.lines_mm), PAST_RULER, np.maximum(index, first))
        probability = band_probability
        if self.apart_in_height is not None:
            band = np.where(self.apart_in_height & (band == 0), 1, band)
            if probability is not None:
                contact = np.where(self.apart_in_height, probability[..., 0], 0.0)
                moved = [probability[..., 0] - contact, probability[..., 1] + contact]
                probability = np.concatenate([np.stack(moved, 2), probability[..., 2:]], 2)
        if probability is not None and first:
            contact_or_first = probability[..., :2].sum(2, keepdims=True)
            probability = np.concatenate([contact_or_first, probability[..., 2:]], 2)
        for pair in self.held_pairs:
            i, j = (matrix.ids.index(name) for name in pair)
            band[[i, j], [j, i]] = 0
            if probability is not None:
                probability[[i, j], [j, i]] = np.arange(len(ranges)) == 0
        np.fill_diagonal(band, PAST_RULER)
        return replace(matrix, ranges=ranges, band=band, probability=probability)


def ruler_ranges(scene: Scene) -> RulerRanges | None:
    """The ranges of a game by the scene's ruler, contact as range 0; None without a ruler."""
    ruler = scene.range_ruler
    if ruler is None:
        return None
    return RulerRanges((0.0, *ruler.lines_mm), apart_in_height=apart_in_height(scene))


def one_hot(band: IntArray, count: int) -> Array:
    """The probabilities (N, N, count) of certain bands: 1 for the pair's, 0 on the diagonal."""
    probability = np.asarray(band[..., None] == np.arange(count), float)
    probability[np.arange(len(band)), np.arange(len(band))] = 0.0
    return probability


def apart_in_height(scene: Scene) -> Mask | None:
    """(N, N) whether two pieces stand one above the other; None where no two do."""
    low = np.array([piece.z_mm for piece in scene.pieces])
    high = np.array([piece.top_z_mm for piece in scene.pieces])
    overlap = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    apart = overlap < -CONTACT_TOLERANCE_MM
    return apart if apart.any() else None

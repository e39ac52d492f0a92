"""Numbers of hexes between all pieces, in arrays. N pieces, R numbers of hexes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from overruler.geometry.pose import Array
from overruler.rules.hexes.hex_position import (
    find_hex_position,
    hex_count_probabilities,
)
from overruler.rules.pair_ranges import PAST_RULER, IntArray, Matrix, one_hot
from overruler.scene import Scene

Probabilities = Mapping[int, float]
"""By number of hexes."""


@dataclass(frozen=True, slots=True)
class HexRanges:
    """Ranges by numbers of hexes."""

    scene: Scene

    @property
    def lines_mm(self) -> tuple[float, ...]:
        return ()

    def add_to(self, matrix: Matrix, band_probability: Array | None) -> Matrix:
        scene = self.scene
        places = [find_hex_position(scene, index) for index in range(len(scene.pieces))]
        band = _hex_distances(np.array([place.hex for place in places], np.intp).reshape(-1, 2))
        unsure = {}
        if scene.covariance is not None:
            unsure = {
                (i, j): hex_count_probabilities(scene, a, b)
                for (i, a), (j, b) in combinations(enumerate(places), 2)
                if not (a.is_sure and b.is_sure)
            }
        possible = [count for counts in unsure.values() for count in counts]
        ranges = tuple(range(max([int(band.max(initial=0)), *possible]) + 1))
        probability = None
        if scene.covariance is not None:
            probability = _count_probabilities(band, ranges, unsure)
        np.fill_diagonal(band, PAST_RULER)
        return replace(matrix, ranges=ranges, band=band, probability=probability)


def _hex_distances(hexes: IntArray) -> IntArray:
    """The distances (N, N) in hexes between axial coordinates (N, 2)."""
    q, r = hexes.T
    dq, dr = q[:, None] - q, r[:, None] - r
    return np.asarray(np.maximum(np.maximum(np.abs(dq), np.abs(dr)), np.abs(dq + dr)))


def _count_probabilities(
    band: IntArray, ranges: tuple[int, ...], unsure: Mapping[tuple[int, int], Probabilities]
) -> Array:
    """The probability (N, N, R) of each number of hexes; `unsure` has the uncertain pairs."""
    probability = one_hot(band, len(ranges))
    for (i, j), counts in unsure.items():
        probability[[i, j], [j, i]] = [counts.get(count, 0.0) for count in ranges]
    return probability

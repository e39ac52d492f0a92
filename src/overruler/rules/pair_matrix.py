"""Distances, ranges and their probabilities of every piece against every other, in arrays.

`ask` rules on one pair, `rules.matrix` on all. All but a few in a hundred are far from every line
of the ruler. The others are worked out in arrays too; only polygons that are no rectangles are
worked out one by one.

Alphabet: N pieces, R ranges, L lines between bands.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from overruler.geometry.batched.contact_regions import gap_sigmas, probabilities_within
from overruler.geometry.batched.support_columns import SupportColumns, separating_directions
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array
from overruler.geometry.shapes import gap
from overruler.house_rules import ruled_by
from overruler.reading import Node
from overruler.rules.measure import between
from overruler.rules.pair_ranges import Matrix, PairRanges, one_hot, ruler_ranges
from overruler.rules.registry import game_of
from overruler.rules.uncertainty import DistanceUncertainty, distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM


def build_matrix(scene: Scene, game: str | None) -> Matrix:
    """As `rules.matrix`."""
    usual = _build_matrix(scene, game)
    if scene.alternative_scene is None or usual.probability is None:
        return usual
    probability, alternative = scene.alternative_scene
    return _mix_matrices(usual, _build_matrix(alternative, game), probability)


def _mix_matrices(usual: Matrix, rare: Matrix, rare_probability: float) -> Matrix:
    """The usual matrix, with the probabilities of both mixed."""
    ranges = max(usual.ranges, rare.ranges, key=len)  # more numbers of hexes may be possible
    usual_share = (1 - rare_probability) * _pad_probability(usual, len(ranges))
    rare_share = rare_probability * _pad_probability(rare, len(ranges))
    return replace(usual, ranges=ranges, probability=usual_share + rare_share)


def _pad_probability(matrix: Matrix, count: int) -> Array:
    """The probabilities (N, N, count), 0 for ranges that the matrix does not know."""
    assert matrix.probability is not None
    missing = count - matrix.probability.shape[2]
    return np.pad(matrix.probability, ((0, 0), (0, 0), (0, missing)))


def _build_matrix(scene: Scene, game: str | None) -> Matrix:
    """The matrix by the scene's own covariance alone."""
    scene = scene if game is None else ruled_by(scene, game_of(game).name)
    game_of(scene.game).check(scene)
    distance_mm = scene.distances()
    ids = tuple(piece.id for piece in scene.pieces)
    ranges = _pair_ranges(scene)
    lines_mm = ranges.lines_mm if ranges else ()
    sigma_mm, band_probability = _distance_uncertainties(scene, distance_mm, lines_mm)
    matrix = Matrix(ids, distance_mm, sigma_mm)
    return ranges.add_to(matrix, band_probability) if ranges else matrix


def _pair_ranges(scene: Scene) -> PairRanges | None:
    pair_ranges = game_of(scene.game).pair_ranges
    return ruler_ranges(scene) if pair_ranges is None else pair_ranges(scene)


# --- uncertainty ---


def _distance_uncertainties(
    scene: Scene, distance_mm: Array, lines_mm: tuple[float, ...]
) -> tuple[Array, Array | None]:
    """1 σ (N, N) of each distance, and the probability (N, N, L + 1) of each band.

    On the diagonal both are 0. The probabilities are None where every place is exact.
    """
    if scene.covariance is None:
        return np.zeros_like(distance_mm), None
    covariances = _difference_covariances(scene.covariance.array)
    columns = SupportColumns.of(scene.shapes)
    sigma = _sigmas_along_gaps(scene, columns, covariances, distance_mm)
    band = np.searchsorted(np.array(lines_mm), distance_mm - CONTACT_TOLERANCE_MM)
    probability = one_hot(band, len(lines_mm) + 1)
    reach = REACH_SIGMAS * np.sqrt(_largest_eigenvalues(covariances))
    to_line = np.abs(distance_mm[..., None] - np.array((0.0, *lines_mm))).min(2)
    near = np.triu((to_line <= reach + CONTACT_TOLERANCE_MM) & (reach > 0), 1)
    in_columns = near & columns.is_known[:, None] & columns.is_known
    i, j = np.nonzero(in_columns)
    if len(i):
        a, b = columns.select_rows(i), columns.select_rows(j)
        pairs = NearPairs(a, b, covariances[i, j], distance_mm[i, j], reach[i, j])
        sigma[i, j] = sigma[j, i] = pairs.sigmas(sigma[i, j])
        probability[i, j] = probability[j, i] = pairs.band_probabilities(lines_mm)
    for k, m in np.argwhere(near & ~in_columns).tolist():
        pair = _pair_uncertainty(scene, k, m, lines_mm)
        sigma[[k, m], [m, k]] = pair.sigma_mm
        probability[[k, m], [m, k]] = pair.band_probabilities
    return sigma, probability


class NearPairs(NamedTuple):
    """m pairs near a line or near contact; what `rules.uncertainty` does for one of them."""

    a: SupportColumns
    b: SupportColumns
    covariance: Array
    """(m, 2, 2) of the displacement of b against a."""
    distance_mm: Array
    reach_mm: Array
    """(m,) the largest displacement considered."""

    def sigmas(self, linear_mm: Array) -> Array:
        """1 σ (m,) of each distance, given those along the gaps, which contact cuts off at 0."""
        sigma = linear_mm.copy()
        cut = np.flatnonzero(self.distance_mm < self.reach_mm)
        if len(cut):
            a, b = self.a.select_rows(cut), self.b.select_rows(cut)
            sigma[cut] = gap_sigmas(a, b, self.covariance[cut], self.distance_mm[cut])
        return sigma

    def band_probabilities(self, lines_mm: tuple[float, ...]) -> Array:
        """The probability (m, L + 1) of each band."""
        touched_mm = np.array(lines_mm) + CONTACT_TOLERANCE_MM
        past = self.distance_mm[:, None] - touched_mm
        below = np.asarray(past < 0, float)
        row, line = np.nonzero(np.abs(past) <= self.reach_mm[:, None])
        a, b = self.a.select_rows(row), self.b.select_rows(row)
        below[row, line] = probabilities_within(a, b, self.covariance[row], touched_mm[line])
        return np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0)


def _pair_uncertainty(
    scene: Scene, i: int, j: int, lines_mm: tuple[float, ...]
) -> DistanceUncertainty:
    ends = Node({"from": scene.pieces[i].id, "to": scene.pieces[j].id}, "matrix")
    uncertainty = distance_uncertainty(scene, between(scene, ends), lines_mm)
    assert uncertainty is not None
    return uncertainty


def _difference_covariances(covariance: Array) -> Array:
    """The covariances (N, N, 2, 2) of differences of places, from the joint one (2N, 2N)."""
    count = len(covariance) // 2
    blocks = covariance.reshape(count, 2, count, 2).swapaxes(1, 2)
    own = blocks[np.arange(count), np.arange(count)]
    return np.asarray(own[:, None] + own[None] - blocks - blocks.swapaxes(2, 3))


def _largest_eigenvalues(covariances: Array) -> Array:
    """The larger eigenvalue (N, N) of each 2 by 2 covariance."""
    xx, xy, yy = covariances[..., 0, 0], covariances[..., 0, 1], covariances[..., 1, 1]
    return np.asarray(np.maximum((xx + yy) / 2 + np.hypot((xx - yy) / 2, xy), 0.0))


def _sigmas_along_gaps(
    scene: Scene, columns: SupportColumns, covariances: Array, distance_mm: Array
) -> Array:
    """1 σ (N, N) of the displacement along each gap, to first order; 0 in contact."""
    sigma = np.zeros_like(distance_mm)
    apart = np.triu(distance_mm > CONTACT_TOLERANCE_MM, 1)
    in_columns = apart & columns.is_known[:, None] & columns.is_known
    i, j = np.nonzero(in_columns)
    directions = separating_directions(columns.select_rows(i), columns.select_rows(j))
    along = np.stack(directions, 1)
    variance = np.einsum("mi,mij,mj->m", along, covariances[i, j], along)
    sigma[i, j] = sigma[j, i] = np.sqrt(np.maximum(variance, 0.0))
    for k, m in np.argwhere(apart & ~in_columns).tolist():
        nearest = gap(scene.shapes[k], scene.shapes[m])
        unit = np.subtract(nearest.to_point, nearest.from_point) / nearest.distance_mm
        sigma[[k, m], [m, k]] = np.sqrt(max(unit @ covariances[k, m] @ unit, 0.0))
    return sigma

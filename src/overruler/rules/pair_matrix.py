"""Distances, ranges and their probabilities of every piece against every other, in arrays.

`ask` rules on one pair, `rules.matrix` on all. All but a few in a hundred are far from every line
of the ruler and are settled in arrays. So are discs that are not in contact. The other pairs are
worked out one by one.

Alphabet: N pieces, R ranges, L lines between bands.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.gap_probabilities import probabilities_within_lines
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, gap
from overruler.reading import Node
from overruler.rules.measure import between
from overruler.rules.pair_ranges import Matrix, PairRanges, one_hot, ruler_ranges
from overruler.rules.registry import game_of
from overruler.rules.uncertainty import DistanceUncertainty, distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

BoolArray = NDArray[np.bool_]


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
    scene = scene if game is None else replace(scene, game=game)
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
    sigma = _sigmas_along_gaps(scene, covariances, distance_mm)
    band = np.searchsorted(np.array(lines_mm), distance_mm - CONTACT_TOLERANCE_MM)
    probability = one_hot(band, len(lines_mm) + 1)
    reach = REACH_SIGMAS * np.sqrt(_largest_eigenvalues(covariances))
    to_line = np.abs(distance_mm[..., None] - np.array((0.0, *lines_mm))).min(2)
    near = np.triu((to_line <= reach + CONTACT_TOLERANCE_MM) & (reach > 0), 1)
    apart = near & (distance_mm > reach)
    near &= ~_fill_disc_probabilities(scene, covariances, apart, lines_mm, probability)
    for i, j in np.argwhere(near).tolist():
        pair = _pair_uncertainty(scene, i, j, lines_mm)
        sigma[[i, j], [j, i]] = pair.sigma_mm
        probability[[i, j], [j, i]] = pair.band_probabilities
    return sigma, probability


def _fill_disc_probabilities(
    scene: Scene,
    covariances: Array,
    wanted: BoolArray,
    lines_mm: tuple[float, ...],
    probability: Array,
) -> BoolArray:
    """Fill in the wanted (N, N) pairs that are two discs; return those (N, N) that are done."""
    radius = np.array(
        [shape.radius_mm if isinstance(shape, Disc) else np.nan for shape in scene.shapes]
    )
    x, y = _centers(scene).T
    i, j = np.nonzero(wanted & np.isfinite(radius[:, None] + radius))
    between_mm = np.stack([x[j] - x[i], y[j] - y[i]], 1)
    touched_mm = np.array(lines_mm) + CONTACT_TOLERANCE_MM
    below, done = probabilities_within_lines(
        between_mm, radius[i] + radius[j], covariances[i, j], touched_mm
    )
    i, j, below = i[done], j[done], below[done]
    bands = np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0)
    probability[i, j] = probability[j, i] = bands
    filled = np.zeros_like(wanted)
    filled[i, j] = True
    return filled


def _pair_uncertainty(
    scene: Scene, i: int, j: int, lines_mm: tuple[float, ...]
) -> DistanceUncertainty:
    ends = Node({"from": scene.pieces[i].id, "to": scene.pieces[j].id}, "matrix")
    uncertainty = distance_uncertainty(scene, between(scene, ends), lines_mm)
    assert uncertainty is not None
    return uncertainty


def _centers(scene: Scene) -> Array:
    """The centres (N, 2) of all pieces."""
    return np.array([shape.center for shape in scene.shapes]).reshape(-1, 2)


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


def _sigmas_along_gaps(scene: Scene, covariances: Array, distance_mm: Array) -> Array:
    """1 σ (N, N) of the displacement along each gap, to first order; 0 in contact."""
    centers = _centers(scene)
    along = centers[None] - centers[:, None]
    is_disc = np.array([isinstance(shape, Disc) for shape in scene.shapes], bool)
    two_discs = is_disc[:, None] & is_disc
    for i, j in np.argwhere(np.triu(~two_discs, 1) & (distance_mm > 0)).tolist():
        (ax, ay), (bx, by) = gap(scene.shapes[i], scene.shapes[j])[1:]
        along[i, j] = along[j, i] = bx - ax, by - ay
    along /= np.maximum(np.hypot(along[..., 0], along[..., 1]), 1e-300)[..., None]
    variance = np.einsum("ijk,ijkl,ijl->ij", along, covariances, along)
    sigma = np.sqrt(np.maximum(variance, 0.0))
    return np.asarray(sigma * (distance_mm > CONTACT_TOLERANCE_MM))

"""Every piece against every other at once: distances, ranges, and how sure they are, in arrays.

What `ask` says of a pair, `rules.matrix` says of all. Pairs far from every line of the ruler, mostly all but a few in a
hundred, are settled in arrays, and so is the doubt of discs beyond contact; the rest is worked out one by one.

Alphabet: N pieces, R ranges, m pairs.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.gap_probabilities import probabilities_within_lines
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, gap
from overruler.reading import Node
from overruler.rules import game_of
from overruler.rules.games.tide_of_iron.hex_position import (
    HexPosition,
    find_hex_position,
    hex_count_probabilities,
)
from overruler.rules.games.xwing.range_zero import held_pairs
from overruler.rules.games.xwing.ship_ruler import band_ends_mm
from overruler.rules.measure import between
from overruler.rules.uncertainty import DistanceUncertainty, distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, MM_PER_INCH

PAST_RULER = -1
"""The range of a pair past the ruler's end, and of a piece with itself."""

IntArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """N pieces against N pieces, in the scene's order. Every array is symmetric."""

    ids: tuple[str, ...]
    distance_mm: Array
    """(N, N), edge to edge; 0 in contact and of a piece with itself."""
    sigma_mm: Array
    """(N, N), 1 σ of the distance; 0 where it is exact."""
    ranges: tuple[int, ...] = ()
    """Every range that the game knows, ascending, `PAST_RULER` last where a ruler ends; in `tide_of_iron` numbers of hexes.
    Empty for a game that measures in inches."""
    band: IntArray | None = None
    """(N, N), the range of each pair; `PAST_RULER` on the diagonal. None for a game that measures in inches."""
    probability: Array | None = None
    """(N, N, R), of each of `ranges` for each pair; 0 on the diagonal. None where every place is exact."""

    @property
    def distance_in(self) -> Array:
        """(N, N), the same distances in inches."""
        return self.distance_mm / MM_PER_INCH


def build_matrix(scene: Scene, game: str | None) -> Matrix:
    """As `rules.matrix`."""
    found = _build_matrix(scene, game)
    if scene.alternative_scene is None or found.probability is None:
        return found
    share, other = scene.alternative_scene
    return _blend_matrices(found, _build_matrix(other, game), share)


def _blend_matrices(found: Matrix, other: Matrix, share: float) -> Matrix:
    """With the probabilities as they are if all is as `other` has it in this `share` of cases."""
    assert found.probability is not None
    assert other.probability is not None
    ranges = max(found.ranges, other.ranges, key=len)  # of hexes, more numbers may be possible
    usual, rare = (
        np.pad(one, ((0, 0), (0, 0), (0, len(ranges) - one.shape[2])))
        for one in (found.probability, other.probability)
    )
    return replace(found, ranges=ranges, probability=(1 - share) * usual + share * rare)


def _build_matrix(scene: Scene, game: str | None) -> Matrix:
    """The same by the scene's own covariance alone."""
    scene = scene if game is None else replace(scene, game=game)
    game_of(scene.game).check(scene)
    distances = scene.distances()
    ids = tuple(piece.id for piece in scene.pieces)
    lines = _band_ends_mm(scene)
    sigma, shares = _distance_uncertainties(scene, distances, lines or ())
    found = Matrix(ids, distances, sigma)
    if scene.game == "tide_of_iron":
        return _with_hex_counts(scene, found)
    return _with_ruler_bands(scene, found, lines, shares) if lines else found


# --- on a ruler ---


def _band_ends_mm(scene: Scene) -> tuple[float, ...] | None:
    """Where each band of the game's ruler ends, contact first; None for a game without a ruler."""
    if scene.game == "xwing":
        return band_ends_mm(
            game_of("xwing").ruler_of(scene), game_of("xwing").chosen(scene, "nearer_band")
        )
    return (
        (0.0, *game_of(scene.game).ruler_of(scene).lines_mm) if game_of(scene.game).ruler else None
    )


def _with_ruler_bands(
    scene: Scene, found: Matrix, lines: tuple[float, ...], shares: Array | None
) -> Matrix:
    """Bands as `rules.bands` counts them: 0 is contact, which is range 1 in Legion; past the last there is no range."""
    bands, first = (
        np.searchsorted(np.array(lines), found.distance_mm - CONTACT_TOLERANCE_MM),
        0 if scene.game == "xwing" else 1,
    )
    ranges = (*range(first, len(lines)), PAST_RULER)
    band = np.where(bands == len(lines), PAST_RULER, np.maximum(bands, first))
    if shares is not None and first:
        shares = np.concatenate([shares[..., :2].sum(2, keepdims=True), shares[..., 2:]], 2)
    if scene.game == "xwing":
        for pair in held_pairs(scene):
            i, j = (found.ids.index(name) for name in pair)
            band[[i, j], [j, i]] = 0
            if shares is not None:
                shares[[i, j], [j, i]] = np.arange(len(ranges)) == 0
    np.fill_diagonal(band, PAST_RULER)
    return replace(found, ranges=ranges, band=band, probability=shares)


def _distance_uncertainties(
    scene: Scene, distance_mm: Array, lines_mm: tuple[float, ...]
) -> tuple[Array, Array | None]:
    """1 σ (N, N) of each distance, and the probability (N, N, lines + 1) of each band between ascending lines.

    On the diagonal both are 0; the probabilities are None where every place is exact.
    """
    if scene.covariance is None:
        return np.zeros_like(distance_mm), None
    spread = _difference_covariances(scene.covariance.array)
    sigma = _sigmas_along(scene, spread, distance_mm)
    bands = np.searchsorted(np.array(lines_mm), distance_mm - CONTACT_TOLERANCE_MM)
    shares = np.asarray(bands[..., None] == np.arange(len(lines_mm) + 1), float)
    shares[np.arange(len(bands)), np.arange(len(bands))] = 0.0
    reach = REACH_SIGMAS * np.sqrt(_largest_eigenvalues(spread))
    away = np.abs(distance_mm[..., None] - np.array((0.0, *lines_mm))).min(2)
    near = np.triu((away <= reach + CONTACT_TOLERANCE_MM) & (reach > 0), 1)
    near &= ~_fill_disc_probabilities(scene, spread, near & (distance_mm > reach), lines_mm, shares)
    for i, j in np.argwhere(near).tolist():
        doubt = _pair_uncertainty(scene, i, j, lines_mm)
        sigma[[i, j], [j, i]], shares[[i, j], [j, i]] = doubt.sigma_mm, doubt.band_probabilities
    return sigma, shares


def _fill_disc_probabilities(
    scene: Scene,
    spread: Array,
    wanted: NDArray[np.bool_],
    lines_mm: tuple[float, ...],
    shares: Array,
) -> NDArray[np.bool_]:
    """Work out the `shares` of the `wanted` pairs of discs beyond contact, in arrays; (N, N): for which it was done."""
    radius = np.array(
        [shape.radius_mm if isinstance(shape, Disc) else np.nan for shape in scene.shapes]
    )
    x, y = np.array([shape.center for shape in scene.shapes]).reshape(-1, 2).T
    i, j = np.nonzero(wanted & np.isfinite(radius[:, None] + radius))
    apart = np.stack([x[j] - x[i], y[j] - y[i]], 1)
    below, done = probabilities_within_lines(
        apart, radius[i] + radius[j], spread[i, j], np.array(lines_mm) + CONTACT_TOLERANCE_MM
    )
    i, j, below = i[done], j[done], below[done]
    shares[i, j] = shares[j, i] = np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0)
    settled = np.zeros_like(wanted)
    settled[i, j] = True
    return settled


def _pair_uncertainty(
    scene: Scene, i: int, j: int, lines_mm: tuple[float, ...]
) -> DistanceUncertainty:
    pair = Node({"from": scene.pieces[i].id, "to": scene.pieces[j].id}, "matrix")
    doubt = distance_uncertainty(scene, between(scene, pair), lines_mm)
    assert doubt is not None
    return doubt


def _difference_covariances(covariance: Array) -> Array:
    """The covariance (N, N, 2, 2) of the difference of each two pieces, out of the joint one (2N, 2N)."""
    count = len(covariance) // 2
    blocks = covariance.reshape(count, 2, count, 2).swapaxes(1, 2)
    own = blocks[np.arange(count), np.arange(count)]
    return np.asarray(own[:, None] + own[None] - blocks - blocks.swapaxes(2, 3))


def _largest_eigenvalues(spread: Array) -> Array:
    """The larger eigenvalue of each."""
    xx, xy, yy = spread[..., 0, 0], spread[..., 0, 1], spread[..., 1, 1]
    return np.asarray(np.maximum((xx + yy) / 2 + np.hypot((xx - yy) / 2, xy), 0.0))


def _sigmas_along(scene: Scene, spread: Array, distance_mm: Array) -> Array:
    """To first order: 1 σ (N, N) of the displacement along each gap; 0 in contact."""
    centers = np.array([shape.center for shape in scene.shapes]).reshape(-1, 2)
    along = centers[None] - centers[:, None]
    round_ = np.array([isinstance(shape, Disc) for shape in scene.shapes], bool)
    for i, j in np.argwhere(np.triu(~(round_[:, None] & round_), 1) & (distance_mm > 0)).tolist():
        (ax, ay), (bx, by) = gap(scene.shapes[i], scene.shapes[j])[1:]
        along[i, j] = along[j, i] = bx - ax, by - ay
    along /= np.maximum(np.hypot(along[..., 0], along[..., 1]), 1e-300)[..., None]
    square = np.einsum("ijk,ijkl,ijl->ij", along, spread, along)
    return np.asarray(np.sqrt(np.maximum(square, 0.0)) * (distance_mm > CONTACT_TOLERANCE_MM))


# --- in hexes ---


def _with_hex_counts(scene: Scene, found: Matrix) -> Matrix:
    """How many hexes each piece is from each; of those whose hex is in doubt the likelihood of each number."""
    places = [find_hex_position(scene, index) for index in range(len(scene.pieces))]
    q, r = np.array([place.hex for place in places], np.intp).reshape(-1, 2).T
    dq, dr = q[:, None] - q, r[:, None] - r
    band = np.maximum(np.maximum(np.abs(dq), np.abs(dr)), np.abs(dq + dr))
    uncertain = _uncertain_hex_counts(scene, places) if scene.covariance is not None else {}
    most = max(
        [int(band.max(initial=0)), *(number for odds in uncertain.values() for number in odds)]
    )
    ranges, shares = tuple(range(most + 1)), None
    if scene.covariance is not None:
        shares = np.asarray(band[..., None] == np.arange(most + 1), float)
        shares[np.arange(len(band)), np.arange(len(band))] = 0.0
        for (i, j), odds in uncertain.items():
            shares[[i, j], [j, i]] = [odds.get(number, 0.0) for number in ranges]
    np.fill_diagonal(band, PAST_RULER)
    return replace(found, ranges=ranges, band=band, probability=shares)


def _uncertain_hex_counts(
    scene: Scene, places: list[HexPosition]
) -> dict[tuple[int, int], dict[int, float]]:
    """The probability of each number of hexes, for the pairs of which one may stand in another hex."""
    return {
        (i, j): hex_count_probabilities(scene, a, b)
        for (i, a), (j, b) in combinations(enumerate(places), 2)
        if not (a.is_sure and b.is_sure)
    }

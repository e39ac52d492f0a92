"""The places and heights of all bases by all photos at once, with one joint covariance.

Least squares over all sightings: each photo's camera and table bow err as its calibration says, each
fit errs by itself, and a base's height is a parameter with a prior. What sightings of a base share
(its shade, its profile), and what those of a photo share, is in the noise. So bases that several
photos see also correct the cameras. Errors of the table itself (its print's scale, its misfit) are
the same in all photos and are added at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.fusion.noise import PlacedBase, noise_of
from overruler.vision.pairing.sighting import Sighting

RARE_WEIGHT = 0.05
"""Share of the rare covariance in the weights of the fit."""


STUDENT_FREEDOM = 4.0
"""Degrees of freedom of Student's t for the sightings' own errors: rendered tables have such tails."""
STUDENT_ROUNDS = 4
"""Rounds in which sightings that contradict the others lose weight."""
LEAST_INFORMATION = 1e-9
"""Ridge in mm⁻² for a base with one sighting, whose leave-one-out information is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class JointFit:
    """The result for N bases, M sightings and P photos."""

    xy_mm: Array
    """(N, 2)."""
    z_mm: Array
    """(N,)."""
    z_sigma_mm: Array
    """(N,): 1 σ of the heights, with the rare covariance by its share."""
    usual_mm2: Array
    """(2 N, 2 N): covariance on a table as its board file specifies, table errors left out."""
    rare_mm2: Array
    """(2 N, 2 N): the same if something about the table is off, or its cameras' lenses are not like most."""
    residuals_mm: Array
    """(M, 2): what each sighting is off its prediction."""
    chi2: Array
    """(M,): its squared distance, in σ, from what the other sightings predict."""
    place_gain: Array
    """(2 N, R): how the places follow the R measurements and priors."""
    residual_gain: Array
    """(2 M, R): how the residuals follow them."""
    noise_mm2: Array
    """(R, R): their usual covariance."""
    own_mm2: Array
    """(M, 2, 2): the part of it that is each sighting's own."""

    def with_added_covariance(self, added_mm2: Mapping[int, Array]) -> "JointFit":
        """The fit with covariances (2, 2) that no sighting shows, by the number of a base."""
        covariances = self.usual_mm2.copy(), self.rare_mm2.copy()
        for k, added in added_mm2.items():
            two = slice(2 * k, 2 * k + 2)
            for covariance in covariances:
                covariance[two, two] += added
        usual_mm2, rare_mm2 = covariances
        return replace(self, usual_mm2=usual_mm2, rare_mm2=rare_mm2)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The measurements of M sightings and N height priors, stacked: 2 M + N."""

    values: Array
    """(2 M + N,)."""
    design: Array
    """(2 M + N, 3 N): derivative by each base's x, y and z."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """Weighted least squares of R rows for S unknowns."""

    state: Array
    """(S,)."""
    gain: Array
    """(S, R)."""
    residuals: Array
    """(R,)."""
    inverse: Array
    """(R, R): the inverse of the noise."""
    weighted: Array
    """(R, S): that times the design."""


def fit_jointly(
    bases: Sequence[PlacedBase],
    factors: Sequence[float] | None = None,
    rounds: int = STUDENT_ROUNDS,
) -> JointFit:
    """Fit N bases to all their sightings; bases on one level differ by `LEVEL_SIGMA_MM` in height.

    The sightings' own variances are larger than stated by `factors` (M,). A sighting that contradicts
    the others counts less, as Student's t says: its own covariance grows in each of the rounds.
    """
    sightings = [(k, one) for k, base in enumerate(bases) for one in base.sightings]
    rows = _stack_rows(bases, sightings)
    table = noise_of(bases, sightings)
    noise = (1 - RARE_WEIGHT) * table.usual + RARE_WEIGHT * table.rare
    stated = table.usual_own
    grown = stated * (np.reshape(factors or len(sightings) * [1.0], (-1, 1, 1)) - 1)
    own = (1 - RARE_WEIGHT) * stated + RARE_WEIGHT * table.rare_own + grown
    solution, chi2, outlying = _solve_robustly(rows, noise, grown, own, rounds)
    added = _on_diagonal(grown + outlying, len(noise))
    count, sights = len(bases), len(sightings)
    places = np.reshape(solution.state, (count, 3))
    xy = _places_only(count)
    covariances = [
        solution.gain @ (each + added) @ solution.gain.T for each in (table.usual, table.strange)
    ]
    usual, rare = (np.diag(covariance)[2::3] for covariance in covariances)
    heights = np.sqrt((1 - RARE_WEIGHT) * usual + RARE_WEIGHT * rare)
    projected = rows.design[: 2 * sights] @ solution.gain
    return JointFit(
        xy_mm=places[:, :2],
        z_mm=places[:, 2],
        z_sigma_mm=np.asarray(heights),
        usual_mm2=_symmetric(covariances[0][np.ix_(xy, xy)]),
        rare_mm2=_symmetric(covariances[1][np.ix_(xy, xy)]),
        residuals_mm=solution.residuals[: 2 * sights].reshape(-1, 2),
        chi2=chi2,
        place_gain=solution.gain[xy],
        residual_gain=np.eye(*projected.shape) - projected,
        noise_mm2=table.usual + added,
        own_mm2=stated + grown + outlying,
    )


def _solve_robustly(
    rows: _Rows, noise: Array, grown: Array, own: Array, rounds: int
) -> tuple[_Solution, Array, Array]:
    """Solve, then solve again so many rounds, with less weight for what contradicts the others.

    `own` (M, 2, 2) are the sightings' own covariances, `grown` what they exceed the stated ones by.
    Return the solution, each sighting's χ² (M,) against the others, and what else its covariance
    grew by (M, 2, 2).
    """
    outlying = np.zeros_like(grown)
    for left in range(rounds, -1, -1):
        solution = _solve(noise + _on_diagonal(grown + outlying, len(noise)), rows)
        chi2 = _left_out_chi2(solution, rows.design, outlying)
        if left:
            larger = np.maximum(0.0, (chi2 - 2) / (STUDENT_FREEDOM + 2))
            outlying = own * larger[:, None, None]
    return solution, chi2, outlying


def _on_diagonal(blocks: Array, size: int) -> Array:
    """(size, size): M blocks (2, 2) on the diagonal of the sightings, and zeros."""
    matrix = np.zeros((size, size))
    matrix[diagonal_blocks(len(blocks))] = blocks
    return matrix


def diagonal_blocks(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices (M, 2, 1) and (M, 1, 2) of M blocks (2, 2) on the diagonal."""
    two = np.arange(2 * count).reshape(count, 2)
    return two[:, :, None], two[:, None, :]


def _solve(noise: Array, rows: _Rows) -> _Solution:
    """Weighted least squares."""
    inverse = np.asarray(np.linalg.inv(noise), float)
    weighted = inverse @ rows.design
    gain = np.asarray(np.linalg.solve(rows.design.T @ weighted, weighted.T), float)
    state = gain @ rows.values
    return _Solution(state, gain, rows.values - rows.design @ state, inverse, weighted)


def _places_only(count: int) -> Array:
    """Indices (2 N,) of x and y among x, y and z of N bases."""
    return np.asarray((3 * np.arange(count)[:, None] + [0, 1]).ravel())


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2)


def _stack_rows(bases: Sequence[PlacedBase], sightings: Sequence[tuple[int, Sighting]]) -> _Rows:
    count, sights = len(bases), len(sightings)
    values = np.zeros(2 * sights + count)
    design = np.zeros((2 * sights + count, 3 * count))
    for m, (k, one) in enumerate(sightings):
        z_mm = bases[k].z_mm
        relief = one.relief_at(z_mm)
        two = slice(2 * m, 2 * m + 2)
        # seen at z, a base at another height lies aside by the relief displacement
        values[two] = one.place_at(z_mm) - relief * z_mm
        design[two, 3 * k : 3 * k + 2] = np.eye(2)
        design[two, 3 * k + 2] = -relief
    for k, base in enumerate(bases):
        values[2 * sights + k] = base.z_mm
        design[2 * sights + k, 3 * k + 2] = 1
    return _Rows(values, design)


def _left_out_chi2(solution: _Solution, design: Array, added: Array) -> Array:
    """(M,): squared distance of each sighting, in σ, from the prediction of all other rows.

    The covariance of its own error is less by `added` (M, 2, 2) than that by which it is weighed.
    """
    count, rows = len(added), slice(2 * len(added))
    shape = count, 2, design.shape[1]
    weighted, gain = solution.weighted[rows].reshape(shape), solution.gain[:, rows].T.reshape(shape)
    left = solution.inverse[diagonal_blocks(count)] - weighted @ gain.swapaxes(1, 2)
    pulled = (solution.inverse[rows] @ solution.residuals).reshape(count, 2, 1)
    spread = np.linalg.inv(left + LEAST_INFORMATION * np.eye(2))
    off = spread @ pulled
    chi2 = off.swapaxes(1, 2) @ np.linalg.solve(spread - added, off)
    return np.asarray(chi2[:, 0, 0])

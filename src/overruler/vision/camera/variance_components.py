"""Variance components: the scales of the three kinds of marker noise, estimated from the residuals.

Three scales multiply the σ of edge points, marker places and marker shapes. Each has a prior about
1, lognormal with a heavy upper tail; the residuals sharpen it. The solution is the mean over the
posterior of the scales. Its covariance includes how much the solution differs between scales; with
a single scale that gives Student's t. The shape error that all markers share goes with the scale of
shapes: where markers differ little from one another, it is small as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

LOG_SCALE_SIGMA = 0.5
"""Prior σ of the logarithm of each scale: four markers alone say next to nothing about some scales.

The prior mean lies below 0 by as much as makes the mean square of the noise over all tables the
expected one."""
TAIL_DEGREES_OF_FREEDOM = 2.0
"""Degrees of freedom of Student's t, the upper tail of that prior: some tables are laid badly."""
GRID_RATIO = 1.35
"""Ratio of neighbouring grid values of a scale."""
SCALE_RANGES = ((0.2, 4.0), (0.2, 100.0), (0.2, 15.0))
"""Ranges of the scales of edges, places and shapes; beyond them edges or markers are none."""
POINTS_SCALE_RANGE = (0.2, 40.0)
"""Range of the scale of edges if there is no other noise, as for clicked points."""
MIN_WEIGHT_SHARE = 0.02
"""Grid values with less weight than this share of the best one's are dropped from the mean."""
SCALE_ITERATIONS = 2
"""Rounds of coordinate-wise updates of the scales."""

EDGE_KIND = 0
"""Index of `NoiseScales.edge`."""
PLACE_KIND = 1
"""Index of `NoiseScales.place`."""
SHAPE_KIND = 2
"""Index of `NoiseScales.shape`."""
OWN_PARAMETER = 3
"""Kind of a column that is no noise but a parameter of one observation."""


class NoiseScales(NamedTuple):
    """Ratio of the actual to the expected σ of each kind of marker noise."""

    edge: float = 1.0
    """Noise of single edge points, independent between markers."""
    place: float = 1.0
    """Deviation of a marker's place from the board file."""
    shape: float = 1.0
    """Deviation of a marker's shape from a square."""


class WhitenedBlocks(NamedTuple):
    """One observation of K measurements, whitened by its edge noise."""

    place: Array
    """(K, P): factor of the place's noise."""
    shape: Array
    """(K, S): factor of the shape's noise."""
    own: Array
    """(K, O): Jacobian by parameters of its own, of which nothing is known beforehand; O may be 0."""
    jacobian: Array
    """(K, U): Jacobian by the parameters that all share."""
    residual: Array
    """(K,): residuals."""


UNIT_SCALES = NoiseScales()
"""Noise exactly as large as expected."""


def scale_grid(kind: int, alone: bool = False) -> Array:
    """Grid values of one scale, 1 among them; `alone` if edge noise is the only noise."""
    low, high = POINTS_SCALE_RANGE if alone and kind == EDGE_KIND else SCALE_RANGES[kind]
    first = np.ceil(np.log(low) / np.log(GRID_RATIO))
    end = np.log(high) / np.log(GRID_RATIO)
    return np.asarray(GRID_RATIO ** np.arange(first, end))


@dataclass(frozen=True, slots=True, eq=False)
class LinearizedProblem:
    """A least-squares problem linearized about a state: G observations, whitened, and a prior.

    U shared parameters; per observation C columns of noise factors and own parameters, which are
    eliminated. Methods evaluate N triples of scales at once.
    """

    products: Array
    """(G, C + U + 1, C + U + 1): Gram matrix of the columns, the Jacobian and the residual."""
    kind_of_column: NDArray[np.intp]
    """(C,): `PLACE_KIND`, `SHAPE_KIND` or `OWN_PARAMETER`."""
    known: Array
    """(G, C): prior information of each column: 1 of a factor, 0 of an own parameter.

    Columns that an observation does not have are 0 and count as known."""
    row_counts: Array
    """(G,): number of measurements of each observation."""
    prior: Array
    """(U, U): prior information matrix."""
    prior_deviation: Array
    """(U,): the state minus the prior mean."""
    shared_shape_sigmas: Array
    """(U,): prior σ, at a scale of 1, of parameters of the shape error that all markers share.

    0 for every other parameter, whose prior is in `prior`."""

    @classmethod
    def from_observations(
        cls,
        observations: Sequence[WhitenedBlocks],
        prior: Array,
        prior_deviation: Array,
        shared_shape_sigmas: Array,
    ) -> "LinearizedProblem":
        """Build the problem from each observation's whitened blocks."""
        widths = [max(block[k].shape[1] for block in observations) for k in range(3)]
        products, known = [], []
        for block in observations:
            padded = [_pad_columns(part, width) for part, width in zip(block, widths, strict=False)]
            rows = np.column_stack([*padded, block.jacobian, block.residual])
            products.append(rows.T @ rows)
            factors, absent = widths[0] + widths[1], widths[2] - block.own.shape[1]
            known.append(np.repeat([1.0, 0.0, 1.0], [factors, block.own.shape[1], absent]))
        return cls(
            np.stack(products),
            np.repeat([PLACE_KIND, SHAPE_KIND, OWN_PARAMETER], widths),
            np.stack(known),
            np.array([len(block.residual) for block in observations], float),
            prior,
            prior_deviation,
            shared_shape_sigmas,
        )

    def normal_equations(self, scales: Array) -> tuple[Array, Array]:
        """The normal equations for scales (N, 3), and the volume of the noise.

        The first value (N, U + 1, U + 1) is the Gram matrix of the Jacobian and the residual,
        whitened by all noise. The second (N,) is the logarithm of the noise's volume, up to what no
        scale changes. By Woodbury's identity: the factors' noise takes out what it explains, and so
        do own parameters, as noise without end.
        """
        columns = len(self.kind_of_column)
        edge_variance = scales[:, EDGE_KIND, None, None, None] ** 2
        root, explained = self._eliminate(scales)
        total = self.products[None, :, columns:, columns:].sum(1) / edge_variance[:, 0]
        # one product of matrices for all observations: 20 times as fast
        stacked = explained.reshape(len(scales), -1, explained.shape[-1])
        total = total - stacked.swapaxes(1, 2) @ stacked
        log_roots = np.log(np.diagonal(root, axis1=-2, axis2=-1))
        volume = log_roots.sum((1, 2)) + self.row_counts.sum() * np.log(scales[:, EDGE_KIND])
        return total, np.asarray(volume)

    def _eliminate(self, scales: Array) -> tuple[Array, Array]:
        """The root (N, G, C, C) of the columns' information, and what they explain of the rest."""
        columns = len(self.kind_of_column)
        edge_variance = scales[:, EDGE_KIND, None, None, None] ** 2
        with_unit = np.column_stack([scales, np.ones(len(scales))])
        size = with_unit[:, self.kind_of_column][:, None, :]  # (N, 1, C)
        factors = self.products[None, :, :columns, :columns] / edge_variance
        scaled = factors * size[..., None] * size[..., None, :]
        root = np.linalg.cholesky(scaled + self.known[:, :, None] * np.eye(columns))
        right = self.products[None, :, :columns, columns:] / edge_variance * size[..., None]
        return np.asarray(root), np.asarray(np.linalg.solve(root, right))

    def own_steps(self, scales: Array, step: Array) -> Array:
        """Steps (N, G, O) of own parameters that belong to steps (N, U) of the shared ones."""
        root, explained = self._eliminate(scales)
        left = explained[..., -1:] + explained[..., :-1] @ step[:, None, :, None]
        solved = -np.linalg.solve(root.swapaxes(-1, -2), left)[..., 0]
        return np.asarray(solved[..., self.kind_of_column == OWN_PARAMETER])

    def prior_information(self, scales: Array) -> tuple[Array, Array]:
        """Prior information (N, U, U) for scales (N, 3); log volume (N,) of the shared shape error."""
        shared = np.nonzero(self.shared_shape_sigmas)[0]
        sigmas = self.shared_shape_sigmas[shared] * scales[:, SHAPE_KIND:]
        prior = np.repeat(self.prior[None], len(scales), 0)
        prior[:, shared, shared] += 1 / sigmas**2
        return prior, np.asarray(len(shared) * np.log(scales[:, SHAPE_KIND]))

    def evaluate_scales(self, scales: Array) -> tuple[Array, Array, Array]:
        """The log posterior (N,) of scales (N, 3), and the solution under each.

        The solution is a step (N, U) from the state, and its covariance (N, U, U). The posterior is
        the restricted likelihood (Patterson and Thompson, 1971) times the scales' prior.
        """
        total, noise_volume = self.normal_equations(scales)
        prior, prior_volume = self.prior_information(scales)
        deviation = self.prior_deviation
        information = total[:, :-1, :-1] + prior
        gradient = total[:, :-1, -1] + prior @ deviation
        unit = 1 / np.sqrt(np.diagonal(information, axis1=1, axis2=2))
        scaled = information * unit[:, :, None] * unit[:, None, :]
        root = np.linalg.cholesky(scaled)
        covariance = np.linalg.inv(scaled) * unit[:, :, None] * unit[:, None, :]
        step = -np.einsum("nij,nj->ni", covariance, gradient)
        gain = np.einsum("ni,ni->n", gradient, step)
        chi_square = total[:, -1, -1] + prior @ deviation @ deviation + gain
        log_roots = np.log(np.diagonal(root, axis1=1, axis2=2))
        volume = log_roots.sum(1) - np.log(unit).sum(1)
        penalty = _prior_penalty(scales).sum(1)
        posterior = -noise_volume - prior_volume - volume - chi_square / 2 - penalty / 2
        return np.asarray(posterior), np.asarray(step), np.asarray(covariance)


def _pad_columns(block: Array, columns: int) -> Array:
    return np.pad(block, ((0, 0), (0, columns - block.shape[1])))


@dataclass(frozen=True, slots=True, eq=False)
class MarginalSolution:
    """The solution averaged over the posterior of the scales."""

    scales: NoiseScales
    """Posterior mean of the scales."""
    step: Array
    """(U,): step of the shared parameters from the state of the linearization."""
    own_steps: Array
    """(G, O): steps of each observation's own parameters."""
    covariance: Array
    """(U, U): covariance of the shared parameters."""


def estimate_scales(linear: LinearizedProblem) -> NoiseScales:
    """Estimate the three scales by coordinate-wise updates."""
    scales = UNIT_SCALES
    for _ in range(SCALE_ITERATIONS):
        scales, _ = _update_each_scale(linear, scales)
    return scales


def marginalize_scales(
    linear: LinearizedProblem, near: NoiseScales = UNIT_SCALES
) -> MarginalSolution:
    """Average the solution over the posterior of all three scales, on a grid about `near`."""
    scales, _ = _update_each_scale(linear, near)
    _, likely_values = _update_each_scale(linear, scales)
    grid = np.stack(np.meshgrid(*likely_values, indexing="ij"), -1).reshape(-1, 3)
    log_posterior, step, covariance = linear.evaluate_scales(grid)
    weight = _normalize_weights(log_posterior)
    mean = weight @ step
    deviation = step - mean
    spread = np.einsum("n,ni,nj->ij", weight, deviation, deviation)
    total = np.einsum("n,nij->ij", weight, covariance) + spread
    edge, place, shape = weight @ grid
    return MarginalSolution(
        NoiseScales(float(edge), float(place), float(shape)),
        np.asarray(mean),
        np.einsum("n,ngo->go", weight, linear.own_steps(grid, step)),
        np.asarray((total + total.T) / 2),
    )


def _prior_penalty(scales: Array) -> Array:
    """-2 times the log prior of each scale, up to a constant."""
    deviation = np.log(scales) / LOG_SCALE_SIGMA + LOG_SCALE_SIGMA
    tail = np.log1p(deviation**2 / TAIL_DEGREES_OF_FREEDOM)
    return np.where(deviation > 0, (TAIL_DEGREES_OF_FREEDOM + 1) * tail, deviation**2)


def _update_each_scale(
    linear: LinearizedProblem, scales: NoiseScales
) -> tuple[NoiseScales, list[Array]]:
    """Update each scale once with the others fixed; also return the likely grid values of each."""
    updated, likely_values = list(scales), []
    for kind in range(3):
        values = scale_grid(kind, alone=bool(np.all(linear.kind_of_column == OWN_PARAMETER)))
        trials = np.tile(updated, (len(values), 1))
        trials[:, kind] = values
        weight = _normalize_weights(linear.evaluate_scales(trials)[0])
        updated[kind] = float(np.exp(weight @ np.log(values)))
        likely_values.append(values[weight > MIN_WEIGHT_SHARE * weight.max()])
    return NoiseScales(*updated), likely_values


def _normalize_weights(log_posterior: Array) -> Array:
    weight = np.exp(log_posterior - log_posterior.max())
    return np.asarray(weight / weight.sum())

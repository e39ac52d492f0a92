"""How many times worse, or better, than expected the markers are seen, laid and shaped, and what that leaves in doubt.

Three numbers scale the three kinds of noise: each edge's own, a marker's place, a marker's shape. Each is about 1, as
sure as a lognormal says; the residuals make it surer, up or down. The solution is the mean over what they may be, and
its covariance has how much it differs between them: Student's t for whoever has one number to scale. What the shapes of
all markers share goes by the scale of shapes: a picture in which they differ little from one another has little of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array

LOG_SCALE_SIGMA = 0.5
"""1 σ of the logarithm of each scale, before the residuals are seen: four markers alone say next to nothing of some.

Its mean lies so far below 0 that noise is on average, as a mean square over all tables, as large as was said."""
TAIL_DEGREES_OF_FREEDOM = 2.0
"""Upwards that logarithm is as Student's t of so few degrees of freedom has it: some tables are laid badly."""
GRID_RATIO = 1.35
"""The ratio of neighbouring trials."""
SCALE_RANGES = ((0.2, 4.0), (0.2, 100.0), (0.2, 15.0))
"""What the scales of own noise, place and shape may be: worse edges are none, a marker more misshapen is no square."""
POINTS_SCALE_RANGE = (0.2, 40.0)
"""What that of own noise may be where there is no other, as of clicked points."""
MIN_WEIGHT_SHARE = 0.02
"""Trials of less weight than this share of the best one's are left out of the mean."""
SCALE_ITERATIONS = 2
"""How many times the scales are looked for one after the other."""


def scale_grid(which: int, alone: bool = False) -> Array:
    """Values of one scale, so that 1 is among them; `alone` where own noise is all there is."""
    low, high = POINTS_SCALE_RANGE if alone and which == 0 else SCALE_RANGES[which]
    return np.asarray(
        GRID_RATIO
        ** np.arange(np.ceil(np.log(low) / np.log(GRID_RATIO)), np.log(high) / np.log(GRID_RATIO))
    )


@dataclass(frozen=True, slots=True, eq=False)
class LinearizedProblem:
    """One least squares, linear about a state: G groups, whose own noise is whitened away, and a prior."""

    products: Array
    """(G, C + U + 1, C + U + 1): of the columns of shared noise, the Jacobian's and the residual, with one another."""
    scale_of_column: Array
    """(G, C): which scale, 1 or 2, each column of shared noise has."""
    row_counts: Array
    """(G,): how many numbers a group has."""
    prior: Array
    """(U, U): information that was there before."""
    prior_deviation: Array
    """(U,): how far the state lies from what that says."""
    shared_shape_sigmas: Array
    """(U,): 1 σ of what all groups share of their shapes, at a scale of 1; 0 of all others, which `prior` has."""

    @classmethod
    def from_observations(
        cls,
        groups: "Sequence[tuple[Array, Array, Array, Array]]",
        prior: Array,
        away: Array,
        common: Array,
    ) -> "LinearizedProblem":
        """Of each group's place (K, P), shape (K, S), Jacobian (K, U) and residual (K,), whitened by its own noise."""
        most = [max(group[k].shape[1] for group in groups) for k in (0, 1)]
        stacked, unknowns = [], len(away)
        for place, shape, jacobian, residual in groups:
            filled = [
                np.pad(part, ((0, 0), (0, n - part.shape[1])))
                for part, n in zip((place, shape), most, strict=True)
            ]
            rows = np.column_stack([*filled, jacobian, residual])
            stacked.append(rows.T @ rows)
        kind = np.tile(np.repeat([1, 2], most), (len(groups), 1))
        assert stacked[0].shape[0] == sum(most) + unknowns + 1
        edges = np.array([len(group[3]) for group in groups], float)
        return cls(np.stack(stacked), kind, edges, prior, away, common)

    def normal_equations(self, scales: Array) -> tuple[Array, Array]:
        """For scales (N, 3): products (N, U + 1, U + 1) of the Jacobian and the residual, whitened whole, and noise.

        The noise (N,) is the logarithm of its volume, but for what no scale changes.

        By Woodbury's identity: shared noise takes out what it explains.
        """
        columns = self.scale_of_column.shape[1]
        own2 = scales[:, 0, None, None, None] ** 2
        size = scales[:, self.scale_of_column[0]][:, None, :]  # (N, 1, C)
        inner = (
            self.products[None, :, :columns, :columns] / own2 * size[..., None] * size[..., None, :]
        )
        root = np.linalg.cholesky(inner + np.eye(columns))
        right = self.products[None, :, :columns, columns:] / own2 * size[..., None]
        explained = np.linalg.solve(root, right)
        total = self.products[None, :, columns:, columns:].sum(1) / own2[:, 0]
        stacked = explained.reshape(
            len(scales), -1, explained.shape[-1]
        )  # one product of matrices: 20 times as fast
        total = total - stacked.swapaxes(1, 2) @ stacked
        volume = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(
            (1, 2)
        ) + self.row_counts.sum() * np.log(scales[:, 0])
        return total, np.asarray(volume)

    def prior_information(self, scales: Array) -> tuple[Array, Array]:
        """For scales (N, 3): all information there was before (N, U, U), and the logarithm of its volume (N,).

        The volume is that of what goes by the scale of shapes: the rest is the same for all.
        """
        shared = np.nonzero(self.shared_shape_sigmas)[0]
        prior = np.repeat(self.prior[None], len(scales), 0)
        prior[:, shared, shared] += 1 / (self.shared_shape_sigmas[shared] * scales[:, 2:]) ** 2
        return prior, np.asarray(len(shared) * np.log(scales[:, 2]))

    def evaluate_scales(self, scales: Array) -> tuple[Array, Array, Array]:
        """For scales (N, 3): the logarithm of how likely they are (N,), the step (N, U) to their best state, its doubt.

        The doubt (N, U, U) is a covariance.
        By the restricted likelihood (Patterson and Thompson, 1971) and what is known of scales beforehand.
        """
        total, volume = self.normal_equations(scales)
        prior, apart = self.prior_information(scales)
        information = total[:, :-1, :-1] + prior
        gradient = total[:, :-1, -1] + prior @ self.prior_deviation
        unit = 1 / np.sqrt(np.diagonal(information, axis1=1, axis2=2))
        scaled = information * unit[:, :, None] * unit[:, None, :]
        root = np.linalg.cholesky(scaled)
        covariance = np.linalg.inv(scaled) * unit[:, :, None] * unit[:, None, :]
        step = -np.einsum("nij,nj->ni", covariance, gradient)
        misfit = (
            total[:, -1, -1]
            + prior @ self.prior_deviation @ self.prior_deviation
            + np.einsum("ni,ni->n", gradient, step)
        )
        fit = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1) - np.log(unit).sum(1)
        surprise = _prior_penalty(scales).sum(1)
        return (
            np.asarray(-volume - apart - fit - misfit / 2 - surprise / 2),
            np.asarray(step),
            np.asarray(covariance),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MarginalSolution:
    """The mean over all scales."""

    scales: tuple[float, float, float]
    """Their mean: of own noise, place and shape."""
    step: Array
    """(U,): from the state about which the least squares was linear."""
    covariance: Array
    """(U, U)."""


ScaleTriple = tuple[float, float, float]


def estimate_scales(linear: LinearizedProblem) -> ScaleTriple:
    """The three scales by how likely they are, one after the other."""
    scales: ScaleTriple = (1.0, 1.0, 1.0)
    for _ in range(SCALE_ITERATIONS):
        scales, _ = _update_each_scale(linear, scales)
    return scales


def marginalize_scales(
    linear: LinearizedProblem, near: ScaleTriple = (1.0, 1.0, 1.0)
) -> MarginalSolution:
    """Over how likely scales are, all together, where they are likely at all; `near` is about where that is."""
    scales, _ = _update_each_scale(linear, near)
    _, kept = _update_each_scale(linear, scales)
    every = np.stack(np.meshgrid(*kept, indexing="ij"), -1).reshape(-1, 3)
    likely, step, covariance = linear.evaluate_scales(every)
    weight = _normalize_weights(likely)
    mean = weight @ step
    apart = step - mean
    spread = np.einsum("n,ni,nj->ij", weight, apart, apart)
    total = np.einsum("n,nij->ij", weight, covariance) + spread
    own, place, shape = weight @ every
    return MarginalSolution(
        (float(own), float(place), float(shape)),
        np.asarray(mean),
        np.asarray((total + total.T) / 2),
    )


def _prior_penalty(scales: Array) -> Array:
    """Of each scale, -2 times the logarithm of how likely it is beforehand."""
    away = np.log(scales) / LOG_SCALE_SIGMA + LOG_SCALE_SIGMA
    return np.where(
        away > 0,
        (TAIL_DEGREES_OF_FREEDOM + 1) * np.log1p(away**2 / TAIL_DEGREES_OF_FREEDOM),
        away**2,
    )


def _update_each_scale(
    linear: LinearizedProblem, scales: ScaleTriple
) -> tuple[ScaleTriple, list[Array]]:
    """Each scale once by how likely it is with the others as they are, and which values of each are."""
    found, kept = list(scales), []
    for which in range(3):
        values = scale_grid(which, alone=linear.scale_of_column.size == 0)
        tried = np.tile(found, (len(values), 1))
        tried[:, which] = values
        weight = _normalize_weights(linear.evaluate_scales(tried)[0])
        found[which] = float(np.exp(weight @ np.log(values)))
        kept.append(values[weight > MIN_WEIGHT_SHARE * weight.max()])
    own, place, shape = found
    return (own, place, shape), kept


def _normalize_weights(likely: Array) -> Array:
    weight = np.exp(likely - likely.max())
    return np.asarray(weight / weight.sum())

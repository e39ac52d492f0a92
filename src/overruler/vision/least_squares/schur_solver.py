"""Least squares over several photos with shared and own parameters, by the Schur complement."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from overruler.geometry.pose import Array

MAX_ITERATIONS = 60
"""Largest number of Levenberg-Marquardt steps tried."""
CONVERGENCE_SHARE = 1e-7
"""Relative decrease of the cost below which the solver stops."""
MIN_INFORMATION_SHARE = 1e-3
"""Share of all information in a direction that a photo must hold to count in `disagreement`."""
MIN_DEGREES_OF_FREEDOM = 4.0
"""With fewer degrees of freedom the scatter between photos is not estimated."""


class ParameterBlock(Protocol):
    """Parameters to which a step can be added."""

    def moved(self, step: Array) -> Self: ...


S = TypeVar("S", bound=ParameterBlock)
O = TypeVar("O", bound=ParameterBlock)  # noqa: E741 - shared and own


@dataclass(frozen=True, slots=True, eq=False)
class ResidualBlock:
    """Whitened residuals of one photo, with Jacobians by S shared and O own parameters."""

    residual: Array
    """(N,): residuals in units of their σ."""
    shared_jacobian: Array
    """(N, S): Jacobian by the shared parameters."""
    own_jacobian: Array
    """(N, O): Jacobian by the photo's own parameters."""


class Prior(NamedTuple):
    """The prior of the shared parameters as whitened residuals."""

    residual: Array
    """(P,): deviations from the prior mean in units of their σ."""
    jacobian: Array
    """(P, S): Jacobian by the shared parameters."""

    @property
    def chi_square(self) -> float:
        return float(self.residual @ self.residual)


ResidualFunction = Callable[[int, S, O], "ResidualBlock | None"]
"""Residuals of photo k at some parameters; None if those are impossible."""
PriorFunction = Callable[[S], "tuple[Array, Array]"]
"""Residual and Jacobian of the prior at some shared parameters, as in `Prior`."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoNormalEquations:
    """One photo's part of the normal equations."""

    chi_square: float
    """Sum of its squared residuals."""
    residual_count: int
    """Number of its residuals."""
    shared_information: Array
    """(S, S): information block of the shared parameters."""
    cross_information: Array
    """(S, O): information block between shared and own parameters."""
    own_information: Array
    """(O, O): information block of its own parameters."""
    shared_gradient: Array
    """(S,): gradient by the shared parameters."""
    own_gradient: Array
    """(O,): gradient by its own parameters."""

    @classmethod
    def from_residuals(cls, block: ResidualBlock) -> "PhotoNormalEquations":
        """Build the normal equations of a block of residuals."""
        r, s, o = block.residual, block.shared_jacobian, block.own_jacobian
        return cls(
            chi_square=float(r @ r),
            residual_count=len(r),
            shared_information=s.T @ s,
            cross_information=s.T @ o,
            own_information=o.T @ o,
            shared_gradient=s.T @ r,
            own_gradient=o.T @ r,
        )

    def schur_complement(self, damping: float = 0.0) -> tuple[Array, Array]:
        """Information (S, S) and gradient (S,) of the shared parameters, its own ones eliminated."""
        damped = _add_damping(self.own_information, damping)
        right = np.column_stack([self.cross_information.T, self.own_gradient])
        gain = np.linalg.solve(damped, right)
        information = self.shared_information - self.cross_information @ gain[:, :-1]
        gradient = self.shared_gradient - self.cross_information @ gain[:, -1]
        return information, gradient

    def back_substitute(self, shared_step: Array, damping: float) -> Array:
        """The step (O,) of its own parameters that belongs to a step (S,) of the shared ones."""
        gradient = self.own_gradient + self.cross_information.T @ shared_step
        damped = _add_damping(self.own_information, damping)
        return np.asarray(-np.linalg.solve(damped, gradient))


@dataclass(frozen=True, slots=True, eq=False)
class JointSolution(Generic[S, O]):
    """The solution over all photos, with the normal equations about it."""

    shared: S
    """The shared parameters."""
    own: tuple[O, ...]
    """Each photo's own parameters."""
    photo_equations: tuple[PhotoNormalEquations, ...]
    """Each photo's normal equations about the solution."""
    prior: Array
    """(S, S): prior information matrix."""
    prior_cost: float
    """Chi square of the shared parameters under the prior."""

    @property
    def information(self) -> Array:
        """(S, S): posterior information of the shared parameters, for noise as large as expected."""
        return np.asarray(
            self.prior + sum(part.schur_complement()[0] for part in self.photo_equations)
        )

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the restricted likelihood, up to a constant (Patterson and Thompson, 1971)."""
        cost = sum(part.chi_square for part in self.photo_equations) + self.prior_cost
        own = [part.own_information for part in self.photo_equations]
        volumes = [np.linalg.slogdet(matrix)[1] for matrix in (self.information, *own)]
        return -(cost + float(np.sum(volumes))) / 2

    @property
    def variance_factor(self) -> float:
        """Variance of unit weight: chi square per degree of freedom, 1 as expected."""
        information = self.information
        data = information - self.prior
        shared_used = float(np.trace(invert_information(information) @ data))
        own_used = sum(len(part.own_information) for part in self.photo_equations)
        count = sum(part.residual_count for part in self.photo_equations)
        chi_square = sum(part.chi_square for part in self.photo_equations)
        return chi_square / max(count - own_used - shared_used, 1.0)

    @property
    def disagreement(self) -> float:
        """Scatter between photos against the noise within photos; 1 as expected.

        Each photo alone pulls at the shared parameters with its gradient. Noise within photos
        explains a pull of the size of the photo's own information. A bent sheet, or a lens that the
        model does not fit, pulls harder.
        """
        covariance = invert_information(self.information)
        scale = np.sqrt(np.diag(covariance))
        pulls, degrees_of_freedom = 0.0, 0.0
        for part in self.photo_equations:
            information, gradient = part.schur_complement()
            values, vectors = np.linalg.eigh(_scale_rows_columns(information, scale))
            kept = values > MIN_INFORMATION_SHARE
            values, vectors = values[kept], vectors[:, kept]
            pulls += float(np.sum((vectors.T @ (gradient * scale)) ** 2 / values))
            scaled = _scale_rows_columns(covariance, 1 / scale)
            variance = np.einsum("ik,ij,jk->k", vectors, scaled, vectors)
            degrees_of_freedom += float(np.sum(1 - values * variance))
        if degrees_of_freedom < MIN_DEGREES_OF_FREEDOM:
            return 1.0
        return pulls / degrees_of_freedom / self.variance_factor

    def covariance(self) -> Array:
        """(S, S): covariance of the shared parameters, scaled by residuals and disagreement."""
        factor = self.variance_factor * max(self.disagreement, 1.0)
        return invert_information(self.prior + (self.information - self.prior) / factor)


def solve_photos_jointly(
    shared: S,
    own: Sequence[O],
    residuals: "ResidualFunction[S, O]",
    prior_residuals: "PriorFunction[S]",
) -> "JointSolution[S, O]":
    """Minimize the cost of all photos by the Levenberg-Marquardt method.

    Each photo's own parameters are eliminated by the Schur complement (Triggs 2000, 6.1).
    `numpy.linalg.LinAlgError` if the start is impossible.
    """
    owns, damping = tuple(own), 1e-3
    start = _build_normal_equations(shared, owns, residuals)
    if start is None:
        raise np.linalg.LinAlgError("the start is impossible")
    parts, prior = start, Prior(*prior_residuals(shared))
    for _ in range(MAX_ITERATIONS):
        step, own_steps = _levenberg_step(parts, prior, damping)
        trial = shared.moved(step)
        trial_owns = tuple(o.moved(s) for o, s in zip(owns, own_steps, strict=True))
        trial_parts = _build_normal_equations(trial, trial_owns, residuals)
        trial_prior = Prior(*prior_residuals(trial))
        cost = _total_chi_square(parts, prior)
        decrease = -np.inf
        if trial_parts is not None:
            decrease = cost - _total_chi_square(trial_parts, trial_prior)
        if trial_parts is None or not decrease >= 0:
            damping *= 10
            if damping > 1e8:
                break
            continue
        small = decrease < CONVERGENCE_SHARE * (1 + cost)
        converged = small and damping < 1e-2
        shared, owns, parts, prior = trial, trial_owns, trial_parts, trial_prior
        damping = max(damping / 10, 1e-10)
        if converged:
            break
    information = prior.jacobian.T @ prior.jacobian
    return JointSolution(shared, owns, tuple(parts), information, prior.chi_square)


def _build_normal_equations(
    shared: S, owns: Sequence[O], residuals: "ResidualFunction[S, O]"
) -> list[PhotoNormalEquations] | None:
    """Each photo's normal equations; None if the parameters are impossible for one of them."""
    parts = []
    for k, own in enumerate(owns):
        block = residuals(k, shared, own)
        if block is None or not np.isfinite(block.residual).all():
            return None
        parts.append(PhotoNormalEquations.from_residuals(block))
    return parts


def _total_chi_square(parts: Sequence[PhotoNormalEquations], prior: Prior) -> float:
    return sum(part.chi_square for part in parts) + prior.chi_square


def _levenberg_step(
    parts: Sequence[PhotoNormalEquations], prior: Prior, damping: float
) -> tuple[Array, list[Array]]:
    """The damped steps of the shared parameters and of each photo's own ones."""
    information = prior.jacobian.T @ prior.jacobian
    gradient = prior.jacobian.T @ prior.residual
    for part in parts:
        reduced_information, reduced_gradient = part.schur_complement(damping)
        information = information + reduced_information
        gradient = gradient + reduced_gradient
    scale = 1 / np.sqrt(np.diag(information))
    system = _add_damping(_scale_rows_columns(information, scale), damping)
    step = -np.linalg.solve(system, gradient * scale) * scale
    return step, [part.back_substitute(step, damping) for part in parts]


def _add_damping(information: Array, damping: float) -> Array:
    return np.asarray(information + damping * np.diag(np.diag(information)))


def _scale_rows_columns(matrix: Array, scale: Array) -> Array:
    return np.asarray(matrix * np.outer(scale, scale))


def whitening_matrix(covariance: Array) -> Array:
    """The matrix that turns noise of a covariance, or of a stack of them, into unit white noise."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))


def invert_information(information: Array) -> Array:
    """Invert a positive definite matrix whose parameters have very different scales."""
    scale = 1 / np.sqrt(np.diag(information))
    scaled = _scale_rows_columns(information, scale)
    return _scale_rows_columns(np.asarray(np.linalg.inv(scaled), float), scale)

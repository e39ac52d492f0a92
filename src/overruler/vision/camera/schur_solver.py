"""Least squares over several photos: what they share, and what is each photo's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from overruler.geometry.pose import Array

MAX_ITERATIONS = 60
CONVERGENCE_SHARE = 1e-7
"""The share of the cost below which a step's gain ends the search."""

MIN_INFORMATION_SHARE = 1e-3
"""The share of all information that a photo must hold in a direction to be asked for its opinion."""
MIN_DEGREES_OF_FREEDOM = 4.0
"""Fewer opinions than this say nothing about how much they scatter."""


class ParameterBlock(Protocol):
    """Unknowns that a step can be added to."""

    def moved(self, step: Array) -> Self: ...


S = TypeVar("S", bound=ParameterBlock)
O = TypeVar("O", bound=ParameterBlock)  # noqa: E741 - shared and own


@dataclass(frozen=True, slots=True, eq=False)
class ResidualBlock:
    """Residuals in units of their doubt, and their slopes."""

    residual: Array
    """(N,)."""
    shared_jacobian: Array
    """(N, S)."""
    own_jacobian: Array
    """(N, O)."""


ResidualFunction = Callable[[int, S, O], "ResidualBlock | None"]
"""The rows of photo k about some unknowns; None where they are impossible."""
PriorFunction = Callable[[S], "tuple[Array, Array]"]
"""What is known of the shared unknowns beforehand: residuals (P,) in units of their doubt, and slopes (P, S)."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoNormalEquations:
    """One photo's share of the normal equations."""

    chi_square: float
    """Chi square."""
    residual_count: int
    shared_information: Array
    """(S, S)."""
    cross_information: Array
    """(S, O)."""
    own_information: Array
    """(O, O)."""
    shared_gradient: Array
    own_gradient: Array

    @classmethod
    def from_residuals(cls, rows: ResidualBlock) -> "PhotoNormalEquations":
        r, s, o = rows.residual, rows.shared_jacobian, rows.own_jacobian
        return cls(float(r @ r), len(r), s.T @ s, s.T @ o, o.T @ o, s.T @ r, o.T @ r)

    def schur_complement(self, damping: float = 0.0) -> tuple[Array, Array]:
        """Information (S, S) and gradient (S,) of the shared unknowns, the photo's own ones left to find their best."""
        gain = np.linalg.solve(
            _add_damping(self.own_information, damping),
            np.column_stack([self.cross_information.T, self.own_gradient]),
        )
        return self.shared_information - self.cross_information @ gain[
            :, :-1
        ], self.shared_gradient - self.cross_information @ gain[:, -1]

    def back_substitute(self, shared_step: Array, damping: float) -> Array:
        """The step of its own unknowns that goes with one of the shared."""
        slope = self.own_gradient + self.cross_information.T @ shared_step
        return np.asarray(-np.linalg.solve(_add_damping(self.own_information, damping), slope))


@dataclass(frozen=True, slots=True, eq=False)
class JointSolution(Generic[S, O]):
    """The best unknowns, and what they rest on."""

    shared: S
    own: tuple[O, ...]
    photo_equations: tuple[PhotoNormalEquations, ...]
    """Each photo's share, about the solution."""
    prior: Array
    """(S, S): information that was there before the photos."""
    prior_cost: float
    """Chi square of the shared unknowns against that."""

    @property
    def information(self) -> Array:
        """(S, S) of the shared unknowns, with the prior, for residuals as doubtful as was said."""
        return np.asarray(
            self.prior + sum(part.schur_complement()[0] for part in self.photo_equations)
        )

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the restricted likelihood, but for what depends on no unknown (Patterson and Thompson, 1971)."""
        cost = sum(part.chi_square for part in self.photo_equations) + self.prior_cost
        volumes = [
            np.linalg.slogdet(matrix)[1]
            for matrix in (
                self.information,
                *(part.own_information for part in self.photo_equations),
            )
        ]
        return -(cost + float(np.sum(volumes))) / 2

    @property
    def variance_factor(self) -> float:
        """Chi square by its degrees of freedom: 1 where residuals are as large as was said."""
        information = self.information
        used = float(np.trace(invert_information(information) @ (information - self.prior)))
        own = sum(len(part.own_information) for part in self.photo_equations)
        count = sum(part.residual_count for part in self.photo_equations)
        return sum(part.chi_square for part in self.photo_equations) / max(count - own - used, 1.0)

    @property
    def disagreement(self) -> float:
        """How much more the photos' own answers scatter about the common one than residuals explain: 1 as expected.

        Each photo alone pulls at the shared unknowns with its gradient; noise within photos lets it pull by its own
        information. A bent sheet, or a lens that the model does not fit, pulls harder.
        """
        total, pulls, freedom = invert_information(self.information), 0.0, 0.0
        scale = np.sqrt(np.diag(total))
        for part in self.photo_equations:
            information, gradient = part.schur_complement()
            values, vectors = np.linalg.eigh(_scale_rows_columns(information, scale))
            values, vectors = (
                values[values > MIN_INFORMATION_SHARE],
                vectors[:, values > MIN_INFORMATION_SHARE],
            )
            pulls += float(np.sum((vectors.T @ (gradient * scale)) ** 2 / values))
            along = np.einsum(
                "ik,ij,jk->k", vectors, _scale_rows_columns(total, 1 / scale), vectors
            )
            freedom += float(np.sum(1 - values * along))
        return pulls / freedom / self.variance_factor if freedom >= MIN_DEGREES_OF_FREEDOM else 1.0

    def covariance(self) -> Array:
        """(S, S) of the shared unknowns, scaled by what the residuals say and by how the photos agree."""
        worse = self.variance_factor * max(self.disagreement, 1.0)
        return invert_information(self.prior + (self.information - self.prior) / worse)


def solve_photos_jointly(
    shared: S, own: Sequence[O], look: "ResidualFunction[S, O]", known: "PriorFunction[S]"
) -> "JointSolution[S, O]":
    """Levenberg and Marquardt's method, each photo's own unknowns eliminated (Schur's complement; Triggs 2000, 6.1).

    `numpy.linalg.LinAlgError` where the start is impossible.
    """
    owns, damping = tuple(own), 1e-3
    found = _build_normal_equations(shared, owns, look)
    if found is None:
        raise np.linalg.LinAlgError("the start is impossible")
    parts, before = found, known(shared)
    for _ in range(MAX_ITERATIONS):
        step, steps = _levenberg_step(parts, before, damping)
        trial = shared.moved(step), tuple(o.moved(s) for o, s in zip(owns, steps, strict=True))
        tried = _build_normal_equations(*trial, look)
        gain = (
            _total_chi_square(parts, before) - _total_chi_square(tried, known(trial[0]))
            if tried is not None
            else -np.inf
        )
        if tried is None or not gain >= 0:
            damping *= 10
            if damping > 1e8:
                break
            continue
        settled = (
            gain < CONVERGENCE_SHARE * (1 + _total_chi_square(parts, before)) and damping < 1e-2
        )
        (shared, owns), parts, before = trial, tried, known(trial[0])
        damping = max(damping / 10, 1e-10)
        if settled:
            break
    return JointSolution(
        shared, owns, tuple(parts), before[1].T @ before[1], float(before[0] @ before[0])
    )


def _build_normal_equations(
    shared: S, owns: Sequence[O], look: "ResidualFunction[S, O]"
) -> list[PhotoNormalEquations] | None:
    parts = []
    for k, own in enumerate(owns):
        rows = look(k, shared, own)
        if rows is None or not np.isfinite(rows.residual).all():
            return None
        parts.append(PhotoNormalEquations.from_residuals(rows))
    return parts


def _total_chi_square(parts: Sequence[PhotoNormalEquations], before: tuple[Array, Array]) -> float:
    return sum(part.chi_square for part in parts) + float(before[0] @ before[0])


def _levenberg_step(
    parts: Sequence[PhotoNormalEquations], before: tuple[Array, Array], damping: float
) -> tuple[Array, list[Array]]:
    residual, slope = before
    information, gradient = slope.T @ slope, slope.T @ residual
    for part in parts:
        reduced = part.schur_complement(damping)
        information, gradient = information + reduced[0], gradient + reduced[1]
    scale = 1 / np.sqrt(np.diag(information))
    step = (
        -np.linalg.solve(
            _add_damping(_scale_rows_columns(information, scale), damping), gradient * scale
        )
        * scale
    )
    return step, [part.back_substitute(step, damping) for part in parts]


def _add_damping(information: Array, damping: float) -> Array:
    return np.asarray(information + damping * np.diag(np.diag(information)))


def _scale_rows_columns(matrix: Array, scale: Array) -> Array:
    return np.asarray(matrix * np.outer(scale, scale))


def invert_information(information: Array) -> Array:
    """Of a positive definite matrix whose unknowns have very different scales."""
    scale = 1 / np.sqrt(np.diag(information))
    return _scale_rows_columns(
        np.asarray(np.linalg.inv(_scale_rows_columns(information, scale)), float), scale
    )

"""Bundle adjustment of one photo: the state of least squared reprojection error, with its covariance.

The parameters are the camera, the shift of edges, the growth of markers, the table's bow and the
places of free markers (`state.State`).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from overruler.calibration import CAMERA_SIZE, SPEC_SHARE
from overruler.geometry.pose import Array
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.schur_solver import invert_information, whitening_matrix
from overruler.vision.camera.state import (
    BOW_START,
    CAMERA_AND_BOW,
    EDGE_SHIFT_INDEX,
    MARKER_GROWTH_INDEX,
    PLACES_START,
    Solution,
    State,
)
from overruler.vision.camera.variance_components import (
    UNIT_SCALES,
    LinearizedProblem,
    NoiseScales,
    WhitenedBlocks,
    estimate_scales,
    marginalize_scales,
)

EDGE_SHIFT_SIGMA_PX = 0.5
"""Prior σ of the shift of edges towards their dark side."""
MARKER_GROWTH_SIGMA_PX = 0.025
"""Prior σ of the growth of markers, at a scale of shapes of 1."""
BOW_SIGMA_SHARE = 5e-4
"""Prior σ of each of the bow's heights, as a share of the table's width or height."""


class NormalEquations(NamedTuple):
    """The normal equations about a state, over U parameters."""

    cost: float
    """Chi square of the residuals and the prior; infinite for an impossible state."""
    information: Array
    """(U, U): information matrix."""
    gradient: Array
    """(U,): half the gradient of the cost."""


class BundleAdjustment:
    """The least-squares problem of some observations and a prior, under fixed noise scales."""

    __slots__ = ("_group", "_growth", "_normal", "_prior_root", "_shift", "_slices",
                 "_whiteners", "_xy", "_xyz", "groups", "prior", "scales")  # fmt: skip

    def __init__(
        self, groups: Sequence[Observation], prior: LensPrior, scales: NoiseScales = UNIT_SCALES
    ) -> None:
        self.groups, self.prior, self.scales = tuple(groups), prior, scales
        counts = [len(group.xy_px) for group in groups]
        ends = np.cumsum([0, *counts])
        self._slices = [slice(*pair) for pair in pairwise(ends)]
        self._group = np.repeat(np.arange(len(groups)), np.diff(ends))
        self._xyz = np.concatenate([group.xyz_mm for group in groups])
        self._xy = np.concatenate([group.xy_px for group in groups])
        self._normal = np.concatenate([group.normal_px for group in groups])
        self._shift = np.concatenate(
            [
                np.full(count, float(group.is_marker))
                for group, count in zip(groups, counts, strict=True)
            ]
        )
        self._growth = np.concatenate([group.growth_jacobian for group in groups])
        self._prior_root = whitening_matrix(prior.covariance)
        self._whiteners = [whitening_matrix(group.covariance(scales)) for group in groups]

    def solve(self, state: State, rounds: int = 40) -> Solution:
        """Minimize the cost from `state` by the Levenberg-Marquardt method."""
        damping, equations = 1e-3, self._normal_equations(state)
        for _ in range(rounds):
            trial = state.moved(_marquardt_step(equations, damping))
            trial_equations = self._normal_equations(trial)
            if not trial_equations.cost <= equations.cost:
                damping *= 10
                if damping > 1e9:
                    break
                continue
            decrease = equations.cost - trial_equations.cost
            small = decrease < 1e-6 * (1 + equations.cost)
            converged = small and damping < 1e-3
            state, equations = trial, trial_equations
            damping = max(damping / 10, 1e-12)
            if converged:
                break
        return self._build_solution(state, equations)

    def state_without(self, state: State, group: int) -> State:
        """The state without one observation: a single Newton step from the solution of all."""
        equations = self._normal_equations(state)
        residual, jacobian = self.residuals_and_jacobian(state)
        part, whitener = self._slices[group], self._whiteners[group]
        rows = whitener @ jacobian[part]
        misfit = whitener @ residual[part]
        information = equations.information - rows.T @ rows
        gradient = equations.gradient - rows.T @ misfit
        scale = np.sqrt(np.diag(equations.information))
        return state.moved(_damped_step(information, gradient, 1e-9, scale))

    def covariance(self, state: State) -> Array:
        """(17, 17): covariance of camera and bow about `state`, for noise exactly as scaled.

        It is the Cramér-Rao bound: no method is more precise.
        """
        return _camera_and_bow(invert_information(self._normal_equations(state).information))

    def covariance_as_specified(self, state: State) -> Array:
        """(17, 17): covariance of the solution if the table is as its board file specifies.

        The weights are those of tables as people have them. Under other noise than the weights
        assume, the covariance is that of the sandwich estimator (White, 1982).
        """
        _, jacobian = self.residuals_and_jacobian(state)
        information = self.prior_information(state)
        noise = information.copy()
        noise[BOW_START:PLACES_START, BOW_START:PLACES_START] *= SPEC_SHARE**2
        for whitener, part, group in zip(self._whiteners, self._slices, self.groups, strict=True):
            weighted = jacobian[part].T @ whitener.T @ whitener
            information = information + weighted @ jacobian[part]
            noise += weighted @ group.covariance_as_specified(self.scales) @ weighted.T
        inverse = invert_information(information)
        return _camera_and_bow(inverse @ noise @ inverse.T)

    def solve_averaging_scales(self, state: State) -> tuple["BundleAdjustment", Solution]:
        """Average the solution near `state` over the posterior of the noise scales.

        The first value is the least-squares problem under the posterior mean of the scales.
        """
        scales = estimate_scales(self._linearize(state))
        solution = BundleAdjustment(self.groups, self.prior, scales).solve(state)
        marginal = marginalize_scales(self._linearize(solution.state), scales)
        averaged = replace(
            solution,
            state=solution.state.moved(marginal.step),
            camera_bow_covariance=_camera_and_bow(marginal.covariance),
        )
        return BundleAdjustment(self.groups, self.prior, marginal.scales), averaged

    def _linearize(self, state: State) -> LinearizedProblem:
        """The problem about `state`, with the noise scales left open."""
        residual, jacobian = self.residuals_and_jacobian(state)
        observations: list[WhitenedBlocks] = []
        for group, part in zip(self.groups, self._slices, strict=True):
            whitener = whitening_matrix(group.edge_covariance_px2)
            place = whitener @ group.place_factors_px
            shape = whitener @ group.shape_factors_px
            observations.append(
                (place, shape, whitener @ jacobian[part], whitener @ residual[part])
            )
        prior = self.prior_information(state)
        prior[MARKER_GROWTH_INDEX, MARKER_GROWTH_INDEX] = 0.0
        shared_shape_sigmas = np.zeros(state.unknown_count)
        shared_shape_sigmas[MARKER_GROWTH_INDEX] = MARKER_GROWTH_SIGMA_PX
        return LinearizedProblem.from_observations(
            observations, prior, self.prior_deviation(state), shared_shape_sigmas
        )

    def prior_information(self, state: State) -> Array:
        """(U, U): information matrix of the prior."""
        information = np.zeros((state.unknown_count, state.unknown_count))
        information[:9, :9] = self._prior_root.T @ self._prior_root
        edges_px = np.array([EDGE_SHIFT_SIGMA_PX, MARKER_GROWTH_SIGMA_PX * self.scales.shape])
        edges = slice(EDGE_SHIFT_INDEX, BOW_START)
        information[edges, edges] = np.diag(1 / edges_px**2)
        bow_mm = np.ones(2)
        if state.bow is not None:
            bow_mm = BOW_SIGMA_SHARE * 2 * state.bow.half_mm
        bow = slice(BOW_START, PLACES_START)
        information[bow, bow] = np.diag(1 / bow_mm**2)
        return information

    def prior_deviation(self, state: State) -> Array:
        """(U,): the state minus the prior mean."""
        deviation = np.zeros(state.unknown_count)
        deviation[:9] = state.lens - self.prior.mean
        deviation[EDGE_SHIFT_INDEX] = state.edge_shift_px
        deviation[MARKER_GROWTH_INDEX] = state.marker_growth_px
        if state.bow is not None:
            deviation[BOW_START:PLACES_START] = state.bow.height_mm
        return deviation

    def residuals_and_jacobian(self, state: State) -> tuple[Array, Array]:
        """Reprojection residuals (N,) along the normals in px, and their Jacobian (N, U)."""
        points, by_place = state.points_on_board(self._group, self._xyz)
        projected, by_point, by_camera = state.camera.project_with_jacobians(points)
        residual = ((self._xy - projected) * self._normal).sum(1)
        residual += self._shift * state.edge_shift_px - self._growth * state.marker_growth_px
        jacobian = np.zeros((len(points), state.unknown_count))
        jacobian[:, :CAMERA_SIZE] = -(self._normal[:, :, None] * by_camera).sum(1)
        jacobian[:, EDGE_SHIFT_INDEX] = self._shift
        jacobian[:, MARKER_GROWTH_INDEX] = -self._growth
        if state.bow is not None:
            by_height = -(self._normal * by_point[..., 2]).sum(1)
            weights = state.bow_shares(self._group, points)
            jacobian[:, BOW_START:PLACES_START] = by_height[:, None] * weights
        if by_place is not None:
            along_normal = -(self._normal[:, :, None] * (by_point @ by_place)).sum(1)
            for i, part in enumerate(self._slices[1:]):
                start = PLACES_START + 3 * i
                jacobian[part, start : start + 3] = along_normal[part]
        return residual, jacobian

    def _normal_equations(self, state: State) -> NormalEquations:
        """The normal equations; the cost is infinite if a point lies behind the camera."""
        if not self._is_possible(state):
            count = state.unknown_count
            return NormalEquations(np.inf, np.eye(count), np.zeros(count))
        data = self._accumulate_data(*self.residuals_and_jacobian(state))
        prior, deviation = self.prior_information(state), self.prior_deviation(state)
        return NormalEquations(
            data.cost + float(deviation @ prior @ deviation),
            data.information + prior,
            data.gradient + prior @ deviation,
        )

    def _is_possible(self, state: State) -> bool:
        points, _ = state.points_on_board(self._group, self._xyz)
        depth = state.camera.T_camera_board.apply(points)[:, 2]
        focal = min(state.camera.matrix[0, 0], state.camera.matrix[1, 1])
        return bool(not depth.min() <= 0 and not focal <= 0)

    def _accumulate_data(self, residual: Array, jacobian: Array) -> NormalEquations:
        """Sum the observations one by one: small products start no threads."""
        unknowns = jacobian.shape[1]
        chi_square = 0.0
        information = np.zeros((unknowns, unknowns))
        gradient = np.zeros(unknowns)
        for whitener, part in zip(self._whiteners, self._slices, strict=True):
            r, j = whitener @ residual[part], whitener @ jacobian[part]
            chi_square += float(r @ r)
            information += j.T @ j
            gradient += j.T @ r
        return NormalEquations(chi_square, information, gradient)

    def _build_solution(self, state: State, equations: NormalEquations) -> Solution:
        residual, _ = self.residuals_and_jacobian(state)
        whitened = [
            whitener @ residual[part]
            for whitener, part in zip(self._whiteners, self._slices, strict=True)
        ]
        prior, information = self.prior_information(state), equations.information
        data = information - prior
        parameters_used = float(np.trace(invert_information(information) @ data))
        chi_square = sum(float(r @ r) for r in whitened)
        sigma = float(np.sqrt(chi_square / max(len(residual) - parameters_used, 1.0)))
        covariance = invert_information(prior + data / max(sigma, 1.0) ** 2)
        log_volume = np.linalg.slogdet(information)[1]
        log_prior = np.log(np.diag(self._prior_root)).sum()
        pull = self._prior_root @ (state.lens - self.prior.mean)
        return Solution(
            state=state,
            camera_bow_covariance=_camera_and_bow(covariance),
            rms_px=float(np.sqrt(np.mean(residual**2))),
            log_evidence=-0.5 * (equations.cost + log_volume) + log_prior,
            unit_weight_sigma=sigma,
            mean_square_residuals=tuple(float(np.mean(r**2)) for r in whitened),
            lens_pull_sigmas=float(np.linalg.norm(pull) / 3),
        )


def _camera_and_bow(covariance: Array) -> Array:
    """The block (17, 17) of the camera and the bow of a covariance of all parameters."""
    return np.asarray(covariance[np.ix_(CAMERA_AND_BOW, CAMERA_AND_BOW)])


def _marquardt_step(equations: NormalEquations, damping: float) -> Array:
    """Marquardt's step: the damping is a share of each parameter's own information."""
    scale = np.sqrt(np.diag(equations.information))
    return _damped_step(equations.information, equations.gradient, damping, scale)


def _damped_step(information: Array, gradient: Array, damping: float, scale: Array) -> Array:
    """The damped Newton step, with each parameter in units of 1 / `scale`."""
    system = information / np.outer(scale, scale) + damping * np.eye(len(scale))
    return np.asarray(-np.linalg.solve(system, gradient / scale) / scale)

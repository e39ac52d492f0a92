"""Bundle adjustment of one photo: the state of least squared reprojection error, with its covariance.

The parameters are the camera, the shift of edges, the growth of markers, the table's bow and the
places of free markers (`state.State`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from overruler.calibration import CAMERA_SIZE, SPEC_SHARE
from overruler.geometry.pose import Array
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.state import (
    BOW_START,
    EDGE_SHIFT_INDEX,
    MARKER_GROWTH_INDEX,
    OWN_SIZE,
    PLACES_START,
    Linearization,
    Solution,
    State,
    camera_and_bow,
)
from overruler.vision.camera.variance_components import (
    UNIT_SCALES,
    LinearizedProblem,
    NoiseScales,
    WhitenedBlocks,
    estimate_scales,
    marginalize_scales,
)
from overruler.vision.least_squares.arrow_system import ArrowSystem, NormalEquations
from overruler.vision.least_squares.schur_solver import invert_information, whitening_matrix
from overruler.vision.least_squares.whitened_groups import WhitenedGroups

EDGE_SHIFT_SIGMA_PX = 0.5
"""Prior σ of the shift of edges towards their dark side."""
MARKER_GROWTH_SIGMA_PX = 0.025
"""Prior σ of the growth of markers, at a scale of shapes of 1."""
BOW_SIGMA_SHARE = 5e-4
"""Prior σ of each of the bow's heights, as a share of the table's width or height."""
ROUNDS = 40
"""Most steps towards a solution."""
FIRST_DAMPING, LEAST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-12, 1e9
"""Damping of the first step, bounds of it, as shares of each parameter's information."""
STRONGEST_RELIEF = 0.1
"""Smallest factor of the damping after a step that did what was expected."""
CONVERGENCE_SHARE = 1e-6
"""A step at most as damped as the first that lowers the cost by less than this share is the last."""


class BundleAdjustment:
    """The least-squares problem of some observations and a prior, under fixed noise scales."""

    __slots__ = ("_group", "_growth", "_lens_information", "_normal", "_prior_root", "_shift", "_slices",
                 "_whitened", "_whiteners", "_xy", "_xyz", "groups", "prior", "scales")  # fmt: skip

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
        self._normal = np.concatenate([group.normal_px for group in groups]).T.copy()
        self._shift = np.repeat([float(group.is_marker) for group in groups], counts)
        self._growth = np.concatenate([group.growth_jacobian for group in groups])
        self._prior_root = whitening_matrix(prior.covariance)
        self._lens_information = self._prior_root.T @ self._prior_root
        self._whiteners = [whitening_matrix(group.covariance(scales)) for group in groups]
        self._whitened = WhitenedGroups(self._whiteners)

    def solve(self, state: State, rounds: int = ROUNDS) -> Solution:
        """Minimize the cost from `state` by the Levenberg-Marquardt method.

        The damping follows how far each step did what its linear model expected (Nielsen 1999).
        """
        damping, growth, equations = FIRST_DAMPING, 2.0, self._normal_equations(state)
        if not np.isfinite(equations.cost):
            rounds = 0  # an impossible state tells no way out
        for _ in range(rounds):
            step = equations.system.damped_step(damping, equations.system)
            trial = state.moved(step)
            decrease = equations.cost - self._cost(trial)
            if not decrease >= 0:
                damping, growth = damping * growth, 2 * growth
                if damping > LARGEST_DAMPING:
                    break
                continue
            small = decrease < CONVERGENCE_SHARE * (1 + equations.cost)
            converged = small and damping < FIRST_DAMPING
            expected = equations.system.expected_decrease(step, damping)
            state, equations = trial, self._possible_equations(trial)
            if converged:
                break
            relief = 1 - (2 * decrease / expected - 1) ** 3 if expected > 0 else 2.0
            damping, growth = max(damping * max(relief, STRONGEST_RELIEF), LEAST_DAMPING), 2.0
        return self._build_solution(state, equations)

    def states_without(self, state: State) -> Iterator[State]:
        """The state without each one observation: a single Newton step from the solution of all."""
        linear, whole = self.linearization(state), self._normal_equations(state).system
        for k, (whitener, part) in enumerate(zip(self._whiteners, self._slices, strict=True)):
            shared, misfit = whitener @ linear.shared[part], whitener @ linear.residual[part]
            others = whole.without(state.own_index(k), shared, misfit)
            yield state.moved(others.damped_step(1e-9, whole))

    def covariance(self, state: State) -> Array:
        """(17, 17): covariance of camera and bow about `state`, for noise exactly as scaled.

        The inverse information, prior included. It holds if the noise is as scaled.
        """
        return camera_and_bow(self._normal_equations(state).system.shared_covariance())

    def covariance_as_specified(self, state: State) -> Array:
        """(17, 17): covariance of the solution if the table is as its board file specifies.

        The weights are those of tables as people have them. Under other noise than the weights
        assume, the covariance is that of the sandwich estimator (White, 1982).
        """
        linear, system = self.linearization(state), self._normal_equations(state).system
        noise = self.prior_information(state)
        noise[BOW_START:PLACES_START, BOW_START:PLACES_START] *= SPEC_SHARE**2
        # how the places of free markers follow the shared parameters
        follow = np.linalg.solve(system.own, system.cross.swapaxes(1, 2))
        parts = zip(self._whiteners, self._slices, self.groups, strict=True)
        for k, (whitener, part, group) in enumerate(parts):
            jacobian, own = linear.shared[part], state.own_index(k)
            if own is not None:
                jacobian = jacobian - linear.own[part] @ follow[own]
            weighted = jacobian.T @ whitener.T @ whitener
            noise += weighted @ group.covariance_as_specified(self.scales) @ weighted.T
        inverse = system.shared_covariance()
        return camera_and_bow(inverse @ noise @ inverse.T)

    def solve_averaging_scales(self, state: State) -> tuple["BundleAdjustment", Solution]:
        """Average the solution near `state` over the posterior of the noise scales.

        The first value is the least-squares problem under the posterior mean of the scales.
        """
        scales = estimate_scales(self._linearize(state))
        solution = BundleAdjustment(self.groups, self.prior, scales).solve(state)
        marginal = marginalize_scales(self._linearize(solution.state), scales)
        own_steps = marginal.own_steps[1:].ravel()  # the first marker's place is the frame's
        averaged = replace(
            solution,
            state=solution.state.moved(np.concatenate([marginal.step, own_steps])),
            camera_bow_covariance=camera_and_bow(marginal.covariance),
        )
        return BundleAdjustment(self.groups, self.prior, marginal.scales), averaged

    def _linearize(self, state: State) -> LinearizedProblem:
        """The problem about `state`, with the noise scales left open."""
        linear = self.linearization(state)
        observations: list[WhitenedBlocks] = []
        for k, (group, part) in enumerate(zip(self.groups, self._slices, strict=True)):
            whitener = whitening_matrix(group.edge_covariance_px2)
            own = linear.own[part] if state.own_index(k) is not None else linear.own[part, :0]
            observations.append(
                WhitenedBlocks(
                    place=whitener @ group.place_factors_px,
                    shape=whitener @ group.shape_factors_px,
                    own=whitener @ own,
                    jacobian=whitener @ linear.shared[part],
                    residual=whitener @ linear.residual[part],
                )
            )
        prior = self.prior_information(state)
        prior[MARKER_GROWTH_INDEX, MARKER_GROWTH_INDEX] = 0.0
        shared_shape_sigmas = np.zeros(PLACES_START)
        shared_shape_sigmas[MARKER_GROWTH_INDEX] = MARKER_GROWTH_SIGMA_PX
        return LinearizedProblem.from_observations(
            observations, prior, self.prior_deviation(state), shared_shape_sigmas
        )

    def prior_information(self, state: State) -> Array:
        """(19, 19): information matrix of the prior of camera, edges and bow."""
        information = np.zeros((PLACES_START, PLACES_START))
        information[:9, :9] = self._lens_information
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
        """(19,): camera, edges and bow of the state minus the prior mean."""
        deviation = np.zeros(PLACES_START)
        deviation[:9] = state.lens - self.prior.mean
        deviation[EDGE_SHIFT_INDEX] = state.edge_shift_px
        deviation[MARKER_GROWTH_INDEX] = state.marker_growth_px
        if state.bow is not None:
            deviation[BOW_START:PLACES_START] = state.bow.height_mm
        return deviation

    def linearization(self, state: State) -> Linearization:
        """Reprojection residuals along the normals, and their Jacobian."""
        points = state.points_on_board(self._group, self._xyz)
        projected, by_point, by_camera = state.camera.project_with_jacobians(points)
        shared = np.zeros((len(points), PLACES_START))
        shared[:, :CAMERA_SIZE] = -self._along_normals(*by_camera.transpose(1, 2, 0)).T
        shared[:, EDGE_SHIFT_INDEX] = self._shift
        shared[:, MARKER_GROWTH_INDEX] = -self._growth
        if state.bow is not None:
            by_height = -self._along_normals(*by_point[..., 2].T)
            weights = state.bow_shares(self._group, points)
            shared[:, BOW_START:PLACES_START] = by_height[:, None] * weights
        own = np.zeros((len(points), OWN_SIZE))
        by_place = state.place_jacobian(self._group, self._xyz)
        if by_place is not None:
            own[:] = -self._along_normals(*(by_point @ by_place).transpose(1, 2, 0)).T
        return Linearization(self._residual(state, projected), shared, own)

    def _along_normals(self, by_u: Array, by_v: Array) -> Array:
        """The part along the normals of slopes (..., N) of u and v."""
        return np.asarray(self._normal[0] * by_u + self._normal[1] * by_v)

    def _normal_equations(self, state: State) -> NormalEquations:
        """The normal equations; the cost is infinite if a point lies behind the camera."""
        if not _is_possible(state, state.points_on_board(self._group, self._xyz)):
            return NormalEquations(np.inf, ArrowSystem.unit(*_sizes(state)))
        return self._possible_equations(state)

    def _possible_equations(self, state: State) -> NormalEquations:
        """The normal equations about a state under which all points lie before the camera."""
        linear = self.linearization(state)
        own = [linear.own] if state.places is not None else []
        rows = np.concatenate([linear.residual[:, None], linear.shared, *own], axis=1)
        products, data = self._whitened.products(rows), ArrowSystem.empty(*_sizes(state))
        data.observe(products)
        prior, deviation = self.prior_information(state), self.prior_deviation(state)
        return NormalEquations(
            float(sum(products.squares)) + float(deviation @ prior @ deviation),
            data.with_prior(prior, prior @ deviation),
        )

    def _cost(self, state: State) -> float:
        """The cost alone: it takes a third of the time of the equations. Infinite as theirs."""
        points = state.points_on_board(self._group, self._xyz)
        if not _is_possible(state, points):
            return np.inf
        residual = self._residual(state, state.camera.project_beyond_fold(points))
        chi_square = float(sum(self._whitened.sums_of_squares(residual)))
        deviation = self.prior_deviation(state)
        return chi_square + float(deviation @ self.prior_information(state) @ deviation)

    def _residual(self, state: State, projected: Array) -> Array:
        """(N,): how far the points were seen from where they are `projected` (N, 2), in px."""
        along = self._along_normals(*(self._xy - projected).T)
        return along + self._shift * state.edge_shift_px - self._growth * state.marker_growth_px

    def _build_solution(self, state: State, equations: NormalEquations) -> Solution:
        residual = self.linearization(state).residual
        whitened = [
            whitener @ residual[part]
            for whitener, part in zip(self._whiteners, self._slices, strict=True)
        ]
        prior, information = self.prior_information(state), equations.system.reduced()
        data = information - prior
        places_used = state.unknown_count - PLACES_START
        parameters_used = places_used + float(np.trace(invert_information(information) @ data))
        chi_square = sum(float(r @ r) for r in whitened)
        sigma = float(np.sqrt(chi_square / max(len(residual) - parameters_used, 1.0)))
        covariance = invert_information(prior + data / max(sigma, 1.0) ** 2)
        log_prior = np.log(np.diag(self._prior_root)).sum()
        pull = self._prior_root @ (state.lens - self.prior.mean)
        return Solution(
            state=state,
            camera_bow_covariance=camera_and_bow(covariance),
            rms_px=float(np.sqrt(np.mean(residual**2))),
            log_evidence=-0.5 * (equations.cost + equations.system.log_volume()) + log_prior,
            unit_weight_sigma=sigma,
            mean_square_residuals=tuple(float(np.mean(r**2)) for r in whitened),
            lens_pull_sigmas=float(np.linalg.norm(pull) / 3),
        )


def _is_possible(state: State, points_mm: Array) -> bool:
    """Whether all points (N, 3) lie before a camera that may be one."""
    depth = state.camera.T_camera_board.apply(points_mm)[:, 2]
    focal = min(state.camera.matrix[0, 0], state.camera.matrix[1, 1])
    return bool(not depth.min() <= 0 and not focal <= 0)


def _sizes(state: State) -> tuple[int, int, int]:
    """How many parameters are shared, how many markers have places of their own, and their size."""
    return PLACES_START, (state.unknown_count - PLACES_START) // OWN_SIZE, OWN_SIZE

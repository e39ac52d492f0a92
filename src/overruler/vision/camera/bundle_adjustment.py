"""Least squares over one camera, the shift of edges, and where free markers lie; with the covariance of all of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import SPEC_SHARE, TableBow
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.noise_scales import UNIT_SCALES, NoiseScales
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.schur_solver import invert_information
from overruler.vision.camera.variance_components import (
    LinearizedProblem,
    estimate_scales,
    marginalize_scales,
)

EDGE_SHIFT_SIGMA_PX = 0.5
"""1 σ of how far edges lie from their places, before the photo is seen."""
MARKER_GROWTH_SIGMA_PX = 0.025
"""1 σ of how far outer sides lie outwards of where inner edges say; the less, the less markers differ in shape."""
BOW_SIGMA_SHARE = 5e-4
"""1 σ of how far the table's middle stands off its edges, along x and along y, as a share of its width and height."""
EDGE_SHIFT_INDEX, MARKER_GROWTH_INDEX, BOW_START, PLACES_START = 15, 16, 17, 19
"""Where, after the camera's 15, the other unknowns stand."""
CAMERA_AND_BOW = np.r_[:15, BOW_START:PLACES_START]
"""The camera and the bow."""


@dataclass(frozen=True, slots=True, eq=False)
class LensPrior:
    """What is known of the lens beforehand."""

    mean: Array
    """(9,): fx fy cx cy k1 k2 p1 p2 k3."""
    covariance: Array
    """(9, 9)."""
    assumes_cropped: bool = False
    """Whether the picture is taken as one that somebody cut."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The unknowns."""

    camera: Camera
    edge_shift_px: float
    places: Array | None = None
    """(G, 3): x and y in mm and heading in radians of each marker that lies anywhere; None where places are known."""
    marker_growth_px: float = 0.0
    """By how much all markers look larger than they are, at their sides."""
    bow: TableBow | None = None
    """How the table is bowed; None where it is taken as flat."""

    @property
    def lens(self) -> Array:
        """(9,) in the order of `PARAMETERS`."""
        return np.concatenate(
            [self.camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], self.camera.distortion]
        )

    @property
    def unknown_count(self) -> int:
        """The camera's 15, shift, swell and bow, then three a marker from the second on: the first holds the frame."""
        return PLACES_START + (0 if self.places is None else 3 * (len(self.places) - 1))

    def moved(self, step: Array) -> "State":
        places = self.places
        if places is not None:
            places = places + np.concatenate([np.zeros((1, 3)), step[PLACES_START:].reshape(-1, 3)])
        shift_px, swell_px = (
            self.edge_shift_px + float(step[EDGE_SHIFT_INDEX]),
            self.marker_growth_px + float(step[MARKER_GROWTH_INDEX]),
        )
        bow = self.bow and replace(
            self.bow, height_mm=self.bow.height_mm + step[BOW_START:PLACES_START]
        )
        return State(self.camera.moved(step[:15]), shift_px, places, swell_px, bow)

    def points_on_board(self, group: NDArray[np.intp], xyz_mm: Array) -> tuple[Array, Array | None]:
        """Points (K, 3) of the groups (K,) on the board (K, 3), and their Jacobian (K, 3, 3) by x, y and heading."""
        if self.places is None:
            return self._lift_by_bow(group, xyz_mm), None
        x, y, heading = self.places[group].T
        c, s, z = np.cos(heading), np.sin(heading), np.zeros(len(group))
        turned = np.stack(
            [
                c * xyz_mm[:, 0] - s * xyz_mm[:, 1],
                s * xyz_mm[:, 0] + c * xyz_mm[:, 1],
                xyz_mm[:, 2],
            ],
            -1,
        )
        jacobian = np.zeros((len(group), 3, 3))
        jacobian[:, 0, 0] = jacobian[:, 1, 1] = 1
        jacobian[:, 0, 2], jacobian[:, 1, 2] = -turned[:, 1], turned[:, 0]
        return self._lift_by_bow(group, turned + np.stack([x, y, z], -1)), jacobian

    def _lift_by_bow(self, group: NDArray[np.intp], xyz_mm: Array) -> Array:
        """Points (K, 3) of a flat table where the bow lifts them."""
        if self.bow is None:
            return xyz_mm
        return np.column_stack(
            [xyz_mm[:, :2], xyz_mm[:, 2] + self.bow_shares(group, xyz_mm) @ self.bow.height_mm]
        )

    def bow_shares(self, group: NDArray[np.intp], xyz_mm: Array) -> Array:
        """How much of the bow's heights points (K, 3) have (K, 2): a card lies flat, lifted as its middle is.

        Its slope would tell more, were tables parabolas and cards never curled.
        """
        count = np.maximum(np.bincount(group), 1)
        middle = np.stack([np.bincount(group, xyz_mm[:, axis]) / count for axis in (0, 1)], -1)
        return (
            np.zeros((len(group), 2))
            if self.bow is None
            else self.bow.height_weights(middle[group])
        )


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best state and how sure it is."""

    state: State
    camera_bow_covariance: Array
    """(17, 17) over `PARAMETERS` and the bow's two heights."""
    rms_px: float
    """Of the residuals along the edges' normals."""
    log_evidence: float
    """Logarithm of how likely the prior made what was seen, by Laplace's method, less what all priors share."""
    unit_weight_sigma: float
    """Root of chi square by its degrees of freedom."""
    mean_square_residuals: tuple[float, ...]
    """Each group's mean square of residuals in units of their doubt: 1 is as expected."""
    lens_pull_sigmas: float
    """How many σ, as a root mean square over its nine numbers, the lens lies from what was known of it before."""

    @property
    def covariance(self) -> Array:
        """(15, 15) over `PARAMETERS`."""
        return self.camera_bow_covariance[:15, :15]


class BundleAdjustment:
    """The least squares over some groups and a prior."""

    def __init__(
        self, groups: Sequence[Observation], prior: LensPrior, scales: NoiseScales = UNIT_SCALES
    ) -> None:
        self.groups, self.prior, self.scales = tuple(groups), prior, scales
        ends = np.cumsum([0, *(len(group.xy_px) for group in groups)])
        self._slices = [slice(*pair) for pair in pairwise(ends)]
        self._group = np.repeat(np.arange(len(groups)), np.diff(ends))
        self._xyz, self._xy, self._normal = (
            np.concatenate([getattr(group, name) for group in groups])
            for name in ("xyz_mm", "xy_px", "normal_px")
        )
        self._shifts = np.concatenate(
            [np.full(len(group.xy_px), float(group.is_marker)) for group in groups]
        )
        self._outwards = np.concatenate(
            [
                group.growth_jacobian if group.is_marker else np.zeros(len(group.xy_px))
                for group in groups
            ]
        )
        self._prior_root = np.linalg.inv(np.linalg.cholesky(prior.covariance))
        self._whiteners = [
            np.linalg.inv(np.linalg.cholesky(group.covariance(scales))) for group in groups
        ]

    def solve(self, state: State, rounds: int = 40) -> Solution:
        """Levenberg and Marquardt's method from `state`."""
        damping, (cost, information, gradient) = 1e-3, self._normal_equations(state)
        for _ in range(rounds):
            trial = state.moved(
                _marquardt_step(information, gradient, damping, np.sqrt(np.diag(information)))
            )
            new = self._normal_equations(trial)
            if not new[0] <= cost:
                damping *= 10
                if damping > 1e9:
                    break
                continue
            settled = cost - new[0] < 1e-6 * (1 + cost) and damping < 1e-3
            state, (cost, information, gradient) = trial, new
            damping = max(damping / 10, 1e-12)
            if settled:
                break
        return self._build_solution(state, cost, information)

    def state_without(self, state: State, group: int) -> State:
        """The state that the other groups alone would give: one step of Newton's method from the best one of all."""
        _, information, gradient = self._normal_equations(state)
        residual, jacobian = self._residuals_and_jacobian(state)
        part, white = self._slices[group], self._whiteners[group]
        rows, misfit = white @ jacobian[part], white @ residual[part]
        scale = np.sqrt(np.diag(information))
        return state.moved(
            _marquardt_step(information - rows.T @ rows, gradient - rows.T @ misfit, 1e-9, scale)
        )

    def covariance(self, state: State) -> Array:
        """(17, 17) over `PARAMETERS` and bow about `state`, for noise as large as was said: no method is surer."""
        return np.asarray(
            invert_information(self._normal_equations(state)[1])[
                np.ix_(CAMERA_AND_BOW, CAMERA_AND_BOW)
            ]
        )

    def covariance_as_specified(self, state: State) -> Array:
        """(17, 17): how far about `state` the solution errs, were the table as its board file says.

        The solution weighs all by how tables are as people have them; its covariance for other noise than that is
        the sandwich estimator's (White, 1982).
        """
        _, jacobian = self._residuals_and_jacobian(state)
        information = self._prior_information(state)
        noise = information.copy()
        noise[BOW_START:PLACES_START, BOW_START:PLACES_START] *= SPEC_SHARE**2
        for white, part, group in zip(self._whiteners, self._slices, self.groups, strict=True):
            pull = jacobian[part].T @ white.T @ white
            information = information + pull @ jacobian[part]
            noise += pull @ group.covariance_as_specified(self.scales) @ pull.T
        after = invert_information(information)
        return np.asarray((after @ noise @ after.T)[np.ix_(CAMERA_AND_BOW, CAMERA_AND_BOW)])

    def solve_averaging_scales(self, state: State) -> tuple["BundleAdjustment", Solution]:
        """The solution near `state` as the mean over all likely scales, and the least squares under their mean."""
        scales = estimate_scales(self._linearize(state))
        solution = BundleAdjustment(self.groups, self.prior, scales).solve(state)
        mean = marginalize_scales(self._linearize(solution.state), scales)
        state, joint = (
            solution.state.moved(mean.step),
            mean.covariance[np.ix_(CAMERA_AND_BOW, CAMERA_AND_BOW)],
        )
        return BundleAdjustment(self.groups, self.prior, mean.scales), replace(
            solution, state=state, camera_bow_covariance=joint
        )

    def _linearize(self, state: State) -> LinearizedProblem:
        residual, jacobian = self._residuals_and_jacobian(state)
        groups = []
        for group, part in zip(self.groups, self._slices, strict=True):
            white, columns = (
                np.linalg.inv(np.linalg.cholesky(group.edge_covariance_px2)),
                (group.place_factors_px, group.shape_factors_px),
            )
            groups.append(
                (
                    white @ columns[0],
                    white @ columns[1],
                    white @ jacobian[part],
                    white @ residual[part],
                )
            )
        prior, swell = self._prior_information(state), np.zeros(state.unknown_count)
        prior[MARKER_GROWTH_INDEX, MARKER_GROWTH_INDEX], swell[MARKER_GROWTH_INDEX] = (
            0.0,
            MARKER_GROWTH_SIGMA_PX,
        )
        return LinearizedProblem.from_observations(
            groups, prior, self._prior_deviation(state), swell
        )

    def _accumulate_data(self, residual: Array, jacobian: Array) -> tuple[float, Array, Array]:
        """Chi square, information and gradient of the data, group by group: small products need no threads."""
        unknowns = jacobian.shape[1]
        chi_square, information, gradient = 0.0, np.zeros((unknowns, unknowns)), np.zeros(unknowns)
        for white, part in zip(self._whiteners, self._slices, strict=True):
            r, j = white @ residual[part], white @ jacobian[part]
            chi_square += float(r @ r)
            information += j.T @ j
            gradient += j.T @ r
        return chi_square, information, gradient

    def _prior_information(self, state: State) -> Array:
        information = np.zeros((state.unknown_count, state.unknown_count))
        information[:9, :9] = self._prior_root.T @ self._prior_root
        edges_px = np.array([EDGE_SHIFT_SIGMA_PX, MARKER_GROWTH_SIGMA_PX * self.scales[2]])
        information[EDGE_SHIFT_INDEX:BOW_START, EDGE_SHIFT_INDEX:BOW_START] = np.diag(
            1 / edges_px**2
        )
        bow_mm = BOW_SIGMA_SHARE * 2 * state.bow.half_mm if state.bow is not None else np.ones(2)
        information[BOW_START:PLACES_START, BOW_START:PLACES_START] = np.diag(1 / bow_mm**2)
        return information

    def _prior_deviation(self, state: State) -> Array:
        """How far the unknowns (U,) lie from what was known of them before."""
        away = np.zeros(state.unknown_count)
        away[:9], away[EDGE_SHIFT_INDEX], away[MARKER_GROWTH_INDEX] = (
            state.lens - self.prior.mean,
            state.edge_shift_px,
            state.marker_growth_px,
        )
        if state.bow is not None:
            away[BOW_START:PLACES_START] = state.bow.height_mm
        return away

    def _residuals_and_jacobian(self, state: State) -> tuple[Array, Array]:
        """Residuals (N,) in px and their Jacobian (N, unknowns)."""
        points, d_points = state.points_on_board(self._group, self._xyz)
        seen, d_point, d_camera = state.camera.project_with_jacobians(points)
        residual = ((self._xy - seen) * self._normal).sum(1)
        residual += self._shifts * state.edge_shift_px - self._outwards * state.marker_growth_px
        jacobian = np.zeros((len(points), state.unknown_count))
        jacobian[:, :15] = -(self._normal[:, :, None] * d_camera).sum(1)
        jacobian[:, EDGE_SHIFT_INDEX], jacobian[:, MARKER_GROWTH_INDEX] = (
            self._shifts,
            -self._outwards,
        )
        if state.bow is not None:
            rise = -(self._normal * d_point[..., 2]).sum(1)
            jacobian[:, BOW_START:PLACES_START] = rise[:, None] * state.bow_shares(
                self._group, points
            )
        if d_points is not None:
            by_place = -(self._normal[:, :, None] * (d_point @ d_points)).sum(1)
            for i, part in enumerate(self._slices[1:]):
                jacobian[part, PLACES_START + 3 * i : PLACES_START + 3 + 3 * i] = by_place[part]
        return residual, jacobian

    def _normal_equations(self, state: State) -> tuple[float, Array, Array]:
        """Cost, information and gradient; the cost is infinite where a point falls behind the camera."""
        depth = state.camera.T_camera_board.apply(state.points_on_board(self._group, self._xyz)[0])[
            :, 2
        ]
        if depth.min() <= 0 or min(state.camera.matrix[0, 0], state.camera.matrix[1, 1]) <= 0:
            return np.inf, np.eye(state.unknown_count), np.zeros(state.unknown_count)
        chi_square, information, gradient = self._accumulate_data(
            *self._residuals_and_jacobian(state)
        )
        prior, away = self._prior_information(state), self._prior_deviation(state)
        return chi_square + float(away @ prior @ away), information + prior, gradient + prior @ away

    def _build_solution(self, state: State, cost: float, information: Array) -> Solution:
        residual, _ = self._residuals_and_jacobian(state)
        prior = self._prior_information(state)
        used = float(np.trace(invert_information(information) @ (information - prior)))
        white = [
            white @ residual[part]
            for white, part in zip(self._whiteners, self._slices, strict=True)
        ]
        sigma = float(np.sqrt(sum(float(r @ r) for r in white) / max(len(residual) - used, 1.0)))
        return Solution(
            state=state,
            camera_bow_covariance=invert_information(
                prior + (information - prior) / max(sigma, 1.0) ** 2
            )[np.ix_(CAMERA_AND_BOW, CAMERA_AND_BOW)],
            rms_px=float(np.sqrt(np.mean(residual**2))),
            log_evidence=-0.5 * (cost + np.linalg.slogdet(information)[1])
            + np.log(np.diag(self._prior_root)).sum(),
            unit_weight_sigma=sigma,
            mean_square_residuals=tuple(float(np.mean(r**2)) for r in white),
            lens_pull_sigmas=float(
                np.linalg.norm(self._prior_root @ (state.lens - self.prior.mean)) / 3
            ),
        )


def _marquardt_step(information: Array, gradient: Array, damping: float, scale: Array) -> Array:
    """Marquardt's step: `damping` is a share of each unknown's own information, the square of its `scale`."""
    system = information / np.outer(scale, scale) + damping * np.eye(len(scale))
    return np.asarray(-np.linalg.solve(system, gradient / scale) / scale)

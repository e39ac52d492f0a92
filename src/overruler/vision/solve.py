"""Least squares over one camera, the shift of edges, and where free markers lie; with the covariance of all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

SHIFT_SIGMA_PX = 0.5
"""1 σ of how far edges lie from their places, before the photo is seen."""
SWELL_SIGMA_PX = 0.04
"""1 σ of how far a marker's outer sides lie outwards of where its inner edges say: soft corners, neighbouring edges."""
SHIFT, SWELL, PLACES = 15, 16, 17
"""Where, after the camera's 15, the other unknowns stand."""
PLACE_SCALES = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0, 25.0, 40.0, 65.0, 100.0)
"""How many times worse than expected markers may turn out to be laid."""
SHAPE_SCALES = PLACE_SCALES[:8]
"""And how many times more bent and stretched: beyond this they would be no squares."""
PASSED = 3.0
"""So much below its greatest, a logarithm of a likelihood will not come back."""
SCALE_SIGMA = 0.5
"""1 σ of the logarithm of that, before the residuals are seen: four markers alone say next to nothing about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Everything seen of one marker, or one clicked point."""

    xyz_mm: Array
    """(K, 3): on the board, or on the marker's own plane where it lies anywhere."""
    xy_px: Array
    """(K, 2)."""
    normal_px: Array
    """(K, 2): the direction along which each place was measured."""
    own_px2: Array
    """(K, K): covariance along the normals of what these places do not share with the rest of the marker."""
    place_px: Array
    """(K, P): one σ of the marker's place, column by column."""
    shape_px: Array
    """(K, S): one σ of the marker's shape, column by column."""
    shifts: bool = True
    """Whether these are edges that move towards their dark side."""

    @property
    def outwards(self) -> Array:
        """(K,): how far each edge moves along its normal as the marker's sides move outwards by 1."""
        reach = self.xy_px - self.xy_px.mean(0)
        return np.asarray((reach * self.normal_px).sum(1) / np.abs(reach).max())

    def covariance(self, scales: tuple[float, float]) -> Array:
        """(K, K), the place's and the shape's doubt taken `scales` times."""
        place, shape = scales[0] * self.place_px, scales[1] * self.shape_px
        return np.asarray(self.own_px2 + place @ place.T + shape @ shape.T)


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What is known of the lens beforehand."""

    mean: Array
    """(9,): fx fy cx cy k1 k2 p1 p2 k3."""
    covariance: Array
    """(9, 9)."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The unknowns."""

    camera: Camera
    shift_px: float
    places: Array | None = None
    """(G, 3): x and y in mm and heading in radians of each marker that lies anywhere; None where places are known."""
    swell_px: float = 0.0
    """By how much all markers look larger than they are, at their sides."""

    @property
    def lens(self) -> Array:
        """(9,) in the order of `PARAMETERS`."""
        return np.concatenate([self.camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], self.camera.distortion])

    @property
    def unknowns(self) -> int:
        """The camera's 15, shift and swell, then three a marker from the second on: the first holds the frame."""
        return PLACES + (0 if self.places is None else 3 * (len(self.places) - 1))

    def moved(self, step: Array) -> "State":
        places = self.places
        if places is not None:
            places = places + np.concatenate([np.zeros((1, 3)), step[PLACES:].reshape(-1, 3)])
        shift_px, swell_px = self.shift_px + float(step[SHIFT]), self.swell_px + float(step[SWELL])
        return State(self.camera.moved(step[:15]), shift_px, places, swell_px)

    def on_board(self, group: NDArray[np.intp], xyz_mm: Array) -> tuple[Array, Array | None]:
        """Points (K, 3) of the groups (K,) on the board (K, 3), and their Jacobian (K, 3, 3) by x, y and heading."""
        if self.places is None:
            return xyz_mm, None
        x, y, heading = self.places[group].T
        c, s, z = np.cos(heading), np.sin(heading), np.zeros(len(group))
        turned = np.stack([c * xyz_mm[:, 0] - s * xyz_mm[:, 1], s * xyz_mm[:, 0] + c * xyz_mm[:, 1], xyz_mm[:, 2]], -1)
        jacobian = np.zeros((len(group), 3, 3))
        jacobian[:, 0, 0] = jacobian[:, 1, 1] = 1
        jacobian[:, 0, 2], jacobian[:, 1, 2] = -turned[:, 1], turned[:, 0]
        return turned + np.stack([x, y, z], -1), jacobian


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best state and how sure it is."""

    state: State
    covariance: Array
    """(15, 15) over `PARAMETERS`, scaled by what the residuals say."""
    rms_px: float
    """Of the residuals along the edges' normals."""
    cost: float
    """Chi square with the prior's share."""
    sigma: float
    """Root of chi square by its degrees of freedom; the covariance is scaled where it is above 1."""
    misfits: tuple[float, ...]
    """Each group's mean square of residuals in units of their doubt: 1 is as expected."""
    strain: float
    """How many σ, as a root mean square over its nine numbers, the lens lies from what was known of it before."""


class Bundle:
    """The least squares over some groups and a prior."""

    def __init__(self, groups: Sequence[Group], prior: Prior, scales: tuple[float, float] = (1.0, 1.0)) -> None:
        self.groups, self.prior, self.scales = tuple(groups), prior, scales
        ends = np.cumsum([0, *(len(group.xy_px) for group in groups)])
        self._slices = [slice(*pair) for pair in pairwise(ends)]
        self._group = np.repeat(np.arange(len(groups)), np.diff(ends))
        self._xyz, self._xy, self._normal = (
            np.concatenate([getattr(group, name) for group in groups]) for name in ("xyz_mm", "xy_px", "normal_px")
        )
        self._shifts = np.concatenate([np.full(len(group.xy_px), float(group.shifts)) for group in groups])
        self._outwards = np.concatenate(
            [group.outwards if group.shifts else np.zeros(len(group.xy_px)) for group in groups]
        )
        self._prior_root = np.linalg.inv(np.linalg.cholesky(prior.covariance))
        self._roots = [np.linalg.cholesky(group.covariance(scales)) for group in groups]
        self._whiteners = [np.linalg.inv(root) for root in self._roots]

    def solve(self, state: State, rounds: int = 40) -> Solution:
        """Levenberg and Marquardt's method from `state`."""
        damping, (cost, information, gradient) = 1e-3, self._equations(state)
        for _ in range(rounds):
            trial = state.moved(_step(information, gradient, damping, np.sqrt(np.diag(information))))
            new = self._equations(trial)
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
        return self._solution(state, cost, information)

    def without(self, state: State, group: int) -> State:
        """The state that the other groups alone would give: one step of Newton's method from the best one of all."""
        _, information, gradient = self._equations(state)
        residual, jacobian = self._rows(state)
        part, white = self._slices[group], self._whiteners[group]
        rows, misfit = white @ jacobian[part], white @ residual[part]
        scale = np.sqrt(np.diag(information))
        return state.moved(_step(information - rows.T @ rows, gradient - rows.T @ misfit, 1e-9, scale))

    def covariance(self, state: State) -> Array:
        """(15, 15) over `PARAMETERS` about `state`, for residuals as doubtful as was said: no method is surer."""
        return _inverse(self._equations(state)[1])[:15, :15]

    def rescaled(self, state: State) -> "Bundle":
        """With the shared doubts as large as the residuals about `state` make likely, never smaller than expected."""
        rows, scales = self._rows(state), (1.0, 1.0)
        for _ in range(2):
            scales = self._likely([(scale, scales[1]) for scale in PLACE_SCALES], 0, *rows), scales[1]
            scales = scales[0], self._likely([(scales[0], scale) for scale in SHAPE_SCALES], 1, *rows)
        return Bundle(self.groups, self.prior, scales)

    def _likely(self, trials: Sequence[tuple[float, float]], which: int, residual: Array, jacobian: Array) -> float:
        """The mean of one of the scales over how likely each is, going up until that has clearly passed.

        Its mean, not its likeliest value: a few markers leave it open, and may by chance agree too well.
        """
        values: list[float] = []
        for scales in trials:
            surprise = float(np.log(scales[which]) / SCALE_SIGMA) ** 2
            values.append(Bundle(self.groups, self.prior, scales)._evidence(residual, jacobian) - surprise / 2)
            if values[-1] < max(values) - PASSED:
                break
        weight = np.exp(np.array(values) - max(values))
        return float(weight @ [scales[which] for scales in trials[: len(weight)]] / weight.sum())

    def _evidence(self, residual: Array, jacobian: Array) -> float:
        """Logarithm of the restricted likelihood (Patterson and Thompson, 1971), linear about the rows' state."""
        chi_square, information, gradient = self._sums(residual, jacobian)
        information = information + self._prior_information(len(gradient))
        scale = np.sqrt(np.diag(information))
        root = np.linalg.cholesky(information / np.outer(scale, scale))
        gain = np.linalg.solve(root, gradient / scale)
        noise = float(np.sum([np.log(np.diag(root)).sum() for root in self._roots]))
        fit = float(np.log(np.diag(root)).sum() + np.log(scale).sum())
        misfit = chi_square - float(gain @ gain)
        return -noise - fit - misfit / 2

    def _sums(self, residual: Array, jacobian: Array) -> tuple[float, Array, Array]:
        """Chi square, information and gradient of the data, group by group: small products need no threads."""
        unknowns = jacobian.shape[1]
        chi_square, information, gradient = 0.0, np.zeros((unknowns, unknowns)), np.zeros(unknowns)
        for white, part in zip(self._whiteners, self._slices, strict=True):
            r, j = white @ residual[part], white @ jacobian[part]
            chi_square += float(r @ r)
            information += j.T @ j
            gradient += j.T @ r
        return chi_square, information, gradient

    def _prior_information(self, unknowns: int) -> Array:
        information = np.zeros((unknowns, unknowns))
        information[:9, :9] = self._prior_root.T @ self._prior_root
        information[SHIFT, SHIFT], information[SWELL, SWELL] = 1 / SHIFT_SIGMA_PX**2, 1 / SWELL_SIGMA_PX**2
        return information

    def _rows(self, state: State) -> tuple[Array, Array]:
        """Residuals (N,) in px and their Jacobian (N, unknowns)."""
        points, d_points = state.on_board(self._group, self._xyz)
        seen, d_point, d_camera = state.camera.jacobians(points)
        residual = ((self._xy - seen) * self._normal).sum(1)
        residual += self._shifts * state.shift_px - self._outwards * state.swell_px
        jacobian = np.zeros((len(points), state.unknowns))
        jacobian[:, :15] = -(self._normal[:, :, None] * d_camera).sum(1)
        jacobian[:, SHIFT], jacobian[:, SWELL] = self._shifts, -self._outwards
        if d_points is not None:
            by_place = -(self._normal[:, :, None] * (d_point @ d_points)).sum(1)
            for i, part in enumerate(self._slices[1:]):
                jacobian[part, PLACES + 3 * i : PLACES + 3 + 3 * i] = by_place[part]
        return residual, jacobian

    def _equations(self, state: State) -> tuple[float, Array, Array]:
        """Cost, information and gradient; the cost is infinite where a point falls behind the camera."""
        depth = state.camera.T_camera_board.apply(state.on_board(self._group, self._xyz)[0])[:, 2]
        if depth.min() <= 0 or min(state.camera.matrix[0, 0], state.camera.matrix[1, 1]) <= 0:
            nothing = np.eye(state.unknowns)
            return np.inf, nothing, nothing[0]
        chi_square, information, gradient = self._sums(*self._rows(state))
        prior, away = self._prior_information(state.unknowns), np.zeros(state.unknowns)
        away[:9], away[SHIFT], away[SWELL] = state.lens - self.prior.mean, state.shift_px, state.swell_px
        return chi_square + float(away @ prior @ away), information + prior, gradient + prior @ away

    def _solution(self, state: State, cost: float, information: Array) -> Solution:
        residual, _ = self._rows(state)
        prior = self._prior_information(state.unknowns)
        used = float(np.trace(_inverse(information) @ (information - prior)))
        white = [white @ residual[part] for white, part in zip(self._whiteners, self._slices, strict=True)]
        sigma = float(np.sqrt(sum(float(r @ r) for r in white) / max(len(residual) - used, 1.0)))
        return Solution(
            state=state,
            covariance=_inverse(prior + (information - prior) / max(sigma, 1.0) ** 2)[:15, :15],
            rms_px=float(np.sqrt(np.mean(residual**2))),
            cost=cost,
            sigma=sigma,
            misfits=tuple(float(np.mean(r**2)) for r in white),
            strain=float(np.linalg.norm(self._prior_root @ (state.lens - self.prior.mean)) / 3),
        )


def _step(information: Array, gradient: Array, damping: float, scale: Array) -> Array:
    """Marquardt's step: `damping` is a share of each unknown's own information, the square of its `scale`."""
    system = information / np.outer(scale, scale) + damping * np.eye(len(scale))
    return np.asarray(-np.linalg.solve(system, gradient / scale) / scale)


def _inverse(information: Array) -> Array:
    scale = np.sqrt(np.diag(information))
    return np.asarray(np.linalg.inv(information / np.outer(scale, scale)) / np.outer(scale, scale))

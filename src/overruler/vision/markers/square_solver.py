"""Damped least squares for one marker's square: a step is bounded, checked, and cut back."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.markers.print_edges import EdgeStations
from overruler.vision.markers.square_model import STATE_SIZE, SquareModel

MAX_BEND = 0.25
"""Largest bend at the marker's farthest corner. From a third on a barrel folds the picture over."""
STEP_HALVINGS = 6
"""Most times that a step is halved because it makes the residuals worse."""
MAX_SPREAD_GROWTH = 1.25
"""Growth of the edges' spread from which a step is too long. Least squares may raise a median."""
SPREAD_SLACK_PX = 0.02
"""The same in px, on top."""
MAX_SPREAD_PX = 50.0
"""Edges that scatter more about the fit are not the marker's, in px."""
MIN_EDGE_SIGMA_PX = 0.005
"""Least 1 σ of an average over one edge, in px, whatever the print and the lens."""


@dataclass(frozen=True, slots=True, eq=False)
class SquareProblem:
    """The least-squares problem of one marker."""

    model: SquareModel
    stations: EdgeStations
    prior_sigmas: Array
    """(2,): prior 1 σ of the bend and of the edge shift."""

    def solve_linear(
        self, state: Array, jacobian: Array, residual: Array, weight: Array
    ) -> tuple[Array, Array]:
        """Return the state one Gauss-Newton step from `state`, and its covariance (10, 10)."""
        prior = np.zeros(STATE_SIZE)
        prior[8:] = 1 / self.prior_sigmas**2
        information = jacobian.T @ (jacobian * weight[:, None]) + np.diag(prior)
        covariance = np.asarray(np.linalg.inv(information))
        gradient = jacobian.T @ (weight * residual) + prior * state
        return state - covariance @ gradient, covariance

    def limit_step(self, state: Array, moved: Array, spread_px: Callable[[Array], float]) -> Array:
        """Return `moved`, drawn back towards `state` until it is possible and hardly worse."""
        limit_px, trial = MAX_SPREAD_GROWTH * spread_px(state) + SPREAD_SLACK_PX, moved
        for _ in range(STEP_HALVINGS):
            if self._is_possible(trial) and spread_px(trial) <= limit_px:
                return trial
            trial = (state + trial) / 2
        raise np.linalg.LinAlgError("the fit diverges")

    def _is_possible(self, state: Array) -> bool:
        away = (state[:8].reshape(4, 2) - self.model.middle) / self.model.radius
        farthest = max(1.0, float((away**2).sum(1).max()))
        return bool(np.isfinite(state).all() and abs(state[8]) * farthest <= MAX_BEND)


def robust_spread_px(residual: Array) -> float:
    """Return a robust 1 σ of residuals (K,) in px."""
    spread = max(1.4826 * float(np.median(np.abs(residual))), MIN_EDGE_SIGMA_PX)
    if not spread < MAX_SPREAD_PX:
        raise np.linalg.LinAlgError("the fit diverges")
    return spread


def tukey_weights(z: Array) -> Array:
    """Return the weights of residuals given in σ: Tukey's biweight at 4.7."""
    share = np.clip(1 - (z / 4.7) ** 2, 0, None)
    return np.asarray(share**2)

"""A calibration updated by what was measured after it: the Kalman update."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array

OUTLIER_SIGMAS = 3.5
"""A base this many σ off has another size or something leaning on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """What something on the table says of the camera, whatever it is: bases now, rulers would say it the same way."""

    surprise: Array
    """(N,): by how much each known length exceeds what the camera measures."""
    slope: Array
    """(N, 15): how what is measured moves with the camera's parameters."""
    noise: Array
    """(N, N): the covariance of the surprises, were the camera exact."""

    def expected(self, covariance: Array) -> Array:
        """(N, N): the covariance of the surprises, with the camera's doubt."""
        return np.asarray(self.slope @ covariance @ self.slope.T + self.noise)


@dataclass(frozen=True, slots=True, eq=False)
class KalmanUpdate:
    """What measures make of the unknowns (Kalman, 1960)."""

    step: Array
    """(P,)."""
    rest: Array
    """(P, P): the share of an error there was before that is left."""
    noise: Array
    """(P, P): the covariance of the error that the measures bring."""

    def after(self, covariance: Array) -> Array:
        """The covariance (P, P) afterwards of unknowns that had this one before (Joseph's form)."""
        after = self.rest @ covariance @ self.rest.T + self.noise
        return np.asarray((after + after.T) / 2)


def kalman_update(measures: Measurements, covariance: Array) -> KalmanUpdate:
    """What the measures make of unknowns with this covariance (P, P)."""
    gain = np.linalg.solve(measures.expected(covariance), measures.slope @ covariance).T
    rest = np.eye(len(covariance)) - gain @ measures.slope
    return KalmanUpdate(np.asarray(gain @ measures.surprise), rest, np.asarray(gain @ measures.noise @ gain.T))


def find_worst_outlier(surprise: Array, expected: Array) -> int | None:
    """Which of the surprises (N,), of this covariance (N, N), the others contradict most; None where they do none."""
    inverse = np.linalg.inv(expected)
    off = np.abs(inverse @ surprise) / np.sqrt(np.diag(inverse))
    return int(off.argmax()) if off.max() >= OUTLIER_SIGMAS else None

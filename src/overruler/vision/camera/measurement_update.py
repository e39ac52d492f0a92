"""A calibration updated by what was measured after it: the Kalman update."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array

OUTLIER_SIGMAS = 3.5
"""A base this many σ off has another size or something leaning on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """What something on the table says of the camera, whatever it is: bases now, rulers would say it the same way."""

    innovation: Array
    """(N,): by how much each known length exceeds what the camera measures."""
    jacobian: Array
    """(N, 15): how what is measured moves with the camera's parameters."""
    noise_covariance: Array
    """(N, N): the covariance of the surprises, were the camera exact."""

    def innovation_covariance(self, covariance: Array) -> Array:
        """(N, N): the covariance of the surprises, with the camera's doubt."""
        return np.asarray(self.jacobian @ covariance @ self.jacobian.T + self.noise_covariance)


@dataclass(frozen=True, slots=True, eq=False)
class KalmanUpdate:
    """What measures make of the unknowns (Kalman, 1960)."""

    step: Array
    """(P,)."""
    remaining_error: Array
    """(P, P): the share of an error there was before that is left."""
    added_covariance: Array
    """(P, P): the covariance of the error that the measures bring."""

    def updated_covariance(self, covariance: Array) -> Array:
        """The covariance (P, P) afterwards of unknowns that had this one before (Joseph's form)."""
        after = self.remaining_error @ covariance @ self.remaining_error.T + self.added_covariance
        return np.asarray((after + after.T) / 2)


def kalman_update(measures: Measurements, covariance: Array) -> KalmanUpdate:
    """What the measures make of unknowns with this covariance (P, P)."""
    gain = np.linalg.solve(
        measures.innovation_covariance(covariance), measures.jacobian @ covariance
    ).T
    rest = np.eye(len(covariance)) - gain @ measures.jacobian
    return KalmanUpdate(
        np.asarray(gain @ measures.innovation),
        rest,
        np.asarray(gain @ measures.noise_covariance @ gain.T),
    )


def find_worst_outlier(surprise: Array, expected: Array) -> int | None:
    """Which of the surprises (N,), of this covariance (N, N), the others contradict most; None where they do none."""
    inverse = np.linalg.inv(expected)
    off = np.abs(inverse @ surprise) / np.sqrt(np.diag(inverse))
    return int(off.argmax()) if off.max() >= OUTLIER_SIGMAS else None

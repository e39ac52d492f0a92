"""The Kalman update: a calibration is updated by measurements made after it."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array

OUTLIER_SIGMAS = 3.5
"""A measurement this many σ from the prediction of the others is an outlier."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """N scalar measurements that are linear in P parameters, about their current values."""

    innovation: Array
    """(N,): known values minus the values that the current parameters predict."""
    jacobian: Array
    """(N, P): derivative of the predicted values by the parameters."""
    noise_covariance: Array
    """(N, N): covariance of the innovations if the parameters were exact."""

    def innovation_covariance(self, covariance: Array) -> Array:
        """(N, N): covariance of the innovations for parameters with `covariance` (P, P)."""
        propagated = self.jacobian @ covariance @ self.jacobian.T
        return np.asarray(propagated + self.noise_covariance)


@dataclass(frozen=True, slots=True, eq=False)
class KalmanUpdate:
    """The effect of measurements on P parameters (Kalman, 1960)."""

    step: Array
    """(P,): change of the parameters."""
    remaining_error: Array
    """(P, P): the factor I - K J by which an earlier error of the parameters remains."""
    added_covariance: Array
    """(P, P): covariance of the error that the measurements' noise adds, K R Kᵀ."""

    def updated_covariance(self, covariance: Array) -> Array:
        """The covariance (P, P) after the update, from the one before, in Joseph's form.

        It holds for any covariance before, not only for the one that the gain was computed with.
        """
        after = self.remaining_error @ covariance @ self.remaining_error.T + self.added_covariance
        return np.asarray((after + after.T) / 2)


def kalman_update(measurements: Measurements, covariance: Array) -> KalmanUpdate:
    """Update parameters with `covariance` (P, P) by measurements."""
    jacobian = measurements.jacobian
    innovation_covariance = measurements.innovation_covariance(covariance)
    gain = np.linalg.solve(innovation_covariance, jacobian @ covariance).T
    step = np.asarray(gain @ measurements.innovation)
    remaining_error = np.eye(len(covariance)) - gain @ jacobian
    added_covariance = np.asarray(gain @ measurements.noise_covariance @ gain.T)
    return KalmanUpdate(step, remaining_error, added_covariance)


def predicted_covariance(covariance: Array, jacobian: Array, noise_covariance: Array) -> Array:
    """The covariance (P, P) once `Measurements` with this Jacobian and noise are made."""
    unknown_values = np.zeros(len(jacobian))
    planned = Measurements(unknown_values, jacobian, noise_covariance)
    return kalman_update(planned, covariance).updated_covariance(covariance)


def find_worst_outlier(innovation: Array, covariance: Array) -> int | None:
    """The index of the innovation (N,) that the others contradict most; None if all agree.

    `covariance` (N, N) is that of the innovations.
    """
    inverse = np.linalg.inv(covariance)
    sigmas = np.abs(inverse @ innovation) / np.sqrt(np.diag(inverse))
    return int(sigmas.argmax()) if sigmas.max() >= OUTLIER_SIGMAS else None

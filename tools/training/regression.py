"""Logistic regression with a Gaussian prior on each weight: what every score of a few features is fitted by."""

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array
from overruler.vision.learned.logits import sigmoid

STEPS, LARGEST_STEP, SETTLED = 100, 1.0, 1e-9
"""Of Newton's method: how many steps at most, by how much one changes a weight at most, and by how little the last."""
RIDGE = 0.5
"""How firmly weights are usually held to 0, on features as they are."""
HELD = 1e9
"""The stiffness of a weight that stays where it is."""
FREE = 1e-6
"""That of a constant of which nothing is known. It is no 0, so that there is always one solution."""


def logistic_regression(
    features: Array,
    truth: Array,
    stiff: ArrayLike,
    before: Array | None = None,
    counts: Array | float = 1.0,
) -> Array:
    """The likeliest weights (K,) of features (N, K) for truth (N,), 0 or 1, by Newton's method.

    `stiff` (K,) holds each weight to that of `before` (K,), or to 0: it is the inverse of a prior's variance. `counts`
    (N,) is how much each row counts.
    """
    held = np.asarray(stiff, float)
    prior = np.zeros(features.shape[1]) if before is None else before
    weights = prior.astype(float)
    for _ in range(STEPS):
        said = sigmoid(features @ weights)
        slope = features.T @ (counts * (truth - said)) - held * (weights - prior)
        curve = features.T @ (features * (counts * said * (1 - said))[:, None]) + np.diag(held)
        step = np.linalg.solve(curve, slope)
        weights = weights + step * min(1.0, LARGEST_STEP / max(np.abs(step).max(), FREE))
        if np.abs(step).max() < SETTLED:
            break
    return np.asarray(weights)


def ridge_regression(
    features: Array, truth: Array, ridge: float = RIDGE, counts: Array | float = 1.0
) -> Array:
    """The same with all weights held to 0 alike, but for that of the first feature, the constant."""
    stiff = np.full(features.shape[1], ridge)
    stiff[0] = FREE
    return logistic_regression(features, truth, stiff, counts=counts)

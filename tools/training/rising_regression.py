"""Logistic regression on features and their products, in which more evidence never counts against a thing.

The log odds are a quadratic form of the features. Such a form may fall where there are few examples, though it rises
among the others. So its slopes along features whose direction is known are held to that direction: a slope the wrong
way costs its square, on examples and on mixtures of them (a penalty method; the whole remains convex).
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.learned.products import with_products

PROBES = 3000
"""Examples at which slopes are looked at, and as many mixtures, each of whose features is of another example."""
FIRMNESS = 0.02
"""How much the squares of all wrong slopes cost, in the mean over probes, beside one example's log-likelihood."""
STEPS, LARGEST_STEP = 60, 2.0
"""Of Newton's method."""
SEED = 1


def rising_regression(
    features: Array, truth: Array, scales: Array, directions: Sequence[int], ridge: float
) -> Array:
    """The weights of `with_products(features, scales)`, held to 0 by a `ridge` but for the constant.

    `features` are (N, 1 + K), a constant first; `truth` (N,) is 0 or 1. `directions` (K,) tell which may only raise the
    odds (1) or lower them (-1), and of which nothing is known (0).
    """
    signs = with_products(features, scales)
    slopes = _slopes(_probes(features), scales, directions)
    firm = FIRMNESS * len(features) / max(len(slopes), 1)
    held = ridge * np.diag([0.0] + [1.0] * (signs.shape[1] - 1))
    weights = np.zeros(signs.shape[1])
    for _ in range(STEPS):
        said = 1 / (1 + np.exp(-(signs @ weights).clip(-30, 30)))
        wrong = slopes[slopes @ weights < 0]
        uphill = signs.T @ (truth - said) - held @ weights - firm * wrong.T @ (wrong @ weights)
        curve = (signs * (said * (1 - said))[:, None]).T @ signs + held + firm * wrong.T @ wrong
        step = np.linalg.solve(curve + 1e-6 * np.eye(len(weights)), uphill)
        weights = weights + step.clip(-LARGEST_STEP, LARGEST_STEP)
        if np.abs(step).max() < 1e-4:
            break
    return weights


def _probes(features: Array) -> Array:
    """Examples, and mixtures of them."""
    rng, count = np.random.default_rng(SEED), len(features)
    some = features[rng.choice(count, min(PROBES, count), replace=False)]
    mixed = [column[rng.integers(0, count, PROBES)] for column in features.T]
    return np.concatenate([some, np.column_stack(mixed)])


def _slopes(probes: Array, scales: Array, directions: Sequence[int]) -> Array:
    """Rows that lead weights to slopes of the log odds along one feature, in its direction and for one of its scale."""
    scaled = probes[:, 1:] / scales
    count = scaled.shape[1]
    first, second = np.triu_indices(count)
    rows = [np.empty((0, 1 + count + len(first)))]
    for k, direction in enumerate(directions):
        if not direction:
            continue
        by_products = scaled[:, second] * (first == k) + scaled[:, first] * (second == k)
        alone = np.zeros((len(probes), 1 + count))
        alone[:, 1 + k] = scales[k]
        rows.append(direction * np.column_stack([alone, by_products]))
    return np.concatenate(rows)

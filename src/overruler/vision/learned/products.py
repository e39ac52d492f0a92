"""Products of features: what a score needs where two features say more together than each by itself.

A logistic regression on features and their products is one on a quadratic form. A size that is a
little off, say, counts less for a base in contact with others of its unit.
"""

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array


def names_with_products(features: Sequence[str]) -> tuple[str, ...]:
    """Return the names of features, the constant first, and of the products of each two others."""
    factors = combinations_with_replacement(features[1:], 2)
    return (*features, *map("*".join, factors))


def with_products(features: Array, scales: ArrayLike) -> Array:
    """Return features (N, 1 + K) and the products of each two: (N, 1 + K + K (K + 1) / 2).

    The first feature is the constant. The factors of products are features by their `scales` (K,).
    """
    scaled = features[:, 1:] / np.asarray(scales, float)
    first, second = np.triu_indices(scaled.shape[1])
    return np.column_stack([features, scaled[:, first] * scaled[:, second]])

"""Gaussian uncertainty in arrays: repeatable normal draws, and covariances of differences."""

from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

DRAWS_IN_2D = 8192
"""Draws that give probabilities to 0.005 in up to 2 dimensions."""
DRAWS_IN_4D = 16384
"""Draws that do so in up to 4 dimensions."""
DRAWS_IN_MANY_DIMENSIONS = 65536
"""Draws that do so in more dimensions."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this share of the largest count as 0."""
MAX_ROW_KEY = 2**62
"""Largest number that stands for a row: an integer of 64 bits holds it."""
LATTICE_GENERATOR = (1, 182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199)
"""The generating vector of a lattice that fills a cube evenly, for counts that are powers of 2.

(Cools, Kuo and Nuyens, Constructing embedded lattice rules for multivariate integration, 2006: their
exod2 vector.)
"""


def fuse_measurements(
    mean: Array, covariance: Array, other_mean: Array, other_covariance: Array
) -> tuple[Array, Array]:
    """Combine two independent measurements (d,) with covariances (d, d) (Kalman's update, 1960)."""
    gain = covariance @ np.linalg.inv(covariance + other_covariance)
    remaining = (np.eye(len(mean)) - gain) @ covariance
    return mean + gain @ (other_mean - mean), np.asarray((remaining + remaining.T) / 2)


def difference_covariance(
    covariance: Array, pairs: Sequence[tuple[int | None, int | None]]
) -> Array:
    """Return the joint covariance (2m, 2m) of m differences, from that of N points (2N, 2N).

    A pair (i, j) stands for point j minus point i; None is an exact point. Shared errors cancel.
    """
    selection = np.zeros((2 * len(pairs), len(covariance)))
    for pair, (i, j) in enumerate(pairs):
        rows = slice(2 * pair, 2 * pair + 2)
        for index, sign in ((i, -1.0), (j, 1.0)):
            if index is not None:
                selection[rows, 2 * index : 2 * index + 2] += sign * np.eye(2)
    return np.asarray(selection @ covariance @ selection.T)


def draw_gaussian(covariance: Array, count: int | None = None) -> Array:
    """Return equally likely draws (n, d) from a Gaussian with mean 0 and a covariance (d, d).

    The covariance may be singular. `count` is a power of 2; None takes enough to give probabilities
    to 0.005.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * values.max(initial=0.0)
    root = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]  # the largest axis first
    rank = root.shape[1]
    if not count:
        few = DRAWS_IN_2D if rank <= 2 else DRAWS_IN_4D
        count = few if rank <= 4 else DRAWS_IN_MANY_DIMENSIONS
    return np.asarray(standard_normal_points(count, rank) @ root.T)


def standard_normal_points(count: int, dimension: int) -> Array:
    """Return equally likely standard normal points (count, dimension), the same at every call.

    `count` is a power of 2. The first axes are filled most evenly.
    """
    if dimension <= 2:
        return _sunflower_normal_points(count)[:, :dimension]
    return _lattice_normal_points(count, dimension)


def count_rows(rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.integer[Any]], NDArray[np.intp]]:
    """Return the different rows among rows (n, k) of small numbers, and how often each occurs."""
    base = int(rows.max() - rows.min()) + 1
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        if keys.max() >= MAX_ROW_KEY // base:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        keys = keys * base + (column - rows.min())
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return rows[first], counts


@lru_cache(maxsize=2)
def _sunflower_normal_points(count: int) -> Array:
    """Return evenly spread standard normal points (count, 2), which ascend in radius.

    Each is turned by the golden angle from the one before. (Vogel, A better way to construct the
    sunflower head, 1979.) 8192 of them give probabilities to 0.001.
    """
    rings = np.arange(count) + 0.5
    radius = np.sqrt(-2 * np.log1p(-rings / count))
    turn = rings * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1)


@lru_cache(maxsize=4)
def _normal_quantiles(count: int) -> Array:
    """Return the quantiles (count,) of the standard normal distribution at even steps."""
    return np.array([NormalDist().inv_cdf((k + 0.5) / count) for k in range(count)])


@lru_cache(maxsize=4)
def _lattice_normal_points(count: int, dimension: int) -> Array:
    """Return standard normal points (count, dimension) in a lattice's order.

    Every axis has the same quantiles. Axes beyond the lattice's own, which carry little uncertainty,
    are shuffled. Second moments are made exact.
    """
    quantiles = _normal_quantiles(count)
    random = np.random.default_rng(20240229)
    orders = [np.arange(count) * step % count for step in LATTICE_GENERATOR[:dimension]]
    orders += [random.permutation(count) for _ in range(dimension - len(orders))]
    points = quantiles[np.stack(orders, 1)]
    factor = np.linalg.cholesky(points.T @ points / count)
    return np.asarray(np.linalg.solve(factor, points.T).T)

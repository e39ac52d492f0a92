"""Gaussian doubt in arrays: normal draws that are the same every time, and the spread of differences."""

from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from overruler.geometry.pose import Array

DRAWS_IN_2D, DRAWS_IN_4D, DRAWS_IN_MANY_DIMENSIONS = 8192, 16384, 65536
"""Draws that give probabilities to 0.005 in up to 2 dimensions, in up to 4, and in more."""
LATTICE_GENERATOR = (1, 182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199)
"""The steps along each axis of a lattice that fills a cube evenly, for counts that are powers of 2.

(Cools, Kuo and Nuyens, Constructing embedded lattice rules for multivariate integration, 2006: their exod2 vector.)
"""


def fuse_measurements(
    mean: Array, covariance: Array, other: Array, its: Array
) -> tuple[Array, Array]:
    """What two independent measurements (d,) with their covariances (d, d) say together (Kalman's update, 1960)."""
    gain = covariance @ np.linalg.inv(covariance + its)
    left = (np.eye(len(mean)) - gain) @ covariance
    return mean + gain @ (other - mean), np.asarray((left + left.T) / 2)


def difference_covariance(
    covariance: Array, pairs: Sequence[tuple[int | None, int | None]]
) -> Array:
    """The joint covariance (2m, 2m) of m differences, each of a point less another, out of a joint one (2N, 2N).

    What both share cancels; None is a point that is exact.
    """
    pick = np.zeros((2 * len(pairs), len(covariance)))
    for row, (i, j) in enumerate(pairs):
        for index, sign in ((i, -1.0), (j, 1.0)):
            if index is not None:
                pick[2 * row : 2 * row + 2, 2 * index : 2 * index + 2] += sign * np.eye(2)
    return np.asarray(pick @ covariance @ pick.T)


def draw_gaussian(covariance: Array, count: int | None = None) -> Array:
    """Equally likely draws (n, d) from a Gaussian with mean 0 and this covariance (d, d), which may be singular.

    `count` is a power of 2; None for as many as give probabilities to 0.005.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * max(values[-1], 0.0)
    root = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]  # the axis with the most of it first
    rank = root.shape[1]
    enough = DRAWS_IN_2D if rank <= 2 else DRAWS_IN_4D if rank <= 4 else DRAWS_IN_MANY_DIMENSIONS
    standard = (
        _sunflower_normal_points(count or enough)[:, :rank]
        if rank <= 2
        else _lattice_normal_points(count or enough, rank)
    )
    return np.asarray(standard @ root.T)


@lru_cache(maxsize=2)
def _sunflower_normal_points(count: int) -> Array:
    """Standard normal points (count, 2), spread evenly: rings of equal weight, each turned by the golden angle.

    (Vogel, A better way to construct the sunflower head, 1979.) 8192 of them give probabilities to 0.001.
    """
    rings = np.arange(count) + 0.5
    radius = np.sqrt(-2 * np.log1p(-rings / count))
    turn = rings * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1)


@lru_cache(maxsize=4)
def _lattice_normal_points(count: int, dimension: int) -> Array:
    """Standard normal points (count, dimension): along every axis the same quantiles, in a lattice's order.

    Past the lattice's own axes, where little is left of the doubt, in a shuffled one; second moments made exact.
    """
    quantiles = np.array([NormalDist().inv_cdf((k + 0.5) / count) for k in range(count)])
    shuffled = np.random.default_rng(20240229)
    orders = [np.arange(count) * step % count for step in LATTICE_GENERATOR[:dimension]]
    orders += [shuffled.permutation(count) for _ in range(dimension - len(orders))]
    points = quantiles[np.stack(orders, 1)]
    moments = np.linalg.cholesky(points.T @ points / count)
    return np.asarray(np.linalg.solve(moments, points.T).T)

"""Gaussian doubt: normal draws that are the same every time, and the spread of differences."""

from functools import lru_cache

import numpy as np

from overruler.geometry.pose import Array

SIGMAS = 8.0
"""Nothing lies farther out: a Gaussian in the plane leaves exp(-32) = 1e-14 beyond."""


def difference(covariance: Array, i: int | None, j: int | None) -> Array:
    """The covariance (2, 2) of point j less point i, out of a joint one (2N, 2N); None for a point that is exact.

    What both share cancels.
    """
    pick = _picks([(i, j)], len(covariance))
    return np.asarray(pick @ covariance @ pick.T)


def differences(covariance: Array, pairs: list[tuple[int | None, int | None]]) -> Array:
    """The joint covariance (2m, 2m) of m differences, as `difference` is that of one."""
    pick = _picks(pairs, len(covariance))
    return np.asarray(pick @ covariance @ pick.T)


def _picks(pairs: list[tuple[int | None, int | None]], size: int) -> Array:
    """The matrix (2m, 2N) that takes points to differences."""
    matrix = np.zeros((2 * len(pairs), size))
    for row, (i, j) in enumerate(pairs):
        for index, sign in ((i, -1.0), (j, 1.0)):
            if index is not None:
                matrix[2 * row : 2 * row + 2, 2 * index : 2 * index + 2] += sign * np.eye(2)
    return matrix


def largest_sigma(covariance: Array) -> float:
    """The standard deviation along the axis with the most of it."""
    return float(np.sqrt(max(np.linalg.eigvalsh(covariance)[-1], 0.0)))


def draws(covariance: Array, count: int) -> Array:
    """Equally likely draws (about `count`, d) from a Gaussian with mean 0 and this covariance (d, d).

    It may be singular; where it spreads over a plane at most, 8192 draws are as good as any.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * max(values[-1], 0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    rank = root.shape[1]
    standard = _in_plane(min(count, 8192))[:, :rank] if rank <= 2 else _in_space(count, rank)
    return np.asarray(standard @ root.T)


@lru_cache(maxsize=2)
def _in_plane(count: int) -> Array:
    """Standard normal points (count, 2), spread evenly: rings of equal weight, each turned by the golden angle.

    (Vogel, A better way to construct the sunflower head, 1979.) 8192 of them give probabilities to 0.001.
    """
    rings = np.arange(count) + 0.5
    radius = np.sqrt(-2 * np.log1p(-rings / count))
    turn = rings * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1)


@lru_cache(maxsize=4)
def _in_space(count: int, dimension: int) -> Array:
    """Standard normal points (count, dimension), each with its opposite, their second moments made exact."""
    half = np.random.default_rng(20240229).standard_normal((count // 2, dimension))
    moments = np.linalg.cholesky(half.T @ half / len(half))
    half = np.linalg.solve(moments, half.T).T
    return np.concatenate([half, -half])

"""The joint covariance of points in the plane, without numpy: what a ruling on one pair of pieces needs of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Matrix2 = tuple[tuple[float, float], tuple[float, float]]

REACH_SIGMAS = 8.0
"""Nothing lies farther out: a Gaussian in the plane leaves exp(-32) = 1e-14 beyond."""
NUMPY_MIN_ROWS = 160
"""Rows from which numpy is worth its loading."""


@dataclass(frozen=True, eq=False)
class Covariance:
    """The covariance over (x, y) of N points, in mm²; what several points share is in it and cancels in a distance."""

    rows: Sequence[Sequence[float]]
    """2N rows of 2N numbers, symmetric and positive semi-definite."""
    rare_alternative: "RareAlternative | None" = None
    """What holds in its place if something is not as it was told; None where nothing is said of that."""

    @classmethod
    def of_blocks(cls, blocks: Sequence[Matrix2 | None]) -> "Covariance":
        """That of points which have nothing in common; None for a point that is exact."""
        rows = [[0.0] * (2 * len(blocks)) for _ in range(2 * len(blocks))]
        for index, block in enumerate(blocks):
            for axis in (0, 1):
                rows[2 * index + axis][2 * index : 2 * index + 2] = (
                    block[axis] if block else (0.0, 0.0)
                )
        return cls(rows)

    @cached_property
    def array(self) -> "Array":
        """The same as an array (2N, 2N)."""
        import numpy as np

        return np.array(self.rows, float).reshape(len(self.rows), len(self.rows))

    def cross_covariance(self, i: int, j: int) -> Matrix2:
        """The covariance between point i and point j."""
        first, second = self.rows[2 * i], self.rows[2 * i + 1]
        return (first[2 * j], first[2 * j + 1]), (second[2 * j], second[2 * j + 1])

    def of_difference(self, i: int | None, j: int | None) -> Matrix2:
        """The covariance of point j less point i; None for a point that is exact."""
        if i is None or j is None:
            index = i if j is None else j
            return (
                ((0.0, 0.0), (0.0, 0.0)) if index is None else self.cross_covariance(index, index)
            )
        (axx, axy), (_, ayy) = self.cross_covariance(i, i)
        (bxx, bxy), (_, byy) = self.cross_covariance(j, j)
        (cxx, cxy), (cyx, cyy) = self.cross_covariance(i, j)
        xy = axy + bxy - cxy - cyx
        return (axx + bxx - 2 * cxx, xy), (xy, ayy + byy - 2 * cyy)

    def max_relative_shift_mm(self, i: int | None, j: int | None) -> float:
        """Point j is never displaced farther than this against point i."""
        (xx, xy), (_, yy) = self.of_difference(i, j)
        largest = (xx + yy) / 2 + math.hypot((xx - yy) / 2, xy)
        return REACH_SIGMAS * math.sqrt(max(largest, 0.0))


@dataclass(frozen=True, eq=False)
class RareAlternative:
    """How sure points are where something is not as it was told: seldom so, and then far less sure.

    Together with what mostly holds this is a contaminated normal distribution (Tukey, A survey of sampling from
    contaminated distributions, 1960).
    """

    probability: float
    """How likely that is."""
    covariance: Covariance
    """Over the same points."""


def is_positive_semidefinite(rows: Sequence[Sequence[float]], slack: float) -> bool:
    """Whether no eigenvalue of a symmetric matrix lies below -slack: plus slack it has Cholesky's factors."""
    if len(rows) > NUMPY_MIN_ROWS:
        import numpy as np

        return bool(np.linalg.eigvalsh(np.array(rows, float)).min() >= -slack)
    factor: list[list[float]] = []
    for i, row in enumerate(rows):
        found: list[float] = []
        for above in factor:
            found.append((row[len(found)] - sum(map(mul, found, above))) / above[-1])
        pivot = row[i] + slack - sum(map(mul, found, found))
        if pivot <= 0:
            return False
        factor.append([*found, math.sqrt(pivot)])
    return True

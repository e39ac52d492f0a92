"""The joint covariance of points in the plane, without numpy: what a ruling on one pair needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Matrix2 = tuple[tuple[float, float], tuple[float, float]]
ZERO_MATRIX: Matrix2 = ((0.0, 0.0), (0.0, 0.0))

REACH_SIGMAS = 8.0
"""Largest displacement considered, in σ: a Gaussian in the plane leaves exp(-32) = 1e-14 beyond."""
NUMPY_MIN_ROWS = 160
"""Matrix size, in rows, from which importing numpy pays off."""


@dataclass(frozen=True, eq=False)
class Covariance:
    """The joint covariance over (x, y) of N points, in mm².

    It includes errors that several points share, which cancel in a distance.
    """

    rows: Sequence[Sequence[float]]
    """2N rows of 2N numbers, symmetric and positive semi-definite."""
    rare_alternative: "RareAlternative | None" = None
    """The covariance that holds in rare cases instead; None if no such case is known."""

    @classmethod
    def of_blocks(cls, blocks: Sequence[Matrix2 | None]) -> "Covariance":
        """Build the covariance of independent points from their blocks; None marks an exact point."""
        size = 2 * len(blocks)
        rows = [[0.0] * size for _ in range(size)]
        for index, block in enumerate(blocks):
            first = 2 * index
            for axis, values in enumerate(block or ZERO_MATRIX):
                rows[first + axis][first : first + 2] = values
        return cls(rows)

    @cached_property
    def array(self) -> "Array":
        """The rows as an array (2N, 2N)."""
        import numpy as np

        size = len(self.rows)
        return np.array(self.rows, float).reshape(size, size)

    def cross_covariance(self, i: int, j: int) -> Matrix2:
        """Return the covariance between point i and point j."""
        x_row = self.rows[2 * i]
        y_row = self.rows[2 * i + 1]
        x, y = 2 * j, 2 * j + 1
        return (x_row[x], x_row[y]), (y_row[x], y_row[y])

    def of_points(self, indices: Sequence[int]) -> "Covariance":
        """Return the covariance of some of the points, in this order."""
        columns = [2 * index + axis for index in indices for axis in (0, 1)]
        rows = [[self.rows[row][column] for column in columns] for row in columns]
        rare = self.rare_alternative
        if rare is not None:
            rare = RareAlternative(rare.probability, rare.covariance.of_points(indices))
        return Covariance(rows, rare)

    def of_difference(self, i: int | None, j: int | None) -> Matrix2:
        """Return the covariance of point j minus point i; None stands for an exact point."""
        if i is None and j is None:
            return ZERO_MATRIX
        if i is None or j is None:
            index = i if j is None else j
            assert index is not None
            return self.cross_covariance(index, index)
        (axx, axy), (_, ayy) = self.cross_covariance(i, i)
        (bxx, bxy), (_, byy) = self.cross_covariance(j, j)
        (cxx, cxy), (cyx, cyy) = self.cross_covariance(i, j)
        xx = axx + bxx - 2 * cxx
        xy = axy + bxy - cxy - cyx
        yy = ayy + byy - 2 * cyy
        return (xx, xy), (xy, yy)

    def max_relative_shift_mm(self, i: int | None, j: int | None) -> float:
        """Return the largest displacement of point j relative to point i that is considered."""
        (xx, xy), (_, yy) = self.of_difference(i, j)
        mean = (xx + yy) / 2
        largest = mean + math.hypot((xx - yy) / 2, xy)
        return REACH_SIGMAS * math.sqrt(max(largest, 0.0))


@dataclass(frozen=True, eq=False)
class RareAlternative:
    """The covariance in the rare case that an input is not as specified, which is far wider.

    Together with the usual covariance it forms a contaminated normal distribution (Tukey, A survey
    of sampling from contaminated distributions, 1960).
    """

    probability: float
    """Probability of the rare case."""
    covariance: Covariance
    """Covariance over the same points."""


def mean_sigma(block: Matrix2) -> float:
    """1 σ of a point with this covariance, root mean square over all directions."""
    (xx, _), (_, yy) = block
    return math.sqrt((xx + yy) / 2)


def is_positive_semidefinite(rows: Sequence[Sequence[float]], slack: float) -> bool:
    """Tell whether a symmetric matrix has no eigenvalue below -slack.

    A small matrix is tested by Cholesky's factorisation of itself plus slack on the diagonal.
    """
    if len(rows) > NUMPY_MIN_ROWS:
        import numpy as np

        eigenvalues = np.linalg.eigvalsh(np.array(rows, float))
        return bool(eigenvalues.min() >= -slack)
    factor: list[list[float]] = []
    for i, row in enumerate(rows):
        new_row: list[float] = []
        for above in factor:
            residual = row[len(new_row)] - sum(map(mul, new_row, above))
            new_row.append(residual / above[-1])
        pivot = row[i] + slack - sum(map(mul, new_row, new_row))
        if pivot <= 0:
            return False
        factor.append([*new_row, math.sqrt(pivot)])
    return True

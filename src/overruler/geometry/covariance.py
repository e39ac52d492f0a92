"""The joint covariance of points in the plane, without numpy: what a ruling on one pair needs.

Below it the readers of covariances in files: a piece's own, and the joint one of a scene.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from operator import mul
from typing import TYPE_CHECKING, Any

from overruler.errors import UnknownName
from overruler.reading import MAX_LENGTH_MM, Node

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Matrix2 = tuple[tuple[float, float], tuple[float, float]]
ZERO_MATRIX: Matrix2 = ((0.0, 0.0), (0.0, 0.0))

REACH_SIGMAS = 8.0
"""Largest displacement considered, in σ: a Gaussian in the plane leaves exp(-32) = 1e-14 beyond."""
NUMPY_MIN_ROWS = 160
"""Matrix size, in rows, from which importing numpy pays off."""
ROUNDING_SHARE = 1e-6
"""Largest asymmetry and negative eigenvalue of a covariance, as a share of its largest value: what one
written with few digits needs."""


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


# --- files ---


def read_own_covariance(node: Node) -> Matrix2:
    """Read the covariance (2, 2) of a position."""
    (xx, xy), (yx, yy) = node.matrix(2, 2)
    largest = max(abs(xx), abs(yy), abs(xy), abs(yx))
    if largest > MAX_LENGTH_MM**2:
        node.fail(f"holds more than {MAX_LENGTH_MM**2:g} mm²")
    tolerance = ROUNDING_SHARE * largest
    if abs(xy - yx) > tolerance:
        node.fail("is not symmetric")
    smallest_eigenvalue = (xx + yy) / 2 - math.hypot((xx - yy) / 2, xy)
    if smallest_eigenvalue < -tolerance:
        node.fail("is not positive semi-definite")
    return (xx, xy), (yx, yy)


def covariance_json(covariance: Covariance) -> dict[str, Any]:
    """A joint covariance as files have it, without the order of the pieces."""
    known: dict[str, Any] = {"mm2": [list(row) for row in covariance.rows]}
    alternative = covariance.rare_alternative
    if alternative is not None:
        inner = covariance_json(alternative.covariance)
        known["otherwise"] = {"probability": alternative.probability, **inner}
    return known


def read_joint_covariance(
    node: Node, ids: Sequence[str], own: Sequence[Matrix2 | None]
) -> Covariance:
    """Read the covariance of pieces by their ids; those that the file does not name keep their `own`."""
    order = _read_order(node["order"], ids)
    usual = Covariance(_read_full_rows(node["mm2"], order, own))
    if not node.has("otherwise"):
        return usual
    inner = node["otherwise"]
    probability = inner["probability"].number()
    if not 0 <= probability <= 1:
        inner["probability"].fail(f"must lie between 0 and 1, is {probability:g}")
    rare = Covariance(_read_full_rows(inner["mm2"], order, own))
    return replace(usual, rare_alternative=RareAlternative(probability, rare))


def _read_full_rows(
    node: Node, order: Sequence[int], own: Sequence[Matrix2 | None]
) -> list[list[float]]:
    """Read a covariance of the pieces in `order`, and return the rows of all pieces.

    A piece that it names is not correlated with one that it does not.
    """
    given = read_covariance_rows(node, 2 * len(order))
    rows = [list(row) for row in Covariance.of_blocks(own).rows]
    columns = [2 * index + axis for index in order for axis in (0, 1)]
    for row, values in zip(columns, given, strict=True):
        rows[row] = [0.0] * len(rows)
        for column, value in zip(columns, values, strict=True):
            rows[row][column] = value
    return rows


def _read_order(node: Node, ids: Sequence[str]) -> list[int]:
    order: list[int] = []
    for item in node.items():
        name = item.text()
        if name not in ids:
            raise UnknownName(f"{item.name}: {item.path}", name, ids)
        if ids.index(name) in order:
            item.fail(f"repeats {name!r}")
        order.append(ids.index(name))
    return order


def read_covariance_rows(node: Node, size: int) -> list[list[float]]:
    """Read a covariance (size, size)."""
    rows = [_as_list(item.value) for item in node.items()]
    if len(rows) != size or not all(_is_finite_row(row, size) for row in rows):
        node.matrix(size, size)  # names what is wrong
    largest = max((abs(value) for row in rows for value in row), default=0)
    if largest > MAX_LENGTH_MM**2:
        node.fail(f"holds more than {MAX_LENGTH_MM**2:g} mm²")
    tolerance = ROUNDING_SHARE * largest
    if any(abs(rows[i][j] - rows[j][i]) > tolerance for i, j in combinations(range(size), 2)):
        node.fail("is not symmetric")
    if largest and not is_positive_semidefinite(rows, tolerance):
        node.fail("is not positive semi-definite")
    return rows


def _is_finite_row(row: Any, size: int) -> bool:
    """Whether a row holds finite numbers; `bool` is not a number. Faster than `Node.vector`."""
    if not isinstance(row, list) or len(row) != size or not {*map(type, row)} <= {int, float}:
        return False
    return all(-math.inf < value < math.inf for value in row)


def _as_list(row: Any) -> Any:
    return list(row) if isinstance(row, tuple) else row

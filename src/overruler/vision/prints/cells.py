"""The cells of a grid that is printed on the mat: how they repeat, and whether two photos tell of one grid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.pose import Array

MOST_GRIDS = 3
"""A paved mat may have a grid, too."""
WHOLE_STEP = 0.08
"""Largest distance from a whole step."""
SLANT = np.sqrt(3) / 2
"""Distance of two rows of hexes, in widths; of squares more."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a printed grid."""

    basis_mm: Array
    """(2, 2): from the middle of a cell to those of two neighbours."""
    relief: int = 0
    """Which relief shows them most clearly."""
    is_faint: bool = False
    """Whether chance may have made them."""

    @property
    def width_mm(self) -> float:
        """Distance of the middles of two neighbours."""
        return float(np.hypot(*self.basis_mm[0]))

    def is_every_so_many_of(self, other: "Cells") -> bool:
        """Whether its steps are whole steps of another grid."""
        return bool(np.abs(other._off_whole_steps(self.basis_mm)).max() < WHOLE_STEP)

    def repeats_within(self, other: "Cells") -> bool:
        """Whether the steps of one of the two are whole steps of the other: both tell of one print."""
        return self.is_every_so_many_of(other) or other.is_every_so_many_of(self)

    def is_same_as(self, other: "Cells") -> bool:
        """Whether both repeat alike."""
        return self.is_every_so_many_of(other) and other.is_every_so_many_of(self)

    def off_whole_steps_mm(self, ways_mm: Array) -> Array:
        """Return how far (...) ways (..., 2) are from the nearest whole steps."""
        return np.asarray(np.linalg.norm(self._off_whole_steps(ways_mm) @ self.basis_mm, axis=-1))

    def _off_whole_steps(self, ways_mm: Array) -> Array:
        """Return what ways (..., 2) are beyond the nearest whole steps, in steps."""
        steps = ways_mm @ np.linalg.inv(self.basis_mm)
        return np.asarray(steps - np.rint(steps))

    def nearest_steps(self, count: int) -> Array:
        """Return the steps (N, 2) in mm to so many other cells."""
        steps = lattice(np.sqrt(count)) @ self.basis_mm
        return np.asarray(steps[np.argsort(np.hypot(*steps.T))[:count]])


def common_cells(of_each: Sequence[Sequence[Cells]]) -> list[Cells]:
    """Return the cells of one mat by what each photo of it shows, those that most of them show first, none faint.

    Chance does not make the same faint cells twice.
    """
    every = [cells for found in of_each for cells in found]
    seen = [[one for one in every if one.is_same_as(cells)] for cells in every]
    clear = [sum(not one.is_faint for one in same) for same in seen]
    told: list[Cells] = []
    for k in sorted(
        range(len(every)),
        key=lambda k: (clear[k], len(seen[k]), not every[k].is_faint),
        reverse=True,
    ):
        is_told = any(every[k].repeats_within(one) for one in told)
        if not is_told and (clear[k] or len(seen[k]) > 1):
            told.append(replace(every[k], is_faint=False))
    return told[:MOST_GRIDS]


def lattice(reach: float) -> Array:
    """Return pairs (N, 2) of whole steps but (0, 0), with all that lead no farther than `reach`, in widths."""
    far = int(np.ceil(reach / SLANT))
    pairs = np.stack(np.meshgrid(*[np.arange(-far, far + 1)] * 2), -1).reshape(-1, 2)
    return np.asarray(pairs[pairs.any(1)], float)

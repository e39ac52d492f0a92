"""Hexes in axial coordinates: the hex of a point, its distance from each border, steps between two.

In a grid with corners on top, hex (q, r) has its centre at x = size·√3·(q + r/2), y = size·3/2·r.
With sides on top it is at x = size·3/2·q, y = size·√3·(r + q/2). Both are relative to the centre of
hex (0, 0), with y up; size is centre to corner. With -q - r as a third coordinate, hexes are cubes
on a diagonal plane, on which distance and rounding rest. (Patel, Hexagonal Grids,
redblobgames.com, 2013.) Lengths are millimetres. Pure Python, except for `hexes_at`.
"""

from dataclasses import dataclass
from math import hypot, sqrt
from typing import TYPE_CHECKING, TypeVar

from overruler.geometry.shapes import Point

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Hex = tuple[int, int]
"""Axial coordinates (q, r)."""
N = TypeVar("N", float, "Array")
"""A number or an array of numbers."""

LEAN = 1e-6
"""How far a line of hexes leans off the borders that it runs along, as a share of a hex."""
NEIGHBOURS: tuple[Hex, ...] = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
"""Offsets to the six neighbours of a hex, counter-clockwise."""


@dataclass(frozen=True, slots=True)
class HexGrid:
    """A plane of hexes."""

    pointy: bool
    """Whether a corner points up; otherwise a side is on top."""
    size_mm: float
    """Centre to corner, which is also the length of a side."""
    origin_mm: Point = (0.0, 0.0)
    """The centre of hex (0, 0)."""

    def center(self, hexagon: Hex) -> Point:
        """Return the centre of a hex."""
        x, y = self._center_offset(*hexagon)
        origin_x, origin_y = self.origin_mm
        return origin_x + x, origin_y + y

    def hex_at(self, point: Point) -> Hex:
        """Return the hex that a point lies in; on a border, either of the two."""
        x = point[0] - self.origin_mm[0]
        y = point[1] - self.origin_mm[1]
        return round_axial(*self._axial_coordinates(x, y))

    def neighbour_distances_mm(self, point: Point) -> dict[Hex, float]:
        """Return how far a point lies from each neighbour of its hex: from the side they share."""
        q, r = hexagon = self.hex_at(point)
        center_x, center_y = self.center(hexagon)
        x = point[0] - center_x
        y = point[1] - center_y
        return {(q + dq, r + dr): self._distance_to_side(x, y, dq, dr) for dq, dr in NEIGHBOURS}

    def _distance_to_side(self, x: float, y: float, dq: int, dr: int) -> float:
        """Return the distance of a point (x, y), from the hex's centre, to one of its sides."""
        width = self.size_mm * sqrt(3)
        nx, ny = (part / width for part in self._center_offset(dq, dr))
        ahead = width / 2 - (x * nx + y * ny)
        aside = max(abs(y * nx - x * ny) - self.size_mm / 2, 0.0)
        return hypot(ahead, aside)

    def _center_offset(self, q: float, r: float) -> Point:
        """Return a hex's centre relative to that of hex (0, 0)."""
        wide = self.size_mm * sqrt(3)
        high = self.size_mm * 1.5
        if self.pointy:
            return wide * (q + r / 2), high * r
        return high * q, wide * (r + q / 2)

    def _axial_coordinates(self, x: N, y: N) -> tuple[N, N]:
        """Return the fractional axial coordinates of a place relative to the origin."""
        wide = self.size_mm * sqrt(3)
        high = self.size_mm * 1.5
        if self.pointy:
            return x / wide - y / high / 2, y / high
        return x / high, y / wide - x / high / 2

    def hexes_at(self, xy_mm: "Array") -> "Array":
        """Return the hexes (n, 2), integers, that points (n, 2) lie in."""
        import numpy as np

        x, y = (np.asarray(xy_mm, float) - self.origin_mm).T
        return _round_axial_all(np.stack(self._axial_coordinates(x, y)))


def round_axial(q: float, r: float) -> Hex:
    """Return the hex nearest to fractional axial coordinates.

    Of the three cube coordinates, the one rounded most is corrected so that they sum to 0.
    """
    exact = (q, r, -q - r)
    whole = [round(value) for value in exact]
    errors = [abs(value - near) for value, near in zip(exact, whole, strict=True)]
    whole[errors.index(max(errors))] -= sum(whole)
    return whole[0], whole[1]


def _round_axial_all(axial: "Array") -> "Array":
    """Do what `round_axial` does for axial coordinates (2, n)."""
    import numpy as np

    exact = np.stack([*axial, -axial[0] - axial[1]])
    whole = np.rint(exact)
    worst = np.abs(exact - whole).argmax(0)
    whole[worst, np.arange(len(worst))] -= whole.sum(0)
    return np.asarray(whole[:2].T.astype(int))


def hex_distance(a: Hex, b: Hex) -> int:
    """Return how many steps apart two hexes are: 1 for neighbours."""
    dq = b[0] - a[0]
    dr = b[1] - a[1]
    return max(abs(dq), abs(dr), abs(dq + dr))


def hexes_between(a: Hex, b: Hex) -> list[Hex]:
    """Return the hexes along the straight line from one to another, both ends included.

    Points are spaced evenly along the line between the two centres. Where a point lies on a border,
    the line leans to the side of the larger q, then of the larger r. (Patel, 2013.)
    """
    count = hex_distance(a, b)
    line = []
    for step in range(count + 1):
        share = step / count if count else 0.0
        q = a[0] + (b[0] - a[0]) * share
        r = a[1] + (b[1] - a[1]) * share
        line.append(round_axial(q + LEAN, r + LEAN / 2))
    return line

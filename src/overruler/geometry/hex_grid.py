"""Hexes in axial coordinates: which one a point lies in, how far it is from each border, how many steps apart two are.

Hex (q, r) of a grid with corners on top has its centre at x = size·√3·(q + r/2), y = size·3/2·r; one with sides on
top at x = size·3/2·q, y = size·√3·(r + q/2); both from the centre of hex (0, 0), y up, and size is centre to corner.
With -q - r as the third, the coordinates are those of cubes on a diagonal plane, which steps and rounding go by.
(Patel, Hexagonal Grids, redblobgames.com, 2013.) Lengths are millimetres. Pure Python, but for `hexes_at`.
"""

from dataclasses import dataclass
from math import hypot, sqrt
from typing import TYPE_CHECKING, TypeVar

from overruler.geometry.shapes import Point

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Hex = tuple[int, int]
N = TypeVar("N", float, "Array")
"""A number, or many of them in an array."""

NEIGHBOURS: tuple[Hex, ...] = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
"""What to add for the six hexes round one, counter-clockwise."""


@dataclass(frozen=True, slots=True)
class HexGrid:
    """A plane of hexes."""

    pointy: bool
    """Whether a corner points up; else a side is on top."""
    size_mm: float
    """Centre to corner, and also the length of a side."""
    origin_mm: Point = (0.0, 0.0)
    """The centre of hex (0, 0)."""

    def center(self, hexagon: Hex) -> Point:
        """The centre of a hex."""
        x, y = self._center_offset(*hexagon)
        return self.origin_mm[0] + x, self.origin_mm[1] + y

    def hex_at(self, point: Point) -> Hex:
        """The hex that a point lies in: the one with the nearest centre; on a border either of the two."""
        return round_axial(
            *self._axial_coordinates(point[0] - self.origin_mm[0], point[1] - self.origin_mm[1])
        )

    def neighbour_distances_mm(self, point: Point) -> dict[Hex, float]:
        """How far a point lies from each of the six hexes round its own: from the side that they share."""
        q, r = hexagon = self.hex_at(point)
        x, y = self.center(hexagon)
        return {
            (q + dq, r + dr): self._distance_to_side(point[0] - x, point[1] - y, dq, dr)
            for dq, dr in NEIGHBOURS
        }

    def _distance_to_side(self, x: float, y: float, dq: int, dr: int) -> float:
        """The distance of a point (x, y) from the hex's centre to its side towards a neighbour."""
        width = self.size_mm * sqrt(3)
        nx, ny = (part / width for part in self._center_offset(dq, dr))
        return hypot(
            width / 2 - (x * nx + y * ny), max(abs(y * nx - x * ny) - self.size_mm / 2, 0.0)
        )

    def _center_offset(self, q: float, r: float) -> Point:
        wide, high = self.size_mm * sqrt(3), self.size_mm * 1.5
        return (wide * (q + r / 2), high * r) if self.pointy else (high * q, wide * (r + q / 2))

    def _axial_coordinates(self, x: N, y: N) -> tuple[N, N]:
        """The axial coordinates of a place from the origin, fractions and all."""
        wide, high = self.size_mm * sqrt(3), self.size_mm * 1.5
        return (
            (x / wide - y / high / 2, y / high)
            if self.pointy
            else (x / high, y / wide - x / high / 2)
        )

    def hexes_at(self, xy_mm: "Array") -> "Array":
        """The hexes (n, 2), whole numbers, that points (n, 2) lie in."""
        import numpy as np

        x, y = (np.asarray(xy_mm, float) - self.origin_mm).T
        return _round_axial_all(np.stack(self._axial_coordinates(x, y)))


def round_axial(q: float, r: float) -> Hex:
    """The hex nearest to fractional axial coordinates: of the three, the one that is rounded most gives way."""
    exact = (q, r, -q - r)
    whole = [round(value) for value in exact]
    off = [abs(value - near) for value, near in zip(exact, whole, strict=True)]
    worst = off.index(max(off))
    whole[worst] -= sum(whole)
    return whole[0], whole[1]


def _round_axial_all(axial: "Array") -> "Array":
    """As `round_axial`, for axial coordinates (2, n)."""
    import numpy as np

    exact = np.stack([*axial, -axial[0] - axial[1]])
    whole = np.rint(exact)
    worst = np.abs(exact - whole).argmax(0)
    whole[worst, np.arange(len(worst))] -= whole.sum(0)
    return np.asarray(whole[:2].T.astype(int))


def hex_distance(a: Hex, b: Hex) -> int:
    """How many hexes `b` is from `a`: 1 for neighbours."""
    dq, dr = b[0] - a[0], b[1] - a[1]
    return max(abs(dq), abs(dr), abs(dq + dr))

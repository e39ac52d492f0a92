"""Discs, ovals and rectangles by columns, and the directions that separate pairs of them best.

Alphabet: n shapes or m pairs; every array is (n,) or (m,) unless stated otherwise. Lengths are in mm.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.all_pairs import rectangle_row
from overruler.geometry.batched.vectors import SMALLEST_DIVISOR, Mask
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Shape

BISECTIONS = 24
"""Halvings of half a turn: a direction to 2e-7 rad, which changes no σ by 1e-6 of it."""
MIN_REACH_MM = 1e-90
"""Stands in for the reach of a point, whose third power is divided by."""
UNKNOWN_ROW = (math.nan,) * 6
"""The columns of a polygon that is no rectangle."""


class SupportColumns(NamedTuple):
    """Shapes whose support points are known in closed form."""

    x: Array
    y: Array
    """The centres."""
    half_length: Array
    half_width: Array
    """Half the size along the heading and across it; the radius of a disc for both."""
    cos: Array
    sin: Array
    """The cosine and sine of the heading."""
    is_box: Mask
    """Whether a shape is a rectangle; else it is an ellipse."""

    @classmethod
    def of(cls, shapes: Sequence[Shape]) -> "SupportColumns":
        """Return the columns of shapes; those of a polygon that is no rectangle are NaN."""
        columns = np.array([_support_row(shape) for shape in shapes]).reshape(-1, 6).T
        round_shapes = [isinstance(shape, Disc | Ellipse) for shape in shapes]
        x, y, half_length, half_width, cos, sin = columns
        is_box = ~np.array(round_shapes, bool)
        return cls(x, y, half_length, half_width, cos, sin, is_box)

    @property
    def is_known(self) -> Mask:
        """Return which shapes have columns."""
        return np.isfinite(self.x)

    @property
    def is_disc(self) -> Mask:
        """Return which shapes are discs."""
        return np.asarray(~self.is_box & (self.half_length == self.half_width))

    def select_rows(self, index: NDArray[Any]) -> "SupportColumns":
        return SupportColumns(*(column[index] for column in self))

    def support_points(self, ux: Array, uy: Array) -> tuple[Array, Array]:
        """Return the points farthest in unit directions."""
        along, across = self._local_direction(ux, uy)
        p, q = self.half_length * along, self.half_width * across
        reach = np.maximum(np.sqrt(p * p + q * q), SMALLEST_DIVISOR)
        local_x = self.half_length * p / reach
        local_y = self.half_width * q / reach
        if self.is_box.any():
            local_x = np.where(self.is_box, np.copysign(self.half_length, along), local_x)
            local_y = np.where(self.is_box, np.copysign(self.half_width, across), local_y)
        x = self.x + local_x * self.cos - local_y * self.sin
        return x, self.y + local_x * self.sin + local_y * self.cos

    def curvature_radii(self, ux: Array, uy: Array) -> Array:
        """Return the radii of curvature at the support points in unit directions; 0 of a rectangle."""
        along, across = self._local_direction(ux, uy)
        p, q = self.half_length * along, self.half_width * across
        reach = np.maximum(np.sqrt(p * p + q * q), MIN_REACH_MM)
        radius = (self.half_length * self.half_width) ** 2 / (reach * reach * reach)
        return np.where(self.is_box, 0.0, radius)

    def _local_direction(self, ux: Array, uy: Array) -> tuple[Array, Array]:
        """Return directions in the shapes' frames: along the heading, and left of it."""
        return ux * self.cos + uy * self.sin, uy * self.cos - ux * self.sin


def _support_row(shape: Shape) -> tuple[float, ...]:
    if isinstance(shape, Disc):
        return (*shape.center, shape.radius_mm, shape.radius_mm, 1.0, 0.0)
    if isinstance(shape, Ellipse):
        turn = math.radians(shape.heading_deg)
        size = (shape.length_mm / 2, shape.width_mm / 2)
        return (*shape.center, *size, math.cos(turn), math.sin(turn))
    return rectangle_row(shape) or UNKNOWN_ROW


def separating_directions(a: SupportColumns, b: SupportColumns) -> tuple[Array, Array]:
    """Return the unit directions from a to b along their gaps, by the bracket of `shapes.gap`.

    A pair that overlaps has any direction.
    """
    dx, dy = b.x - a.x, b.y - a.y
    size = np.maximum(np.hypot(dx, dy), SMALLEST_DIVISOR)
    ux, uy = dx / size, dy / size
    rows = np.flatnonzero(~(a.is_disc & b.is_disc))
    if len(rows):
        parts = a.select_rows(rows), b.select_rows(rows)
        ux[rows], uy[rows] = _bisected_directions(*parts, ux[rows], uy[rows])
    return ux, uy


def _bisected_directions(
    a: SupportColumns, b: SupportColumns, ux: Array, uy: Array
) -> tuple[Array, Array]:
    turn = np.pi / 2
    for _ in range(BISECTIONS):
        ax, ay = a.support_points(ux, uy)
        bx, by = b.support_points(-ux, -uy)
        turn /= 2
        sine = np.copysign(math.sin(turn), (by - ay) * ux - (bx - ax) * uy)
        cosine = math.cos(turn)
        ux, uy = ux * cosine - uy * sine, uy * cosine + ux * sine
    return ux, uy

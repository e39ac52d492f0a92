"""Exact convex shapes: no circle is ever a polygon. See `geometry.shapes`.

Lengths are millimetres in the board frame. Pure Python.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

Point = tuple[float, float]

SIDES_PER_ROUNDED_CORNER = 4
"""Number of sides that stand for a rounded corner."""
SIDES_PER_ROUND_END = 64
"""Number of sides that stand for half a circle, a stadium's end.

They stay within 0.00016 of its radius, 2 µm on a bike's base."""


@dataclass(frozen=True, slots=True)
class Disc:
    """All points within `radius_mm` of a centre; a radius of 0 is a single point."""

    center: Point
    radius_mm: float = 0.0

    @property
    def bounding_radius_mm(self) -> float:
        """The radius of a circle about the centre that holds the shape."""
        return self.radius_mm

    @property
    def edge_normal_angles(self) -> tuple[float, ...]:
        """The directions in which the support point jumps."""
        return ()

    def support_point(self, ux: float, uy: float) -> Point:
        """Return the point farthest in the unit direction (ux, uy)."""
        return self.center[0] + self.radius_mm * ux, self.center[1] + self.radius_mm * uy

    def support_points(self, directions: "Array") -> "Array":
        """Return the points (..., 2) farthest in unit directions (..., 2)."""
        return directions * self.radius_mm + self.center


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse: `length_mm` along its heading, `width_mm` across it."""

    center: Point
    length_mm: float
    width_mm: float
    heading_deg: float = 0.0
    matrix: tuple[float, float, float] = field(init=False, repr=False, compare=False)
    """xx, xy, yy of Q = R diag(a², b²) Rᵀ; the support point in u is centre + Q u / √(uᵀ Q u)."""
    ahead: Point = field(init=False, repr=False, compare=False)
    """The unit vector of its heading."""

    def __post_init__(self) -> None:
        turn = math.radians(self.heading_deg)
        c, s = math.cos(turn), math.sin(turn)
        object.__setattr__(self, "ahead", (c, s))
        a2 = (self.length_mm / 2) ** 2
        b2 = (self.width_mm / 2) ** 2
        xx = a2 * c * c + b2 * s * s
        yy = a2 * s * s + b2 * c * c
        xy = (a2 - b2) * c * s
        object.__setattr__(self, "matrix", (xx, xy, yy))

    @property
    def bounding_radius_mm(self) -> float:
        return max(self.length_mm, self.width_mm) / 2

    @property
    def edge_normal_angles(self) -> tuple[float, ...]:
        return ()

    def support_point(self, ux: float, uy: float) -> Point:
        # Along its axes: by the matrix, rounding outweighs the width of an oval like a needle.
        c, s = self.ahead
        along = self.length_mm / 2 * (c * ux + s * uy)
        across = self.width_mm / 2 * (c * uy - s * ux)
        size = math.hypot(along, across)
        if not size:
            return self.center
        along *= self.length_mm / 2 / size
        across *= self.width_mm / 2 / size
        return self.center[0] + c * along - s * across, self.center[1] + s * along + c * across

    def support_points(self, directions: "Array") -> "Array":
        import numpy as np

        c, s = self.ahead
        half = np.array([self.length_mm, self.width_mm]) / 2
        turn = np.array([[c, -s], [s, c]])
        local = directions @ turn * half
        size = np.hypot(local[..., :1], local[..., 1:])
        local *= half / np.where(size > 0, size, 1.0)
        return np.asarray(local @ turn.T + self.center)


@dataclass(frozen=True, slots=True)
class Polygon:
    """A convex polygon."""

    corners: tuple[Point, ...]
    """Counter-clockwise."""
    center: Point = field(init=False, compare=False)
    """The mean of its corners, a point inside."""

    def __post_init__(self) -> None:
        xs, ys = zip(*self.corners, strict=True)
        object.__setattr__(self, "center", (sum(xs) / len(xs), sum(ys) / len(ys)))

    @property
    def bounding_radius_mm(self) -> float:
        return max(math.dist(self.center, corner) for corner in self.corners)

    @property
    def edge_normal_angles(self) -> tuple[float, ...]:
        sides = zip(self.corners, self.corners[1:] + self.corners[:1], strict=True)
        return tuple(math.atan2(ax - bx, by - ay) for (ax, ay), (bx, by) in sides)

    def support_point(self, ux: float, uy: float) -> Point:
        return max(self.corners, key=lambda corner: corner[0] * ux + corner[1] * uy)

    def support_points(self, directions: "Array") -> "Array":
        import numpy as np

        corners = np.array(self.corners)
        return np.asarray(corners[(directions @ corners.T).argmax(-1)])


Shape = Disc | Ellipse | Polygon


class ConvexShape(Protocol):
    """A shape known by its support points: a `Shape`, or a hull of several."""

    @property
    def center(self) -> Point: ...
    @property
    def edge_normal_angles(self) -> tuple[float, ...]: ...
    def support_point(self, ux: float, uy: float) -> Point: ...


def shape_of_kind(
    kind: str,
    center: Point,
    length_mm: float,
    width_mm: float,
    heading_deg: float = 0.0,
    corner_radius_mm: float = 0.0,
) -> Shape:
    """Return the outline of a base: `circle`, `oval`, `stadium`, `hexagon` or `rectangle`."""
    if kind == "circle":
        return Disc(center, width_mm / 2)
    if kind == "oval":
        return Ellipse(center, length_mm, width_mm, heading_deg)
    if kind == "stadium":
        return stadium(center, length_mm, width_mm, heading_deg)
    if kind == "hexagon":
        return hexagon(center, width_mm, heading_deg)
    return rectangle(center, length_mm, width_mm, heading_deg, corner_radius_mm)


def hexagon(center: Point, width_mm: float, heading_deg: float = 0.0) -> Polygon:
    """Return a regular hexagon, so wide from side to side, with a corner along the heading."""
    radius_mm = width_mm / 3**0.5
    points = [(radius_mm * math.cos(k), radius_mm * math.sin(k)) for k in _turns(6)]
    return _place_polygon(points, center, heading_deg)


def stadium(center: Point, length_mm: float, width_mm: float, heading_deg: float = 0.0) -> Polygon:
    """Return a rectangle with half circles for ends, its length along the heading.

    The corners lie as far outside of the circles as the sides' middles lie inside.
    """
    bow = math.cos(math.pi / 2 / SIDES_PER_ROUND_END)
    radius_mm = width_mm / (1 + bow)
    reach_mm = (length_mm - width_mm) / 2
    points = []
    for end in (1, -1):
        for k in range(SIDES_PER_ROUND_END + 1):
            turn = math.pi * (k / SIDES_PER_ROUND_END - 0.5)
            x, y = reach_mm + radius_mm * math.cos(turn), radius_mm * math.sin(turn)
            points.append((end * x, end * y))
    return _place_polygon(points, center, heading_deg)


def _turns(count: int) -> list[float]:
    """Return so many directions, evenly round."""
    return [math.tau * k / count for k in range(count)]


def _place_polygon(points: Sequence[Point], center: Point, heading_deg: float) -> Polygon:
    """Return the polygon of points about the origin, turned and moved."""
    turn = math.radians(heading_deg)
    c, s = math.cos(turn), math.sin(turn)
    x_center, y_center = center
    return Polygon(tuple((x_center + c * x - s * y, y_center + s * x + c * y) for x, y in points))


def rectangle(
    center: Point,
    length_mm: float,
    width_mm: float,
    heading_deg: float = 0.0,
    corner_radius_mm: float = 0.0,
) -> Polygon:
    """Return a rectangle with its length along the heading.

    A rounded corner becomes `SIDES_PER_ROUNDED_CORNER` sides that touch its arc. They reach at most
    2 % of its radius beyond it.
    """
    x_mm = length_mm / 2 - corner_radius_mm
    y_mm = width_mm / 2 - corner_radius_mm
    points = [(x_mm * i, y_mm * j) for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    if corner_radius_mm:
        points = _round_corners(points, corner_radius_mm)
    return _place_polygon(points, center, heading_deg)


def _round_corners(points: Sequence[Point], radius_mm: float) -> list[Point]:
    """Return the corners of an upright rectangle, from the corner arcs' centres (4)."""
    out = radius_mm / math.cos(math.pi / 4 / SIDES_PER_ROUNDED_CORNER)
    corners = []
    for quarter, (x, y) in enumerate(points):
        for k in range(SIDES_PER_ROUNDED_CORNER):
            turn = math.pi / 2 * (quarter + (k + 0.5) / SIDES_PER_ROUNDED_CORNER)
            corners.append((x + out * math.cos(turn), y + out * math.sin(turn)))
    return corners


def translate_shape(shape: Shape, x_mm: float, y_mm: float) -> Shape:
    if isinstance(shape, Polygon):
        return Polygon(tuple((x + x_mm, y + y_mm) for x, y in shape.corners))
    x, y = shape.center
    return replace(shape, center=(x + x_mm, y + y_mm))

"""Arcs: the region in front of a gun, a wedge or a strip, and the part of a base that lies in it.

The part of a convex base inside a region that is closest to another base is one of few: the closest part of all, where
that lies inside; else it lies on the region's outline. For if the closest part inside were none of these, it would be a
closest part of all (a convex function has no other minima), and on the straight way from it to the one that lies
outside, all of it equally close, the outline is crossed. Neither needs the region to be convex, so a wedge may sweep
any angle. The outline runs in straight edges, each of which meets the base in one chord.

An outline belongs to its region: what comes within a millionth of a millimetre of it is inside. Lengths are millimetres
in the board frame. `geometry.many_arcs` has the same for many displacements at once.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from overruler.geometry.shapes import Disc, Ellipse, Gap, Point, Polygon, Shape, gap
from overruler.units import CONTACT_TOLERANCE_MM

FULL_TURN_DEG = 360.0
WHOLE_TURN_TOLERANCE_DEG = 1e-9
"""A sweep this close to a whole turn is one."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A straight piece of a region's outline: a ray, or the first `length_mm` of one."""

    start: Point
    direction: Point
    """A unit vector."""
    length_mm: float = math.inf

    def point_at(self, along_mm: float) -> Point:
        return self.start[0] + along_mm * self.direction[0], self.start[
            1
        ] + along_mm * self.direction[1]

    def along_and_left_mm(self, point: Point) -> tuple[float, float]:
        """How far along the edge's line a point lies, and how far to the left of it."""
        (ux, uy), x, y = self.direction, point[0] - self.start[0], point[1] - self.start[1]
        return x * ux + y * uy, y * ux - x * uy

    def distance_to_mm(self, point: Point) -> float:
        """The distance of a point from the edge."""
        along, aside = self.along_and_left_mm(point)
        return math.hypot(max(-along, along - self.length_mm, 0.0), aside)

    def segment_near(self, shape: Shape) -> Polygon:
        """As much of the edge as holds its point nearest to a shape."""
        most = math.dist(self.start, shape.center) + shape.bounding_radius_mm + 1.0
        return Polygon((self.start, self.point_at(min(most, self.length_mm))))


@dataclass(frozen=True)
class Wedge:
    """All points that an apex sees from `from_deg` counter-clockwise through `sweep_deg`, up to a whole turn."""

    apex: Point
    from_deg: float
    sweep_deg: float

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Its outline; none where it is the whole plane."""
        if self.sweep_deg >= FULL_TURN_DEG - WHOLE_TURN_TOLERANCE_DEG:
            return ()
        return Edge(self.apex, heading_vector(self.from_deg)), Edge(
            self.apex, heading_vector(self.from_deg + self.sweep_deg)
        )

    def contains(self, point: Point) -> bool:
        """Whether a point lies inside; one on the outline may or may not."""
        if not self.edges:
            return True
        first, last = self.edges
        both = (first.along_and_left_mm(point)[1] >= 0, last.along_and_left_mm(point)[1] <= 0)
        return all(both) if self.sweep_deg <= FULL_TURN_DEG / 2 else any(both)


@dataclass(frozen=True)
class Strip:
    """All points ahead of a line `width_mm` wide, whose middle is `apex` and which faces `ahead_deg`."""

    apex: Point
    ahead_deg: float
    width_mm: float

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        (ux, uy), half = heading_vector(self.ahead_deg), self.width_mm / 2
        left, right = (
            (self.apex[0] - half * uy, self.apex[1] + half * ux),
            (self.apex[0] + half * uy, self.apex[1] - half * ux),
        )
        return Edge(left, (ux, uy)), Edge(right, (ux, uy)), Edge(right, (-uy, ux), self.width_mm)

    def contains(self, point: Point) -> bool:
        """Whether a point lies inside; one on the outline may or may not."""
        along, aside = Edge(self.apex, heading_vector(self.ahead_deg)).along_and_left_mm(point)
        return along >= 0 and abs(aside) <= self.width_mm / 2


Region = Wedge | Strip


def heading_vector(angle_deg: float) -> Point:
    """The unit vector of a heading; exact along the axes."""
    quarter, rest = divmod(math.remainder(angle_deg, FULL_TURN_DEG), 90.0)
    c, s = math.cos(math.radians(rest)), math.sin(math.radians(rest))
    return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarter) % 4]


def counterclockwise_turn_deg(from_deg: float, to_deg: float) -> float:
    """Degrees counter-clockwise from one heading to another: more than 0, and 360 where they are one."""
    turn = to_deg - from_deg
    return turn if turn > 0 else turn + FULL_TURN_DEG * (math.floor(-turn / FULL_TURN_DEG) + 1)


def is_on_outline(region: Region, point: Point) -> bool:
    """Whether a point lies on a region's outline."""
    return any(edge.distance_to_mm(point) <= CONTACT_TOLERANCE_MM for edge in region.edges)


def gap_inside_region(region: Region, a: Shape, b: Shape) -> Gap | None:
    """How far `a` is from that part of `b` which lies in a region, to 1e-9 mm; None where no part does."""
    free = gap(a, b)
    if region.contains(free.to_point):
        return free
    chords = [found for edge in region.edges if (found := chord_on_edge(b, edge))]
    return min((gap(a, each) for each in chords), key=lambda found: found.distance_mm, default=None)


def distance_to_outline_mm(region: Region, shape: Shape) -> float:
    """How far a shape is from a region's outline: 0 where that crosses it, infinite where there is none."""
    return min(
        (gap(shape, edge.segment_near(shape)).distance_mm for edge in region.edges),
        default=math.inf,
    )


def chord_on_edge(shape: Shape, edge: Edge) -> Polygon | None:
    """The part of a shape on an edge, its ends alone; None where there is none.

    Where the edge grazes the shape, or runs along a side of it, what comes within a millionth of a millimetre counts.
    """
    met = [edge.point_at(along) for along in edge_interval_inside(shape, edge) or ()]
    met += [
        point
        for point in _extreme_points(shape, edge)
        if edge.distance_to_mm(point) <= CONTACT_TOLERANCE_MM
    ]
    start = gap(shape, Disc(edge.start))
    met += [start.from_point] if start.distance_mm <= CONTACT_TOLERANCE_MM else []
    if not met:
        return None
    ends = (
        min(met, key=lambda p: edge.along_and_left_mm(p)[0]),
        max(met, key=lambda p: edge.along_and_left_mm(p)[0]),
    )
    return Polygon(tuple(dict.fromkeys(ends)))


def _extreme_points(shape: Shape, edge: Edge) -> tuple[Point, ...]:
    """The points of a shape that may touch an edge which does not cross it."""
    if isinstance(shape, Polygon):
        return shape.corners
    ux, uy = edge.direction
    return shape.support_point(-uy, ux), shape.support_point(uy, -ux)


def edge_interval_inside(shape: Shape, edge: Edge) -> tuple[float, float] | None:
    """From where to where along an edge it runs through a shape; None where it does not."""
    low, high = (
        _line_polygon_interval(shape, edge)
        if isinstance(shape, Polygon)
        else _line_ellipse_interval(shape, edge)
    )
    low, high = max(low, 0.0), min(high, edge.length_mm)
    return (low, high) if low <= high else None


EMPTY_INTERVAL = (math.inf, -math.inf)


def _line_polygon_interval(shape: Polygon, edge: Edge) -> tuple[float, float]:
    """Each side leaves a half of the line. (Cyrus and Beck, Generalized two- and three-dimensional clipping, 1978.)"""
    low, high = -math.inf, math.inf
    (x, y), (ux, uy) = edge.start, edge.direction
    for (ax, ay), (bx, by) in zip(
        shape.corners, shape.corners[1:] + shape.corners[:1], strict=True
    ):
        within = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        grows = (bx - ax) * uy - (by - ay) * ux
        if grows > 0:
            low = max(low, -within / grows)
        elif grows < 0:
            high = min(high, -within / grows)
        elif within < 0:
            return EMPTY_INTERVAL
    return low, high


def _line_ellipse_interval(shape: Disc | Ellipse, edge: Edge) -> tuple[float, float]:
    """Where the line comes nearest to the centre, in the measure that makes the rim a unit circle, and as far again."""
    x, y, (ux, uy) = (
        edge.start[0] - shape.center[0],
        edge.start[1] - shape.center[1],
        edge.direction,
    )
    xx, xy, yy = rim_quadratic_form(shape)
    size = xx * ux * ux + 2 * xy * ux * uy + yy * uy * uy
    middle = -(xx * x * ux + xy * (x * uy + y * ux) + yy * y * uy) / size
    x, y = x + middle * ux, y + middle * uy
    left = 1 - (xx * x * x + 2 * xy * x * y + yy * y * y)
    if left < 0:
        return EMPTY_INTERVAL
    half = math.sqrt(left / size)
    return middle - half, middle + half


def rim_quadratic_form(shape: Disc | Ellipse) -> tuple[float, float, float]:
    """xx, xy, yy of the matrix M for which the rim is all p with (p - centre)ᵀ M (p - centre) = 1."""
    if isinstance(shape, Disc):
        return 1 / shape.radius_mm**2, 0.0, 1 / shape.radius_mm**2
    xx, xy, yy = shape.matrix
    whole = (shape.length_mm * shape.width_mm / 4) ** 2
    return yy / whole, -xy / whole, xx / whole

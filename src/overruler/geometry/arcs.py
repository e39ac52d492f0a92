"""Firing arcs: a wedge or a strip, and the part of a base that lies inside.

The closest part of a convex base inside a region is either the closest part of the whole base or a
part on the region's outline. Suppose it were neither. It would then be a closest part of the whole
base, since a convex function has no other minima. The straight path from it to the one outside would
be equally close everywhere, and it crosses the outline. The region need not be convex, so a wedge
may sweep any angle. The outline consists of straight edges, each of which meets the base in a chord.

An outline belongs to its region: a point within `CONTACT_TOLERANCE_MM` of it is inside. Lengths are
millimetres in the board frame. `geometry.batched.arcs` does the same for many displacements at once.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from overruler.geometry.shapes import Disc, Ellipse, Gap, Point, Polygon, Shape, gap
from overruler.units import CONTACT_TOLERANCE_MM

FULL_TURN_DEG = 360.0
WHOLE_TURN_TOLERANCE_DEG = 1e-9
"""A sweep this close to a whole turn, in degrees, counts as one."""
EMPTY_INTERVAL = (math.inf, -math.inf)


@dataclass(frozen=True, slots=True)
class Edge:
    """A straight piece of a region's outline: a ray, or the first `length_mm` of one."""

    start: Point
    direction: Point
    """A unit vector."""
    length_mm: float = math.inf

    def point_at(self, along_mm: float) -> Point:
        x, y = self.start
        ux, uy = self.direction
        return x + along_mm * ux, y + along_mm * uy

    def along_and_left_mm(self, point: Point) -> tuple[float, float]:
        """Return how far along the edge's line a point lies, and how far to the left of it."""
        ux, uy = self.direction
        x = point[0] - self.start[0]
        y = point[1] - self.start[1]
        return x * ux + y * uy, y * ux - x * uy

    def distance_to_mm(self, point: Point) -> float:
        along, aside = self.along_and_left_mm(point)
        return math.hypot(max(-along, along - self.length_mm, 0.0), aside)

    def segment_near(self, shape: Shape) -> Polygon:
        """Return enough of the edge to contain its point nearest to a shape."""
        reach = math.dist(self.start, shape.center) + shape.bounding_radius_mm + 1.0
        return Polygon((self.start, self.point_at(min(reach, self.length_mm))))


@dataclass(frozen=True)
class Wedge:
    """All points from `from_deg` counter-clockwise through `sweep_deg`, seen from an apex."""

    apex: Point
    from_deg: float
    sweep_deg: float
    """At most a whole turn."""

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Its outline; empty if it is the whole plane."""
        if self.sweep_deg >= FULL_TURN_DEG - WHOLE_TURN_TOLERANCE_DEG:
            return ()
        first = Edge(self.apex, heading_vector(self.from_deg))
        last = Edge(self.apex, heading_vector(self.from_deg + self.sweep_deg))
        return first, last

    def contains(self, point: Point) -> bool:
        """Tell whether a point lies inside; for a point on the outline, either answer may come."""
        if not self.edges:
            return True
        first, last = self.edges
        is_past_first = first.along_and_left_mm(point)[1] >= 0
        is_before_last = last.along_and_left_mm(point)[1] <= 0
        if self.sweep_deg <= FULL_TURN_DEG / 2:
            return is_past_first and is_before_last
        return is_past_first or is_before_last


@dataclass(frozen=True)
class Strip:
    """All points ahead of a line `width_mm` wide."""

    apex: Point
    """The middle of the line."""
    ahead_deg: float
    """The heading that the line faces."""
    width_mm: float

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        ux, uy = heading_vector(self.ahead_deg)
        x, y = self.apex
        half = self.width_mm / 2
        left = Edge((x - half * uy, y + half * ux), (ux, uy))
        right = Edge((x + half * uy, y - half * ux), (ux, uy))
        return left, right, Edge(right.start, (-uy, ux), self.width_mm)

    def contains(self, point: Point) -> bool:
        """Tell whether a point lies inside; for a point on the outline, either answer may come."""
        axis = Edge(self.apex, heading_vector(self.ahead_deg))
        along, aside = axis.along_and_left_mm(point)
        return along >= 0 and abs(aside) <= self.width_mm / 2


Region = Wedge | Strip


def heading_vector(angle_deg: float) -> Point:
    """Return the unit vector of a heading, exact along the axes."""
    quarter, rest = divmod(math.remainder(angle_deg, FULL_TURN_DEG), 90.0)
    turn = math.radians(rest)
    c, s = math.cos(turn), math.sin(turn)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarter) % 4]


def counterclockwise_turn_deg(from_deg: float, to_deg: float) -> float:
    """Return the counter-clockwise turn between two headings in degrees, above 0 and up to 360."""
    turn = to_deg - from_deg
    if turn > 0:
        return turn
    return turn + FULL_TURN_DEG * (math.floor(-turn / FULL_TURN_DEG) + 1)


def is_on_outline(region: Region, point: Point) -> bool:
    """Tell whether a point lies on a region's outline."""
    return any(edge.distance_to_mm(point) <= CONTACT_TOLERANCE_MM for edge in region.edges)


def gap_inside_region(region: Region, a: Shape, b: Shape) -> Gap | None:
    """Return the gap from `a` to the part of `b` inside a region, to 1e-9 mm; None if no part is."""
    whole = gap(a, b)
    if region.contains(whole.to_point):
        return whole
    chords = (chord_on_edge(b, edge) for edge in region.edges)
    gaps = [gap(a, chord) for chord in chords if chord]
    return min(gaps, key=lambda found: found.distance_mm, default=None)


def distance_to_outline_mm(region: Region, shape: Shape) -> float:
    """Return a shape's distance from a region's outline; infinite if the region has none."""
    segments = (edge.segment_near(shape) for edge in region.edges)
    return min((gap(shape, segment).distance_mm for segment in segments), default=math.inf)


def chord_on_edge(shape: Shape, edge: Edge) -> Polygon | None:
    """Return the part of a shape on an edge, as its end points; None if there is none.

    If the edge grazes the shape or runs along one of its sides, points within
    `CONTACT_TOLERANCE_MM` count.
    """
    points = [edge.point_at(along) for along in edge_interval_inside(shape, edge) or ()]
    for point in _extreme_points(shape, edge):
        if edge.distance_to_mm(point) <= CONTACT_TOLERANCE_MM:
            points.append(point)
    start = gap(shape, Disc(edge.start))
    if start.distance_mm <= CONTACT_TOLERANCE_MM:
        points.append(start.from_point)
    if not points:
        return None
    first = min(points, key=lambda point: edge.along_and_left_mm(point)[0])
    last = max(points, key=lambda point: edge.along_and_left_mm(point)[0])
    return Polygon(tuple(dict.fromkeys((first, last))))


def _extreme_points(shape: Shape, edge: Edge) -> tuple[Point, ...]:
    """Return the points of a shape that may touch an edge that does not cross it."""
    if isinstance(shape, Polygon):
        return shape.corners
    ux, uy = edge.direction
    return shape.support_point(-uy, ux), shape.support_point(uy, -ux)


def edge_interval_inside(shape: Shape, edge: Edge) -> tuple[float, float] | None:
    """Return where along an edge it enters and leaves a shape; None if it does not cross it."""
    if isinstance(shape, Polygon):
        low, high = _line_polygon_interval(shape, edge)
    else:
        low, high = _line_ellipse_interval(shape, edge)
    low, high = max(low, 0.0), min(high, edge.length_mm)
    return (low, high) if low <= high else None


def _line_polygon_interval(shape: Polygon, edge: Edge) -> tuple[float, float]:
    """Cut the line by each half-plane (Cyrus and Beck, Computers & Graphics 3, 1978)."""
    low, high = -math.inf, math.inf
    x, y = edge.start
    ux, uy = edge.direction
    corners = shape.corners
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        height = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        slope = (bx - ax) * uy - (by - ay) * ux
        if slope > 0:
            low = max(low, -height / slope)
        elif slope < 0:
            high = min(high, -height / slope)
        elif height < 0:
            return EMPTY_INTERVAL
    return low, high


def _line_ellipse_interval(shape: Disc | Ellipse, edge: Edge) -> tuple[float, float]:
    """Intersect the line with the rim, in the metric that makes the rim a unit circle."""
    if not shape.bounding_radius_mm:
        return EMPTY_INTERVAL  # a point is one of the extreme points already
    ux, uy = edge.direction
    x = edge.start[0] - shape.center[0]
    y = edge.start[1] - shape.center[1]
    xx, xy, yy = rim_quadratic_form(shape)
    size = xx * ux * ux + 2 * xy * ux * uy + yy * uy * uy
    middle = -(xx * x * ux + xy * (x * uy + y * ux) + yy * y * uy) / size
    x = x + middle * ux
    y = y + middle * uy
    rest = 1 - (xx * x * x + 2 * xy * x * y + yy * y * y)
    if rest < 0:
        return EMPTY_INTERVAL
    half = math.sqrt(rest / size)
    return middle - half, middle + half


def rim_quadratic_form(shape: Disc | Ellipse) -> tuple[float, float, float]:
    """Return xx, xy, yy of the matrix M whose rim is all p with (p - centre)ᵀ M (p - centre) = 1."""
    if isinstance(shape, Disc):
        return 1 / shape.radius_mm**2, 0.0, 1 / shape.radius_mm**2
    xx, xy, yy = shape.matrix
    determinant = (shape.length_mm * shape.width_mm / 4) ** 2
    return yy / determinant, -xy / determinant, xx / determinant

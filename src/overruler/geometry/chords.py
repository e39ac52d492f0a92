"""Where a line enters and leaves a convex shape, and which lines an obstacle blocks.

A line is {x : x · n = c} with n at an angle. It runs in the direction a quarter turn to the right
of n.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

from overruler.geometry.direction_search import last_where
from overruler.geometry.shapes import Disc, Ellipse, Point, Polygon, Shape

SAMPLE_LINES = 32
"""Number of lines sampled before the edges between them are refined."""
BISECTIONS = 44
"""Halvings of the bracket round an edge."""
LEAST_OVERLAP_MM = 1e-9
"""Least length of an obstacle's chord between the two ends that blocks a line."""


def chord_of_line(shape: Shape, angle: float, c: float) -> tuple[float, float]:
    """Return how far along the line it enters the shape, and where it leaves."""
    nx, ny = n = math.cos(angle), math.sin(angle)
    dx, dy = d = ny, -nx
    if isinstance(shape, Polygon):
        return _chord_of_polygon(shape, n, d, c)
    xx, xy, yy = shape.matrix if isinstance(shape, Ellipse) else _disc_matrix(shape)
    aside = c - _dot_product(shape.center, n)
    across = xx * nx * nx + 2 * xy * nx * ny + yy * ny * ny
    center = _dot_product(shape.center, d)
    if across <= 0:
        return center, center
    lean = dx * (xx * nx + xy * ny) + dy * (xy * nx + yy * ny)
    middle = center + lean * aside / across
    determinant = xx * yy - xy * xy
    half = math.sqrt(max(determinant * (across - aside * aside), 0.0)) / across
    return middle - half, middle + half


def _disc_matrix(disc: Disc) -> tuple[float, float, float]:
    square = disc.radius_mm * disc.radius_mm
    return square, 0.0, square


def _chord_of_polygon(shape: Polygon, n: Point, d: Point, c: float) -> tuple[float, float]:
    """Intersect the line with the sides; a line that misses takes the nearest corner."""
    places = [(_dot_product(corner, n) - c, _dot_product(corner, d)) for corner in shape.corners]
    crossings = []
    for (p, s), (q, t) in zip(places, places[1:] + places[:1], strict=True):
        if min(p, q) <= 0 <= max(p, q):
            share = p / (p - q) if p != q else 0.0
            crossings.append(s + (t - s) * share)
    if not crossings:
        _, along = min(places, key=lambda place: abs(place[0]))
        return along, along
    return min(crossings), max(crossings)


def _dot_product(p: Point, q: Point) -> float:
    return p[0] * q[0] + p[1] * q[1]


def blocked_intervals(
    a: Shape, b: Shape, obstacle: Shape, angle: float, low: float, high: float
) -> Iterator[tuple[float, float]]:
    """Yield the intervals of c, from `low` to `high`, whose lines the obstacle blocks.

    It blocks a line if it stands between where the line leaves a and meets b. It may overlap either.
    """

    def is_blocked(c: float) -> bool:
        enters, leaves = chord_of_line(obstacle, angle, c)
        _, leaves_a = chord_of_line(a, angle, c)
        enters_b, _ = chord_of_line(b, angle, c)
        return max(leaves_a, enters) < min(enters_b, leaves) - LEAST_OVERLAP_MM

    width = high - low
    samples = [low + width * (k + 0.5) / SAMPLE_LINES for k in range(SAMPLE_LINES)]
    blocked = [is_blocked(c) for c in samples]
    edges = [low] if blocked[0] else []
    for (p, p_blocked), (q, q_blocked) in pairwise(zip(samples, blocked, strict=True)):
        if p_blocked and not q_blocked:
            edges.append(last_where(is_blocked, p, q, BISECTIONS))
        elif q_blocked and not p_blocked:
            edges.append(last_where(lambda c: not is_blocked(c), p, q, BISECTIONS))
    if blocked[-1]:
        edges.append(high)
    yield from zip(edges[::2], edges[1::2], strict=True)

"""Where a line enters and leaves a convex shape, and which lines out of one shape another stands in the way of.

A line is {x : x · n = c}, n at an angle, and is run along in the direction a quarter turn to the right of n.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from overruler.geometry.shapes import Disc, Ellipse, Point, Polygon, Shape

SAMPLE_LINES = 32
"""Lines looked at before the edges between them are made exact."""


def chord_of_line(shape: Shape, angle: float, c: float) -> tuple[float, float]:
    """How far along a line that meets a shape it enters, and where it leaves."""
    n, d = (math.cos(angle), math.sin(angle)), (math.sin(angle), -math.cos(angle))
    if isinstance(shape, Polygon):
        return _chord_of_polygon(shape, n, d, c)
    xx, xy, yy = shape.matrix if isinstance(shape, Ellipse) else _disc_matrix(shape)
    aside = c - _dot_product(shape.center, n)
    across = xx * n[0] * n[0] + 2 * xy * n[0] * n[1] + yy * n[1] * n[1]
    if across <= 0:
        return (_dot_product(shape.center, d),) * 2
    lean = d[0] * (xx * n[0] + xy * n[1]) + d[1] * (xy * n[0] + yy * n[1])
    middle = _dot_product(shape.center, d) + lean * aside / across
    half = math.sqrt(max((xx * yy - xy * xy) * (across - aside * aside), 0.0)) / across
    return middle - half, middle + half


def _disc_matrix(disc: Disc) -> tuple[float, float, float]:
    square = disc.radius_mm * disc.radius_mm
    return square, 0.0, square


def _chord_of_polygon(shape: Polygon, n: Point, d: Point, c: float) -> tuple[float, float]:
    """From the sides that the line crosses; of a line that passes beside, the nearest corner."""
    places = [(_dot_product(corner, n) - c, _dot_product(corner, d)) for corner in shape.corners]
    met = []
    for (p, s), (q, t) in zip(places, places[1:] + places[:1], strict=True):
        if min(p, q) <= 0 <= max(p, q):
            met.append(s + (t - s) * (p / (p - q) if p != q else 0.0))
    met = met or [min(places, key=lambda place: abs(place[0]))[1]]
    return min(met), max(met)


def _dot_product(p: Point, q: Point) -> float:
    return p[0] * q[0] + p[1] * q[1]


def blocked_intervals(
    a: Shape, b: Shape, obstacle: Shape, angle: float, low: float, high: float
) -> Iterator[tuple[float, float]]:
    """The intervals of c, from `low` to `high`, in which an obstacle stands between where a line leaves a and meets b.

    The obstacle may reach into either.
    """

    def shut(c: float) -> bool:
        enters, leaves = chord_of_line(obstacle, angle, c)
        return (
            max(chord_of_line(a, angle, c)[1], enters)
            < min(chord_of_line(b, angle, c)[0], leaves) - 1e-9
        )

    places = [low + (high - low) * (k + 0.5) / SAMPLE_LINES for k in range(SAMPLE_LINES)]
    found = [shut(c) for c in places]
    edges = [low] if found[0] else []
    edges += [
        _bisect_edge(shut, p, q)
        for (p, s), (q, t) in pairwise(zip(places, found, strict=True))
        if s != t
    ]
    edges += [high] if found[-1] else []
    yield from zip(edges[::2], edges[1::2], strict=True)


def _bisect_edge(shut: Callable[[float], bool], low: float, high: float) -> float:
    """The c between two, of which one is shut, at which that changes."""
    before = shut(low)
    for _ in range(44):
        middle = (low + high) / 2
        low, high = (middle, high) if shut(middle) == before else (low, middle)
    return low

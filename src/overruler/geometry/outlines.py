"""Outlines that need not be convex: self-intersection, area, and division into convex parts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from overruler.geometry.shapes import Point, Polygon

Side = tuple[Point, Point]


def first_self_intersection(points: Sequence[Point]) -> tuple[int, int] | None:
    """Return the first two sides of a closed outline that cross, as indices of their first points.

    Sides that only touch do not cross. The result is None if no sides cross.
    """
    sides = list(zip(points, [*points[1:], *points[:1]], strict=True))
    by_left = sorted(range(len(sides)), key=lambda i: min(sides[i][0][0], sides[i][1][0]))
    crossing: list[tuple[int, int]] = []
    for i, j in _pairs_sharing_x(sides, by_left):
        if _segments_cross(*sides[i], *sides[j]):
            crossing.append((min(i, j), max(i, j)))
    return min(crossing, default=None)


def _pairs_sharing_x(sides: list[Side], by_left: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of sides whose ranges of x overlap."""
    for place, i in enumerate(by_left):
        right = max(sides[i][0][0], sides[i][1][0])
        for j in by_left[place + 1 :]:
            if min(sides[j][0][0], sides[j][1][0]) > right:
                break
            yield i, j


def _segments_cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    parts_c_from_d = _doubled_signed_area(a, b, c) * _doubled_signed_area(a, b, d) < 0
    parts_a_from_b = _doubled_signed_area(c, d, a) * _doubled_signed_area(c, d, b) < 0
    return parts_c_from_d and parts_a_from_b


def _doubled_signed_area(a: Point, b: Point, c: Point) -> float:
    """Return twice the area of the triangle, positive if a, b, c turn left."""
    (ax, ay), (bx, by) = a, b
    cx, cy = c
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def signed_area_mm2(points: Sequence[Point]) -> float:
    """Return the area inside an outline in mm², negative if it runs clockwise."""
    return sum(_doubled_signed_area(points[0], p, q) for p, q in pairwise(points)) / 2


def convex_parts(points: Sequence[Point]) -> tuple[Polygon, ...]:
    """Divide the inside of a simple closed outline into convex polygons, by clipping ears.

    Neighbouring parts share whole sides. (Meisters, Polygons have ears, 1975.)
    """
    ring = [p for p, before in zip(points, [points[-1], *points[:-1]], strict=True) if p != before]
    if signed_area_mm2(ring) < 0:
        ring.reverse()
    triangles: list[Polygon] = []
    while len(ring) > 3 and not _is_convex(ring):
        tip = next((i for i in range(len(ring)) if _is_ear(ring, i)), None)
        if tip is None:  # only slivers without area are left
            return tuple(triangles)
        triangle = _corner_triangle(ring, tip)
        if _doubled_signed_area(*triangle) > 0:
            triangles.append(Polygon(triangle))
        del ring[tip]
    return (*triangles, Polygon(tuple(ring)))


def _corner_triangle(ring: list[Point], i: int) -> tuple[Point, Point, Point]:
    return ring[i - 1], ring[i], ring[(i + 1) % len(ring)]


def _is_convex(ring: list[Point]) -> bool:
    """Tell whether the ring turns left at every corner and goes round once."""
    if any(_doubled_signed_area(*_corner_triangle(ring, i)) < 0 for i in range(len(ring))):
        return False
    steps = [(ring[i - 1][0], ring[i][0]) for i in range(len(ring))]
    runs_right = [after > before for before, after in steps if after != before]
    changes = sum(runs_right[i] != runs_right[i - 1] for i in range(len(runs_right)))
    return changes == 2


def _is_ear(ring: list[Point], i: int) -> bool:
    """Tell whether cutting off corner `i` leaves the outline intact; a straight corner does."""
    a, b, c = _corner_triangle(ring, i)
    bend = _doubled_signed_area(a, b, c)
    if bend <= 0:
        return bend == 0
    return not any(_triangle_contains(a, b, c, p) for p in ring if p not in (a, b, c))


def _triangle_contains(a: Point, b: Point, c: Point, p: Point) -> bool:
    return all(_doubled_signed_area(*side, p) >= 0 for side in ((a, b), (b, c), (c, a)))

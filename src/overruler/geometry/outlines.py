"""Outlines that need not be convex: whether they cross themselves, and the convex parts that they fall into."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from overruler.geometry.shapes import Point, Polygon


def first_self_intersection(points: Sequence[Point]) -> tuple[int, int] | None:
    """The first two sides of a closed outline that cross each other, by their first points; None where none do.

    Sides that only touch do not cross.
    """
    n = len(points)
    sides = [(points[i], points[(i + 1) % n]) for i in range(n)]
    by_left = sorted(range(n), key=lambda i: min(sides[i][0][0], sides[i][1][0]))
    found = [
        tuple(sorted((i, j)))
        for i, j in _pairs_sharing_x(sides, by_left)
        if _segments_cross(*sides[i], *sides[j])
    ]
    return min(((i, j) for i, j in found), default=None)


def _pairs_sharing_x(
    sides: list[tuple[Point, Point]], by_left: list[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of sides that share some x."""
    for place, i in enumerate(by_left):
        right = max(sides[i][0][0], sides[i][1][0])
        for j in by_left[place + 1 :]:
            if min(sides[j][0][0], sides[j][1][0]) > right:
                break
            yield i, j


def _segments_cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    return (
        _doubled_signed_area(a, b, c) * _doubled_signed_area(a, b, d) < 0
        and _doubled_signed_area(c, d, a) * _doubled_signed_area(c, d, b) < 0
    )


def _doubled_signed_area(a: Point, b: Point, c: Point) -> float:
    """Twice the area of the triangle, positive where a, b, c turn left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def signed_area_mm2(points: Sequence[Point]) -> float:
    """The area in an outline (mm²), negative where it runs clockwise."""
    return sum(_doubled_signed_area(points[0], p, q) for p, q in pairwise(points)) / 2


def convex_parts(points: Sequence[Point]) -> tuple[Polygon, ...]:
    """Convex polygons that together are what a closed outline (one that does not cross itself) holds, by clipping ears.

    Their sides inside the outline are shared. (Meisters, Polygons have ears, 1975.)
    """
    ring = [p for p, before in zip(points, [points[-1], *points[:-1]], strict=True) if p != before]
    if signed_area_mm2(ring) < 0:
        ring.reverse()
    triangles: list[Polygon] = []
    while len(ring) > 3 and not _is_convex(ring):
        tip = next((i for i in range(len(ring)) if _is_ear(ring, i)), None)
        if tip is None:  # only slivers are left, without an area
            return tuple(triangles)
        if _doubled_signed_area(*_corner_triangle(ring, tip)) > 0:
            triangles.append(Polygon(_corner_triangle(ring, tip)))
        del ring[tip]
    return (*triangles, Polygon(tuple(ring)))


def _corner_triangle(ring: list[Point], i: int) -> tuple[Point, Point, Point]:
    return ring[i - 1], ring[i], ring[(i + 1) % len(ring)]


def _is_convex(ring: list[Point]) -> bool:
    """Whether it turns left at every corner and goes round once."""
    if any(_doubled_signed_area(*_corner_triangle(ring, i)) < 0 for i in range(len(ring))):
        return False
    rights = [ring[i][0] > ring[i - 1][0] for i in range(len(ring)) if ring[i][0] != ring[i - 1][0]]
    return sum(rights[i] != rights[i - 1] for i in range(len(rights))) == 2


def _is_ear(ring: list[Point], i: int) -> bool:
    """Whether the corner at `i` can be cut off without cutting into the outline; a straight corner can."""
    a, b, c = _corner_triangle(ring, i)
    bend = _doubled_signed_area(a, b, c)
    if bend <= 0:
        return bend == 0
    return not any(_triangle_contains(a, b, c, p) for p in ring if p not in (a, b, c))


def _triangle_contains(a: Point, b: Point, c: Point, p: Point) -> bool:
    return (
        _doubled_signed_area(a, b, p) >= 0
        and _doubled_signed_area(b, c, p) >= 0
        and _doubled_signed_area(c, a, p) >= 0
    )

"""Outlines of convex shapes added to each other, and grown by a distance.

The sum of two convex shapes is the set of all sums of a point of each. Its support point in a
direction is the sum of their support points (de Berg et al., Computational geometry, 2008, section
13.3). A distance adds a disc of that radius. Curves become chords whose corners lie on the curve.

Alphabet: n points. Lengths are in mm.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from overruler.geometry.batched.vectors import unit_vectors, vector_lengths
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Point, Polygon, Shape

SAME_ANGLE_RAD = 1e-12
"""Directions that differ by less are the same: two sides that are parallel, but for rounding."""
MIN_CHORD_ANGLE = math.tau / 50_000
"""The least angle of a chord: that of a circle of 13 km. Only ovals like needles would ask for less."""
SAME_POINT_MM = 1e-9
"""Points of an outline that are nearer are the same, but for rounding."""


def grown_sum_outline(shapes: Sequence[Shape], distance_mm: float, sagitta_mm: float) -> Array:
    """Return the outline (n, 2) of the sum of shapes grown by a distance, counter-clockwise.

    Chords lie inside the exact curve, by `sagitta_mm` at most.
    """
    smooth = [shape for shape in shapes if not isinstance(shape, Polygon)]
    polygons = [shape for shape in shapes if isinstance(shape, Polygon)]
    step = chord_angle(distance_mm + sum(map(_largest_radius_mm, smooth)), sagitta_mm)
    turns = [*_turns_between_sides(polygons)]
    counts = [max(math.ceil((last - first) / step), 1) for first, last in turns]
    angles = [
        first + (last - first) * number / count
        for (first, last), count in zip(turns, counts, strict=True)
        for number in range(count + 1)
    ]
    normals = unit_vectors(np.array(angles))
    outline = sum((shape.support_points(normals) for shape in smooth), distance_mm * normals)
    if polygons:
        corners = [_support_sum(polygons, (first + last) / 2) for first, last in turns]
        outline = outline + np.repeat(np.array(corners), np.array(counts) + 1, 0)
    return _without_repeats(np.asarray(outline))


def _without_repeats(ring: Array) -> Array:
    """Return a ring (n, 2) without points that repeat the one before, but for rounding."""
    return ring[vector_lengths(ring - np.roll(ring, 1, 0)) > SAME_POINT_MM]


def _support_sum(polygons: Sequence[Polygon], angle: float) -> Point:
    """Return the sum of the polygons' corners farthest in a direction."""
    ux, uy = math.cos(angle), math.sin(angle)
    corners = [polygon.support_point(ux, uy) for polygon in polygons]
    return sum(x for x, _ in corners), sum(y for _, y in corners)


def chord_angle(radius_mm: float, sagitta_mm: float) -> float:
    """Return the angle that a chord may span on a circle, in radians."""
    share = min(sagitta_mm / radius_mm, 0.5) if radius_mm else 0.5
    return max(4 * math.asin(math.sqrt(share / 2)), MIN_CHORD_ANGLE)


def _turns_between_sides(polygons: Sequence[Polygon]) -> Iterator[tuple[float, float]]:
    """Yield the turns of direction within which no polygon's support point jumps."""
    angles = {angle % math.tau for shape in polygons for angle in shape.edge_normal_angles}
    jumps = sorted(angles) or [0.0]
    for first, last in pairwise([*jumps, jumps[0] + math.tau]):
        if last - first > SAME_ANGLE_RAD:
            yield first, last


def _largest_radius_mm(shape: Shape) -> float:
    """The largest radius of curvature of an outline without corners."""
    if isinstance(shape, Disc):
        return shape.radius_mm
    assert isinstance(shape, Ellipse)
    long, short = sorted((shape.length_mm / 2, shape.width_mm / 2), reverse=True)
    return long * long / short

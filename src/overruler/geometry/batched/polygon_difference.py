"""The difference of two convex polygons: all vectors from a point of one to a point of the other."""

from typing import NamedTuple

import numpy as np

from overruler.geometry.pose import Array
from overruler.geometry.shapes import Polygon


class PolygonDifference(NamedTuple):
    """The convex set of all vectors from a point of polygon a to one of polygon b.

    Its k sides are those of b and the reversed ones of a, ordered by direction. (de Berg and others,
    Computational Geometry, 2008, theorem 13.5.) Along a side of b, the point of b runs along that
    side; along a side of a, it stays.
    """

    corners: Array
    """(k, 2), counter-clockwise: where each side begins."""
    sides: Array
    """(k, 2): the vector along each side."""
    b_points: Array
    """(k, 2): the point of b at the beginning of each side."""
    b_steps: Array
    """(k, 2): how the point of b moves along each side."""

    @classmethod
    def of(cls, a: Polygon, b: Polygon) -> "PolygonDifference":
        b_outline = np.array(b.corners)
        a_outline = -np.array(a.corners)
        sides = np.concatenate([_side_vectors(b_outline), _side_vectors(a_outline)])
        directions = np.arctan2(sides[:, 1], sides[:, 0]) % (2 * np.pi)
        order = np.argsort(directions, kind="stable")
        sides = sides[order]
        is_of_b = order < len(b.corners)
        b_steps = np.where(is_of_b[:, None], sides, 0.0)
        b_lowest = _lowest_corner(b_outline)
        corners = b_lowest + _lowest_corner(a_outline) + np.cumsum(sides, 0) - sides
        b_points = b_lowest + np.cumsum(b_steps, 0) - b_steps
        return cls(corners, sides, b_points, b_steps)


def _side_vectors(outline: Array) -> Array:
    return np.asarray(np.roll(outline, -1, 0) - outline)


def _lowest_corner(outline: Array) -> Array:
    """Return the corner with the least y; of several, the one with the least x."""
    return np.asarray(outline[np.lexsort((outline[:, 0], outline[:, 1]))[0]])

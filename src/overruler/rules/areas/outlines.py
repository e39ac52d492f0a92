"""Ground as polygons grown and shrunk by a base, and as others want it.

Alphabet: n points of an outline, k chords. Lengths are in mm.
"""

import math

import numpy as np
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from overruler.geometry.batched.offset_outlines import chord_angle
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Shape

MIN_AREA_MM2 = 1e-3
"""Smaller polygons are rounding: a strip of 1 m and a micrometre."""


def polygons_in(ground: BaseGeometry) -> list[shapely.Polygon]:
    """The polygons of some ground; points and lines, where areas only touch, are none."""
    parts = shapely.get_parts(shapely.get_parts(ground))
    polygons = (part for part in parts if isinstance(part, shapely.Polygon))
    return [orient(polygon) for polygon in polygons if polygon.area > MIN_AREA_MM2]


def polygon_json(polygon: shapely.Polygon) -> list[list[list[float]]]:
    """The outline of a polygon and its holes, each without its first point again."""
    rings = (polygon.exterior, *polygon.interiors)
    return [shapely.get_coordinates(ring)[:-1].tolist() for ring in rings]


# --- where a base lies ---


def dilate_by(ground: BaseGeometry, base: Shape, sagitta_mm: float) -> BaseGeometry:
    """Where the centre of a base may be for any part of it to lie in some ground."""
    if isinstance(base, Disc):
        return ground.buffer(base.radius_mm, quad_segs=_quarter_chords(base.radius_mm, sagitta_mm))
    if isinstance(base, Ellipse):
        return _buffer_stretched(ground, base, 1.0, sagitta_mm)
    return shapely.union_all([ground, _swept_along(ground, base)])


def erode_by(ground: BaseGeometry, base: Shape, sagitta_mm: float) -> BaseGeometry:
    """Where the centre of a base may be for all of it to lie in some ground."""
    if isinstance(base, Disc):
        return ground.buffer(-base.radius_mm, quad_segs=_quarter_chords(base.radius_mm, sagitta_mm))
    if isinstance(base, Ellipse):
        return _buffer_stretched(ground, base, -1.0, sagitta_mm)
    return ground.difference(_swept_along(ground, base))


def _quarter_chords(radius_mm: float, sagitta_mm: float) -> int:
    return math.ceil(math.pi / 2 / chord_angle(radius_mm, sagitta_mm))


def _buffer_stretched(
    ground: BaseGeometry, base: Ellipse, sign: float, sagitta_mm: float
) -> BaseGeometry:
    """Grow or shrink by an ellipse, where the ellipse is stretched to a circle."""
    long_mm, wide_mm = base.length_mm / 2, base.width_mm / 2
    level = affinity.rotate(ground, -base.heading_deg, origin=(0, 0))
    stretched = affinity.scale(level, 1 / long_mm, 1 / wide_mm, origin=(0, 0))
    chords = _quarter_chords(max(long_mm, wide_mm), sagitta_mm)
    buffered = stretched.buffer(sign, quad_segs=chords)
    back = affinity.scale(buffered, long_mm, wide_mm, origin=(0, 0))
    return affinity.rotate(back, base.heading_deg, origin=(0, 0))


def _swept_along(ground: BaseGeometry, base: Shape) -> BaseGeometry:
    """What a convex polygon about the origin covers as it moves along the rims of some ground."""
    corners = np.array(getattr(base, "corners"))  # noqa: B009 - a Polygon
    return shapely.union_all([_sweep_ring(ring, corners) for ring in _rings(ground)])


def _rings(ground: BaseGeometry) -> list[Array]:
    """The closed outlines (n, 2) of some ground, its holes included."""
    rings = shapely.get_rings(shapely.get_parts(ground))
    return [shapely.get_coordinates(ring) for ring in rings]


def _sweep_ring(ring: Array, corners: Array) -> BaseGeometry:
    """What a convex polygon about the origin covers as it moves along a ring."""
    ends = np.stack([ring[:-1], ring[1:]], 1)  # (k, 2, 2)
    points = (ends[:, :, None] + corners).reshape(len(ends), -1, 2)
    return shapely.union_all(shapely.convex_hull(shapely.multipoints(points)))

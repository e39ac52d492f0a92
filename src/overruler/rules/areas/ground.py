"""Areas as polygons, their curves as chords.

Alphabet: n points of an outline, k chords. Lengths are in mm.
"""

import math
from collections.abc import Sequence

import numpy as np
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from overruler.geometry.batched.offset_outlines import chord_angle, grown_sum_outline
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Shape, gap, translate_shape
from overruler.rules.areas.membership import Membership
from overruler.rules.areas.tree import Area, Joined, Near, Outside, bases_of
from overruler.rules.bodies import Body, piece_bodies
from overruler.scene import Scene

SAGITTA_MM = 0.025
"""How far chords lie inside a curve at most. Two such errors stay below the 0.05 mm of the contract."""
MIN_AREA_MM2 = 1e-3
"""Smaller polygons are rounding: a strip of 1 m and a micrometre."""
FRAME_MARGIN_MM = 1.0
"""How far the frame reaches beyond a base that overhangs the board."""


class Ground:
    """The areas of a scene as polygons."""

    __slots__ = ("_frame", "_sagitta_mm", "_scene")

    def __init__(self, scene: Scene, area: Area, sagitta_mm: float = SAGITTA_MM) -> None:
        reach_mm = [2 * base.parts[0].bounding_radius_mm for base in bases_of(area)]
        margin = FRAME_MARGIN_MM + max(reach_mm, default=0.0)
        width, height = scene.board.width_mm, scene.board.height_mm
        self._scene = scene
        self._sagitta_mm = sagitta_mm
        self._frame = shapely.box(-margin, -margin, width + margin, height + margin)

    def cover(self, area: Area) -> shapely.MultiPolygon:
        """The ground of an area on the board, off other bases where it is for one.

        Outlines run counter-clockwise and holes clockwise.
        """
        board = shapely.box(0, 0, self._scene.board.width_mm, self._scene.board.height_mm)
        ground = self._cover(area).intersection(board)
        for base in bases_of(area):
            ground = ground.difference(self._taken_ground(base))
        return shapely.MultiPolygon(_polygons_in(ground))

    def _cover(self, area: Area) -> BaseGeometry:
        """The ground of an area within the frame, which reaches over the board's edge."""
        if isinstance(area, Near):
            return self._cover_near(area)
        if isinstance(area, Joined):
            parts = [self._cover(part) for part in area.parts]
            return shapely.intersection_all(parts) if area.is_all else shapely.union_all(parts)
        if isinstance(area, Outside):
            return self._frame.difference(self._cover(area.area))
        ground = self._cover(area.area)
        return erode_by(ground, _at_origin(area.base), self._sagitta_mm)

    def _cover_near(self, near: Near) -> BaseGeometry:
        ground = self._grow(near.bodies, near.high_mm, near.base)
        if near.low_mm > 0:
            ground = ground.difference(self._grow(near.bodies, near.low_mm, near.base))
        return ground

    def _grow(self, bodies: Sequence[Body], distance_mm: float, base: Body | None) -> BaseGeometry:
        """The ground within a distance of some bodies, or where a base is within it."""
        if any(self._reaches_all(part, distance_mm) for body in bodies for part in body.parts):
            return self._frame
        added = [_at_origin(base)] if base else []
        outlines = [
            shapely.Polygon(grown_sum_outline([part, *added], distance_mm, self._sagitta_mm))
            for body in bodies
            for part in body.parts
        ]
        return shapely.union_all(outlines)

    def _reaches_all(self, shape: Shape, distance_mm: float) -> bool:
        """Whether all of the frame lies within a distance of a shape."""
        corners = [Disc((x, y)) for x, y in shapely.get_coordinates(self._frame)[:4].tolist()]
        distances_mm = (math.dist(shape.center, corner.center) for corner in corners)
        if max(distances_mm) > distance_mm + shape.bounding_radius_mm:
            return False
        return all(gap(shape, corner).distance_mm <= distance_mm for corner in corners)

    def _taken_ground(self, base: Body) -> BaseGeometry:
        """Where the centre of a base would put it on another base."""
        others = [body for body in piece_bodies(self._scene) if body.id != base.id]
        return self._grow(others, 0.0, base)

    def polygon_of(self, piece: Body) -> BaseGeometry:
        """The ground under a piece."""
        return self._grow([piece], 0.0, None)


# --- as others want it ---


def _polygons_in(ground: BaseGeometry) -> list[shapely.Polygon]:
    """The polygons of some ground; points and lines, where areas only touch, are none."""
    parts = shapely.get_parts(shapely.get_parts(ground))
    polygons = (part for part in parts if isinstance(part, shapely.Polygon))
    return [orient(polygon) for polygon in polygons if polygon.area > MIN_AREA_MM2]


def polygon_json(polygon: shapely.Polygon) -> list[list[list[float]]]:
    """The outline of a polygon and its holes, each without its first point again."""
    rings = (polygon.exterior, *polygon.interiors)
    return [shapely.get_coordinates(ring)[:-1].tolist() for ring in rings]


def _at_origin(base: Body) -> Shape:
    """The outline of a base about the origin; a base is its own mirror image."""
    x, y = base.parts[0].center
    return translate_shape(base.parts[0], -x, -y)


# --- where a whole base lies ---


def erode_by(ground: BaseGeometry, base: Shape, sagitta_mm: float) -> BaseGeometry:
    """Where the centre of a base may be for all of it to lie in some ground."""
    if isinstance(base, Disc):
        return ground.buffer(-base.radius_mm, quad_segs=_quarter_chords(base.radius_mm, sagitta_mm))
    if isinstance(base, Ellipse):
        return _erode_by_ellipse(ground, base, sagitta_mm)
    corners = np.array(base.corners)
    swept = shapely.union_all([_sweep_along(ring, corners) for ring in _rings(ground)])
    return ground.difference(swept)


def _quarter_chords(radius_mm: float, sagitta_mm: float) -> int:
    return math.ceil(math.pi / 2 / chord_angle(radius_mm, sagitta_mm))


def _erode_by_ellipse(ground: BaseGeometry, base: Ellipse, sagitta_mm: float) -> BaseGeometry:
    """Do so where the ellipse is stretched to a circle."""
    long_mm, wide_mm = base.length_mm / 2, base.width_mm / 2
    level = affinity.rotate(ground, -base.heading_deg, origin=(0, 0))
    stretched = affinity.scale(level, 1 / long_mm, 1 / wide_mm, origin=(0, 0))
    chords = _quarter_chords(max(long_mm, wide_mm), sagitta_mm)
    eroded = stretched.buffer(-1.0, quad_segs=chords)
    back = affinity.scale(eroded, long_mm, wide_mm, origin=(0, 0))
    return affinity.rotate(back, base.heading_deg, origin=(0, 0))


def _rings(ground: BaseGeometry) -> list[Array]:
    """The closed outlines (n, 2) of some ground, its holes included."""
    rings = shapely.get_rings(shapely.get_parts(ground))
    return [shapely.get_coordinates(ring) for ring in rings]


def _sweep_along(ring: Array, corners: Array) -> BaseGeometry:
    """What a convex polygon about the origin covers as it moves along a ring."""
    ends = np.stack([ring[:-1], ring[1:]], 1)  # (k, 2, 2)
    points = (ends[:, :, None] + corners).reshape(len(ends), -1, 2)
    return shapely.union_all(shapely.convex_hull(shapely.multipoints(points)))


def membership_by_outline(
    ground: BaseGeometry, piece: BaseGeometry, sagitta_mm: float
) -> Membership:
    """How much of a piece lies in some ground, told by outlines as good as `sagitta_mm`."""
    if not ground.distance(piece) <= 2 * sagitta_mm:
        return Membership(False, False)
    over = piece.difference(ground)
    return Membership(True, over.is_empty or over.buffer(-2 * sagitta_mm).is_empty)

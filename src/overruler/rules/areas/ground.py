"""Areas as polygons, their curves as chords. Lengths are in mm."""

import math
from collections.abc import Sequence

import shapely
from shapely.geometry.base import BaseGeometry

from overruler.geometry.batched.offset_outlines import grown_sum_outline
from overruler.geometry.shapes import Disc, Ellipse, Shape, gap, translate_shape
from overruler.rules.areas.membership import Membership
from overruler.rules.areas.outlined import outlined_ground
from overruler.rules.areas.outlines import dilate_by, erode_by, polygons_in
from overruler.rules.areas.soft import NOMINAL, POSSIBLE, doubt_ellipse, soften
from overruler.rules.areas.tree import (
    Area,
    Joined,
    Near,
    Outlined,
    Outside,
    WholeBase,
    bases_of,
    bodies_of,
    leaves_of,
)
from overruler.rules.bodies import Body, piece_bodies
from overruler.scene import Scene

SAGITTA_MM = 0.025
"""How far chords lie inside a curve at most. Two such errors stay below the 0.05 mm of the contract."""
FRAME_MARGIN_MM = 1.0
"""How far the frame reaches beyond a base that overhangs the board."""


class Ground:
    """The areas of a scene as polygons, as measured or at one side of their soft edge."""

    __slots__ = ("_frame", "_sagitta_mm", "_scene", "_side")

    def __init__(
        self, scene: Scene, area: Area, sagitta_mm: float = SAGITTA_MM, side: int = NOMINAL
    ) -> None:
        reach_mm = [2 * base.parts[0].bounding_radius_mm for base in bases_of(area)]
        margin = FRAME_MARGIN_MM + max(reach_mm, default=0.0)
        if side != NOMINAL:
            margin += _largest_doubt_mm(scene, area)
        width, height = scene.board.width_mm, scene.board.height_mm
        self._scene = scene
        self._sagitta_mm = sagitta_mm
        self._side = side
        self._frame = shapely.box(-margin, -margin, width + margin, height + margin)

    def cover(self, area: Area) -> shapely.MultiPolygon:
        """The ground of an area on the board, off other bases where it is for one.

        Outlines run counter-clockwise and holes clockwise.
        """
        ground = self._cover_on_board(area)
        for base in bases_of(area):
            others = [body for body in piece_bodies(self._scene) if body.id != base.id]
            ground = ground.difference(self._taken_ground(others, base))
        return shapely.MultiPolygon(polygons_in(ground))

    def takers(self, area: Area, bodies: Sequence[Body]) -> list[Body]:
        """Those of some bodies on whose bases the ground of an area would lie if it were not cut."""
        bases = bases_of(area)
        if not (bodies and bases):
            return []
        ground = self._cover_on_board(area)
        return [
            body
            for body in bodies
            for base in bases
            if body.id != base.id
            and polygons_in(ground.intersection(self._taken_ground([body], base)))
        ]

    def _cover_on_board(self, area: Area) -> BaseGeometry:
        board = shapely.box(0, 0, self._scene.board.width_mm, self._scene.board.height_mm)
        return self._cover(area, self._side).intersection(board)

    def _cover(self, area: Area, side: int) -> BaseGeometry:
        """The ground of an area within the frame, which reaches over the board's edge."""
        if isinstance(area, Near):
            return self._cover_near(area, side)
        if isinstance(area, Joined):
            parts = [self._cover(part, side) for part in area.parts]
            return shapely.intersection_all(parts) if area.is_all else shapely.union_all(parts)
        if isinstance(area, Outside):
            return self._frame.difference(self._cover(area.area, -side))
        if isinstance(area, WholeBase):
            ground = self._cover(area.area, side)
            return erode_by(ground, at_origin(area.base), self._sagitta_mm)
        return self._cover_outlined(area, side)

    def _cover_near(self, near: Near, side: int) -> BaseGeometry:
        ground = self._grow(near.bodies, near.high_mm, near.base, side)
        if near.low_mm > 0:
            ground = ground.difference(self._grow(near.bodies, near.low_mm, near.base, -side))
        return ground

    def _cover_outlined(self, leaf: Outlined, side: int) -> BaseGeometry:
        ground = outlined_ground(self._scene, leaf, self._frame, side, self._sagitta_mm)
        if leaf.base:
            ground = dilate_by(ground, at_origin(leaf.base), self._sagitta_mm)
        return ground.intersection(self._frame)

    def _grow(
        self, bodies: Sequence[Body], distance_mm: float, base: Body | None, side: int
    ) -> BaseGeometry:
        """The ground within a distance of some bodies, or where a base is within it."""
        added = [at_origin(base)] if base else []
        grown = []
        for body in bodies:
            ellipse = doubt_ellipse(self._scene, body) if side else None
            if any(self._reaches_all(part, distance_mm, ellipse, side) for part in body.parts):
                return self._frame
            spread = [*added, ellipse] if ellipse and side == POSSIBLE else added
            for part in body.parts:
                outline = grown_sum_outline([part, *spread], distance_mm, self._sagitta_mm)
                ground = shapely.Polygon(outline)
                grown.append(ground if side == POSSIBLE else self._soften(ground, ellipse, side))
        return shapely.union_all(grown)

    def _soften(self, ground: BaseGeometry, ellipse: Ellipse | None, side: int) -> BaseGeometry:
        return soften(ground, ellipse, side, self._sagitta_mm)

    def _reaches_all(
        self, shape: Shape, distance_mm: float, ellipse: Ellipse | None, side: int
    ) -> bool:
        """Whether all of the frame lies within a distance of a shape, wherever it may be."""
        if ellipse:
            distance_mm += side * ellipse.bounding_radius_mm
        corners = [Disc((x, y)) for x, y in shapely.get_coordinates(self._frame)[:4].tolist()]
        distances_mm = (math.dist(shape.center, corner.center) for corner in corners)
        if max(distances_mm) > distance_mm + shape.bounding_radius_mm:
            return False
        return all(gap(shape, corner).distance_mm <= distance_mm for corner in corners)

    def _taken_ground(self, others: Sequence[Body], base: Body) -> BaseGeometry:
        """Where the centre of a base would put it on one of some others."""
        return self._grow(others, 0.0, base, -self._side)

    def polygon_of(self, piece: Body) -> BaseGeometry:
        """The ground under a piece."""
        return self._grow([piece], 0.0, None, NOMINAL)


def _largest_doubt_mm(scene: Scene, area: Area) -> float:
    """How far a soft edge reaches at most."""
    bodies = (body for leaf in leaves_of(area) for body in bodies_of(leaf))
    ellipses = (doubt_ellipse(scene, body) for body in dict.fromkeys(bodies))
    return max((ellipse.length_mm for ellipse in ellipses if ellipse), default=0.0)


def at_origin(base: Body) -> Shape:
    """The outline of a base about the origin; a base is its own mirror image."""
    x, y = base.parts[0].center
    return translate_shape(base.parts[0], -x, -y)


def membership_by_outline(
    ground: BaseGeometry, piece: BaseGeometry, sagitta_mm: float
) -> Membership:
    """How much of a piece lies in some ground, told by outlines as good as `sagitta_mm`."""
    if not ground.distance(piece) <= 2 * sagitta_mm:
        return Membership(False, False)
    over = piece.difference(ground)
    return Membership(True, over.is_empty or over.buffer(-2 * sagitta_mm).is_empty)

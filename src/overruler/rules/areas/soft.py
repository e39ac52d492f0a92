"""How far doubt may carry the border of an area: its soft edge, as wide as the 95 % interval.

A border moves with the body that it belongs to. Along its normal, the body's place has the σ of that
direction, so 95 % of all places keep the border within an ellipse about where it was measured. All
ground that the ellipse reaches may lie inside; what it never leaves surely does.
"""

import math

import shapely
from shapely.geometry.base import BaseGeometry

from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape
from overruler.rules.areas.outlines import dilate_by, erode_by
from overruler.rules.bodies import Body
from overruler.scene import Scene
from overruler.units import SIGMAS_95

SOFT_SAGITTA_MM = 0.1
"""How far chords lie inside the curves of a soft edge: less than is seen of it."""
LEAST_REACH_MM = 1e-3
"""Doubt below this is none: nobody can draw so fine."""
LEAST_SHARE = 0.05
"""The narrow axis of an ellipse of doubt is at least this share of the long one."""
SURE, NOMINAL, POSSIBLE = -1, 0, 1
"""The sides of a soft edge: what surely lies inside, what does as measured, what may."""


def doubt_ellipse(scene: Scene, body: Body) -> Ellipse | None:
    """The 95 % ellipse about the origin of a body's place; None where it is exact."""
    if scene.covariance is None or body.index is None:
        return None
    (xx, xy), (_, yy) = scene.covariance.of_difference(None, body.index)
    mean, spread = (xx + yy) / 2, math.hypot((xx - yy) / 2, xy)
    long_mm = SIGMAS_95 * math.sqrt(max(mean + spread, 0.0))
    short_mm = SIGMAS_95 * math.sqrt(max(mean - spread, 0.0))
    if long_mm < LEAST_REACH_MM:
        return None
    heading_deg = math.degrees(math.atan2(2 * xy, xx - yy)) / 2
    short_mm = max(short_mm, LEAST_SHARE * long_mm)
    return Ellipse((0.0, 0.0), 2 * long_mm, 2 * short_mm, heading_deg)


def soften(
    ground: BaseGeometry, ellipse: Ellipse | None, side: int, sagitta_mm: float
) -> BaseGeometry:
    """Some ground at one side of its soft edge."""
    if ellipse is None or side == NOMINAL:
        return ground
    spread = dilate_by if side == POSSIBLE else erode_by
    return spread(ground, ellipse, sagitta_mm)


def viewer_at(shape: Shape, ellipse: Ellipse | None, side: int) -> Shape:
    """A base as large as all its likely places together, or as small as what they share.

    The ground that the larger one does not see is surely hidden.
    """
    if ellipse is None or side == NOMINAL:
        return shape
    grow_mm = -side * ellipse.length_mm / 2
    if isinstance(shape, Disc):
        return Disc(shape.center, max(shape.radius_mm + grow_mm, 0.0))
    if isinstance(shape, Ellipse):
        length_mm, width_mm = shape.length_mm + 2 * grow_mm, shape.width_mm + 2 * grow_mm
        if min(length_mm, width_mm) <= 0:
            return Disc(shape.center)
        return Ellipse(shape.center, length_mm, width_mm, shape.heading_deg)
    grown = shapely.Polygon(shape.corners).buffer(grow_mm, join_style="mitre")
    if grown.is_empty:
        return Disc(shape.center)
    ring = shapely.get_coordinates(shapely.polygons(grown.exterior.coords))[:-1].tolist()
    corners = ring if grown.exterior.is_ccw else ring[::-1]
    return Polygon(tuple((x, y) for x, y in corners))

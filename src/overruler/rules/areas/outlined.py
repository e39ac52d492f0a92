"""Ground whose outline decides what lies in it: arcs, shadows and zones, as polygons.

Their borders are straight, so their polygons are exact, but for shadows that round bases throw.
"""

import math

import shapely
from shapely.geometry.base import BaseGeometry

from overruler.geometry.arcs import Region, Strip, heading_vector
from overruler.rules.areas.shadows import shadow_past
from overruler.rules.areas.soft import NOMINAL, doubt_ellipse, soften, viewer_at
from overruler.rules.areas.tree import Hidden, Outlined, Zone
from overruler.scene import Scene

MAX_STEP_DEG = 60.0
"""The most that two corners of a wedge's far end are apart, seen from its apex."""
REACH_SHARE = 3.0
"""How far an arc is drawn, in diagonals of the frame: the chords of its far end lie outside."""


def outlined_ground(
    scene: Scene,
    leaf: Outlined,
    frame: shapely.Polygon,
    side: int = NOMINAL,
    sagitta_mm: float = 0.0,
) -> BaseGeometry:
    """The ground of an arc, a shadow or a zone within a frame, at one side of its soft edge."""
    if isinstance(leaf, Zone):
        return shapely.Polygon(leaf.corners).intersection(frame)
    if isinstance(leaf, Hidden):
        ellipse = doubt_ellipse(scene, leaf.viewer) if side else None
        return shadow_past(leaf, viewer_at(leaf.viewer.parts[0], ellipse, side), frame)
    ground = shapely.union_all([_arc_ground(region, frame) for region in leaf.regions])
    ellipse = doubt_ellipse(scene, leaf.body) if side else None
    return soften(ground, ellipse, side, sagitta_mm)


def _arc_ground(region: Region, frame: shapely.Polygon) -> BaseGeometry:
    left, bottom, right, top = frame.bounds
    x, y = region.apex
    far_mm = math.hypot(max(right - x, x - left), max(top - y, y - bottom))
    if isinstance(region, Strip):
        return _strip_ground(region, far_mm).intersection(frame)
    if not region.edges:
        return frame
    steps = math.ceil(region.sweep_deg / MAX_STEP_DEG)
    turns = (region.from_deg + region.sweep_deg * step / steps for step in range(steps + 1))
    reach_mm = REACH_SHARE * far_mm
    corners = [(x + reach_mm * ux, y + reach_mm * uy) for ux, uy in map(heading_vector, turns)]
    return shapely.Polygon([region.apex, *corners]).intersection(frame)


def _strip_ground(strip: Strip, far_mm: float) -> shapely.Polygon:
    left, right, _ = strip.edges
    reach_mm = REACH_SHARE * far_mm
    return shapely.Polygon(
        [right.start, right.point_at(reach_mm), left.point_at(reach_mm), left.start]
    )

"""The ground that no part of a base sees past obstacles.

A place is hidden where obstacles shut every line to the base. Its border is made of straight lines
alone: common tangents that have the base and an obstacle on one side, and those that pass between
two obstacles and meet the base. These lines, behind the obstacle that they touch, divide the table
into faces, and all of a face is hidden or none of it is. One point of each face is tried.

Along lines from a point that meet two convex shapes apart from each other, the same shape always
comes first, so one direction tells whether an obstacle stands before the base.

Alphabet: n points of an outline, p places tried.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from overruler.geometry.batched.offset_outlines import grown_sum_outline
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Point, Polygon, Shape
from overruler.geometry.tangents import inner_tangents, outer_tangents, widest_separation
from overruler.rules.areas.tree import Hidden
from overruler.units import CONTACT_TOLERANCE_MM

RIM_SAGITTA_MM = 1e-3
"""How far chords lie inside the rims that decide whether a place is hidden."""
LEAST_FACE_MM2 = 1e-4
"""Smaller faces are rounding."""
SAME_TURN_RAD = 1e-12
"""A gap between obstacles that is narrower, seen from a place, is rounding."""
INSIDE_MM = 1e-6
"""How far inside its obstacle a border begins, so that it surely crosses the rim."""
MAX_KEPT = 512
"""Rims, and obstacles as a base meets them, that are kept: those of all drawn places."""
Border = tuple[Point, Point, Point]
"""From inside an obstacle over the tangent point on its rim to beyond the frame."""


class Obstacle:
    """A convex obstacle, apart from the base that looks past it."""

    __slots__ = ("body_id", "outline", "rim", "shape", "towards")

    def __init__(self, body_id: str, shape: Shape, towards: float) -> None:
        self.body_id = body_id
        self.shape = shape
        self.towards = towards
        """The direction from the base that separates the two."""
        self.rim = _rim_of(shape)
        self.outline: list[Point] = []
        """The rim with the points that borders touch."""


def shadow_past(leaf: Hidden, base: Shape, frame: shapely.Polygon) -> BaseGeometry:
    """The ground that a viewer's base does not see past the obstacles, within a frame."""
    obstacles = _obstacles_before(leaf, base)
    if not obstacles:
        return shapely.Polygon()
    left, bottom, right, top = frame.bounds
    far_mm = 2 * math.hypot(right - left, top - bottom) + math.dist(
        base.center, ((left + right) / 2, (bottom + top) / 2)
    )
    borders = [*_borders(base, obstacles, far_mm)]
    faces = _faces(obstacles, borders, frame)
    places = np.array([face.representative_point().coords[0] for face in faces])
    hidden = are_hidden(base, obstacles, places)
    ground = shapely.union_all([face for face, is_in in zip(faces, hidden, strict=True) if is_in])
    return ground.intersection(frame)


def hidden_places(leaf: Hidden, base: Shape, places: Array) -> NDArray[np.bool_]:
    """Whether each of some places (p, 2) sees no part of a viewer's base."""
    return are_hidden(base, _obstacles_before(leaf, base), places)


@lru_cache(maxsize=MAX_KEPT)
def _obstacles_before(leaf: Hidden, base: Shape) -> tuple[Obstacle, ...]:
    """The convex parts of all that stands apart from a base.

    What overlaps the base hides nothing, as in the rules of sight.
    """
    found = []
    for body in leaf.obstacles:
        separations = [widest_separation(base, part) for part in body.parts]
        if min(each.signed_gap_mm for each in separations) < -CONTACT_TOLERANCE_MM:
            continue
        for part, separation in zip(body.parts, separations, strict=True):
            found.append(Obstacle(body.id, part, separation.angle))
    return tuple(found)


@lru_cache(maxsize=MAX_KEPT)
def _rim_of(shape: Shape) -> Array:
    """The corners (n, 2) of a shape, or those of chords so short that nobody sees them."""
    if isinstance(shape, Polygon):
        return np.array(shape.corners)
    rim = grown_sum_outline([shape], 0.0, RIM_SAGITTA_MM)
    return rim if len(rim) else np.array([shape.center])


# --- the lines between faces ---


def _borders(base: Shape, obstacles: Sequence[Obstacle], far_mm: float) -> Iterator[Border]:
    for obstacle in obstacles:
        obstacle.outline = [(float(x), float(y)) for x, y in obstacle.rim]
        for angle in outer_tangents(base, obstacle.shape, obstacle.towards):
            yield _border_behind(obstacle, angle, angle, far_mm)
    for first, second in combinations(obstacles, 2):
        separation = widest_separation(first.shape, second.shape)
        if separation.signed_gap_mm <= CONTACT_TOLERANCE_MM:
            continue
        for angle in inner_tangents(first.shape, second.shape, separation.angle):
            if _meets(base, first.shape, angle):
                yield _border_behind(first, angle, angle, far_mm)
                yield _border_behind(second, angle, angle + math.pi, far_mm)


def _meets(base: Shape, shape: Shape, angle: float) -> bool:
    """Whether the tangent of a shape with a normal meets a base."""
    ux, uy = math.cos(angle), math.sin(angle)
    x, y = shape.support_point(ux, uy)
    along = x * ux + y * uy
    (px, py), (qx, qy) = base.support_point(-ux, -uy), base.support_point(ux, uy)
    return px * ux + py * uy - 1e-9 <= along <= qx * ux + qy * uy + 1e-9


def _border_behind(
    obstacle: Obstacle, line_angle: float, touch_angle: float, far_mm: float
) -> Border:
    """The part of a tangent behind the obstacle that it touches, away from the base."""
    x, y = obstacle.shape.support_point(math.cos(touch_angle), math.sin(touch_angle))
    ux, uy = -math.sin(line_angle), math.cos(line_angle)
    if ux * math.cos(obstacle.towards) + uy * math.sin(obstacle.towards) < 0:
        ux, uy = -ux, -uy
    obstacle.outline.append((x, y))
    cx, cy = obstacle.shape.center
    share = INSIDE_MM / max(math.dist((x, y), (cx, cy)), INSIDE_MM)
    inside = x + share * (cx - x), y + share * (cy - y)
    return inside, (x, y), (x + far_mm * ux, y + far_mm * uy)


def _faces(
    obstacles: Sequence[Obstacle], borders: Sequence[Border], frame: shapely.Polygon
) -> list[shapely.Polygon]:
    """The faces into which the lines and the obstacles divide the frame."""
    hulls = [shapely.MultiPoint(obstacle.outline).convex_hull for obstacle in obstacles]
    rims = [hull.boundary for hull in hulls]
    lines = [*map(shapely.LineString, borders)]
    nodes = shapely.union_all([*rims, *lines, frame.exterior])
    found = shapely.get_parts(shapely.polygonize(shapely.get_parts(nodes)))
    return [face for face in found if face.area > LEAST_FACE_MM2]


# --- which faces are hidden ---


def are_hidden(base: Shape, obstacles: Sequence[Obstacle], places: Array) -> NDArray[np.bool_]:
    """Whether each of some places (p, 2) sees no part of a base past the obstacles.

    A body that a place stands on hides nothing from it, as in the rules of sight.
    """
    middle = np.arctan2(*(np.array(base.center) - places).T[::-1])
    first, last = _angles_from(places, _rim_of(base), middle)
    found = np.zeros(len(places), bool)
    intervals = [_blocked(obstacle, places, middle, first, last) for obstacle in obstacles]
    stood_on = _stood_on(obstacles, places)
    for place in range(len(places)):
        shut = sorted(
            (low[place], high[place])
            for (low, high, blocks), obstacle in zip(intervals, obstacles, strict=True)
            if blocks[place] and obstacle.body_id not in stood_on[place]
        )
        found[place] = _covers(shut, first[place], last[place])
    inside = shapely.contains_xy(shapely.MultiPoint(_rim_of(base)).convex_hull, places)
    return np.asarray(found & ~inside)


def _stood_on(obstacles: Sequence[Obstacle], places: Array) -> list[set[str]]:
    """The bodies that each place stands on."""
    found: list[set[str]] = [set() for _ in places]
    for obstacle in obstacles:
        ground = shapely.MultiPoint(obstacle.rim).convex_hull
        for place in np.flatnonzero(shapely.contains_xy(ground, places)):
            found[place].add(obstacle.body_id)
    return found


def _covers(shut: Sequence[tuple[float, float]], first: float, last: float) -> bool:
    """Whether intervals in ascending order cover one from first to last."""
    for low, high in shut:
        if low > first + SAME_TURN_RAD:
            return False
        first = max(first, high)
    return first >= last - SAME_TURN_RAD


def _angles_from(places: Array, rim: Array, middle: Array) -> tuple[Array, Array]:
    """The least and largest direction (p,) of a rim (n, 2), as turns from the direction `middle`."""
    x, y = np.moveaxis(rim[None] - places[:, None], 2, 0)
    turn = np.arctan2(y, x) - middle[:, None]
    turn = (turn + np.pi) % (2 * np.pi) - np.pi
    return turn.min(1), turn.max(1)


def _blocked(
    obstacle: Obstacle, places: Array, middle: Array, first: Array, last: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The turns (p,) between which an obstacle stands before the base, and whether it does."""
    own = np.arctan2(*(np.array(obstacle.shape.center) - places).T[::-1])
    low, high = _angles_from(places, obstacle.rim, own)
    offset = (own - middle + np.pi) % (2 * np.pi) - np.pi
    low, high = low + offset, high + offset
    common = middle + (np.maximum(low, first) + np.minimum(high, last)) / 2
    is_before = np.cos(common - obstacle.towards) < 0
    overlaps = np.minimum(high, last) > np.maximum(low, first)
    return low, high, overlaps & is_before

"""The ground that no part of a base sees past obstacles.

A place is hidden where obstacles shut every line to the base. Its border is made of straight lines
alone: common tangents that have the base and an obstacle on one side, and those that pass between
two obstacles and meet the base. These lines, behind the obstacle that they touch, divide the table
into faces, and all of a face is hidden or none of it is. One point of each face is tried.

Along lines from a point that meet two convex shapes apart from each other, the same shape always
comes first, so one direction tells whether an obstacle stands before the base.

Alphabet: n points of an outline, p places tried, k obstacles.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.batched.offset_outlines import grown_sum_outline
from overruler.geometry.batched.vectors import Mask, vector_lengths
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Point, Polygon, Shape
from overruler.geometry.tangents import inner_tangents, outer_tangents, widest_separation
from overruler.rules.areas.tree import Hidden
from overruler.rules.areas.views import lie_inside, view_of, wrap_turn
from overruler.units import CONTACT_TOLERANCE_MM

RIM_SAGITTA_MM = 1e-3
"""How far chords lie inside the rims of round obstacles."""
LEAST_FACE_MM2 = 1e-4
"""Smaller faces are rounding."""
SAME_TURN_RAD = 1e-12
"""A gap between obstacles that is narrower, seen from a place, is rounding."""
INSIDE_MM = 1e-6
"""How far inside its obstacle a border begins, so that it surely crosses the rim."""
MAX_KEPT = 64
"""Rims, and obstacles as a base meets them, that are kept."""
Border = tuple[Point, Point, Point]
"""From inside an obstacle over the tangent point on its rim to beyond the frame."""


class Obstacle:
    """A convex obstacle, apart from the base that looks past it."""

    __slots__ = ("body_id", "may_overlap", "outline", "rim", "shape", "towards")

    def __init__(
        self, body_id: str, shape: Shape, towards: float, may_overlap: bool = False
    ) -> None:
        self.body_id = body_id
        self.shape = shape
        self.towards = towards
        """The direction from the base that separates the two."""
        self.may_overlap = may_overlap
        """Whether the base may come to overlap the body."""
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


def hidden_places(leaf: Hidden, base: Shape, places: Array, moves: Array) -> Mask:
    """Whether each of some places (p, 2) sees no part of a viewer's base, moved by (p, 2) for each."""
    reach_mm = float(vector_lengths(moves).max(initial=0.0))
    return are_hidden(base, _obstacles_before(leaf, base, reach_mm), places, moves)


@lru_cache(maxsize=MAX_KEPT)
def _obstacles_before(leaf: Hidden, base: Shape, reach_mm: float = 0.0) -> tuple[Obstacle, ...]:
    """The convex parts of all that stands apart from a base, wherever it is moved so far.

    What overlaps the base hides nothing, as in the rules of sight.
    """
    found = []
    for body in leaf.obstacles:
        separations = [widest_separation(base, part) for part in body.parts]
        apart_mm = min(each.signed_gap_mm for each in separations)
        if apart_mm < -CONTACT_TOLERANCE_MM - reach_mm:
            continue
        for part, separation in zip(body.parts, separations, strict=True):
            found.append(Obstacle(body.id, part, separation.angle, apart_mm < reach_mm))
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


def are_hidden(
    base: Shape, obstacles: Sequence[Obstacle], places: Array, moves: Array | None = None
) -> Mask:
    """Whether each of some places (p, 2) sees no part of a base past the obstacles.

    For each place the base is moved by `moves` (p, 2). A body that a place stands on hides nothing
    from it, as in the rules of sight.
    """
    moves = np.zeros_like(places) if moves is None else moves
    middle, first, last = view_of(base, places - moves)
    shut = [_blocked(obstacle, places, middle, first, last) for obstacle in obstacles]
    blocks = np.array([one[2] for one in shut]).reshape(-1, len(places))
    bodies = np.array([obstacle.body_id for obstacle in obstacles])
    for body_id in dict.fromkeys(bodies.tolist()):
        parts = [obstacle for obstacle in obstacles if obstacle.body_id == body_id]
        blocks[bodies == body_id] &= ~_hides_nothing(base, parts, places, moves)
    low = np.where(blocks, np.array([one[0] for one in shut]).reshape(blocks.shape), np.inf)
    high = np.array([one[1] for one in shut]).reshape(blocks.shape)
    return _cover(low, high, first, last) & ~lie_inside(base, places - moves)


def _hides_nothing(base: Shape, parts: Sequence[Obstacle], places: Array, moves: Array) -> Mask:
    """Whether each place stands on a body, or the base as it is moved overlaps it."""
    found = np.any([lie_inside(part.shape, places) for part in parts], 0)
    for part in parts:
        if part.may_overlap:
            found |= gaps_at_shifts(part.shape, base, moves) == 0
    return np.asarray(found)


def _cover(low: Array, high: Array, first: Array, last: Array) -> Mask:
    """Whether intervals from low to high (k, p) cover those from first to last (p,)."""
    order = low.argsort(0)
    low, high = np.take_along_axis(low, order, 0), np.take_along_axis(high, order, 0)
    covered = first.copy()
    for start, end in zip(low, high, strict=True):
        follows = start <= covered + SAME_TURN_RAD
        np.maximum(covered, end, out=covered, where=follows)
    return np.asarray(covered >= last - SAME_TURN_RAD)


def _blocked(
    obstacle: Obstacle, places: Array, middle: Array, first: Array, last: Array
) -> tuple[Array, Array, Mask]:
    """The turns (p,) between which an obstacle stands before the base, and whether it does."""
    own, low, high = view_of(obstacle.shape, places)
    offset = wrap_turn(own - middle)
    low, high = low + offset, high + offset
    common = middle + (np.maximum(low, first) + np.minimum(high, last)) / 2
    is_before = np.cos(common - obstacle.towards) < 0
    overlaps = np.minimum(high, last) > np.maximum(low, first)
    return low, high, overlaps & is_before

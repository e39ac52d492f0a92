"""The gaps between all of many shapes at once: every kind of pair is one pass over arrays.

No pair can be left out, for each has a distance to tell, so there is no broad phase; what spares time is that mostly
one look at a rectangle and an ellipse says which point of the rectangle is the closest. Convex polygons other than
rectangles, parts of terrain, are measured one by one.

Alphabet: n shapes, m others or m pairs; every column is (n,) or (m,), and (n, 1) where each meets each. Lengths in mm.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched import ellipse_distances
from overruler.geometry.batched.ellipse_distances import EllipseColumns
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape, gap

RECTANGLE_TOLERANCE_MM = 1e-10
"""A polygon whose corners lie this close to a rectangle's is one."""


class ShapeColumns(NamedTuple):
    """Shapes of one kind: a disc has a radius for both halves, an ellipse and a rectangle have them and a heading."""

    indices: NDArray[np.intp]
    """Of each among all shapes."""
    x: Array
    y: Array
    half_length: Array
    half_width: Array
    cos: Array
    sin: Array
    """Of the heading."""

    @classmethod
    def of(cls, rows: Sequence[tuple[float, ...]]) -> "ShapeColumns":
        place, *columns = np.array(rows).reshape(-1, 7).T
        return cls(place.astype(np.intp), *columns)

    def select_rows(self, rows: Any) -> "ShapeColumns":
        return ShapeColumns(self.indices[rows], *(column[rows] for column in self[1:]))

    def to_local_frame(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Points in the frames of the shapes: from the centre, along the heading and to the left of it."""
        dx, dy = x - self.x, y - self.y
        return dx * self.cos + dy * self.sin, dy * self.cos - dx * self.sin

    def as_ellipses(self) -> EllipseColumns:
        """The ellipses' own Q in the board frame."""
        aa, bb, c, s = self.half_length**2, self.half_width**2, self.cos, self.sin
        return EllipseColumns(
            self.x, self.y, aa * c * c + bb * s * s, (aa - bb) * c * s, aa * s * s + bb * c * c
        )


def gap_matrix(shapes: Sequence[Shape]) -> Array:
    """The gap (n, n) of each shape and each, to 1e-9 mm; 0 where they overlap, and of a shape and itself."""
    discs, ellipses, boxes = (ShapeColumns.of(rows) for rows in _rows_by_kind(shapes))
    if len(discs.x) == len(shapes):
        return _disc_gaps(discs)
    found = np.zeros((len(shapes), len(shapes)))
    found[np.ix_(discs.indices, discs.indices)] = _disc_gaps(discs)
    _fill_cross_block(found, ellipses, discs, _ellipse_disc_gaps)
    _fill_cross_block(found, boxes, discs, _box_disc_gaps)
    _fill_cross_block(found, boxes, ellipses, _box_ellipse_gaps)
    _fill_own_block(found, ellipses.indices, ellipses.as_ellipses(), ellipse_distances.ellipse_gaps)
    _fill_own_block(found, boxes.indices, boxes, _box_box_gaps)
    known = {*discs.indices.tolist(), *ellipses.indices.tolist(), *boxes.indices.tolist()}
    for k in {*range(len(shapes))} - known:
        found[k] = found[:, k] = [gap(shapes[k], shape).distance_mm for shape in shapes]
    return found


def _rows_by_kind(shapes: Sequence[Shape]) -> tuple[list[tuple[float, ...]], ...]:
    """The rows of `ShapeColumns` for discs, for ellipses and for rectangles."""
    discs: list[tuple[float, ...]] = []
    ellipses: list[tuple[float, ...]] = []
    boxes: list[tuple[float, ...]] = []
    for place, shape in enumerate(shapes):
        if isinstance(shape, Disc):
            discs.append((place, *shape.center, shape.radius_mm, shape.radius_mm, 1.0, 0.0))
        elif isinstance(shape, Ellipse):
            turn = math.radians(shape.heading_deg)
            halves = (shape.length_mm / 2, shape.width_mm / 2)
            ellipses.append((place, *shape.center, *halves, math.cos(turn), math.sin(turn)))
        elif box := _rectangle_row(shape):
            boxes.append((place, *box))
    return discs, ellipses, boxes


def _rectangle_row(polygon: Polygon) -> tuple[float, ...] | None:
    """A rectangle's columns; None for any other polygon."""
    if len(polygon.corners) != 4:
        return None
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = polygon.corners
    length, width = math.hypot(ax - bx, ay - by), math.hypot(bx - cx, by - cy)
    if not length or not width:
        return None
    c, s = (ax - bx) / length, (ay - by) / length
    leans = abs((bx - cx) * c + (by - cy) * s)
    closes = math.hypot(ax - bx + cx - dx, ay - by + cy - dy)
    return (
        (*polygon.center, length / 2, width / 2, c, s)
        if max(leans, closes) <= RECTANGLE_TOLERANCE_MM
        else None
    )


Columns = TypeVar("Columns", ShapeColumns, EllipseColumns)
GapFunction = Callable[[ShapeColumns, ShapeColumns], Array]
"""The gaps (m,) of pairs, or (n, m) where the columns of the first are upright."""


def _fill_cross_block(found: Array, a: ShapeColumns, b: ShapeColumns, measure: GapFunction) -> None:
    if not len(a.x) or not len(b.x):
        return
    block = measure(a.select_rows((slice(None), None)), b)
    found[np.ix_(a.indices, b.indices)], found[np.ix_(b.indices, a.indices)] = block, block.T


def _fill_own_block(
    found: Array,
    place: NDArray[np.intp],
    columns: Columns,
    measure: Callable[[Columns, Columns], Array],
) -> None:
    if len(place) < 2:
        return
    one, other = np.triu_indices(len(place), 1)
    first, second = place[one], place[other]
    found[first, second] = found[second, first] = measure(
        columns.select_rows(one), columns.select_rows(other)
    )


# --- discs and ellipses ---


def _disc_gaps(discs: ShapeColumns) -> Array:
    dx, dy = discs.x[:, None] - discs.x, discs.y[:, None] - discs.y
    apart = np.sqrt(dx * dx + dy * dy)
    apart -= discs.half_length[:, None] + discs.half_length
    np.fill_diagonal(apart, 0.0)
    return np.asarray(np.maximum(apart, 0.0, out=apart))


def _ellipse_disc_gaps(ellipses: ShapeColumns, discs: ShapeColumns) -> Array:
    away = ellipse_distances.ellipse_point_distances(
        ellipses.half_length, ellipses.half_width, *ellipses.to_local_frame(discs.x, discs.y)
    )[0]
    return np.asarray(np.maximum(away - discs.half_length, 0.0))


# --- rectangles ---


def _box_point_distances(boxes: ShapeColumns, x: Array, y: Array) -> Array:
    """The distance of points in the rectangles' own frames."""
    past, aside = (
        np.maximum(np.abs(x) - boxes.half_length, 0.0),
        np.maximum(np.abs(y) - boxes.half_width, 0.0),
    )
    return np.asarray(np.sqrt(past * past + aside * aside))


def _box_disc_gaps(boxes: ShapeColumns, discs: ShapeColumns) -> Array:
    return np.maximum(
        _box_point_distances(boxes, *boxes.to_local_frame(discs.x, discs.y)) - discs.half_length,
        0.0,
    )


def _box_box_gaps(a: ShapeColumns, b: ShapeColumns) -> Array:
    """Apart where a side of one of the two parts them, and then as far as a corner of one is from the other."""
    (there, parted), (back, parted_back) = (
        _nearest_corner_distances(a, b),
        _nearest_corner_distances(b, a),
    )
    return np.where(parted | parted_back, np.minimum(there, back), 0.0)


def _nearest_corner_distances(a: ShapeColumns, b: ShapeColumns) -> tuple[Array, NDArray[np.bool_]]:
    """How far the nearest corner of `b` is from `a`, and whether a side of `a` parts the two."""
    x, y = a.to_local_frame(b.x, b.y)
    c, s = b.cos * a.cos + b.sin * a.sin, b.sin * a.cos - b.cos * a.sin
    (lx, ly), (wx, wy) = (
        (b.half_length * c, b.half_length * s),
        (b.half_width * -s, b.half_width * c),
    )
    signs = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
    corners = [_box_point_distances(a, x + p * lx + q * wx, y + p * ly + q * wy) for p, q in signs]
    parted = (np.abs(x) - np.abs(lx) - np.abs(wx) > a.half_length) | (
        np.abs(y) - np.abs(ly) - np.abs(wy) > a.half_width
    )
    return np.minimum(
        np.minimum(corners[0], corners[1]), np.minimum(corners[2], corners[3])
    ), parted


def _box_ellipse_gaps(boxes: ShapeColumns, ellipses: ShapeColumns) -> Array:
    """Where all of an ellipse lies past one side, the rectangle's closest point is on that side.

    How far a point of the side's line is from the ellipse is a convex function of its place, least at the foot of the
    ellipse's own extreme point: the closest of the side is that foot, or the end of the side next to it. Where no side
    parts the two they overlap or a corner parts them.
    """
    x, y = boxes.to_local_frame(ellipses.x, ellipses.y)
    c, s = (
        ellipses.cos * boxes.cos + ellipses.sin * boxes.sin,
        ellipses.sin * boxes.cos - ellipses.cos * boxes.sin,
    )
    shape = EllipseColumns(x, y, *ellipses._replace(cos=c, sin=s).as_ellipses()[2:])
    right, up = np.copysign(1.0, x), np.copysign(1.0, y)
    reach_x, reach_y = np.sqrt(shape.xx), np.sqrt(shape.yy)
    past_x, past_y = np.abs(x) - reach_x > boxes.half_length, np.abs(y) - reach_y > boxes.half_width
    foot_x, foot_y = x - up * shape.xy / reach_y, y - right * shape.xy / reach_x
    to_x = (
        np.where(
            past_x,
            right * boxes.half_length,
            np.clip(foot_x, -boxes.half_length, boxes.half_length),
        )
        - x
    )
    to_y = (
        np.where(
            past_x, np.clip(foot_y, -boxes.half_width, boxes.half_width), up * boxes.half_width
        )
        - y
    )
    away = ellipse_distances.ellipse_point_distances(
        ellipses.half_length, ellipses.half_width, to_x * c + to_y * s, to_y * c - to_x * s
    )[0]
    one, other = np.nonzero(~past_x & ~past_y)
    away[one, other] = _corner_separations(boxes.select_rows((one, 0)), ellipses.select_rows(other))
    return away


def _corner_separations(boxes: ShapeColumns, ellipses: ShapeColumns) -> Array:
    """The largest separation that the way from the ellipse to one of the corners has; 0 where none parts the two."""
    right, up = (
        np.repeat([[1], [1], [-1], [-1]], len(boxes.x), 1),
        np.repeat([[1], [-1], [-1], [1]], len(boxes.x), 1),
    )
    x, y = ellipses.to_local_frame(boxes.x, boxes.y)
    c, s = (
        boxes.cos * ellipses.cos + boxes.sin * ellipses.sin,
        boxes.sin * ellipses.cos - boxes.cos * ellipses.sin,
    )
    corner_x = x + right * boxes.half_length * c - up * boxes.half_width * s
    corner_y = y + right * boxes.half_length * s + up * boxes.half_width * c
    a, b = (np.tile(half, 4) for half in (ellipses.half_length, ellipses.half_width))
    ux, uy = (
        u.reshape(4, -1)
        for u in ellipse_distances.ellipse_point_distances(
            a, b, corner_x.ravel(), corner_y.ravel()
        )[1:]
    )
    reach = boxes.half_length * np.abs(ux * c + uy * s) + boxes.half_width * np.abs(uy * c - ux * s)
    parted = ux * x + uy * y - reach - np.hypot(ellipses.half_length * ux, ellipses.half_width * uy)
    return np.asarray(np.maximum(parted.max(0, initial=0.0), 0.0))

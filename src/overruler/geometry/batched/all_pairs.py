"""The gaps between all pairs of many shapes: each kind of pair is one pass over arrays.

Every pair needs its distance, so there is no broad phase. Time is saved because a single test of a
rectangle and an ellipse usually tells which point of the rectangle is closest. Convex polygons other
than rectangles, parts of terrain, are measured one by one.

Alphabet: n shapes, m others or m pairs. Every column is (n,) or (m,), and (n, 1) if each meets each.
Lengths are in mm.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched import ellipse_distances
from overruler.geometry.batched.ellipse_distances import EllipseColumns
from overruler.geometry.batched.vectors import Mask
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape, gap

RECTANGLE_TOLERANCE_MM = 1e-10
"""A polygon whose corners are this close to a rectangle's, in mm, counts as one."""
CORNER_SIGNS = ((1, 1), (1, -1), (-1, -1), (-1, 1))
"""A rectangle's corners, in halves of its length and width."""

Row = tuple[float, ...]
Rows = list[Row]


class ShapeColumns(NamedTuple):
    """Shapes of one kind, by columns."""

    indices: NDArray[np.intp]
    """The index of each among all shapes."""
    x: Array
    y: Array
    """The centres."""
    half_length: Array
    half_width: Array
    """Half the size along the heading and across it; the radius of a disc for both."""
    cos: Array
    sin: Array
    """The cosine and sine of the heading."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "ShapeColumns":
        indices, *columns = np.array(rows).reshape(-1, 7).T
        return cls(indices.astype(np.intp), *columns)

    def select_rows(self, rows: Any) -> "ShapeColumns":
        return ShapeColumns(self.indices[rows], *(column[rows] for column in self[1:]))

    def to_local_frame(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Return points in the shapes' frames: along the heading from the centre, and left of it."""
        dx = x - self.x
        dy = y - self.y
        return dx * self.cos + dy * self.sin, dy * self.cos - dx * self.sin

    def relative_heading(self, other: "ShapeColumns") -> tuple[Array, Array]:
        """Return the cosine and sine of the heading relative to that of `other`."""
        cos = self.cos * other.cos + self.sin * other.sin
        return cos, self.sin * other.cos - self.cos * other.sin

    def as_ellipses(self) -> EllipseColumns:
        """Return ellipses' matrices Q in the board frame."""
        aa, bb = self.half_length**2, self.half_width**2
        c, s = self.cos, self.sin
        xx = aa * c * c + bb * s * s
        xy = (aa - bb) * c * s
        yy = aa * s * s + bb * c * c
        return EllipseColumns(self.x, self.y, xx, xy, yy)


def gap_matrix(shapes: Sequence[Shape]) -> Array:
    """Return the gaps (n, n) of all pairs, to 1e-9 mm; 0 if they overlap, and on the diagonal."""
    discs, ellipses, boxes = (ShapeColumns.of(rows) for rows in _rows_by_kind(shapes))
    if len(discs.x) == len(shapes):
        return _disc_gaps(discs)
    gaps = np.zeros((len(shapes), len(shapes)))
    gaps[np.ix_(discs.indices, discs.indices)] = _disc_gaps(discs)
    _fill_cross_block(gaps, ellipses, discs, _ellipse_disc_gaps)
    _fill_cross_block(gaps, boxes, discs, _box_disc_gaps)
    _fill_cross_block(gaps, boxes, ellipses, _box_ellipse_gaps)
    _fill_own_block(gaps, ellipses.indices, ellipses.as_ellipses(), ellipse_distances.ellipse_gaps)
    _fill_own_block(gaps, boxes.indices, boxes, _box_box_gaps)
    known = {*discs.indices.tolist(), *ellipses.indices.tolist(), *boxes.indices.tolist()}
    for k in {*range(len(shapes))} - known:
        gaps[k] = gaps[:, k] = [gap(shapes[k], shape).distance_mm for shape in shapes]
    return gaps


def _rows_by_kind(shapes: Sequence[Shape]) -> tuple[Rows, Rows, Rows]:
    """Return the rows of `ShapeColumns` for discs, for ellipses and for rectangles."""
    discs: Rows = []
    ellipses: Rows = []
    boxes: Rows = []
    for index, shape in enumerate(shapes):
        if isinstance(shape, Disc):
            discs.append((index, *shape.center, shape.radius_mm, shape.radius_mm, 1.0, 0.0))
        elif isinstance(shape, Ellipse):
            turn = math.radians(shape.heading_deg)
            size = (shape.length_mm / 2, shape.width_mm / 2)
            ellipses.append((index, *shape.center, *size, math.cos(turn), math.sin(turn)))
        elif box := rectangle_row(shape):
            boxes.append((index, *box))
    return discs, ellipses, boxes


def rectangle_row(polygon: Polygon) -> Row | None:
    """Return a rectangle's columns, without its index; None for any other polygon."""
    if len(polygon.corners) != 4:
        return None
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = polygon.corners
    length = math.hypot(ax - bx, ay - by)
    width = math.hypot(bx - cx, by - cy)
    if not length or not width:
        return None
    c = (ax - bx) / length
    s = (ay - by) / length
    skew = abs((bx - cx) * c + (by - cy) * s)
    closure = math.hypot(ax - bx + cx - dx, ay - by + cy - dy)
    if not max(skew, closure) <= RECTANGLE_TOLERANCE_MM:
        return None
    return (*polygon.center, length / 2, width / 2, c, s)


Columns = TypeVar("Columns", ShapeColumns, EllipseColumns)
GapFunction = Callable[[ShapeColumns, ShapeColumns], Array]
"""Returns the gaps (m,) of pairs, or (n, m) if the columns of the first are upright."""


def _fill_cross_block(gaps: Array, a: ShapeColumns, b: ShapeColumns, measure: GapFunction) -> None:
    if not len(a.x) or not len(b.x):
        return
    block = measure(a.select_rows((slice(None), None)), b)
    gaps[np.ix_(a.indices, b.indices)] = block
    gaps[np.ix_(b.indices, a.indices)] = block.T


def _fill_own_block(
    gaps: Array,
    indices: NDArray[np.intp],
    columns: Columns,
    measure: Callable[[Columns, Columns], Array],
) -> None:
    if len(indices) < 2:
        return
    i, j = np.triu_indices(len(indices), 1)
    first, second = indices[i], indices[j]
    values = measure(columns.select_rows(i), columns.select_rows(j))
    gaps[first, second] = gaps[second, first] = values


# --- discs and ellipses ---


def _disc_gaps(discs: ShapeColumns) -> Array:
    dx = discs.x[:, None] - discs.x
    dy = discs.y[:, None] - discs.y
    gaps = np.sqrt(dx * dx + dy * dy)
    gaps -= discs.half_length[:, None] + discs.half_length
    np.fill_diagonal(gaps, 0.0)
    return np.asarray(np.maximum(gaps, 0.0, out=gaps))


def _ellipse_disc_gaps(ellipses: ShapeColumns, discs: ShapeColumns) -> Array:
    x, y = ellipses.to_local_frame(discs.x, discs.y)
    half_axes = ellipses.half_length, ellipses.half_width
    distances, _, _ = ellipse_distances.ellipse_point_distances(*half_axes, x, y)
    return np.asarray(np.maximum(distances - discs.half_length, 0.0))


# --- rectangles ---


def _box_point_distances(boxes: ShapeColumns, x: Array, y: Array) -> Array:
    """Return the distances of points in the rectangles' own frames."""
    dx = np.maximum(np.abs(x) - boxes.half_length, 0.0)
    dy = np.maximum(np.abs(y) - boxes.half_width, 0.0)
    square = dx * dx + dy * dy
    return np.asarray(np.sqrt(square))


def _box_disc_gaps(boxes: ShapeColumns, discs: ShapeColumns) -> Array:
    distances = _box_point_distances(boxes, *boxes.to_local_frame(discs.x, discs.y))
    return np.maximum(distances - discs.half_length, 0.0)


def _box_box_gaps(a: ShapeColumns, b: ShapeColumns) -> Array:
    """Return the least distance of a corner, if a side of either rectangle separates the two."""
    a_distances, is_separated_by_a = _nearest_corner_distances(a, b)
    b_distances, is_separated_by_b = _nearest_corner_distances(b, a)
    is_separated = is_separated_by_a | is_separated_by_b
    return np.where(is_separated, np.minimum(a_distances, b_distances), 0.0)


def _nearest_corner_distances(a: ShapeColumns, b: ShapeColumns) -> tuple[Array, Mask]:
    """Return how far the nearest corner of `b` is from `a`, and if a side of `a` separates them."""
    x, y = a.to_local_frame(b.x, b.y)
    c, s = b.relative_heading(a)
    length_x = b.half_length * c
    length_y = b.half_length * s
    width_x = b.half_width * -s
    width_y = b.half_width * c
    corners = []
    for p, q in CORNER_SIGNS:
        corner_x = x + p * length_x + q * width_x
        corner_y = y + p * length_y + q * width_y
        corners.append(_box_point_distances(a, corner_x, corner_y))
    nearest = np.minimum(np.minimum(corners[0], corners[1]), np.minimum(corners[2], corners[3]))
    is_past_x = np.abs(x) - np.abs(length_x) - np.abs(width_x) > a.half_length
    is_past_y = np.abs(y) - np.abs(length_y) - np.abs(width_y) > a.half_width
    return nearest, is_past_x | is_past_y


def _box_ellipse_gaps(boxes: ShapeColumns, ellipses: ShapeColumns) -> Array:
    """Find the rectangle's closest point on the side that the whole ellipse lies past.

    The distance of a point on the side's line from the ellipse is a convex function of its place. It
    is least at the foot of the ellipse's own extreme point. The closest point of the side is that
    foot, or the end of the side next to it. If no side separates the two, they overlap or a corner
    separates them.
    """
    x, y = boxes.to_local_frame(ellipses.x, ellipses.y)
    c, s = ellipses.relative_heading(boxes)
    turned = ellipses._replace(cos=c, sin=s).as_ellipses()
    right = np.copysign(1.0, x)
    up = np.copysign(1.0, y)
    reach_x = np.sqrt(turned.xx)
    reach_y = np.sqrt(turned.yy)
    is_past_x = np.abs(x) - reach_x > boxes.half_length
    is_past_y = np.abs(y) - reach_y > boxes.half_width
    foot_x = np.clip(x - up * turned.xy / reach_y, -boxes.half_length, boxes.half_length)
    foot_y = np.clip(y - right * turned.xy / reach_x, -boxes.half_width, boxes.half_width)
    to_x = np.where(is_past_x, right * boxes.half_length, foot_x) - x
    to_y = np.where(is_past_x, foot_y, up * boxes.half_width) - y
    half_axes = ellipses.half_length, ellipses.half_width
    local_x = to_x * c + to_y * s
    local_y = to_y * c - to_x * s
    gaps, _, _ = ellipse_distances.ellipse_point_distances(*half_axes, local_x, local_y)
    i, j = np.nonzero(~is_past_x & ~is_past_y)
    gaps[i, j] = _corner_separations(boxes.select_rows((i, 0)), ellipses.select_rows(j))
    return gaps


def _corner_separations(boxes: ShapeColumns, ellipses: ShapeColumns) -> Array:
    """Return the largest separation along the lines from the ellipse to the corners; 0 if none is."""
    x, y = ellipses.to_local_frame(boxes.x, boxes.y)
    c, s = boxes.relative_heading(ellipses)
    right = np.repeat([[1], [1], [-1], [-1]], len(boxes.x), 1)
    up = np.repeat([[1], [-1], [-1], [1]], len(boxes.x), 1)
    corner_x = x + right * boxes.half_length * c - up * boxes.half_width * s
    corner_y = y + right * boxes.half_length * s + up * boxes.half_width * c
    half_axes = np.tile(ellipses.half_length, 4), np.tile(ellipses.half_width, 4)
    _, *directions = ellipse_distances.ellipse_point_distances(
        *half_axes, corner_x.ravel(), corner_y.ravel()
    )
    ux, uy = (component.reshape(4, -1) for component in directions)
    along_length = np.abs(ux * c + uy * s)
    along_width = np.abs(uy * c - ux * s)
    box_reach = boxes.half_length * along_length + boxes.half_width * along_width
    ellipse_reach = np.hypot(ellipses.half_length * ux, ellipses.half_width * uy)
    separations = ux * x + uy * y - box_reach - ellipse_reach
    return np.asarray(np.maximum(separations.max(0, initial=0.0), 0.0))

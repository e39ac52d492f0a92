"""The farthest part of a shape from the nearest of several others.

Alphabet: n displacements or points, m shapes, k cells. Lengths are in mm.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.point_distances import distance_matrix, point_distances
from overruler.geometry.batched.vectors import (
    SMALLEST_DIVISOR,
    left_component,
    left_normals,
    unit_vectors,
    vector_lengths,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Polygon, Shape

MAX_CELL_DIVISIONS = 30
"""Most rounds of branch and bound."""
CELL_PARTS = 4
"""Each round divides a cell into so many parts both ways."""
MAX_CELLS = 4096
"""More cells than this remain only if a whole line is equally far; the best value lies on it."""
CURVED_PIECES = 6
"""Number of pieces of a curved rim."""
RIM_STEPS = 16
"""Samples of each piece of a rim."""
RIM_REACH = 1.1
"""Between two samples the distance rises by less than this many times the way between them."""
TRISECTIONS = 30
"""Steps by thirds round a maximum, to 1e-5 mm."""


def farthest_from_all(shapes: Sequence[Shape], b: Shape, floor_mm: float = 0.0) -> float:
    """Return the largest distance of any point of `b` from the nearest of `shapes`, to 1e-9 mm.

    It is `floor_mm` if no point is farther.

    Branch and bound over `b`. The distance to a convex shape is convex, so over a cell it is largest
    at a corner of the cell's hull. The least of these maxima over the shapes bounds the cell. The
    bound is exact if one shape is nearest to the whole cell, so only cells in which two compete are
    divided again.
    """
    rim = RimCells(b)
    cells = np.array([[0.0, 1.0, k, k + 1.0] for k in range(rim.pieces)])
    best = floor_mm
    for _ in range(MAX_CELL_DIVISIONS):
        corners = rim.cell_hulls(cells).reshape(-1, 2)
        distances = distance_matrix(shapes, corners).reshape(len(shapes), len(cells), 5)
        best = max(best, float(distances[:, :, :4].min(0).max()))
        cells = cells[distances.max(2).min(0) > best + 1e-9]
        if not 0 < len(cells) <= MAX_CELLS:
            break
        cells = _divide_cells(cells)
    return best


class RimCells:
    """A shape divided into cells, in coordinates s and t.

    s runs from the centre (0) to the rim (1), t along the rim. A cell is s0, s1, t0, t1.
    """

    __slots__ = ("pieces", "shape")

    shape: Shape
    pieces: int
    """The number of pieces of the rim; t runs from 0 to this."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.pieces = len(shape.corners) if isinstance(shape, Polygon) else CURVED_PIECES

    def rim_offset(self, t: Array) -> Array:
        """Return the rim (..., 2) at t (...), relative to the centre."""
        if not isinstance(self.shape, Polygon):
            turn = t * (2 * np.pi / self.pieces)
            return unit_vectors(turn) @ self._unit_circle_axes()
        corners = np.array(self.shape.corners)
        first = np.floor(t).astype(int)
        share = (t % 1)[..., None]
        start = corners[first % self.pieces] * (1 - share)
        rim = start + corners[(first + 1) % self.pieces] * share
        return np.asarray(rim - self.shape.center)

    def _unit_circle_axes(self) -> Array:
        """Return the images (2, 2) of (1, 0) and (0, 1) when the unit circle maps to the rim."""
        if isinstance(self.shape, Disc):
            return np.eye(2) * self.shape.radius_mm
        assert not isinstance(self.shape, Polygon)
        xx, xy, yy = self.shape.matrix
        return np.asarray(np.linalg.cholesky(np.array([[xx, xy], [xy, yy]])).T)

    def cell_hulls(self, cells: Array) -> Array:
        """Return four corners of each cell and a fifth point (k, 5, 2), whose hull holds the cell.

        The fifth is where the tangents at the ends of the outer arc meet. For a straight rim it is
        the middle.
        """
        s0, s1, t0, t1 = (cells[:, [column]] for column in range(4))
        first = self.rim_offset(t0[:, 0])
        last = self.rim_offset(t1[:, 0])
        corners = [s0 * first, s0 * last, s1 * first, s1 * last]
        half = 0.0 if isinstance(self.shape, Polygon) else np.pi / self.pieces
        middle = self.rim_offset((t0 + t1)[:, 0] / 2)
        tip = s1 * middle / np.cos((t1 - t0) * half)
        return np.stack([*corners, tip], 1) + self.shape.center


def _divide_cells(cells: Array) -> Array:
    """Divide each cell into a grid of `CELL_PARTS` times as many."""
    s0, s1, t0, t1 = (column[:, None] for column in cells.T)
    near, along = np.divmod(np.arange(CELL_PARTS**2), CELL_PARTS)
    s = (s1 - s0) / CELL_PARTS
    t = (t1 - t0) / CELL_PARTS
    parts = [s0 + near * s, s0 + (near + 1) * s, t0 + along * t, t0 + (along + 1) * t]
    return np.stack([part.ravel() for part in parts], 1)


def rim_farthest_from_all(
    shapes: Sequence[Shape], b: Shape, shifts_mm: Array, line_mm: float | None = None
) -> Array:
    """Return the largest distance (n,) of any point of b's rim from the nearest of `shapes`.

    `shifts_mm` (m, n, 2) displace `b`, relative to each shape by its own shift. Points and shapes
    that the longest shift cannot bring into play are left out. Each maximum among the rest is
    refined by thirds, to 1e-5 mm. With a line only the side of it is certain: a maximum that cannot
    reach the line, or is past it already, is not refined.
    """
    rim, step = RimCells(b), 1 / RIM_STEPS
    t = np.arange(rim.pieces * RIM_STEPS, dtype=float) * step
    longest = float(vector_lengths(shifts_mm).max())
    live, near = _possible_extremes(shapes, rim.rim_offset(t) + b.center, longest)
    shapes = [shapes[i] for i in near]
    shifts = shifts_mm[near]

    def distances(t: Array, rows: NDArray[np.integer[Any]] | slice = slice(None)) -> Array:
        places = rim.rim_offset(t) + b.center + shifts[:, rows]
        pairs = zip(shapes, places, strict=True)
        return np.asarray(np.min([point_distances(shape, points) for shape, points in pairs], 0))

    coarse = np.full((shifts.shape[1], len(t)), -np.inf)
    coarse[:, live] = np.stack([distances(place) for place in t[live]], 1)
    best = coarse.max(1)
    refined = _local_maxima(coarse)
    if line_mm is not None:
        reach = line_mm - RIM_REACH * float(
            vector_lengths(np.diff(rim.rim_offset(t), axis=0)).max()
        )
        refined &= ((best <= line_mm) & (best > reach))[:, None] & (coarse > reach)
    row, cell = np.nonzero(refined)
    low = t[cell] - step
    high = t[cell] + step
    for _ in range(TRISECTIONS):
        third = (high - low) / 3
        rises = distances(low + third, row) < distances(high - third, row)
        low = np.where(rises, low + third, low)
        high = np.where(rises, high, high - third)
    np.maximum.at(best, row, distances((low + high) / 2, row))
    return np.asarray(best)


def _local_maxima(values: Array) -> NDArray[np.bool_]:
    """Return where rows of values round a rim have a finite local maximum."""
    from_left = values >= np.roll(values, 1, 1)
    from_right = values >= np.roll(values, -1, 1)
    return np.asarray(from_left & from_right & np.isfinite(values))


def _possible_extremes(
    shapes: Sequence[Shape], points: Array, reach_mm: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rim points that may be farthest, and shapes that may be nearest to them."""
    distances = distance_matrix(shapes, points)
    least = distances.min(0)
    spacing = float(vector_lengths(points - np.roll(points, 1, 0)).max())
    live = np.flatnonzero(least >= least.max() - 2 * reach_mm - spacing)
    limits = least[live] + 2 * (reach_mm + spacing)
    near = np.flatnonzero((distances[:, live] <= limits).any(1))
    return live, near


def farthest_from_points(centers: Array, b: Disc, shifts_mm: Array) -> Array:
    """Return the largest distance (n,) of any point of a disc from the nearest of points (m, 2).

    `shifts_mm` (m, n, 2) displace the disc, relative to each point by its own shift. The farthest
    point lies opposite one of the points, on the rim midway between two, or inside, equally far from
    three.
    """
    offsets = (centers[:, None] - shifts_mm - b.center).swapaxes(0, 1)  # (n, m, 2)
    candidates = [
        _opposite_points(offsets, b.radius_mm),
        _bisector_points(offsets, b.radius_mm),
        _circumcenters(offsets, b.radius_mm),
    ]
    places = np.concatenate(candidates, 1)
    between = places[:, :, None] - offsets[:, None]  # (n, places, m, 2)
    return np.asarray(vector_lengths(between).min(2).max(1))


def _opposite_points(offsets: Array, radius: float) -> Array:
    scale = radius / np.maximum(vector_lengths(offsets), SMALLEST_DIVISOR)
    return np.asarray(-offsets * scale[..., None])


def _bisector_points(offsets: Array, radius: float) -> Array:
    """Return where, or nearest where, the rim meets the bisector of each two (n, pairs * 2, 2)."""
    i, j = np.triu_indices(offsets.shape[1], 1)
    between = offsets[:, j] - offsets[:, i]
    size = np.maximum(vector_lengths(between), SMALLEST_DIVISOR)
    u = between / size[..., None]
    square_difference = (offsets[:, j] ** 2).sum(-1) - (offsets[:, i] ** 2).sum(-1)
    along = np.clip(square_difference / (2 * size), -radius, radius)
    half = np.sqrt(radius**2 - along**2)[..., None] * left_normals(u)
    foot = u * along[..., None]
    return np.concatenate([foot + half, foot - half], 1)


def _circumcenters(offsets: Array, radius: float) -> Array:
    """Return the circumcentre of each three points (n, triples, 2); outside the disc, its centre."""
    trios = np.array(list(combinations(range(offsets.shape[1]), 3)), int).reshape(-1, 3)
    p, q, r = (offsets[:, trios[:, k]] for k in range(3))
    qp, rp = q - p, r - p
    doubled_area = 2 * left_component(rp, qp)
    q2 = (qp**2).sum(-1)
    r2 = (rp**2).sum(-1)
    x = rp[..., 1] * q2 - qp[..., 1] * r2
    y = qp[..., 0] * r2 - rp[..., 0] * q2
    with np.errstate(divide="ignore", invalid="ignore"):
        place = p + np.stack([x, y], -1) / doubled_area[..., None]
        is_inside = vector_lengths(place) <= radius
        return np.asarray(np.where(is_inside[..., None], place, 0.0))

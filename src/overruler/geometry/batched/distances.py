"""The distances of `geometry.shapes` for many displacements at once, and from a shape to the nearest of several.

Alphabet: n displacements or points, m shapes, k cells. All lengths in mm.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched import ellipse_distances
from overruler.geometry.batched.ellipse_distances import EllipseColumns
from overruler.geometry.farthest import sample_angles
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape

BISECTIONS = 44
"""Halvings of a bracket of directions; half a turn over 2**44 is 2e-13 rad, nothing in a distance over a table."""


def gaps_at_shifts(a: Shape, b: Shape, shifts_mm: Array) -> Array:
    """The gap (n,) of `a` and of `b` moved by each of `shifts_mm` (n, 2)."""
    shifts = np.asarray(shifts_mm, float)
    if isinstance(b, Disc):
        return np.maximum(point_distances(a, shifts + b.center) - b.radius_mm, 0)
    if isinstance(a, Disc):
        return np.maximum(point_distances(b, a.center - shifts) - a.radius_mm, 0)
    if isinstance(a, Polygon) and isinstance(b, Polygon):
        return _polygon_point_distances(_minkowski_difference(a, b), -shifts)
    if isinstance(a, Ellipse) and isinstance(b, Ellipse):
        return ellipse_distances.ellipse_gaps(
            _ellipse_columns(a, np.zeros_like(shifts)), _ellipse_columns(b, shifts)
        )
    return _gaps_by_bisection(a, b, shifts)


def _ellipse_columns(shape: Ellipse, shifts: Array) -> EllipseColumns:
    x, y = (shifts + shape.center).T
    return EllipseColumns(x, y, *(np.full(len(x), value) for value in shape.matrix))


def _minkowski_difference(a: Polygon, b: Polygon) -> Array:
    """The corners (k, 2), counter-clockwise, of the convex set of all vectors from a point of `a` to one of `b`.

    Its sides are those of `b` and those of `a` turned round, in the order of their directions. (de Berg and others,
    Computational Geometry, 2008, theorem 13.5.)
    """
    outlines = np.array(b.corners), -np.array(a.corners)
    starts = [
        outline[np.lexsort((outline[:, 0], outline[:, 1]))[0]] for outline in outlines
    ]  # the lowest corner
    sides = np.concatenate([np.roll(outline, -1, 0) - outline for outline in outlines])
    turn = np.arctan2(sides[:, 1], sides[:, 0]) % (2 * np.pi)
    sides = sides[np.argsort(turn, kind="stable")]
    return np.asarray(sum(starts) + np.cumsum(sides, 0) - sides)


def _gaps_by_bisection(a: Shape, b: Shape, shifts: Array) -> Array:
    """As `shapes.gap`, by halving the bracket of directions alone."""
    apart = shifts + b.center - a.center
    middle, half = np.arctan2(apart[:, 1], apart[:, 0]), np.pi / 2
    widest = np.zeros(len(shifts))
    for _ in range(BISECTIONS):
        along, across = _support_differences(a, b, shifts, middle, -1)
        half /= 2
        middle = middle + np.where(across > 0, half, -half)
        np.maximum(widest, along, out=widest)
    return widest


def point_distances(shape: Shape, points_mm: Array) -> Array:
    """The distance (n,) of points (n, 2) from a shape; 0 inside."""
    if isinstance(shape, Disc):
        return np.maximum(vector_lengths(points_mm - shape.center) - shape.radius_mm, 0)
    if isinstance(shape, Polygon):
        return _polygon_point_distances(np.array(shape.corners), points_mm)
    return _ellipse_point_distances(shape, points_mm)


def _polygon_point_distances(corners: Array, points: Array) -> Array:
    sides = np.roll(corners, -1, 0) - corners
    to = points[:, None] - corners  # (n, sides, 2)
    share = np.clip((to * sides).sum(-1) / (sides * sides).sum(-1), 0, 1)
    left = sides[:, 0] * to[..., 1] - sides[:, 1] * to[..., 0]
    nearest = vector_lengths(to - share[..., None] * sides).min(1)
    return np.asarray(np.where((left >= 0).all(1), 0.0, nearest))


def _ellipse_point_distances(shape: Ellipse, points: Array) -> Array:
    turn, local = np.radians(shape.heading_deg), points - shape.center
    c, sine = np.cos(turn), np.sin(turn)
    x, y = c * local[:, 0] + sine * local[:, 1], c * local[:, 1] - sine * local[:, 0]
    return ellipse_distances.ellipse_point_distances(
        np.array(shape.length_mm / 2), np.array(shape.width_mm / 2), x, y
    )[0]


def farthest_distances(a: Shape, b: Shape, shifts_mm: Array) -> Array:
    """The largest distance (n,) to `a` of any point of `b` moved by each of `shifts_mm` (n, 2); 0 inside."""
    shifts = np.asarray(shifts_mm, float)
    if isinstance(a, Disc) and isinstance(b, Disc):
        return np.maximum(
            vector_lengths(shifts + b.center - a.center) + b.radius_mm - a.radius_mm, 0
        )
    if isinstance(b, Polygon):
        return np.asarray(np.max([point_distances(a, shifts + corner) for corner in b.corners], 0))
    return _farthest_peaks(a, b, shifts)


def _farthest_peaks(a: Shape, b: Shape, shifts: Array) -> Array:
    angles = np.array(sample_angles(a, b))
    low, high = angles, np.append(angles[1:], angles[0] + 2 * np.pi)
    inside = 1e-9 * (high - low)  # to one side of a jump
    every = shifts[:, None]
    best = _support_differences(a, b, every, low[None], 1)[0].max(1)
    rises = _support_differences(a, b, every, (low + inside)[None], 1)[1] > 0
    row, cell = np.nonzero(
        rises & (_support_differences(a, b, every, (high - inside)[None], 1)[1] < 0)
    )
    middle, half = (low + high)[cell] / 2, (high - low)[cell] / 2
    for _ in range(BISECTIONS):
        half /= 2
        middle = middle + np.where(
            _support_differences(a, b, shifts[row], middle, 1)[1] > 0, half, -half
        )
    np.maximum.at(best, row, _support_differences(a, b, shifts[row], middle, 1)[0])
    return np.asarray(np.maximum(best, 0))


def _support_differences(
    a: Shape, b: Shape, shifts: Array, angles: Array, sign: float
) -> tuple[Array, Array]:
    """The vector between two support points, along and across each of the directions; see `shapes.Span`."""
    u = np.stack([np.cos(angles), np.sin(angles)], -1)
    w = b.support_points(sign * u) + shifts - a.support_points(u)
    return np.asarray((w * u).sum(-1)), w[..., 1] * u[..., 0] - w[..., 0] * u[..., 1]


def vector_lengths(vectors: Array) -> Array:
    """(...) of vectors (..., 2)."""
    return np.hypot(vectors[..., 0], vectors[..., 1])


def distance_matrix(shapes: Sequence[Shape], points_mm: Array) -> Array:
    """The distance (m, n) of each of `points_mm` (n, 2) from each shape; 0 inside."""
    return np.array([point_distances(shape, points_mm) for shape in shapes])


def farthest_from_all(shapes: Sequence[Shape], b: Shape) -> float:
    """The largest distance of any point of `b` from whichever of `shapes` is nearest to that point, to 1e-9 mm.

    Branch and bound over `b`. The distance to a convex shape is convex, so nowhere in a cell is it more than at the
    corners of a hull of the cell: the cell holds nothing beyond the least of those over the shapes. Where one shape is
    nearest to all of a cell that bound is exact, so only cells in which two contend are cut again.
    """
    rim = _RimCells(b)
    cells = np.array([[0.0, 1.0, k, k + 1.0] for k in range(rim.pieces)])
    best = 0.0
    for _ in range(60):
        corners = rim.cell_hulls(cells)  # (k, 5, 2)
        away = distance_matrix(shapes, corners.reshape(-1, 2)).reshape(len(shapes), len(cells), 5)
        best = max(best, float(away[:, :, :4].min(0).max()))
        cells = cells[away.max(2).min(0) > best + 1e-9]
        if (
            not 0 < len(cells) <= 4096
        ):  # more only where a whole line is equally far, and then `best` stands on it
            break
        cells = _quarter_cells(cells)
    return best


class _RimCells:
    """A shape as cells: s runs from its centre (0) to its rim (1), t along the rim; a cell is s0, s1, t0, t1."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.pieces = len(shape.corners) if isinstance(shape, Polygon) else 6

    def rim_offset(self, t: Array) -> Array:
        """The rim (..., 2) at t (...), less the centre."""
        if isinstance(self.shape, Polygon):
            corners = np.array(self.shape.corners)
            first, share = np.floor(t).astype(int), (t % 1)[..., None]
            rim = (
                corners[first % self.pieces] * (1 - share)
                + corners[(first + 1) % self.pieces] * share
            )
            return np.asarray(rim - self.shape.center)
        turn = t * (2 * np.pi / self.pieces)
        return np.stack([np.cos(turn), np.sin(turn)], -1) @ self._unit_circle_axes()

    def _unit_circle_axes(self) -> Array:
        """The rows to which (1, 0) and (0, 1) of the unit circle go."""
        if isinstance(self.shape, Disc):
            return np.eye(2) * self.shape.radius_mm
        assert not isinstance(self.shape, Polygon)
        xx, xy, yy = self.shape.matrix
        return np.asarray(np.linalg.cholesky(np.array([[xx, xy], [xy, yy]])).T)

    def cell_hulls(self, cells: Array) -> Array:
        """Four corners of each cell and a fifth point (k, 5, 2); the cell lies in their hull.

        The fifth is where the tangents at the ends of its outer arc meet, for a straight rim the middle.
        """
        s0, s1, t0, t1 = (cells[:, [column]] for column in range(4))
        corners = [
            s0 * self.rim_offset(t0[:, 0]),
            s0 * self.rim_offset(t1[:, 0]),
            s1 * self.rim_offset(t0[:, 0]),
            s1 * self.rim_offset(t1[:, 0]),
        ]
        half = 0.0 if isinstance(self.shape, Polygon) else np.pi / self.pieces
        tip = s1 * self.rim_offset((t0 + t1)[:, 0] / 2) / np.cos((t1 - t0) * half)
        return np.stack([*corners, tip], 1) + self.shape.center


def _quarter_cells(cells: Array) -> Array:
    s0, s1, t0, t1 = cells.T
    s, t = (s0 + s1) / 2, (t0 + t1) / 2
    parts = [(s0, s, t0, t), (s0, s, t, t1), (s, s1, t0, t), (s, s1, t, t1)]
    return np.concatenate([np.stack(part, 1) for part in parts])


def rim_farthest_from_all(shapes: Sequence[Shape], b: Shape, shifts_mm: Array) -> Array:
    """The largest distance (n,) of any point of the rim of `b` from whichever of `shapes` is nearest to that point.

    `shifts_mm` (m, n, 2) displace `b`, against each of the shapes by its own. What the longest of them cannot bring
    into play is left out; every peak among the points that stay is closed in on by thirds, to 1e-5 mm.
    """
    rim, step = _RimCells(b), 1 / 16
    t = np.arange(rim.pieces * 16, dtype=float) * step
    live, near = _possible_extremes(
        shapes, rim.rim_offset(t) + b.center, float(vector_lengths(shifts_mm).max())
    )
    shapes, shifts = [shapes[i] for i in near], shifts_mm[near]

    def away(t: Array, rows: NDArray[np.integer[Any]] | slice = slice(None)) -> Array:
        places = rim.rim_offset(t) + b.center + shifts[:, rows]
        return np.asarray(
            np.min(
                [point_distances(shape, each) for shape, each in zip(shapes, places, strict=True)],
                0,
            )
        )

    coarse = np.full((shifts.shape[1], len(t)), -np.inf)
    coarse[:, live] = np.stack([away(one) for one in t[live]], 1)
    peaks = (
        (coarse >= np.roll(coarse, 1, 1)) & (coarse >= np.roll(coarse, -1, 1)) & np.isfinite(coarse)
    )
    row, cell = np.nonzero(peaks)
    low, high = t[cell] - step, t[cell] + step
    for _ in range(30):
        third = (high - low) / 3
        rises = away(low + third, row) < away(high - third, row)
        low, high = np.where(rises, low + third, low), np.where(rises, high, high - third)
    best = coarse.max(1)
    np.maximum.at(best, row, away((low + high) / 2, row))
    return np.asarray(best)


def _possible_extremes(
    shapes: Sequence[Shape], points: Array, reach_mm: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which points of a rim can be near its farthest part, and which shapes nearest to those, nothing moved farther."""
    away = distance_matrix(shapes, points)
    least = away.min(0)
    spacing = float(vector_lengths(points - np.roll(points, 1, 0)).max())
    live = np.flatnonzero(least >= least.max() - 2 * reach_mm - spacing)
    near = np.flatnonzero((away[:, live] <= least[live] + 2 * (reach_mm + spacing)).any(1))
    return live, near


def farthest_from_points(centers: Array, b: Disc, shifts_mm: Array) -> Array:
    """The largest distance (n,) of any point of a disc from whichever of some points (m, 2) is nearest to that point.

    `shifts_mm` (m, n, 2) displace the disc, against each of the points by its own. It lies opposite to one point, or
    where the rim meets the line midway between two, or inside, as far from three.
    """
    to = (centers[:, None] - shifts_mm - b.center).swapaxes(
        0, 1
    )  # (n, m, 2), seen from the disc's centre
    places = np.concatenate(
        [
            _opposite_points(to, b.radius_mm),
            _bisector_points(to, b.radius_mm),
            _circumcenters(to, b.radius_mm),
        ],
        1,
    )
    apart = places[:, :, None] - to[:, None]  # (n, places, m, 2)
    return np.asarray(vector_lengths(apart).min(2).max(1))


def _opposite_points(to: Array, radius: float) -> Array:
    return -to * (radius / np.maximum(vector_lengths(to), 1e-300))[..., None]


def _bisector_points(to: Array, radius: float) -> Array:
    """Where the rim meets the line midway between each two points (n, pairs * 2, 2); the line's nearest where not."""
    i, j = np.triu_indices(to.shape[1], 1)
    between = to[:, j] - to[:, i]
    size = np.maximum(vector_lengths(between), 1e-300)
    u = between / size[..., None]
    off = np.clip(((to[:, j] ** 2).sum(-1) - (to[:, i] ** 2).sum(-1)) / (2 * size), -radius, radius)
    half = np.sqrt(radius**2 - off**2)[..., None] * np.stack([-u[..., 1], u[..., 0]], -1)
    foot = u * off[..., None]
    return np.concatenate([foot + half, foot - half], 1)


def _circumcenters(to: Array, radius: float) -> Array:
    """The places as far from three points, for each three (n, triples, 2); the disc's centre where outside it."""
    trios = np.array(list(combinations(range(to.shape[1]), 3)), int).reshape(-1, 3)
    p, q, r = (to[:, trios[:, k]] for k in range(3))
    qp, rp = q - p, r - p
    area = 2 * (qp[..., 0] * rp[..., 1] - qp[..., 1] * rp[..., 0])
    q2, r2 = (qp**2).sum(-1), (rp**2).sum(-1)
    place = np.stack([rp[..., 1] * q2 - qp[..., 1] * r2, qp[..., 0] * r2 - rp[..., 0] * q2], -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = p + place / area[..., None]
        return np.asarray(np.where((vector_lengths(place) <= radius)[..., None], place, 0.0))

"""Distances of many ellipses, in arrays: from points, and from each other.

A few steps of a quick iteration run over all pairs. Every direction u bounds a gap from below, by the
separation u · (support of B in -u - support of A in u). Every two points bound it from above. If the
two bounds differ by more than `BOUND_TOLERANCE_MM`, the pair goes to `ellipse_separations`, a search
that always converges.

Alphabet: m pairs; every array is (m,) unless stated otherwise. Lengths are in mm. A round shape is a
centre and the Q of `shapes.Ellipse`: r² times the unit matrix for a disc, 0 for a point.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import SMALLEST_DIVISOR
from overruler.geometry.pose import Array

BOUND_TOLERANCE_MM = 1e-10
"""Bounds this close count as equal; below the 1e-9 mm accuracy of distances."""
POINT_NEWTON_STEPS = 3
"""Steps of the quick iteration from points: each doubles the digits, so this mostly suffices."""
ELLIPSE_NEWTON_STEPS = 3
"""Steps of the costlier iteration between ellipses; enough if they are a few sizes apart."""
MAX_SEARCH_STEPS = 220
"""Most search steps: every fourth halves, which takes half a turn beyond its last bit."""


class EllipseColumns(NamedTuple):
    """Ellipses, discs and points, by columns."""

    x: Array
    y: Array
    """The centres."""
    xx: Array
    xy: Array
    yy: Array
    """The matrices Q, in mm²."""

    def select_rows(self, index: NDArray[Any]) -> "EllipseColumns":
        return EllipseColumns(*(column[index] for column in self))

    def support_terms(self, ux: Array, uy: Array) -> tuple[Array, Array, Array, Array]:
        """Return the shapes' reach in unit directions u, the offset (x, y), and the curvature radius.

        With h = √(uᵀ Q u), these are h, Q u / h and det Q / h³. The offset is the support point
        relative to the centre.
        """
        px = self.xx * ux + self.xy * uy
        py = self.xy * ux + self.yy * uy
        reach = np.sqrt(np.maximum(px * ux + py * uy, 0.0))
        inverse = 1 / np.maximum(reach, 1e-90)
        determinant = np.maximum(self.xx * self.yy - self.xy * self.xy, 0.0)
        radius = determinant * inverse * inverse * inverse
        return reach, px * inverse, py * inverse, radius


def degenerate_ellipses(x: Array, y: Array) -> EllipseColumns:
    """Return points as ellipses of size 0."""
    zero = np.zeros(len(x))
    return EllipseColumns(x, y, zero, zero, zero)


# --- from points ---


def ellipse_point_distances(a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return the distances of points (x, y) from ellipses; 0 inside.

    The points are in the ellipses' own frames, with half axes a along x and b along y. The other
    results are the direction (ux, uy) to the point.

    The foot of a point p is (a² x/(t + a²), b² y/(t + b²)) for the one t > 0 that puts it on the rim:
    there n = |(a x/(t + a²), b y/(t + b²))| is 1. 1/n is concave and nearly straight in t, so
    Newton's steps on it come from below and are few (Moré and Sorensen, Computing a trust region
    step, 1983, section 3).
    """
    px, py = np.abs(x), np.abs(y)
    aa, bb = a * a, b * b
    inside = (px * b) ** 2 + (py * a) ** 2 <= aa * bb
    px = np.where(inside, a, px)  # any point of the rim stands for those inside
    py = np.where(inside, 0.0, py)
    ax, by = a * px, b * py
    t = _foot_parameters(ax, by, aa, bb)
    r = ax / (t + aa)
    s = by / (t + bb)
    n = np.maximum(np.hypot(r, s), SMALLEST_DIVISOR)
    ux, uy = r / a, s / b
    size = np.maximum(np.hypot(ux, uy), SMALLEST_DIVISOR)
    ux, uy = ux / size, uy / size
    lower = ux * px + uy * py - np.hypot(a * ux, b * uy)
    upper = np.hypot(px - a * r / n, py - b * s / n)
    distances = np.where(inside, 0.0, np.maximum(lower, 0.0))
    is_loose = ~(inside | (upper - lower < BOUND_TOLERANCE_MM))
    if is_loose.any():
        aa = np.broadcast_to(aa, is_loose.shape)[is_loose]
        bb = np.broadcast_to(bb, is_loose.shape)[is_loose]
        zero = np.zeros(len(aa))
        ellipses = EllipseColumns(zero, zero, aa, zero, bb)
        points = degenerate_ellipses(px[is_loose], py[is_loose])
        distances[is_loose], ux[is_loose], uy[is_loose] = ellipse_separations(ellipses, points)
    return distances, np.copysign(ux, x), np.copysign(uy, y)


def _foot_parameters(ax: Array, by: Array, aa: Array, bb: Array) -> Array:
    """Return t after Newton's steps, from a x, b y, a² and b²; see `ellipse_point_distances`."""
    t = np.maximum(np.maximum(ax - aa, by - bb), 0.0)
    t = np.maximum(t, np.hypot(ax, by) - np.maximum(aa, bb))
    for _ in range(POINT_NEWTON_STEPS):
        over_a = 1 / (t + aa)
        over_b = 1 / (t + bb)
        r, s = ax * over_a, by * over_b
        square = r * r + s * s
        slope = np.maximum(r * r * over_a + s * s * over_b, 1e-100)
        t = t + (np.sqrt(square) - 1) * square / slope
    return np.asarray(t)


# --- from each other ---


def ellipse_gaps(a: EllipseColumns, b: EllipseColumns) -> Array:
    """Return the gap of each pair; 0 if they overlap."""
    gaps, upper = _newton_gap_bounds(a, b, ELLIPSE_NEWTON_STEPS)
    loose = np.flatnonzero(~(upper - gaps < BOUND_TOLERANCE_MM))
    if not len(loose):
        return gaps
    a, b = a.select_rows(loose), b.select_rows(loose)
    refined, upper = _newton_gap_bounds(a, b, 2 * ELLIPSE_NEWTON_STEPS)
    still = np.flatnonzero(~(upper - refined < BOUND_TOLERANCE_MM))
    if len(still):
        refined[still], _, _ = ellipse_separations(a.select_rows(still), b.select_rows(still))
    gaps[loose] = refined
    return gaps


def _newton_gap_bounds(a: EllipseColumns, b: EllipseColumns, steps: int) -> tuple[Array, Array]:
    """Return bounds of each gap after Newton's steps; see `ellipse_separations`."""
    dx = b.x - a.x
    dy = b.y - a.y
    size = np.hypot(dx, dy)
    divisor = np.where(size > 0, size, 1.0)
    ux = np.where(size > 0, dx, 1.0) / divisor
    uy = dy / divisor
    for _ in range(steps):
        along, across, curved = _separation_terms(a, b, dx, dy, ux, uy)
        turn = across / np.maximum(along + curved, SMALLEST_DIVISOR)
        np.clip(turn, -1.0, 1.0, out=turn)
        ux, uy = ux - turn * uy, uy + turn * ux
        size = np.hypot(ux, uy)
        ux, uy = ux / size, uy / size
    along, across, _ = _separation_terms(a, b, dx, dy, ux, uy)
    return np.maximum(along, 0.0), np.hypot(along, across)


def _separation_terms(
    a: EllipseColumns, b: EllipseColumns, dx: Array, dy: Array, ux: Array, uy: Array
) -> tuple[Array, Array, Array]:
    """Return the vector from A's support point in u to B's in -u: its parts along and across u.

    The third result is the sum of the two radii of curvature.
    """
    a_reach, ax, ay, a_curved = a.support_terms(ux, uy)
    b_reach, bx, by, b_curved = b.support_terms(ux, uy)
    wx = dx - ax - bx
    wy = dy - ay - by
    along = dx * ux + dy * uy - a_reach - b_reach
    return along, wy * ux - wx * uy, a_curved + b_curved


def ellipse_separations(a: EllipseColumns, b: EllipseColumns) -> tuple[Array, Array, Array]:
    """Return the largest separation of each pair, 0 if they overlap, and its direction (ux, uy).

    Let w be the vector from the support point of A in u to that of B in -u, and t be u turned left.
    The separation s is u · w. Its derivative by the angle of u is t · w, and the derivative of that
    is -(s + the radii of curvature). Newton's step is kept in the bracket of `shapes.gap`; every
    fourth step takes the bracket's middle instead. |w| is never below the gap and s never above it;
    where the two meet, both are the gap.
    """
    dx = b.x - a.x
    dy = b.y - a.y
    angle = np.arctan2(dy, dx)
    low = angle - np.pi / 2
    high = angle + np.pi / 2
    best, towards = np.zeros(len(dx)), angle.copy()
    rows = np.arange(len(dx))
    for step in range(MAX_SEARCH_STEPS):
        along, across, curved = _separation_terms(a, b, dx, dy, np.cos(angle), np.sin(angle))
        better = along > best[rows]
        best[rows[better]], towards[rows[better]] = along[better], angle[better]
        low, high = _narrow_bracket(low, high, angle, along, across)
        is_found = (np.hypot(along, across) - along < BOUND_TOLERANCE_MM) & (along > 0)
        live = ~is_found & (low < high)
        if not live.any():
            break
        a, b = a.select_rows(live), b.select_rows(live)
        rows = rows[live]
        dx, dy = dx[live], dy[live]
        low, high = low[live], high[live]
        slope = (along + curved)[live]
        newton = angle[live] + across[live] / np.where(slope > SMALLEST_DIVISOR, slope, np.inf)
        is_inside = (newton > low) & (newton < high) & (slope > 0)
        angle = np.where(is_inside & (step % 4 < 3), newton, (low + high) / 2)
    return best, np.cos(towards), np.sin(towards)


def _narrow_bracket(
    low: Array, high: Array, angle: Array, along: Array, across: Array
) -> tuple[Array, Array]:
    """Narrow the bracket at a direction, and farther if it does not separate; see `shapes.gap`."""
    beyond = np.arctan2(np.maximum(-along, 0.0), np.abs(across))
    rises = across > 0
    return np.where(rises, angle + beyond, low), np.where(rises, high, angle - beyond)

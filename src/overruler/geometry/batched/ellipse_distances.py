"""Distances of many ellipses, in arrays: from points, and from each other.

A quick iteration is run a few times over all pairs. Every direction u bounds a gap from below, by the separation
u · (support of B in -u - support of A in u), and every two points bound it from above: where the two bounds do not meet
to `BOUND_TOLERANCE_MM`, the pair goes to `ellipse_separations`, a search that cannot fail.

Alphabet: m pairs; every array is (m,) but where said. Lengths in mm. A round shape is a centre and the Q of
`shapes.Ellipse`: r² times the unit matrix for a disc, 0 for a point.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

BOUND_TOLERANCE_MM = 1e-10
"""Bounds this close are one distance; below the 1e-9 mm that distances are good to."""
POINT_NEWTON_STEPS = 3
"""Steps of the quick iterations: each doubles the digits, and these are mostly enough."""
ELLIPSE_NEWTON_STEPS = 3
"""Of two ellipses, each of whose steps is dear: enough where they are a few of their sizes apart."""
MAX_SEARCH_STEPS = 220
"""More than halve half a turn to its last bit, every fourth step being a halving."""
SMALLEST_DIVISOR = 1e-300


class EllipseColumns(NamedTuple):
    """Ellipses, discs and points, by columns."""

    x: Array
    y: Array
    xx: Array
    xy: Array
    yy: Array

    def select_rows(self, index: NDArray[Any]) -> "EllipseColumns":
        return EllipseColumns(*(column[index] for column in self))

    def support_terms(self, ux: Array, uy: Array) -> tuple[Array, Array, Array, Array]:
        """In unit directions u: how far the shape reaches, where from its centre, and its radius of curvature there.

        With h = √(uᵀ Q u): h, Q u / h and det Q / h³.
        """
        px, py = self.xx * ux + self.xy * uy, self.xy * ux + self.yy * uy
        reach = np.sqrt(np.maximum(px * ux + py * uy, 0.0))
        share = 1 / np.maximum(reach, 1e-90)
        curved = np.maximum(self.xx * self.yy - self.xy * self.xy, 0.0) * share * share * share
        return reach, px * share, py * share, curved


def degenerate_ellipses(x: Array, y: Array) -> EllipseColumns:
    none = np.zeros(len(x))
    return EllipseColumns(x, y, none, none, none)


# --- from points ---


def ellipse_point_distances(a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array, Array]:
    """The distance of points (x, y) in the own frames of ellipses with half axes a along x and b along y; 0 inside.

    With it the direction (ux, uy) to the point.

    The foot of a point p is (a² x/(t + a²), b² y/(t + b²)) for the one t > 0 at which it lies on the rim: where
    n = |(a x/(t + a²), b y/(t + b²))| is 1. 1/n is concave and nearly straight in t, so that Newton's steps on it come
    from below and are few (Moré and Sorensen, Computing a trust region step, 1983, section 3).
    """
    px, py, aa, bb = np.abs(x), np.abs(y), a * a, b * b
    inside = (px * b) ** 2 + (py * a) ** 2 <= aa * bb
    px, py = (
        np.where(inside, a, px),
        np.where(inside, 0.0, py),
    )  # any point of the rim stands for them
    ax, by = a * px, b * py
    t = np.maximum(np.maximum(ax - aa, by - bb), 0.0)
    t = np.maximum(t, np.hypot(ax, by) - np.maximum(aa, bb))
    for _ in range(POINT_NEWTON_STEPS):
        over_a, over_b = 1 / (t + aa), 1 / (t + bb)
        r, s = ax * over_a, by * over_b
        square = r * r + s * s
        t = t + (np.sqrt(square) - 1) * square / np.maximum(r * r * over_a + s * s * over_b, 1e-100)
    r, s = ax / (t + aa), by / (t + bb)
    n, ux, uy = np.maximum(np.hypot(r, s), SMALLEST_DIVISOR), r / a, s / b
    size = np.maximum(np.hypot(ux, uy), SMALLEST_DIVISOR)
    ux, uy = ux / size, uy / size
    lower = ux * px + uy * py - np.hypot(a * ux, b * uy)
    upper = np.hypot(px - a * r / n, py - b * s / n)
    found = np.where(inside, 0.0, np.maximum(lower, 0.0))
    if (loose := ~(inside | (upper - lower < BOUND_TOLERANCE_MM))).any():
        aa, bb = np.broadcast_to(aa, loose.shape)[loose], np.broadcast_to(bb, loose.shape)[loose]
        none = np.zeros(len(aa))
        found[loose], ux[loose], uy[loose] = ellipse_separations(
            EllipseColumns(none, none, aa, none, bb), degenerate_ellipses(px[loose], py[loose])
        )
    return found, np.copysign(ux, x), np.copysign(uy, y)


# --- from each other ---


def ellipse_gaps(a: EllipseColumns, b: EllipseColumns) -> Array:
    """The gap of each pair; 0 where they overlap."""
    found, upper = _newton_gap_bounds(a, b, ELLIPSE_NEWTON_STEPS)
    if len(loose := np.flatnonzero(~(upper - found < BOUND_TOLERANCE_MM))):
        a, b = a.select_rows(loose), b.select_rows(loose)
        found[loose], upper = _newton_gap_bounds(a, b, 2 * POINT_NEWTON_STEPS)
        if len(still := np.flatnonzero(~(upper - found[loose] < BOUND_TOLERANCE_MM))):
            found[loose[still]] = ellipse_separations(a.select_rows(still), b.select_rows(still))[0]
    return found


def _newton_gap_bounds(a: EllipseColumns, b: EllipseColumns, steps: int) -> tuple[Array, Array]:
    """Bounds of each gap after some of Newton's steps from the line between the centres; see `ellipse_separations`."""
    dx, dy = b.x - a.x, b.y - a.y
    size = np.hypot(dx, dy)
    ux, uy = (
        np.where(size > 0, dx, 1.0) / np.where(size > 0, size, 1.0),
        dy / np.where(size > 0, size, 1.0),
    )
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
    """From the support point of A in u to that of B in -u: along u and across it; and the sum of the two curvatures'
    radii."""
    a_reach, ax, ay, a_curved = a.support_terms(ux, uy)
    b_reach, bx, by, b_curved = b.support_terms(ux, uy)
    wx, wy = dx - ax - bx, dy - ay - by
    return dx * ux + dy * uy - a_reach - b_reach, wy * ux - wx * uy, a_curved + b_curved


def ellipse_separations(a: EllipseColumns, b: EllipseColumns) -> tuple[Array, Array, Array]:
    """The largest separation of each pair, 0 where they overlap, and its direction (ux, uy).

    With w the vector from the support point of A in u to that of B in -u, the separation s is u · w, its change with
    the angle of u is t · w, t being u turned left, and the change of that is -(s + the radii of curvature there):
    Newton's step, kept in the bracket of `shapes.gap`, and every fourth time replaced by the bracket's middle. |w| is
    never below the gap and s never above it: where they meet, both are it.
    """
    dx, dy = b.x - a.x, b.y - a.y
    angle = np.arctan2(dy, dx)
    low, high = angle - np.pi / 2, angle + np.pi / 2
    best, towards, rows = np.zeros(len(dx)), angle.copy(), np.arange(len(dx))
    for step in range(MAX_SEARCH_STEPS):
        along, across, curved = _separation_terms(a, b, dx, dy, np.cos(angle), np.sin(angle))
        better = along > best[rows]
        best[rows[better]], towards[rows[better]] = along[better], angle[better]
        low, high = _narrow_bracket(low, high, angle, along, across)
        live = ~((np.hypot(along, across) - along < BOUND_TOLERANCE_MM) & (along > 0)) & (
            low < high
        )
        if not live.any():
            break
        a, b, rows, dx, dy = (
            a.select_rows(live),
            b.select_rows(live),
            rows[live],
            dx[live],
            dy[live],
        )
        low, high, slope = low[live], high[live], (along + curved)[live]
        newton = angle[live] + across[live] / np.where(slope > SMALLEST_DIVISOR, slope, np.inf)
        good = (newton > low) & (newton < high) & (slope > 0) & (step % 4 < 3)
        angle = np.where(good, newton, (low + high) / 2)
    return best, np.cos(towards), np.sin(towards)


def _narrow_bracket(
    low: Array, high: Array, angle: Array, along: Array, across: Array
) -> tuple[Array, Array]:
    """The bracket cut by what a direction shows; where it does not separate, by more: see `shapes.gap`."""
    beyond = np.arctan2(np.maximum(-along, 0.0), np.abs(across))
    left = across > 0
    return np.where(left, angle + beyond, low), np.where(left, high, angle - beyond)

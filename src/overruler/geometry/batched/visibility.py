"""The lines of sight of `geometry.sight` for many displacements at once.

Alphabet: n displacements, m obstacles, k shapes (the two ends, then the obstacles). A displaced shape merely moves its
interval of lines, for every normal u by the displacement along u. Lengths in mm, angles in radians.
"""

import math

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Polygon, Shape
from overruler.geometry.visibility import CommonTangent, ObstructedView

BISECTIONS = 26
"""Halvings of a bracket of directions: half a turn over 2**26 is 5e-8 rad, 1e-5 mm at 200 mm."""
TANGENT_OFFSET_RAD = 1e-6
"""So far beside a common tangent, in radians, it is seen whether a way opens there."""

Mask = NDArray[np.bool_]


# --- sight ---


def has_free_line(view: ObstructedView, shifts_mm: Array, present: Mask) -> Mask:
    """Whether one line passes (n,), with the shapes of `view` displaced by `shifts_mm` (k, n, 2).

    `present` (k, n) says in which of the n an obstacle counts. A way that opens has a common tangent at its end, and
    each of those is followed to where the displacements take it.
    """
    count = shifts_mm.shape[1]
    free, left = np.zeros(count, bool), np.arange(count)
    for common, turn in _tangents_that_may_open(
        view, _max_relative_shift_mm(shifts_mm), bool(present.all())
    ):
        shifts, there = shifts_mm[:, left], present[:, left]
        angle = _track_tangent(view, common, shifts) + turn
        open_ = _is_line_free(view, shifts, there, angle + TANGENT_OFFSET_RAD) | _is_line_free(
            view, shifts, there, angle - TANGENT_OFFSET_RAD
        )
        free[left[open_]] = True
        left = left[~open_]
        if not len(left):
            break
    return free


def _max_relative_shift_mm(shifts: Array) -> float:
    """No two shapes are displaced farther than this against each other."""
    against = shifts - shifts[0]
    return 2 * float(np.hypot(against[..., 0], against[..., 1]).max())


def _tangents_that_may_open(
    view: ObstructedView, reach_mm: float, all_there: bool
) -> list[tuple[CommonTangent, float]]:
    """The tangents beside which a line may be free, were every shape displaced by so much; the widest way first.

    With each the half turns that bring its normal to those of the lines from a to b.
    """
    first, last = view.normal_window
    length = (
        math.dist(view.a.center, view.b.center)
        + view.a.bounding_radius_mm
        + view.b.bounding_radius_mm
    )
    found = []
    for common in view.common_tangents:
        middle = (first + last) / 2
        angle = middle + math.remainder(common.angle - middle, math.pi)
        swing = reach_mm / max(_tangent_length_mm(view, common), 1e-9)
        outside = max(first - angle, angle - last, 0.0)
        width = view.opening_at(angle).width_mm
        if outside <= 2 * swing and (width + reach_mm + length * swing >= 0 or not all_there):
            found.append((width, common, angle - common.angle))
    return [(common, turn) for _, common, turn in sorted(found, reverse=True)]


def _tangent_length_mm(view: ObstructedView, common: CommonTangent) -> float:
    """How far apart a tangent touches its two shapes."""
    p, q = view.shapes[common.first], view.shapes[common.second]
    ux, uy = math.cos(common.angle), math.sin(common.angle)
    return math.dist(p.support_point(ux, uy), q.support_point(common.sign * ux, common.sign * uy))


def _track_tangent(view: ObstructedView, common: CommonTangent, shifts: Array) -> Array:
    """The normals (n,) of a common tangent, its shapes displaced: by Newton's steps."""
    p, q = view.shapes[common.first], view.shapes[common.second]
    against = shifts[common.second] - shifts[common.first]
    angle = np.full(len(against), common.angle)
    for _ in range(4):
        u = _unit_vectors(angle)
        w = q.support_points(common.sign * u) + against - p.support_points(u)
        slope = w[:, 1] * u[:, 0] - w[:, 0] * u[:, 1]
        step = np.clip(
            _dot_product(w, u) / np.where(np.abs(slope) > 1e-9, slope, np.inf), -0.5, 0.5
        )
        angle -= step
        if np.abs(step).max() < TANGENT_OFFSET_RAD / 100:
            break
    return angle


def _unit_vectors(angle: Array) -> Array:
    """The unit vectors (n, 2) in directions (n,)."""
    u = np.empty((len(angle), 2))
    np.cos(angle, out=u[:, 0])
    np.sin(angle, out=u[:, 1])
    return u


def _dot_product(v: Array, w: Array) -> Array:
    return np.asarray(v[:, 0] * w[:, 0] + v[:, 1] * w[:, 1])


def _is_line_free(view: ObstructedView, shifts: Array, present: Mask, angle: Array) -> Mask:
    """Whether a line with its normal at an angle (n,) is free."""
    u = _unit_vectors(angle)
    (a0, a1), (b0, b1) = (_projection_interval(view.shapes[k], shifts[k], u) for k in (0, 1))
    low, high = np.maximum(a0, b0), np.minimum(a1, b1)
    blocks = [
        _blocked_interval(view, k, shifts[k], present[k], u) for k in range(2, len(view.shapes))
    ]
    free = np.zeros(len(angle), bool)
    for start in (low, *(most for _, most in blocks)):
        fits = (start >= low) & (start < high)
        for least, most in blocks:
            fits &= (start < least) | (start >= most)
        free |= fits
    return free


def _blocked_interval(
    view: ObstructedView, k: int, shift: Array, present: Mask, u: Array
) -> tuple[Array, Array]:
    """The least and most (n,) of the lines that obstacle k is on; (inf, -inf) where it is not between the ends."""
    from_a, to_b = view.obstacle_separating_angles[k - 2]
    ahead = np.stack([u[:, 1], -u[:, 0]], -1)
    there = present
    for angle in (from_a, to_b):
        there = there & (ahead @ [math.cos(angle), math.sin(angle)] > 0)
    least, most = _projection_interval(view.shapes[k], shift, u)
    return np.where(there, least, np.inf), np.where(there, most, -np.inf)


def _projection_interval(shape: Shape, shift: Array, u: Array) -> tuple[Array, Array]:
    """The least and the most (n,) of a displaced shape along u (n, 2)."""
    if isinstance(shape, Polygon):
        along = np.array(shape.corners) @ u.T
        moved = _dot_product(shift, u)
        return along.min(0) + moved, along.max(0) + moved
    middle = _dot_product(shift + shape.center, u)
    half = (
        shape.radius_mm
        if isinstance(shape, Disc)
        else _dot_product(shape.support_points(u) - shape.center, u)
    )
    return middle - half, middle + half


# --- cover ---


def crosses_any_line(a: Shape, b: Shape, obstacle: Shape, shifts_mm: Array) -> Mask:
    """Whether an obstacle crosses a line from a to b (n,), the three displaced by `shifts_mm` (3, n, 2).

    A bracket of directions closes round the one in which it lies farthest past both ends.
    """
    hull = ((a.center[0] + b.center[0]) / 2, (a.center[1] + b.center[1]) / 2)
    x, y = (shifts_mm[2] + obstacle.center - shifts_mm[:2].mean(0) - hull).T
    crossed, left = np.ones(shifts_mm.shape[1], bool), np.arange(shifts_mm.shape[1])
    middle, half = np.arctan2(y, x), math.pi / 2
    most = math.dist(a.center, b.center) + 2 * (
        a.bounding_radius_mm
        + b.bounding_radius_mm
        + obstacle.bounding_radius_mm
        + _max_relative_shift_mm(shifts_mm)
    )
    for _ in range(BISECTIONS):
        parted, slope = _offset_past_both_ends(a, b, obstacle, shifts_mm[:, left], middle)
        crossed[left[parted >= 0]] = False
        # No direction left in the bracket can part them by more than this, the slope being a length.
        keep = (parted < 0) & (parted + half * (np.hypot(x, y).max() + most) >= 0)
        half /= 2
        left, middle = left[keep], (middle + np.where(slope > 0, half, -half))[keep]
        if not len(left):
            break
    return crossed


def _offset_past_both_ends(
    a: Shape, b: Shape, obstacle: Shape, shifts: Array, angle: Array
) -> tuple[Array, Array]:
    """How far (n,) an obstacle lies past both ends in each direction, and how fast that grows with the angle."""
    u = _unit_vectors(angle)
    near = obstacle.support_points(-u) + shifts[2]
    p, q = a.support_points(u) + shifts[0], b.support_points(u) + shifts[1]
    w = near - np.where((_dot_product(p - q, u) > 0)[:, None], p, q)
    return _dot_product(w, u), w[:, 1] * u[:, 0] - w[:, 0] * u[:, 1]

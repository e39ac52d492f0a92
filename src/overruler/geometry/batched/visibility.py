"""The lines of sight of `geometry.visibility` for many displacements at once.

Alphabet: n displacements, m obstacles, k shapes (the two ends, then the obstacles). A displacement
merely shifts a shape's interval of lines, for every normal u, by its component along u. Lengths are
in mm, angles in radians.
"""

import math

import numpy as np

from overruler.geometry.batched.vectors import (
    Mask,
    dot_product,
    left_component,
    left_normals,
    unit_vectors,
    vector_lengths,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Polygon, Shape
from overruler.geometry.visibility import CommonTangent, ObstructedView

__all__ = ["Mask", "crosses_any_line", "has_free_line"]

BISECTIONS = 26
"""Halvings of a bracket of directions: half a turn over 2**26 is 5e-8 rad, 1e-5 mm at 200 mm."""
TANGENT_OFFSET_RAD = 1e-6
"""Angle beside a common tangent, in radians, at which an opening is tested."""
NEWTON_STEPS = 4
"""Newton steps that follow a tangent to displaced shapes."""


# --- sight ---


def has_free_line(view: ObstructedView, shifts_mm: Array, present: Mask) -> Mask:
    """Tell whether a line passes (n,), with the view's shapes displaced by `shifts_mm` (k, n, 2).

    `present` (k, n) tells in which of the n an obstacle counts. An opening ends at a common tangent,
    so each tangent is followed to the displaced shapes.
    """
    count = shifts_mm.shape[1]
    free = np.zeros(count, bool)
    rows = np.arange(count)
    reach = _max_relative_shift_mm(shifts_mm)
    for common, turn in _tangents_that_may_open(view, reach, bool(present.all())):
        shifts = shifts_mm[:, rows]
        is_present = present[:, rows]
        angle = _track_tangent(view, common, shifts) + turn
        is_open = _is_line_free(view, shifts, is_present, angle + TANGENT_OFFSET_RAD)
        is_open |= _is_line_free(view, shifts, is_present, angle - TANGENT_OFFSET_RAD)
        free[rows[is_open]] = True
        rows = rows[~is_open]
        if not len(rows):
            break
    return free


def _max_relative_shift_mm(shifts: Array) -> float:
    """Return an upper limit of the displacement of any two shapes relative to each other."""
    relative = shifts - shifts[0]
    return 2 * float(vector_lengths(relative).max())


def _tangents_that_may_open(
    view: ObstructedView, reach_mm: float, all_present: bool
) -> list[tuple[CommonTangent, float]]:
    """Return the tangents beside which a line may be free, the widest opening first.

    No displacement exceeds `reach_mm`. Each tangent comes with the half turns that bring its normal
    to those of the lines from a to b.
    """
    first, last = view.normal_window
    middle = (first + last) / 2
    between = math.dist(view.a.center, view.b.center)
    length = between + view.a.bounding_radius_mm + view.b.bounding_radius_mm
    found = []
    for common in view.common_tangents:
        angle = middle + math.remainder(common.angle - middle, math.pi)
        swing = reach_mm / max(_tangent_length_mm(view, common), 1e-9)
        outside = max(first - angle, angle - last, 0.0)
        width = view.opening_at(angle).width_mm
        may_open = width + reach_mm + length * swing >= 0 or not all_present
        if outside <= 2 * swing and may_open:
            found.append((width, common, angle - common.angle))
    return [(common, turn) for _, common, turn in sorted(found, reverse=True)]


def _tangent_length_mm(view: ObstructedView, common: CommonTangent) -> float:
    """Return the distance between a tangent's contacts with its two shapes."""
    p = view.shapes[common.first]
    q = view.shapes[common.second]
    ux = math.cos(common.angle)
    uy = math.sin(common.angle)
    contact = p.support_point(ux, uy)
    other = q.support_point(common.sign * ux, common.sign * uy)
    return math.dist(contact, other)


def _track_tangent(view: ObstructedView, common: CommonTangent, shifts: Array) -> Array:
    """Return the normals (n,) of a common tangent of displaced shapes, by Newton's steps."""
    p = view.shapes[common.first]
    q = view.shapes[common.second]
    relative = shifts[common.second] - shifts[common.first]
    angle = np.full(len(relative), common.angle)
    for _ in range(NEWTON_STEPS):
        u = unit_vectors(angle)
        w = q.support_points(common.sign * u) + relative - p.support_points(u)
        slope = left_component(w, u)
        divisor = np.where(np.abs(slope) > 1e-9, slope, np.inf)
        step = np.clip(dot_product(w, u) / divisor, -0.5, 0.5)
        angle -= step
        if np.abs(step).max() < TANGENT_OFFSET_RAD / 100:
            break
    return angle


def _is_line_free(view: ObstructedView, shifts: Array, present: Mask, angle: Array) -> Mask:
    """Tell whether a line with its normal at an angle (n,) is free."""
    u = unit_vectors(angle)
    a_low, a_high = _projection_interval(view.a, shifts[0], u)
    b_low, b_high = _projection_interval(view.b, shifts[1], u)
    low = np.maximum(a_low, b_low)
    high = np.minimum(a_high, b_high)
    blocked = []
    for k in range(2, len(view.shapes)):
        blocked.append(_blocked_interval(view, k, shifts[k], present[k], u))
    free = np.zeros(len(angle), bool)
    for start in (low, *(most for _, most in blocked)):
        fits = (start >= low) & (start < high)
        for least, most in blocked:
            fits &= (start < least) | (start >= most)
        free |= fits
    return free


def _blocked_interval(
    view: ObstructedView, k: int, shift: Array, present: Mask, u: Array
) -> tuple[Array, Array]:
    """Return the least and largest c (n,) that shape k blocks; (inf, -inf) if not between the ends."""
    ahead = -left_normals(u)
    blocks = present
    for angle in view.obstacle_separating_angles[k - 2]:
        blocks = blocks & (ahead @ [math.cos(angle), math.sin(angle)] > 0)
    least, most = _projection_interval(view.shapes[k], shift, u)
    return np.where(blocks, least, np.inf), np.where(blocks, most, -np.inf)


def _projection_interval(shape: Shape, shift: Array, u: Array) -> tuple[Array, Array]:
    """Return the least and the largest component (n,) of a displaced shape along u (n, 2)."""
    if isinstance(shape, Polygon):
        along = np.array(shape.corners) @ u.T
        moved = dot_product(shift, u)
        return along.min(0) + moved, along.max(0) + moved
    middle = dot_product(shift + shape.center, u)
    if isinstance(shape, Disc):
        return middle - shape.radius_mm, middle + shape.radius_mm
    half = dot_product(shape.support_points(u) - shape.center, u)
    return middle - half, middle + half


# --- cover ---


def crosses_any_line(a: Shape, b: Shape, obstacle: Shape, shifts_mm: Array) -> Mask:
    """Tell whether an obstacle crosses a line from a to b (n,).

    The three are displaced by `shifts_mm` (3, n, 2). A bracket of directions closes round the one in
    which the obstacle lies farthest past both ends.
    """
    hull_center = ((a.center[0] + b.center[0]) / 2, (a.center[1] + b.center[1]) / 2)
    x, y = (shifts_mm[2] + obstacle.center - shifts_mm[:2].mean(0) - hull_center).T
    count = shifts_mm.shape[1]
    crossed = np.ones(count, bool)
    rows = np.arange(count)
    middle = np.arctan2(y, x)
    half = math.pi / 2
    limit = _slope_limit_mm(a, b, obstacle, shifts_mm)
    steepest = np.hypot(x, y).max() + limit
    for _ in range(BISECTIONS):
        offset, slope = _offset_past_both_ends(a, b, obstacle, shifts_mm[:, rows], middle)
        crossed[rows[offset >= 0]] = False
        # The slope, a length, limits what any direction left in the bracket can gain.
        keep = (offset < 0) & (offset + half * steepest >= 0)
        half /= 2
        middle = (middle + np.where(slope > 0, half, -half))[keep]
        rows = rows[keep]
        if not len(rows):
            break
    return crossed


def _slope_limit_mm(a: Shape, b: Shape, obstacle: Shape, shifts: Array) -> float:
    """Return a limit of the slope by angle, besides the distance between obstacle and hull."""
    radii = a.bounding_radius_mm + b.bounding_radius_mm + obstacle.bounding_radius_mm
    return math.dist(a.center, b.center) + 2 * (radii + _max_relative_shift_mm(shifts))


def _offset_past_both_ends(
    a: Shape, b: Shape, obstacle: Shape, shifts: Array, angle: Array
) -> tuple[Array, Array]:
    """Return how far (n,) an obstacle lies past both ends in each direction, and the slope."""
    u = unit_vectors(angle)
    near = obstacle.support_points(-u) + shifts[2]
    p = a.support_points(u) + shifts[0]
    q = b.support_points(u) + shifts[1]
    is_a_farther = dot_product(p - q, u) > 0
    w = near - np.where(is_a_farther[:, None], p, q)
    return dot_product(w, u), left_component(w, u)

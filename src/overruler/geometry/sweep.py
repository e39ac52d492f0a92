"""Straight moves of exact convex shapes: where one touches another, and how deep they overlap.

A shape moved by t·u touches a fixed one if t·u lies in the difference of the two. That is the convex
set of all vectors from a point of the mover to a point of the other. Its support point in a direction
is the other's support point minus the mover's in the opposite direction. The interval of contact is
therefore the part of a ray inside a convex set. The depth of an overlap is the distance from 0 to
that set's rim. (Ericson, Real-Time Collision Detection, 2005, sections 5.3 and 9.5.)

Lengths are millimetres in the board frame, directions are unit vectors. Pure Python;
`geometry.batched.sweeps` does the same for many displacements at once.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from overruler.geometry.shapes import Point, Polygon, Shape, translate_shape
from overruler.geometry.tangents import signed_gap_mm
from overruler.units import CONTACT_TOLERANCE_MM

ROUNDING_MM = 1e-11
"""Rounding error of a length on a table, in mm."""
SLIDING_SLOPE = 1e-8
"""A direction that leads less deep than this, for each mm along it, slides along."""
PROBE_STEP_MM = 0.001
"""Length of a step, in mm, that shows whether a move leads deeper into a shape."""


class ContactInterval(NamedTuple):
    """The part of a ray, in mm from its start, along which two shapes touch."""

    first_mm: float
    last_mm: float


# --- contact along a ray ---


def contact_interval(mover: Shape, other: Shape, ux: float, uy: float) -> ContactInterval | None:
    """Return where `mover` touches `other` along the line through it in direction (ux, uy).

    The interval is exact to 1e-9 mm if the shapes overlap by more than rounding. A mover that passes
    within `CONTACT_TOLERANCE_MM` touches where it is nearest. The result is None if it passes
    farther away.
    """
    clearance = -lateral_overlap_mm(mover, other, ux, uy)
    if clearance > CONTACT_TOLERANCE_MM:
        return None
    grown = max(clearance, 0.0) + ROUNDING_MM if clearance > -ROUNDING_MM else 0.0
    last = _ray_exit(mover, other, ux, uy, grown)
    back = _ray_exit(mover, other, -ux, -uy, grown)
    return ContactInterval(min(-back, last), last)


def lateral_overlap_mm(mover: Shape, other: Shape, ux: float, uy: float) -> float:
    """Return how far `mover` must step aside to pass `other`; if negative, the clearance."""
    left_x, left_y = _support_difference(mover, other, -uy, ux)
    right_x, right_y = _support_difference(mover, other, uy, -ux)
    return min(left_y * ux - left_x * uy, right_x * uy - right_y * ux)


def _support_difference(mover: Shape, other: Shape, ux: float, uy: float) -> Point:
    """Return the vector from `mover` to `other` that reaches farthest in a unit direction."""
    ax, ay = mover.support_point(-ux, -uy)
    bx, by = other.support_point(ux, uy)
    return bx - ax, by - ay


def _ray_exit(mover: Shape, other: Shape, ux: float, uy: float, grown_mm: float) -> float:
    """Return where the ray leaves the difference of the shapes, grown all round.

    Two points of its rim, one on either side of the ray, close in. The support point square to the
    line through them replaces the one on its side. If it does not lie beyond that line, the rim is
    straight there and the ray leaves through it.
    """

    def rim(nu: float, nv: float) -> Point:
        """Return the support point in a direction; both are (along the ray, across it)."""
        x, y = _support_difference(mover, other, nu * ux - nv * uy, nu * uy + nv * ux)
        return x * ux + y * uy + grown_mm * nu, y * ux - x * uy + grown_mm * nv

    below, above = rim(0.0, -1.0), rim(0.0, 1.0)
    for _ in range(200):
        along = above[0] - below[0]
        across = above[1] - below[1]
        size = math.hypot(along, across)
        if size < ROUNDING_MM:
            break
        nu, nv = across / size, -along / size
        found = rim(nu, nv)
        progress = (found[0] - below[0]) * nu + (found[1] - below[1]) * nv
        if progress < ROUNDING_MM / 10:
            break
        if found[1] < 0:
            below = found
        else:
            above = found
    rise = above[1] - below[1]
    share = min(max(-below[1] / rise, 0.0), 1.0) if rise > 0 else 1.0
    return below[0] + share * (above[0] - below[0])


# --- entering another shape ---


def entry_distance(
    mover: Shape, other: Shape, ux: float, uy: float, length_mm: float = math.inf
) -> float | None:
    """Return where on its way `mover` touches `other` and moves on into it; None if it does not.

    A mover that only grazes, slides along or leaves the other does not enter it. One that starts in
    contact, or overlapping, enters at 0 if its first steps lead deeper.
    """
    if not _may_touch(mover, other, length_mm):
        return None
    if lateral_overlap_mm(mover, other, ux, uy) <= CONTACT_TOLERANCE_MM:
        return None
    depth = signed_gap_mm(mover, other)
    if depth > CONTACT_TOLERANCE_MM:
        contact = contact_interval(mover, other, ux, uy)
        limit = length_mm - CONTACT_TOLERANCE_MM
        return contact.first_mm if contact and 0 <= contact.first_mm < limit else None
    if length_mm <= CONTACT_TOLERANCE_MM:
        return None
    step = translate_shape(mover, PROBE_STEP_MM * ux, PROBE_STEP_MM * uy)
    leads_deeper = signed_gap_mm(step, other) < depth - PROBE_STEP_MM * SLIDING_SLOPE
    return 0.0 if leads_deeper else None


def first_contact_distance(mover: Shape, other: Shape, ux: float, uy: float) -> float | None:
    """Return where on its way `mover` first touches `other`, even by a graze; None if never.

    If it starts in contact, the result is 0 if it presses on, and None if it slides along or leaves.
    """
    if signed_gap_mm(mover, other) <= CONTACT_TOLERANCE_MM:
        return entry_distance(mover, other, ux, uy)
    contact = contact_interval(mover, other, ux, uy)
    return contact.first_mm if contact and contact.first_mm >= 0 else None


class OutlineSide(NamedTuple):
    """A side of an outline."""

    line: Polygon
    """The side as a polygon of two corners."""
    normal: Point
    """The unit vector out of the outline."""


def outline_sides(outline: Sequence[Point]) -> Iterator[OutlineSide]:
    """Yield the sides of an outline whose corners run counter-clockwise."""
    for start, end in pairwise((*outline, outline[0])):
        length = math.dist(start, end)
        normal = (end[1] - start[1]) / length, (start[0] - end[0]) / length
        yield OutlineSide(Polygon((start, end)), normal)


def outline_entry_distance(
    mover: Shape, outline: Sequence[Point], ux: float, uy: float
) -> float | None:
    """Return where a mover that overlaps an outline at first moves on into it; None if it does not.

    The corners run counter-clockwise. The mover presses on at 0 if it moves inwards through the side
    that it reaches least far over, or, wholly inside, through the nearest side. It enters later through
    sides that it does not cross at first.
    """
    crossed, entries, beside = [], [], []
    for side in outline_sides(outline):
        nx, ny = side.normal
        inward = -(nx * ux + ny * uy)
        if overlaps(mover, side.line):
            (x, y), (px, py) = side.line.corners[0], mover.support_point(-nx, -ny)
            crossed.append(((x - px) * nx + (y - py) * ny, inward))
            continue
        beside.append((signed_gap_mm(mover, side.line), inward))
        if inward > SLIDING_SLOPE:
            entries.append(entry_distance(mover, side.line, ux, uy))
    if min(crossed or beside)[1] > SLIDING_SLOPE:
        return 0.0
    return min((along for along in entries if along is not None), default=None)


def _may_touch(mover: Shape, other: Shape, length_mm: float) -> bool:
    between = math.dist(mover.center, other.center)
    least_gap = between - mover.bounding_radius_mm - other.bounding_radius_mm
    return least_gap <= length_mm + CONTACT_TOLERANCE_MM


def overlaps(a: Shape, b: Shape) -> bool:
    """Tell whether two shapes share more than an edge."""
    return _may_touch(a, b, 0.0) and signed_gap_mm(a, b) < -CONTACT_TOLERANCE_MM

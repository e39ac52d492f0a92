"""Straight moves of exact convex shapes: where on its way one touches another, and how deep it stands in it.

A shape that moves by t·u touches one that stays where t·u lies in the difference of the two, the convex set of all
vectors from a point of the mover to a point of the other; its support point in a direction is the other's there less
the mover's in the opposite one. So a stretch of contact is the part of a ray within a convex set, and the depth of an
overlap the distance from 0 to that set's rim. (Ericson, Real-Time Collision Detection, 2005, sections 5.3 and 9.5.)
Lengths are millimetres in the board frame, directions are unit vectors. Pure Python; `geometry.many_sweeps` has the
same for many displacements at once.
"""

import math
from itertools import pairwise
from typing import NamedTuple

from overruler.geometry.farthest import SAMPLE_DIRECTIONS
from overruler.geometry.shapes import Disc, Point, Shape, gap, translate_shape
from overruler.units import CONTACT_TOLERANCE_MM

ROUNDING_MM = 1e-11
"""What rounding may take from a length on a table."""
PROBE_STEP_MM = 0.001
"""So little of a way shows whether it leads deeper into something."""


class ContactInterval(NamedTuple):
    """The part of a ray, in mm along it and back from its start, over which two shapes touch."""

    first_mm: float
    last_mm: float


# --- contact along a ray ---


def contact_interval(mover: Shape, other: Shape, ux: float, uy: float) -> ContactInterval | None:
    """From the first to the last contact of `mover` with `other` as it moves along (ux, uy), or back along it.

    To 1e-9 mm where it runs into the other by more than rounding; one that passes within `CONTACT_TOLERANCE_MM` touches where it is
    nearest. None where it passes farther off.
    """
    short = -lateral_overlap_mm(mover, other, ux, uy)
    if short > CONTACT_TOLERANCE_MM:
        return None
    grown = max(short, 0.0) + ROUNDING_MM if short > -ROUNDING_MM else 0.0
    last, back = (_ray_exit(mover, other, sign * ux, sign * uy, grown) for sign in (1, -1))
    return ContactInterval(min(-back, last), last)


def lateral_overlap_mm(mover: Shape, other: Shape, ux: float, uy: float) -> float:
    """How far `mover` would have to step aside to pass `other` without contact, on the shorter side; negative: how far
    off it passes."""
    left, right = (
        _support_difference(mover, other, -uy, ux),
        _support_difference(mover, other, uy, -ux),
    )
    return min(left[1] * ux - left[0] * uy, right[0] * uy - right[1] * ux)


def _support_difference(mover: Shape, other: Shape, ux: float, uy: float) -> Point:
    """The vector, of all from a point of `mover` to one of `other`, that reaches farthest in a unit direction."""
    ax, ay = mover.support_point(-ux, -uy)
    bx, by = other.support_point(ux, uy)
    return bx - ax, by - ay


def _ray_exit(mover: Shape, other: Shape, ux: float, uy: float, grown_mm: float) -> float:
    """Where the ray leaves the difference, grown all round.

    Two points of its rim, one on either side of the ray, close in: the direction square to the line through them has a
    support point beyond that line, which takes the place of the one on its side. Where there is none beyond, the rim is
    straight and the ray leaves through it.
    """

    def rim(nu: float, nv: float) -> Point:
        """The support point, along the ray and across it, in a direction given so."""
        x, y = _support_difference(mover, other, nu * ux - nv * uy, nu * uy + nv * ux)
        return x * ux + y * uy + grown_mm * nu, y * ux - x * uy + grown_mm * nv

    below, above = rim(0.0, -1.0), rim(0.0, 1.0)
    for _ in range(200):
        along, across = above[0] - below[0], above[1] - below[1]
        size = math.hypot(along, across)
        if size < ROUNDING_MM:
            break
        nu, nv = across / size, -along / size
        here = rim(nu, nv)
        if (here[0] - below[0]) * nu + (here[1] - below[1]) * nv < ROUNDING_MM / 10:
            break
        below, above = (here, above) if here[1] < 0 else (below, here)
    rise = above[1] - below[1]
    share = min(max(-below[1] / rise, 0.0), 1.0) if rise > 0 else 1.0
    return below[0] + share * (above[0] - below[0])


# --- overlap ---


def signed_separation(a: Shape, b: Shape) -> float:
    """The gap between two shapes in mm; where they overlap, less than 0: the shortest way apart."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        return math.dist(a.center, b.center) - a.radius_mm - b.radius_mm
    if (apart := gap(a, b).distance_mm) > 0:
        return apart
    angles = [*separation_sample_angles(a, b), math.tau]
    best = max(_separation_and_slope(a, b, angle)[0] for angle in angles)
    for low, high in pairwise(angles):
        inside = 1e-9 * (high - low)  # to one side of a jump
        if (
            _separation_and_slope(a, b, low + inside)[1]
            > 0
            > _separation_and_slope(a, b, high - inside)[1]
        ):
            best = max(best, _refine_maximum(a, b, low, high))
    return min(best, 0.0)


def separation_sample_angles(a: Shape, b: Shape) -> list[float]:
    """Angles round the whole turn, ascending from 0, with all in which the strip between two shapes has a kink."""
    kinks = [*a.edge_normal_angles, *(kink + math.pi for kink in b.edge_normal_angles)]
    return sorted(
        {math.tau * k / SAMPLE_DIRECTIONS for k in range(SAMPLE_DIRECTIONS)}
        | {kink % math.tau for kink in kinks}
    )


def _separation_and_slope(a: Shape, b: Shape, angle: float) -> tuple[float, float]:
    """How far a direction parts two shapes, negative where it does not, and how fast that grows with the angle."""
    ux, uy = math.cos(angle), math.sin(angle)
    x, y = _support_difference(a, b, -ux, -uy)
    return x * ux + y * uy, y * ux - x * uy


def _refine_maximum(a: Shape, b: Shape, low: float, high: float) -> float:
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _separation_and_slope(a, b, middle)[1] > 0 else (low, middle)
    return _separation_and_slope(a, b, low)[0]


# --- going into another ---


def entry_distance(
    mover: Shape, other: Shape, ux: float, uy: float, length_mm: float = math.inf
) -> float | None:
    """Where on its way `mover` comes into contact with `other` and goes on into it; None where it does not.

    What only touches it, slides along it or leaves it does not go into it: a shape that stands in contact, or in the
    other, goes into it where its first steps lead deeper, and then at 0.
    """
    if (
        not _may_touch(mover, other, length_mm)
        or lateral_overlap_mm(mover, other, ux, uy) <= CONTACT_TOLERANCE_MM
    ):
        return None
    depth = signed_separation(mover, other)
    if depth <= CONTACT_TOLERANCE_MM:
        step = translate_shape(mover, PROBE_STEP_MM * ux, PROBE_STEP_MM * uy)
        return (
            0.0
            if length_mm > CONTACT_TOLERANCE_MM
            and signed_separation(step, other) < depth - PROBE_STEP_MM * 1e-8
            else None
        )
    met = contact_interval(mover, other, ux, uy)
    return met.first_mm if met and 0 <= met.first_mm < length_mm - CONTACT_TOLERANCE_MM else None


def first_contact_distance(mover: Shape, other: Shape, ux: float, uy: float) -> float | None:
    """Where on its way `mover` comes into contact with `other`, a graze too; None where it never does.

    Where it stands in contact: 0 if it presses on, None if it slides along or leaves.
    """
    if signed_separation(mover, other) <= CONTACT_TOLERANCE_MM:
        return entry_distance(mover, other, ux, uy)
    met = contact_interval(mover, other, ux, uy)
    return met.first_mm if met and met.first_mm >= 0 else None


def _may_touch(mover: Shape, other: Shape, length_mm: float) -> bool:
    apart = (
        math.dist(mover.center, other.center) - mover.bounding_radius_mm - other.bounding_radius_mm
    )
    return apart <= length_mm + CONTACT_TOLERANCE_MM


def overlaps(a: Shape, b: Shape) -> bool:
    """Whether two shapes share more than an edge."""
    return _may_touch(a, b, 0.0) and signed_separation(a, b) < -CONTACT_TOLERANCE_MM

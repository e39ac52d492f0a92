"""The sweeps of `geometry.sweep` for many displacements at once: n of them, all lengths in mm.

`apart` (n, 2) displaces the second shape against the first; directions (n, 2) or (2,) are unit vectors.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.distances import gaps_at_shifts, vector_lengths
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Polygon, Shape
from overruler.geometry.sweep import separation_sample_angles
from overruler.units import CONTACT_TOLERANCE_MM

BISECTION_TOLERANCE_MM = 1e-8
"""To this the ends of a stretch of contact are found."""
SLIDING_SLOPE = 1e-8
"""A direction that leads less than this deeper, for each mm on, slides along."""


def dot_product(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1])


def _left_normals(directions: Array) -> Array:
    """Each direction, a quarter turn to the left."""
    return np.stack([-directions[..., 1], directions[..., 0]], -1)


def _support_difference(mover: Shape, other: Shape, apart: Array, directions: Array) -> Array:
    return other.support_points(directions) + apart - mover.support_points(-directions)


# --- contact along a ray ---


def lateral_overlap_mm(mover: Shape, other: Shape, apart: Array, directions: Array) -> Array:
    """As `sweep.depth_beside` (n,)."""
    if isinstance(mover, Disc) and isinstance(other, Disc):
        across = dot_product(apart + other.center - mover.center, _left_normals(directions))
        return np.asarray(mover.radius_mm + other.radius_mm - np.abs(across))
    left = np.broadcast_to(_left_normals(directions), apart.shape)
    sides = [
        dot_product(_support_difference(mover, other, apart, side), side) for side in (left, -left)
    ]
    return np.minimum(*sides)


def contact_intervals(
    mover: Shape, other: Shape, apart: Array, directions: Array
) -> tuple[Array, Array]:
    """As `sweep.touching`: where contact begins (n,) and where it ends; inf and -inf where there is none."""
    u = np.broadcast_to(directions, apart.shape)
    beside = lateral_overlap_mm(mover, other, apart, u)
    return -_contact_end(mover, other, apart, -u, beside), _contact_end(
        mover, other, apart, u, beside
    )


def _contact_end(mover: Shape, other: Shape, apart: Array, u: Array, beside: Array) -> Array:
    """Where contact ends (n,), given how deep it is beside the ray; -inf where there is none."""
    found = np.full(len(apart), -np.inf)
    rows = beside >= -CONTACT_TOLERANCE_MM
    grown = np.maximum(-beside[rows], 0) + BISECTION_TOLERANCE_MM * (
        beside[rows] < BISECTION_TOLERANCE_MM
    )
    found[rows] = _ray_exit(mover, other, apart[rows], u[rows], grown)
    return found


def _ray_exit(mover: Shape, other: Shape, apart: Array, u: Array, grown: Array) -> Array:
    """As `sweep._leaves`; a disc and a polygon in closed form."""
    if isinstance(mover, Disc):
        radius = mover.radius_mm + grown
        if isinstance(other, Disc):
            return _rounded_polygon_ray_exit(
                np.array([other.center]), radius + other.radius_mm, apart - mover.center, u
            )
        if isinstance(other, Polygon):
            return _rounded_polygon_ray_exit(
                np.array(other.corners), radius, apart - mover.center, u
            )
    if isinstance(mover, Polygon) and isinstance(other, Disc):
        return _rounded_polygon_ray_exit(
            -np.array(mover.corners), other.radius_mm + grown, apart + other.center, u
        )
    return _ray_exit_by_search(mover, other, apart, u, grown)


def _rounded_polygon_ray_exit(corners: Array, radius: Array, apart: Array, u: Array) -> Array:
    """Where rays leave a convex polygon (k, 2), displaced by `apart` and grown by `radius` (n,) all round."""
    points, ray = corners + apart[:, None], u[:, None]
    room = radius[:, None] ** 2 - dot_product(points, _left_normals(ray)) ** 2
    last = np.where(
        room >= 0, dot_product(points, ray) + np.sqrt(np.maximum(room, 0)), -np.inf
    ).max(1)
    if len(corners) == 1:
        return np.asarray(last)
    sides = np.roll(corners, -1, 0) - corners
    sizes = vector_lengths(sides)
    slope = dot_product(-_left_normals(sides) / sizes[:, None], ray)
    out = (
        dot_product(points, -_left_normals(sides) / sizes[:, None]) + radius[:, None]
    ) / np.where(slope > 1e-12, slope, np.inf)
    share = dot_product(out[..., None] * ray - points, sides) / sizes**2
    through = (slope > 1e-12) & (share >= 0) & (share <= 1)
    return np.asarray(np.maximum(last, np.where(through, out, -np.inf).max(1)))


def _ray_exit_by_search(mover: Shape, other: Shape, apart: Array, u: Array, grown: Array) -> Array:
    """Two points of the rim close in round the ray, for all rays at once."""
    v = _left_normals(u)

    def rim(normals: Array) -> Array:
        """In the frame of the ray, normals alike."""
        directions = normals[:, :1] * u + normals[:, 1:] * v
        found = _support_difference(mover, other, apart, directions)
        return (
            np.stack([dot_product(found, u), dot_product(found, v)], 1) + grown[:, None] * normals
        )

    below, above = (rim(np.broadcast_to([0.0, side], u.shape)) for side in (-1.0, 1.0))
    for _ in range(100):
        across = above - below
        size = vector_lengths(across)
        normals = -_left_normals(across) / np.maximum(size, BISECTION_TOLERANCE_MM)[:, None]
        here = rim(normals)
        if not (
            (dot_product(here - below, normals) > BISECTION_TOLERANCE_MM)
            & (size > BISECTION_TOLERANCE_MM)
        ).any():
            break
        low = here[:, 1:] < 0
        below, above = np.where(low, here, below), np.where(low, above, here)
    rise = above[:, 1] - below[:, 1]
    share = np.where(rise > 0, np.clip(-below[:, 1] / np.where(rise > 0, rise, 1), 0, 1), 1)
    return np.asarray(below[:, 0] + share * (above[:, 0] - below[:, 0]))


# --- overlap ---


def signed_separations(a: Shape, b: Shape, apart: Array) -> tuple[Array, Array]:
    """As `sweep.separation` (n,), and the direction (n, 2) from `a` to `b` that parts them best."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        to = apart + b.center - a.center
        size = vector_lengths(to)
        return size - a.radius_mm - b.radius_mm, to / np.maximum(size, 1e-300)[:, None]
    if isinstance(a, Polygon) and isinstance(b, Disc):
        away, normals = _signed_polygon_distances(np.array(a.corners), apart + b.center)
        return away - b.radius_mm, normals
    if isinstance(b, Polygon) and isinstance(a, Disc):
        away, normals = signed_separations(b, a, -apart)
        return away, -normals
    return _widest_separation(a, b, apart)


def _signed_polygon_distances(corners: Array, points: Array) -> tuple[Array, Array]:
    """The signed distances (n,) of points from a polygon, and the directions (n, 2) from its rim outwards to them."""
    sides = np.roll(corners, -1, 0) - corners
    normals = -_left_normals(sides) / vector_lengths(sides)[:, None]
    to = points[:, None] - corners
    share = np.clip(dot_product(to, sides) / dot_product(sides, sides), 0, 1)
    feet = to - share[..., None] * sides
    nearest = vector_lengths(feet).argmin(1)
    heights = dot_product(to, normals)
    inside, deepest = (heights <= 0).all(1), heights.argmax(1)
    out = np.take_along_axis(feet, nearest[:, None, None], 1)[:, 0]
    size = vector_lengths(out)
    # A foot without length gives no direction; the side's own stands in for it.
    inward = inside | (size == 0)
    away = np.where(inward, np.take_along_axis(heights, deepest[:, None], 1)[:, 0], size)
    return away, np.where(
        inward[:, None], normals[deepest], out / np.maximum(size, 1e-300)[:, None]
    )


REFINED_PEAKS = 3
"""So many of the best directions of a turn are looked at closely: a thin oval has peaks narrower than their spacing."""


def _widest_separation(a: Shape, b: Shape, apart: Array) -> tuple[Array, Array]:
    """The best of the peaks among a turn of directions, each closed in on by halving a bracket round it."""
    angles = np.array(separation_sample_angles(a, b))
    u = np.stack([np.cos(angles), np.sin(angles)], 1)
    strips = dot_product(b.support_points(-u) - a.support_points(u), u) + apart @ u.T
    peak = (strips >= np.roll(strips, 1, 1)) & (strips >= np.roll(strips, -1, 1))
    ranked = np.argsort(np.where(peak, -strips, np.inf), 1)[:, :REFINED_PEAKS]
    around = np.concatenate([[angles[-1] - 2 * np.pi], angles, [angles[0] + 2 * np.pi]])
    widest, turn = strips.max(1), angles[ranked[:, 0]]
    for best in ranked.T:
        low, high = around[best], around[best + 2]
        for _ in range(34):
            middle = (low + high) / 2
            along, across = _separation_and_slope(a, b, apart, middle)
            turn, widest = np.where(along > widest, middle, turn), np.maximum(along, widest)
            low, high = np.where(across > 0, middle, low), np.where(across > 0, high, middle)
    return widest, np.stack([np.cos(turn), np.sin(turn)], 1)


def _separation_and_slope(a: Shape, b: Shape, apart: Array, angles: Array) -> tuple[Array, Array]:
    u = np.stack([np.cos(angles), np.sin(angles)], 1)
    between = b.support_points(-u) + apart - a.support_points(u)
    return dot_product(between, u), dot_product(between, _left_normals(u))


def overlap_mask(a: Shape, b: Shape, apart: Array) -> NDArray[np.bool_]:
    """As `sweep.overlaps` (n,)."""
    if isinstance(a, Disc) or isinstance(b, Disc):
        return np.asarray(signed_separations(a, b, apart)[0] < -CONTACT_TOLERANCE_MM)
    found = gaps_at_shifts(a, b, apart) == 0
    found[found] = signed_separations(a, b, apart[found])[0] < -CONTACT_TOLERANCE_MM
    return np.asarray(found)


# --- going into another ---


def entry_distances(
    mover: Shape, other: Shape, apart: Array, directions: Array, length_mm: Array | float = np.inf
) -> Array:
    """As `sweep.entered` (n,); inf where it does not go into it."""
    u, limit = np.broadcast_to(directions, apart.shape), np.broadcast_to(length_mm, len(apart))
    found, beside = np.full(len(apart), np.inf), lateral_overlap_mm(mover, other, apart, u)
    rows = np.flatnonzero(beside > CONTACT_TOLERANCE_MM)
    first = -_contact_end(mover, other, apart[rows], -u[rows], beside[rows])
    # Whoever meets it more than this far ahead stands apart from it.
    ahead = first > 1.0
    found[rows[ahead]] = first[ahead]
    close = rows[~ahead]
    away, normals = signed_separations(mover, other, apart[close])
    stands = away <= CONTACT_TOLERANCE_MM
    found[close] = np.where(
        stands,
        _pressing_distances(normals, u[close]),
        np.where(first[~ahead] >= 0, first[~ahead], np.inf),
    )
    return np.asarray(np.where(found < limit - CONTACT_TOLERANCE_MM, found, np.inf))


def _pressing_distances(normals: Array, u: Array) -> Array:
    return np.where(dot_product(normals, u) > SLIDING_SLOPE, 0.0, np.inf)


def first_contact_distances(mover: Shape, other: Shape, apart: Array, directions: Array) -> Array:
    """As `sweep.meets` (n,); inf where it never does."""
    u = np.broadcast_to(directions, apart.shape)
    beside = lateral_overlap_mm(mover, other, apart, u)
    first = -_contact_end(mover, other, apart, -u, beside)
    away, normals = signed_separations(mover, other, apart)
    pressed = np.where(beside > CONTACT_TOLERANCE_MM, _pressing_distances(normals, u), np.inf)
    return np.asarray(
        np.where(away <= CONTACT_TOLERANCE_MM, pressed, np.where(first >= 0, first, np.inf))
    )

"""The moves of `geometry.sweep` for many displacements at once.

Alphabet: n displacements. Lengths are in mm. `apart` (n, 2) displaces the second shape relative to the
first; directions (n, 2) or (2,) are unit vectors.
"""

import numpy as np

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.batched.vectors import (
    SMALLEST_DIVISOR,
    Mask,
    dot_product,
    left_normals,
    unit_vectors,
    vector_lengths,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Polygon, Shape
from overruler.geometry.sweep import SLIDING_SLOPE
from overruler.geometry.tangents import separation_sample_angles
from overruler.units import CONTACT_TOLERANCE_MM

BISECTION_TOLERANCE_MM = 1e-8
"""Accuracy of the ends of an interval of contact, in mm."""
MAX_RIM_STEPS = 100
"""Most steps of the search for the end of an interval of contact."""
BISECTIONS = 34
"""Halvings of the bracket round a direction that separates best."""
REFINED_PEAKS = 3
"""Number of best directions that are refined: a thin oval has peaks narrower than their spacing."""
CLEARLY_AHEAD_MM = 1.0
"""A mover whose first contact is farther ahead than this stands apart from the other shape."""


def _support_difference(mover: Shape, other: Shape, apart: Array, directions: Array) -> Array:
    return other.support_points(directions) + apart - mover.support_points(-directions)


# --- contact along a ray ---


def lateral_overlap_mm(mover: Shape, other: Shape, apart: Array, directions: Array) -> Array:
    """Do what `sweep.lateral_overlap_mm` does (n,)."""
    if isinstance(mover, Disc) and isinstance(other, Disc):
        offsets = apart + other.center - mover.center
        across = dot_product(offsets, left_normals(directions))
        radii = mover.radius_mm + other.radius_mm
        return np.asarray(radii - np.abs(across))
    left = np.broadcast_to(left_normals(directions), apart.shape)
    on_left = dot_product(_support_difference(mover, other, apart, left), left)
    on_right = dot_product(_support_difference(mover, other, apart, -left), -left)
    return np.minimum(on_left, on_right)


def contact_intervals(
    mover: Shape, other: Shape, apart: Array, directions: Array
) -> tuple[Array, Array]:
    """Do what `sweep.contact_interval` does (n,), (n,); inf and -inf if there is no contact."""
    u = np.broadcast_to(directions, apart.shape)
    overlap = lateral_overlap_mm(mover, other, apart, u)
    first = -_contact_end(mover, other, apart, -u, overlap)
    return first, _contact_end(mover, other, apart, u, overlap)


def _contact_end(mover: Shape, other: Shape, apart: Array, u: Array, overlap: Array) -> Array:
    """Return where contact ends (n,), given the lateral overlap; -inf if there is no contact."""
    ends = np.full(len(apart), -np.inf)
    rows = overlap >= -CONTACT_TOLERANCE_MM
    is_graze = overlap[rows] < BISECTION_TOLERANCE_MM
    grown = np.maximum(-overlap[rows], 0) + BISECTION_TOLERANCE_MM * is_graze
    ends[rows] = _ray_exit(mover, other, apart[rows], u[rows], grown)
    return ends


def _ray_exit(mover: Shape, other: Shape, apart: Array, u: Array, grown: Array) -> Array:
    """Do what `sweep._ray_exit` does; in closed form for discs, and for a disc and a polygon."""
    if isinstance(mover, Polygon) and isinstance(other, Disc):
        corners = -np.array(mover.corners)
        radius = other.radius_mm + grown
        return _rounded_polygon_ray_exit(corners, radius, apart + other.center, u)
    if isinstance(mover, Disc) and isinstance(other, Polygon):
        corners = np.array(other.corners)
        radius = mover.radius_mm + grown
        return _rounded_polygon_ray_exit(corners, radius, apart - mover.center, u)
    if isinstance(mover, Disc) and isinstance(other, Disc):
        corners = np.array([other.center])
        radius = mover.radius_mm + grown + other.radius_mm
        return _rounded_polygon_ray_exit(corners, radius, apart - mover.center, u)
    return _ray_exit_by_search(mover, other, apart, u, grown)


def _rounded_polygon_ray_exit(corners: Array, radius: Array, apart: Array, u: Array) -> Array:
    """Return where rays leave a polygon (k, 2) moved by `apart` and grown by `radius` (n,)."""
    points = corners + apart[:, None]
    ray = u[:, None]
    square = radius[:, None] ** 2 - dot_product(points, left_normals(ray)) ** 2
    exits = dot_product(points, ray) + np.sqrt(np.maximum(square, 0))
    last = np.where(square >= 0, exits, -np.inf).max(1)
    if len(corners) == 1:
        return np.asarray(last)
    sides = np.roll(corners, -1, 0) - corners
    sizes = vector_lengths(sides)
    normals = -left_normals(sides) / sizes[:, None]
    slope = dot_product(normals, ray)
    height = dot_product(points, normals) + radius[:, None]
    out = height / np.where(slope > 1e-12, slope, np.inf)
    share = dot_product(out[..., None] * ray - points, sides) / sizes**2
    leaves = (slope > 1e-12) & (share >= 0) & (share <= 1)
    through = np.where(leaves, out, -np.inf).max(1)
    return np.asarray(np.maximum(last, through))


def _ray_exit_by_search(mover: Shape, other: Shape, apart: Array, u: Array, grown: Array) -> Array:
    """Close in on all rays at once with two points of the rim each; see `sweep._ray_exit`."""
    v = left_normals(u)

    def rim(normals: Array) -> Array:
        """Return the support points; both are in the frames of the rays."""
        directions = normals[:, :1] * u + normals[:, 1:] * v
        w = _support_difference(mover, other, apart, directions)
        local = np.stack([dot_product(w, u), dot_product(w, v)], 1)
        return np.asarray(local + grown[:, None] * normals)

    below = rim(np.broadcast_to([0.0, -1.0], u.shape))
    above = rim(np.broadcast_to([0.0, 1.0], u.shape))
    for _ in range(MAX_RIM_STEPS):
        across = above - below
        size = vector_lengths(across)
        normals = -left_normals(across) / np.maximum(size, BISECTION_TOLERANCE_MM)[:, None]
        found = rim(normals)
        progress = dot_product(found - below, normals)
        is_open = (progress > BISECTION_TOLERANCE_MM) & (size > BISECTION_TOLERANCE_MM)
        if not is_open.any():
            break
        is_below = found[:, 1:] < 0
        below = np.where(is_below, found, below)
        above = np.where(is_below, above, found)
    rise = above[:, 1] - below[:, 1]
    inner_share = np.clip(-below[:, 1] / np.where(rise > 0, rise, 1), 0, 1)
    share = np.where(rise > 0, inner_share, 1)
    return np.asarray(below[:, 0] + share * (above[:, 0] - below[:, 0]))


# --- overlap ---


def signed_separations(a: Shape, b: Shape, apart: Array) -> tuple[Array, Array]:
    """Do what `tangents.signed_gap_mm` does (n,); also return the best direction (n, 2)."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        offsets = apart + b.center - a.center
        size = vector_lengths(offsets)
        directions = offsets / np.maximum(size, SMALLEST_DIVISOR)[:, None]
        return size - a.radius_mm - b.radius_mm, directions
    if isinstance(a, Polygon) and isinstance(b, Disc):
        corners = np.array(a.corners)
        distances, normals = _signed_polygon_distances(corners, apart + b.center)
        return distances - b.radius_mm, normals
    if isinstance(b, Polygon) and isinstance(a, Disc):
        distances, normals = signed_separations(b, a, -apart)
        return distances, -normals
    return _widest_separation(a, b, apart)


def _signed_polygon_distances(corners: Array, points: Array) -> tuple[Array, Array]:
    """Return signed distances (n,) of points from a polygon, and outward directions (n, 2)."""
    sides = np.roll(corners, -1, 0) - corners
    normals = -left_normals(sides) / vector_lengths(sides)[:, None]
    offsets = points[:, None] - corners
    share = np.clip(dot_product(offsets, sides) / dot_product(sides, sides), 0, 1)
    feet = offsets - share[..., None] * sides
    nearest = vector_lengths(feet).argmin(1)
    heights = dot_product(offsets, normals)
    is_inside, highest = (heights <= 0).all(1), heights.argmax(1)
    outward = np.take_along_axis(feet, nearest[:, None, None], 1)[:, 0]
    size = vector_lengths(outward)
    # A point on the rim gives no direction; the side's normal stands in.
    uses_side = is_inside | (size == 0)
    height = np.take_along_axis(heights, highest[:, None], 1)[:, 0]
    directions = outward / np.maximum(size, SMALLEST_DIVISOR)[:, None]
    chosen = np.where(uses_side[:, None], normals[highest], directions)
    return np.where(uses_side, height, size), chosen


def _widest_separation(a: Shape, b: Shape, apart: Array) -> tuple[Array, Array]:
    """Refine the best peaks among a turn of directions, by halving a bracket round each."""
    angles = np.array(separation_sample_angles(a, b))
    u = unit_vectors(angles)
    widths = dot_product(b.support_points(-u) - a.support_points(u), u) + apart @ u.T
    is_peak = (widths >= np.roll(widths, 1, 1)) & (widths >= np.roll(widths, -1, 1))
    order = np.where(is_peak, -widths, np.inf)
    ranked = np.argsort(order, 1)[:, :REFINED_PEAKS]
    around = np.concatenate([[angles[-1] - 2 * np.pi], angles, [angles[0] + 2 * np.pi]])
    widest = widths.max(1)
    turn = angles[ranked[:, 0]]
    for peak in ranked.T:
        low, high = around[peak], around[peak + 2]
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            along, across = _separation_and_slope(a, b, apart, middle)
            turn = np.where(along > widest, middle, turn)
            widest = np.maximum(along, widest)
            low = np.where(across > 0, middle, low)
            high = np.where(across > 0, high, middle)
    return widest, unit_vectors(turn)


def _separation_and_slope(a: Shape, b: Shape, apart: Array, angles: Array) -> tuple[Array, Array]:
    u = unit_vectors(angles)
    between = b.support_points(-u) + apart - a.support_points(u)
    return dot_product(between, u), dot_product(between, left_normals(u))


def overlap_mask(a: Shape, b: Shape, apart: Array) -> Mask:
    """Do what `sweep.overlaps` does (n,)."""
    if isinstance(a, Disc) or isinstance(b, Disc):
        return np.asarray(signed_separations(a, b, apart)[0] < -CONTACT_TOLERANCE_MM)
    mask = gaps_at_shifts(a, b, apart) == 0
    mask[mask] = signed_separations(a, b, apart[mask])[0] < -CONTACT_TOLERANCE_MM
    return np.asarray(mask)


# --- entering another shape ---


def entry_distances(
    mover: Shape, other: Shape, apart: Array, directions: Array, length_mm: Array | float = np.inf
) -> Array:
    """Do what `sweep.entry_distance` does (n,); inf if the mover does not enter."""
    u = np.broadcast_to(directions, apart.shape)
    limit = np.broadcast_to(length_mm, len(apart))
    distances = np.full(len(apart), np.inf)
    overlap = lateral_overlap_mm(mover, other, apart, u)
    rows = np.flatnonzero(overlap > CONTACT_TOLERANCE_MM)
    first = -_contact_end(mover, other, apart[rows], -u[rows], overlap[rows])
    is_ahead = first > CLEARLY_AHEAD_MM
    distances[rows[is_ahead]] = first[is_ahead]
    close = rows[~is_ahead]
    first_close = first[~is_ahead]
    separations, normals = signed_separations(mover, other, apart[close])
    in_contact = separations <= CONTACT_TOLERANCE_MM
    pressing = _pressing_distances(normals, u[close])
    meeting = np.where(first_close >= 0, first_close, np.inf)
    distances[close] = np.where(in_contact, pressing, meeting)
    is_within = distances < limit - CONTACT_TOLERANCE_MM
    return np.asarray(np.where(is_within, distances, np.inf))


def _pressing_distances(normals: Array, u: Array) -> Array:
    """Return 0 for directions that lead deeper, inf for those that slide along or away."""
    return np.where(dot_product(normals, u) > SLIDING_SLOPE, 0.0, np.inf)


def first_contact_distances(mover: Shape, other: Shape, apart: Array, directions: Array) -> Array:
    """Do what `sweep.first_contact_distance` does (n,); inf if there is no contact."""
    u = np.broadcast_to(directions, apart.shape)
    overlap = lateral_overlap_mm(mover, other, apart, u)
    first = -_contact_end(mover, other, apart, -u, overlap)
    separations, normals = signed_separations(mover, other, apart)
    may_enter = overlap > CONTACT_TOLERANCE_MM
    pressing = np.where(may_enter, _pressing_distances(normals, u), np.inf)
    meeting = np.where(first >= 0, first, np.inf)
    return np.asarray(np.where(separations <= CONTACT_TOLERANCE_MM, pressing, meeting))

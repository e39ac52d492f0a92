"""Entering an outline that need not be convex, for n displacements at once; see `geometry.sweep`.

Lengths are in mm. `apart` (n, 2) displaces the outline relative to the mover; directions (n, 2) are
unit vectors.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.batched.sweeps import entry_distances, overlap_mask, signed_separations
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Point, Shape
from overruler.geometry.sweep import SLIDING_SLOPE, outline_sides


def outline_entry_distances(
    mover: Shape, outline: Sequence[Point], apart: Array, directions: Array
) -> Array:
    """Do what `sweep.outline_entry_distance` does (n,); inf if the mover does not enter."""
    entries, least_mm = np.full((2, len(apart)), np.inf)
    least_inward = np.zeros(len(apart))
    for side in outline_sides(outline):
        normal = np.array(side.normal)
        inward = -directions @ normal
        is_crossed = overlap_mask(mover, side.line, apart)
        reach = np.array(side.line.corners[0]) - mover.support_points(-normal[None])[0]
        depth_mm = (reach + apart) @ normal
        is_least = is_crossed & (depth_mm < least_mm)
        least_mm = np.where(is_least, depth_mm, least_mm)
        least_inward = np.where(is_least, inward, least_inward)
        rows = np.flatnonzero(~is_crossed & (inward > SLIDING_SLOPE))
        found = entry_distances(mover, side.line, apart[rows], directions[rows])
        entries[rows] = np.minimum(entries[rows], found)
    is_inside = np.isinf(least_mm)
    if is_inside.any():
        nearest = _nearest_normals(mover, outline, apart[is_inside])
        least_inward[is_inside] = -np.sum(directions[is_inside] * nearest, axis=1)
    presses = least_inward > SLIDING_SLOPE
    return np.asarray(np.where(presses, 0.0, entries))


def _nearest_normals(mover: Shape, outline: Sequence[Point], apart: Array) -> Array:
    """The normals (n, 2) of the sides that are nearest to a mover which crosses none."""
    sides = list(outline_sides(outline))
    gaps = np.array([signed_separations(mover, side.line, apart)[0] for side in sides])
    return np.asarray(np.array([side.normal for side in sides])[gaps.argmin(axis=0)])

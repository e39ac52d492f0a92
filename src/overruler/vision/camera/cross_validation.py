"""How well the markers predict one another: the error that a calibration makes where it was not fitted."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import BundleAdjustment, Solution, State

MIN_MARKERS = 4
"""Markers below which leaving one out leaves too little."""


def leave_one_out_error_mm(
    bundle: BundleAdjustment,
    solution: Solution,
    corners_px: Sequence[Array],
    corners_mm: Sequence[Array],
) -> float | None:
    """How well each marker's corners are predicted by the others, in mm; None where too few markers are seen for that.

    The mean distance from the corners (4, 2) in the photo, cast on to the board by the camera that the other markers
    gave, to where they are (4, 3).

    Markers that lie anywhere are laid on their own squares first: what is left is their error of size and shape.
    """
    if len(corners_px) < MIN_MARKERS:
        return None
    errors = []
    for i, (seen_px, true_mm) in enumerate(zip(corners_px, corners_mm, strict=True)):
        others = bundle.state_without(solution.state, i)
        found = others.camera.unproject(seen_px, true_mm[:, 2] + _bow_heights(others, i, true_mm))
        if not np.isfinite(
            found
        ).all():  # without it the lens is known so badly that it sees no table there
            return None
        if solution.state.places is not None:
            found = align_rigidly(found, true_mm[:, :2])
        errors.append(np.linalg.norm(found - true_mm[:, :2], axis=1).mean())
    return float(np.mean(errors))


def _bow_heights(state: State, marker: int, corners_mm: Array) -> Array:
    """How high the table's bow lifts a marker's corners (4,)."""
    lifted, flat = (
        one.points_on_board(np.full(4, marker), corners_mm)[0]
        for one in (state, replace(state, bow=None))
    )
    return np.asarray(lifted[:, 2] - flat[:, 2])


def align_rigidly(points: Array, target: Array) -> Array:
    """Points (K, 2) turned and shifted, as a rigid body, on to the target (K, 2) (Kabsch, 1976)."""
    centered, aim = points - points.mean(0), target - target.mean(0)
    u, _, vt = np.linalg.svd(centered.T @ aim)
    turn = u @ np.diag([1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return np.asarray(centered @ turn + target.mean(0))

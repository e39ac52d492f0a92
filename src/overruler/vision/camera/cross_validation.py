"""How well the fit holds: the other markers predict each marker, and residuals show no pattern."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import BundleAdjustment
from overruler.vision.camera.observations import choose_spread
from overruler.vision.camera.state import OWN_SIZE, PLACES_START, Solution, State
from overruler.vision.camera.variance_components import UNIT_SCALES
from overruler.vision.least_squares.schur_solver import whitening_matrix
from overruler.vision.misfit.error_field import FieldEstimate, MarkerBlock, estimate_field

MIN_MARKERS = 4
"""With fewer markers, leaving one out leaves too few."""
MAX_FIELD_MARKERS = 40
"""Most markers whose residuals show the error field. It is smooth, and time grows with their cube."""


def leave_one_out_error_mm(
    bundle: BundleAdjustment,
    solution: Solution,
    corners_px: Sequence[Array],
    corners_mm: Sequence[Array],
) -> float | None:
    """The mean error of each marker's corners under the camera of the other markers, in mm.

    The corners (4, 2) in the photo are unprojected by that camera and compared with the true ones
    (4, 3). Free markers are aligned with their own squares first: their error of size and shape
    remains. None with too few markers.
    """
    if len(corners_px) < MIN_MARKERS:
        return None
    errors = []
    states = bundle.states_without(solution.state)
    for i, (state, seen_px, true_mm) in enumerate(
        zip(states, corners_px, corners_mm, strict=False)
    ):
        height_mm = true_mm[:, 2] + _bow_heights(state, i, true_mm)
        predicted = state.camera.unproject(seen_px, height_mm)
        if not np.isfinite(predicted).all():
            return None  # without this marker the lens is too unsure to see the table there
        if solution.state.places is not None:
            predicted = align_rigidly(predicted, true_mm[:, :2])
        errors.append(np.linalg.norm(predicted - true_mm[:, :2], axis=1).mean())
    return float(np.mean(errors))


def _bow_heights(state: State, marker: int, corners_mm: Array) -> Array:
    """Height (4,) by which the bow lifts a marker's corners (4, 3)."""
    group = np.full(4, marker)
    bowed = state.points_on_board(group, corners_mm)
    flat = replace(state, bow=None).points_on_board(group, corners_mm)
    return np.asarray(bowed[:, 2] - flat[:, 2])


def align_rigidly(points: Array, target: Array) -> Array:
    """Rotate and shift points (K, 2) onto a target (K, 2) by least squares (Kabsch, 1976)."""
    centred, centred_target = points - points.mean(0), target - target.mean(0)
    u, _, vt = np.linalg.svd(centred.T @ centred_target)
    reflection = np.sign(np.linalg.det(u @ vt))
    rotation = u @ np.diag([1, reflection]) @ vt
    return np.asarray(centred @ rotation + target.mean(0))


def estimate_error_field(
    bundle: BundleAdjustment, state: State, length_mm: float
) -> FieldEstimate | None:
    """The smooth error over the table that the markers show; None without markers."""
    bundle, state = _with_some_markers(bundle, state)
    blocks = list(_marker_blocks(bundle, state))
    if not blocks:
        return None
    places = state.unknown_count - PLACES_START  # of which nothing is known beforehand
    prior = np.pad(bundle.prior_information(state), (0, places))
    deviation = np.pad(bundle.prior_deviation(state), (0, places))
    layout_known = state.places is None
    return estimate_field(blocks, prior, deviation, length_mm, with_contrast=layout_known)


def _with_some_markers(bundle: BundleAdjustment, state: State) -> tuple[BundleAdjustment, State]:
    """The same problem with so many markers as show the field, spread over the picture."""
    chosen = choose_spread(bundle.groups, MAX_FIELD_MARKERS)
    if len(chosen) == len(bundle.groups):
        return bundle, state
    some = BundleAdjustment([bundle.groups[k] for k in chosen], bundle.prior, bundle.scales)
    places = None if state.places is None else state.places[chosen]
    return some, replace(state, places=places)


def _marker_blocks(bundle: BundleAdjustment, state: State) -> Iterator[MarkerBlock]:
    """Each marker's residuals under `state`, whitened by the noise of a marker as it should be."""
    linear, start = bundle.linearization(state), 0
    for k, group in enumerate(bundle.groups):
        part = slice(start, start + len(group.xy_px))
        start = part.stop
        if not group.is_marker:
            continue
        index = np.full(len(group.xy_px), k)
        points = state.points_on_board(index, group.xyz_mm)
        _, by_point, _ = state.camera.project_with_jacobians(points)
        whitener = whitening_matrix(group.covariance(UNIT_SCALES))
        jacobian = np.zeros((len(group.xy_px), state.unknown_count))
        jacobian[:, :PLACES_START] = linear.shared[part]
        own = state.own_index(k)
        if own is not None:
            jacobian[:, PLACES_START + OWN_SIZE * own :][:, :OWN_SIZE] = linear.own[part]
        yield MarkerBlock(
            residual=whitener @ linear.residual[part],
            jacobian=whitener @ jacobian,
            by_place=(group.normal_px[:, :, None] * by_point[..., :2]).sum(1),
            whitener=whitener,
            xy_mm=points[:, :2],
        )

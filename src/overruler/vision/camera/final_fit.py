"""The final fit of a calibration, under estimated noise scales, and the calibration from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration, Covariances, TableBow
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.plane_doubt import TableDoubt
from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import BundleAdjustment
from overruler.vision.camera.cross_validation import estimate_error_field, leave_one_out_error_mm
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.marker_layout import (
    POINTS_BUDGET,
    add_height_uncertainty,
    marker_budget,
)
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.plausibility import check_camera, check_pixel_shape
from overruler.vision.camera.plumb_lines import (
    board_sides,
    sides_between_clicks,
    straighten_mat_edges,
)
from overruler.vision.camera.problems import (
    CalibrationDiagnostics,
    find_problems,
    find_uneven_picture,
    find_unsure_distances,
    missing_marker_ids,
    sort_by_severity,
)
from overruler.vision.camera.state import Solution, State
from overruler.vision.markers.marker import Marker
from overruler.vision.misfit.error_field import LENGTH_SHARE, FieldEstimate

MAX_RMS_PX = 3.0
"""Root mean square residual of markers above which something does not lie where it should."""
MAX_POINTS_RMS_SHARE = 0.008
"""The same for clicked points, as a share of the picture's longer side."""
SEVERAL_CONTRADICTING = 2
"""One marker that contradicts the others was moved; so many were not, the picture is bent."""
FAR_DISTORTION = 0.05
"""A change of k1 by the mat's edges beyond which they are measured anew with the lens that they ask for."""
STEP_SHARES = (1.0, 0.5)
"""Shares of that change that are tried."""
ABORT_RMS_FACTOR = 5.0
"""Residuals this many times the limit end the calibration at once."""


@dataclass(frozen=True, slots=True, eq=False)
class FinalFit:
    """The final solution, and what it is based on."""

    solution: Solution
    """The solution, averaged over the noise scales."""
    bundle: BundleAdjustment
    """The least-squares problem under the mean noise scales."""
    markers: Sequence[Marker]
    """The markers used, in the order of the first observations."""
    contradicting: Sequence[Observation]
    """Markers at known places that were left out, for they contradict the others."""

    @property
    def state(self) -> State:
        """The parameters of the solution."""
        return self.solution.state

    @property
    def has_free_markers(self) -> bool:
        """Whether the places of the markers are parameters."""
        return self.state.places is not None


def solve_with_noise_scales(
    frame: Frame,
    groups: Sequence[Observation],
    markers: Sequence[Marker],
    prior: LensPrior,
    state: State,
    contradicting: Sequence[Observation] = (),
) -> FinalFit:
    """Solve near `state` with noise scales estimated from the residuals of `groups`."""
    limit_px = MAX_RMS_PX if markers else MAX_POINTS_RMS_SHARE * max(frame.size_px)
    first = BundleAdjustment(groups, prior).solve(state, rounds=0)
    _check_fit(first, ABORT_RMS_FACTOR * limit_px)
    if state.places is None:
        groups = add_height_uncertainty(groups, state.camera)
    nominal = BundleAdjustment(groups, prior)
    bundle, solution = nominal.solve_averaging_scales(state)
    if solution.rms_px > limit_px:
        # so much noise means a wrong lens prior: the nominal scales make that visible
        bundle, solution = nominal, nominal.solve(state)
    _check_fit(solution, limit_px)
    return FinalFit(solution, bundle, markers, contradicting)


def _check_fit(solution: Solution, limit_px: float) -> None:
    if not np.isfinite(solution.covariance).all() or not solution.rms_px <= limit_px:
        raise CannotMeasure(
            f"the markers or points do not fit a flat board, they are {solution.rms_px:.1f} px off; "
            "check that the board file is this table's, the places, that the table is flat, and the lens file"
        )


def flat_bow(board: Board | None, groups: Sequence[Observation]) -> TableBow:
    """A flat table: the board, or the bounding box of everything at a known place."""
    xy = np.concatenate([group.xyz_mm[:, :2] for group in groups])
    low, high = xy.min(0), xy.max(0)
    if board is not None and board.width_mm and board.height_mm:
        low, high = np.zeros(2), np.array([board.width_mm, board.height_mm])
    return TableBow((low + high) / 2, np.maximum((high - low) / 2, 1.0), np.zeros(2))


def flat_bow_under_markers(state: State, square_mm: Array) -> TableBow:
    """A flat table under free markers, with its axes along and across the picture."""
    count = len(state.places) if state.places is not None else 0
    xy = _board_corners(state, [square_mm] * count)
    turn = float(np.arctan2(*state.camera.T_camera_board.rotation[0, 1::-1]))
    c, s = np.cos(turn), np.sin(turn)
    rotated = xy @ np.array([[c, -s], [s, c]])
    low, high = rotated.min(0), rotated.max(0)
    centre = (low + high) / 2 @ np.array([[c, s], [-s, c]])
    return TableBow(centre, (high - low) / 2, np.zeros(2), turn)


def _board_corners(state: State, squares_mm: Sequence[Array]) -> Array:
    """Places (4 N, 2) on the board of the corners (4, 3) of the first N markers."""
    points = [state.points_on_board(np.full(4, k), corners) for k, corners in enumerate(squares_mm)]
    return np.concatenate(points)[:, :2]


# --- the calibration ---


def build_calibration(
    frame: Frame,
    board: Board | None,
    fit: FinalFit,
    corners_mm: Sequence[Array],
    left_out: Sequence[int],
) -> Calibration:
    """The calibration of a final fit, refined by the mat's edges, with its doubt and problems.

    `corners_mm` (4, 3) are those of each marker, `left_out` the ids of outliers. The frame of free
    markers is moved to the lower left of their bounding box.
    """
    calibration = _calibration_before_refinement(frame, board, fit, corners_mm)
    prior = fit.bundle.prior
    check_pixel_shape(calibration.camera, prior)
    _check_calibration(calibration)
    if not prior.is_from_file and not fit.has_free_markers:
        calibration = _refine_by_mat_edges(frame, board, fit, corners_mm, calibration)
        _check_calibration(calibration)
    field = _error_field(fit, max(calibration.board_mm))
    diagnostics = _collect_diagnostics(frame, board, fit, left_out)
    unsure = find_unsure_distances(calibration, prior.is_from_file)
    uneven = find_uneven_picture(field, max(calibration.board_mm))
    problems = sort_by_severity((*find_problems(diagnostics), *unsure, *uneven))
    calibration = replace(calibration, problems=problems)
    if field is None:
        return calibration
    # few markers tell the amplitude: where there surely is a field, its doubt covers what is likely
    field_mm = max(field.amplitude_mm, field.most_mm) if uneven else field.amplitude_mm
    doubt = TableDoubt(field_mm=field_mm, length_mm=field.length_mm)
    return replace(calibration, doubt=doubt, contrast=field.contrast)


def _refine_by_mat_edges(
    frame: Frame,
    board: Board | None,
    fit: FinalFit,
    corners_mm: Sequence[Array],
    calibration: Calibration,
) -> Calibration:
    """The calibration refined by the edges between clicked points, or by the board's edges."""
    if fit.markers:
        has_size = board is not None and board.width_mm and board.height_mm
        sides = board_sides(calibration.board_mm) if has_size else []
        return straighten_mat_edges(frame, calibration, sides).calibration
    clicked = np.stack([group.xyz_mm[0, :2] for group in fit.bundle.groups])
    sides = sides_between_clicks(clicked)
    best = straighten_mat_edges(frame, calibration, sides)
    before, after = calibration.camera.distortion, best.calibration.camera.distortion
    if abs(after[0] - before[0]) < FAR_DISTORTION:
        return best.calibration
    # points leave the lens so open that a step by the edges may be too long: begin anew at its end
    for share in STEP_SHARES:
        other = _with_distortion(fit, before + share * (after - before))
        begun = _calibration_before_refinement(frame, board, other, corners_mm)
        tried = straighten_mat_edges(frame, begun, sides)
        best = max(best, tried, key=lambda one: one.merit)
    return best.calibration


def _with_distortion(fit: FinalFit, distortion: Array) -> FinalFit:
    """The fit under a prior about another distortion (5,)."""
    bundle = fit.bundle
    mean = np.concatenate([bundle.prior.mean[:4], distortion])
    moved = BundleAdjustment(bundle.groups, replace(bundle.prior, mean=mean), bundle.scales)
    return replace(fit, bundle=moved, solution=moved.solve(fit.state))


def _error_field(fit: FinalFit, longer_side_mm: float) -> FieldEstimate | None:
    """The error field by the markers that were used, and by those left out where they are several."""
    bundle = fit.bundle
    if len(fit.contradicting) >= SEVERAL_CONTRADICTING:
        bundle = BundleAdjustment((*bundle.groups, *fit.contradicting), bundle.prior, bundle.scales)
    return estimate_error_field(bundle, fit.state, LENGTH_SHARE * longer_side_mm)


def _check_calibration(calibration: Calibration) -> None:
    """Raise `CannotMeasure` if the camera is none that people have."""
    size_px = calibration.size_px
    middle_px = (np.array(size_px) - 1) / 2
    if calibration.corners_px:
        middle_px = np.concatenate(calibration.corners_px).mean(0)
    x_mm, y_mm = calibration.camera.unproject(middle_px).tolist()
    check_camera(calibration.camera, size_px, (x_mm, y_mm))


def _calibration_before_refinement(
    frame: Frame, board: Board | None, fit: FinalFit, corners_mm: Sequence[Array]
) -> Calibration:
    state, solution = fit.state, fit.solution
    corners_px = [marker.corners_px for marker in fit.markers]
    usual = fit.bundle.covariance_as_specified(state)
    rare = solution.camera_bow_covariance
    strange = rare + fit.bundle.prior.added_by_rare_lenses(fit.bundle.covariance(state))
    if not fit.markers:  # points see no lens, so the mat's edges shall tell it
        rare = strange
    low, high = _bounding_box(fit.bundle.groups, corners_mm, state)
    calibration = Calibration(
        camera=state.camera,
        covariances=Covariances(usual, rare, strange),
        bow=state.bow,
        size_px=frame.size_px,
        rms_px=solution.rms_px,
        markers=tuple(sorted(marker.id for marker in fit.markers)),
        board_mm=(float(high[0]), float(high[1])),
        left_out_mm=leave_one_out_error_mm(fit.bundle, solution, corners_px, corners_mm),
        edge_shift_px=state.edge_shift_px,
        corners_px=tuple(corners_px),
        layout_known=not fit.has_free_markers,
        budget=POINTS_BUDGET,
        common_lens=fit.bundle.prior.common,
    )
    if fit.has_free_markers:
        width, height = high - low
        calibration = replace(
            calibration.with_origin_at(np.array([*low, 0.0])),
            board_mm=(float(width), float(height)),
        )
    if board is not None:
        width, height = calibration.board_mm
        calibration = replace(
            calibration, board_mm=(board.width_mm or width, board.height_mm or height)
        )
    if fit.markers:
        camera_height_mm = float(calibration.camera.center_mm[2])
        budget = marker_budget(board, fit.has_free_markers, camera_height_mm)
        calibration = replace(calibration, budget=budget)
    return calibration


def _bounding_box(
    groups: Sequence[Observation], corners_mm: Sequence[Array], state: State
) -> tuple[Array, Array]:
    """The lower left and upper right corner (2,) on the board of all markers and clicked points."""
    places = [group.xyz_mm[:, :2] for group in groups if not group.is_marker]
    if corners_mm:
        places.append(_board_corners(state, corners_mm))
    xy = np.concatenate(places)
    return xy.min(0), xy.max(0)


def _collect_diagnostics(
    frame: Frame, board: Board | None, fit: FinalFit, left_out: Sequence[int]
) -> CalibrationDiagnostics:
    corners_mm: dict[int, Array] = {}
    if board is not None and board.corners_mm:
        corners_mm = board.corners_mm
    known = {marker.id for marker in fit.markers} | set(left_out)
    bundle, scales = fit.bundle, fit.bundle.scales
    return CalibrationDiagnostics(
        solution=fit.solution,
        size_px=frame.size_px,
        markers=fit.markers,
        point_count=sum(not group.is_marker for group in bundle.groups),
        left_out=left_out,
        hidden_ids=missing_marker_ids(fit.state.camera, frame.size_px, corners_mm, known),
        noise_scale=max(scales.edge, scales.place, fit.solution.unit_weight_sigma),
        shape_scale=scales.shape,
        prior=bundle.prior,
    )

"""From what is seen of the board to the camera, with the doubt of all of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration, TableBow
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.bundle_adjustment import BundleAdjustment, LensPrior, Solution, State
from overruler.vision.camera.cross_validation import leave_one_out_error_mm
from overruler.vision.camera.initial_pose import (
    alternative_cameras,
    pose_from_free_squares,
    pose_from_points,
    shift_board_origin,
)
from overruler.vision.camera.lens_prior import (
    camera_at_pose,
    cropped_prior,
    intrinsic_matrix,
    lens_prior,
    undistort_pixels,
)
from overruler.vision.camera.marker_layout import (
    POINTS_BUDGET,
    add_height_uncertainty,
    laid_marker_observation,
    marker_budget,
    printed_corners_mm,
    printed_marker_observation,
)
from overruler.vision.camera.observations import ClickedPoint, Observation, point_observations
from overruler.vision.camera.outliers import fit_choosing_prior
from overruler.vision.camera.plumb_lines import refine_by_mat_edges
from overruler.vision.camera.problems import (
    CalibrationDiagnostics,
    find_problems,
    find_unsure_distances,
    missing_marker_ids,
    sort_by_severity,
)
from overruler.vision.markers.detect import find_markers, fit_expected_marker
from overruler.vision.markers.marker import Marker

RESTART_SIGMA = 2.0
"""Residuals this many times the expected ones ask for other starts: a plane has a second pose that looks like it."""
MAX_CORNER_OFFSET_SHARE = 0.1
"""A marker looked for lies within this share of its side of where the others say that it is."""
MAX_RMS_PX, MAX_POINTS_RMS_SHARE = 3.0, 0.008
"""Residuals of markers, and of points as a share of the longer side, beyond which something lies elsewhere."""
ABORT_RMS_FACTOR = 5.0
"""So many times beyond that, nothing is worked out any further."""
MIN_SPREAD_RATIO = {"xyz_mm": 0.2, "xy_px": 0.05}
"""Points that spread less across than this share of how they spread along, on the board or in the photo, tell a camera
that is far worse beside them than a linear doubt says: the corners of a ruler, say."""


def calibrate(
    frame: Frame,
    board: Board | None,
    points: Sequence[ClickedPoint] = (),
    lens: Lens | None = None,
    elsewhere: Collection[int] = (),
) -> Calibration:
    """The camera of one photo, by the board's markers and by clicked points (u, v, x_mm, y_mm).

    Markers whose ids are `elsewhere` do not lie on the board: nothing is made of them.
    Raises `CannotMeasure` where too little is seen or nothing fits it, `BadInput` where the points or the lens file are
    wrong. Points and markers that lie anywhere do not go together: the points have a frame, the markers none.
    """
    _check_points(frame, board, points)
    prior = lens_prior(frame, lens, markers=board is not None)
    if board is not None:
        board = board.without_markers(elsewhere)
    seen = (
        tuple(m for m in find_markers(frame, board) if m.id not in elsewhere)
        if board is not None
        else ()
    )
    return calibrate_from_markers(frame, board, seen, points, prior, lens is not None)


def calibrate_from_markers(
    frame: Frame,
    board: Board | None,
    seen: Sequence[Marker],
    points: Sequence[ClickedPoint],
    prior: LensPrior,
    lens: bool,
) -> Calibration:
    """The same once the markers are found; `lens` says whether the `prior` is a lens that was measured."""
    if board is None or board.layout_known:
        return _calibrate_known_layout(frame, board, seen, points, prior, lens)
    return _calibrate_free_markers(frame, board, seen, prior, lens)


def _check_points(frame: Frame, board: Board | None, points: Sequence[ClickedPoint]) -> None:
    if points and board is not None and not board.layout_known:
        raise BadInput("points need a board file with the markers' places, or no markers at all")
    width, height = frame.size_px
    for u, v, x_mm, y_mm in points:
        if not np.isfinite([u, v, x_mm, y_mm]).all():
            raise BadInput(f"the point {u:g},{v:g}={x_mm:g},{y_mm:g} is not a place")
        if not (-0.5 <= u <= width - 0.5 and -0.5 <= v <= height - 0.5):
            raise BadInput(
                f"the point {u:g},{v:g} lies outside the photo ({width} × {height} pixels)"
            )


# --- markers and points at known places ---


def _calibrate_known_layout(
    frame: Frame,
    board: Board | None,
    seen: Sequence[Marker],
    points: Sequence[ClickedPoint],
    prior: LensPrior,
    lens: bool,
) -> Calibration:
    corners_mm = (board.corners_mm if board is not None else None) or {}
    clicked = point_observations(points)
    _check_enough_observations(len(seen), clicked, board)
    groups = [laid_marker_observation(marker, board) for marker in seen] + clicked
    (first, kept), prior = fit_choosing_prior(
        groups, _solve_known_layout, prior, cropped_prior(prior, frame.size_px)
    )
    markers = [marker for k, marker in enumerate(seen) if k in kept]
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    hidden = _find_hidden_markers(frame, corners_mm, markers, left_out, first.state)
    groups = [laid_marker_observation(marker, board) for marker in markers + hidden]
    groups += [group for k, group in enumerate(clicked) if k + len(seen) in kept]
    solved = _solve_with_noise_scales(
        frame, groups, markers + hidden, prior, replace(first.state, bow=_flat_bow(board, groups))
    )
    return _build_calibration(
        frame, board, solved, [corners_mm[m.id] for m in solved.markers], left_out, lens
    )


def _check_enough_observations(
    markers: int, clicked: Sequence[Observation], board: Board | None
) -> None:
    """Two markers, or four points that do not lie on a line."""
    if markers >= 2:
        return
    if not clicked and board is not None:
        raise CannotMeasure(_too_few_markers_message(markers))
    if 2 * markers + len(clicked) < 4:
        raise CannotMeasure(
            f"{len(clicked)} points given, four are needed: give more, or a board with markers"
        )
    for what, least in MIN_SPREAD_RATIO.items():
        places = np.array([getattr(group, what)[0][:2] for group in clicked])
        spread = np.linalg.svd(places - places.mean(0), compute_uv=False)
        if markers == 0 and spread[1] < least * spread[0]:
            raise CannotMeasure(
                "the points lie on one line or nearly so; give some farther to the side of it"
            )


def _too_few_markers_message(count: int) -> str:
    found = (
        "only one marker of the board was found, two are needed"
        if count
        else "no marker of the board was found"
    )
    return (
        f"{found}; have the markers whole, flat and in focus, and check the dictionary and the ids"
    )


def _solve_known_layout(groups: Sequence[Observation], prior: LensPrior) -> Solution:
    xyz = np.concatenate([group.xyz_mm for group in groups])
    xy = undistort_pixels(prior, np.concatenate([group.xy_px for group in groups]))
    good = np.isfinite(xy).all(1)
    camera = camera_at_pose(prior, pose_from_points(xyz[good], xy[good], intrinsic_matrix(prior)))
    bundle = BundleAdjustment(groups, prior)
    best = bundle.solve(State(camera, 0.0))
    if best.unit_weight_sigma > RESTART_SIGMA:
        others = [
            bundle.solve(State(other, 0.0)) for other in alternative_cameras(camera, xyz.mean(0))
        ]
        best = max([best, *others], key=lambda solution: solution.log_evidence)
    if best.rms_px > ABORT_RMS_FACTOR * MAX_RMS_PX:
        return best
    return BundleAdjustment(add_height_uncertainty(groups, best.state.camera), prior).solve(
        best.state
    )


def _find_hidden_markers(
    frame: Frame,
    corners_mm: dict[int, Array],
    seen: Sequence[Marker],
    left_out: Sequence[int],
    state: State,
) -> list[Marker]:
    """Markers whose id could not be read, looked for where the others say that they are."""
    if len(seen) < 2:
        return []
    known = {marker.id for marker in seen} | set(left_out)
    missing = missing_marker_ids(state.camera, frame.size_px, corners_mm, known, whole=False)
    guesses = {number: state.camera.project(corners_mm[number]) for number in missing}
    found = [
        fit_expected_marker(frame, seen[0].dictionary, number, px) for number, px in guesses.items()
    ]
    return [
        m
        for m in found
        if m is not None
        and np.abs(m.corners_px - guesses[m.id]).max() < MAX_CORNER_OFFSET_SHARE * m.side_px
    ]


# --- markers that lie anywhere ---


def _calibrate_free_markers(
    frame: Frame, board: Board, seen: Sequence[Marker], prior: LensPrior, lens: bool
) -> Calibration:
    if len(seen) < 2:
        raise CannotMeasure(_too_few_markers_message(len(seen)))
    groups = [printed_marker_observation(marker, board) for marker in seen]
    corners = {id(group): marker.corners_px for group, marker in zip(groups, seen, strict=True)}

    def solve(some: Sequence[Observation], prior: LensPrior) -> Solution:
        return _solve_free_markers(
            some, np.stack([corners[id(group)] for group in some]), board.marker_mm, prior
        )

    (first, kept), prior = fit_choosing_prior(
        groups, solve, prior, cropped_prior(prior, frame.size_px)
    )
    state = replace(
        first.state, bow=_flat_bow_under_markers(first.state, printed_corners_mm(board))
    )
    solved = _solve_with_noise_scales(
        frame, [groups[k] for k in kept], [seen[k] for k in kept], prior, state
    )
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    return _build_calibration(
        frame, board, solved, [printed_corners_mm(board)] * len(kept), left_out, lens
    )


def _solve_free_markers(
    groups: Sequence[Observation], corners_px: Array, side_mm: float, prior: LensPrior
) -> Solution:
    pose, places = pose_from_free_squares(
        undistort_pixels(prior, corners_px), side_mm, intrinsic_matrix(prior)
    )
    return BundleAdjustment(groups, prior).solve(State(camera_at_pose(prior, pose), 0.0, places))


# --- the result ---


@dataclass(frozen=True, slots=True, eq=False)
class _FinalFit:
    """The last solution, and what it rests on."""

    solution: Solution
    bundle: BundleAdjustment
    markers: Sequence[Marker]

    @property
    def has_free_markers(self) -> bool:
        return self.solution.state.places is not None


def _solve_with_noise_scales(
    frame: Frame,
    groups: Sequence[Observation],
    markers: Sequence[Marker],
    prior: LensPrior,
    state: State,
) -> _FinalFit:
    """The solution once the residuals have said how much the markers' edges share."""
    limit_px = MAX_RMS_PX if markers else MAX_POINTS_RMS_SHARE * max(frame.size_px)
    _check_fit(BundleAdjustment(groups, prior).solve(state, rounds=0), ABORT_RMS_FACTOR * limit_px)
    groups = groups if state.places is not None else add_height_uncertainty(groups, state.camera)
    as_said = BundleAdjustment(groups, prior)
    bundle, solution = as_said.solve_averaging_scales(state)
    if (
        solution.rms_px > limit_px
    ):  # more noise than there can be: what is known of the lens is wrong, and shall show
        bundle, solution = as_said, as_said.solve(state)
    _check_fit(solution, limit_px)
    return _FinalFit(solution, bundle, markers)


def _flat_bow(board: Board | None, groups: Sequence[Observation]) -> TableBow:
    """A table that is flat so far: the board, or what lies within everything whose place is known."""
    xy = np.concatenate([group.xyz_mm[:, :2] for group in groups])
    low, high = xy.min(0), xy.max(0)
    if board is not None and board.width_mm and board.height_mm:
        low, high = np.zeros(2), np.array([board.width_mm, board.height_mm])
    return TableBow((low + high) / 2, np.maximum((high - low) / 2, 1.0), np.zeros(2))


def _flat_bow_under_markers(state: State, square_mm: Array) -> TableBow:
    """A table that is flat so far, under markers that lie anywhere: along and across the picture, in any frame."""
    count = len(state.places) if state.places is not None else 0
    xy = np.concatenate(
        [state.points_on_board(np.full(4, i), square_mm)[0][:, :2] for i in range(count)]
    )
    turn = float(np.arctan2(*state.camera.T_camera_board.rotation[0, 1::-1]))
    c, s = np.cos(turn), np.sin(turn)
    turned = xy @ np.array([[c, -s], [s, c]])
    low, high = turned.min(0), turned.max(0)
    middle = (low + high) / 2 @ np.array([[c, s], [-s, c]])
    return TableBow(middle, (high - low) / 2, np.zeros(2), turn)


def _check_fit(solution: Solution, limit_px: float) -> None:
    if not np.isfinite(solution.covariance).all() or not solution.rms_px <= limit_px:
        raise CannotMeasure(
            f"the markers or points do not fit a flat board, they are {solution.rms_px:.1f} px off; "
            "check their places, that the table is flat, and the lens file"
        )


def _build_calibration(
    frame: Frame,
    board: Board | None,
    solved: _FinalFit,
    corners_mm: Sequence[Array],
    left_out: Sequence[int],
    lens: bool,
) -> Calibration:
    camera, covariance, state = (
        solved.solution.state.camera,
        solved.solution.camera_bow_covariance,
        solved.solution.state,
    )
    told = solved.bundle.covariance_as_specified(state)
    low, high = _bounding_box(solved.bundle.groups, corners_mm, state)
    bow = state.bow
    if solved.has_free_markers:
        (_, told), (camera, covariance) = (
            shift_board_origin(camera, low, one) for one in (told, covariance)
        )
        bow, high = bow and replace(bow, middle_mm=bow.middle_mm - low), high - low
    width, height = (board.width_mm, board.height_mm) if board is not None else (None, None)
    corners_px = [marker.corners_px for marker in solved.markers]
    found = Calibration(
        camera=camera,
        covariance=covariance[:15, :15],
        covariance_with_bow=covariance,
        joint_as_specified=told,
        bow=bow,
        size_px=frame.size_px,
        rms_px=solved.solution.rms_px,
        markers=tuple(sorted(marker.id for marker in solved.markers)),
        board_mm=(width or float(high[0]), height or float(high[1])),
        left_out_mm=leave_one_out_error_mm(solved.bundle, solved.solution, corners_px, corners_mm),
        edge_shift_px=state.edge_shift_px,
        corners_px=tuple(corners_px),
        layout_known=not solved.has_free_markers,
        budget=marker_budget(board, solved.has_free_markers, float(camera.center_mm[2]))
        if solved.markers
        else POINTS_BUDGET,
    )
    if not (lens or solved.has_free_markers) and width and height:
        found = refine_by_mat_edges(frame, found)
    problems = find_problems(_collect_diagnostics(frame, board, solved, left_out, lens))
    return replace(
        found, problems=sort_by_severity((*problems, *find_unsure_distances(found, lens)))
    )


def _collect_diagnostics(
    frame: Frame, board: Board | None, solved: _FinalFit, left_out: Sequence[int], lens: bool
) -> CalibrationDiagnostics:
    corners = (board.corners_mm if board is not None else None) or {}
    known = {marker.id for marker in solved.markers} | set(left_out)
    hidden = missing_marker_ids(solved.solution.state.camera, frame.size_px, corners, known)
    points = sum(not group.is_marker for group in solved.bundle.groups)
    worse = max(*solved.bundle.scales[:2], solved.solution.unit_weight_sigma)
    bent = solved.bundle.scales[2]
    cut = lens and solved.bundle.prior.assumes_cropped
    return CalibrationDiagnostics(
        solved.solution,
        frame.size_px,
        solved.markers,
        points,
        left_out,
        hidden,
        worse,
        bent,
        lens,
        cut,
    )


def _bounding_box(
    groups: Sequence[Observation], corners_mm: Sequence[Array], state: State
) -> tuple[Array, Array]:
    """The lower left and upper right corner (2,), on the board, of all markers' squares and all points."""
    laid = [
        state.points_on_board(np.full(4, i), corners)[0] for i, corners in enumerate(corners_mm)
    ]
    xy = np.concatenate([*laid, *(group.xyz_mm for group in groups if not group.is_marker)])[:, :2]
    return xy.min(0), xy.max(0)

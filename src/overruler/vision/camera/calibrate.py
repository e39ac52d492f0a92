"""Calibration of one photo: from markers and clicked points to the camera and its covariance."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.final_fit import (
    build_calibration,
    flat_bow,
    flat_bow_under_markers,
    solve_with_noise_scales,
)
from overruler.vision.camera.initial_pose import (
    solve_free_markers,
    solve_known_layout,
)
from overruler.vision.camera.lens_prior import (
    LensPrior,
    cropped_prior,
    lens_prior,
    stretched_priors,
    zoomed_priors,
)
from overruler.vision.camera.marker_layout import (
    laid_marker_observation,
    printed_corners_mm,
    printed_marker_observation,
)
from overruler.vision.camera.observations import ClickedPoint, Observation, point_observations
from overruler.vision.camera.outliers import (
    InlierFit,
    PriorSolver,
    fit_choosing_prior,
    fit_stretched,
    fit_without_outliers,
    fit_zoomed,
    with_prior,
)
from overruler.vision.camera.problems import missing_marker_ids
from overruler.vision.camera.state import Solution, State
from overruler.vision.camera.told import NOTHING_TOLD, Told
from overruler.vision.markers.detect import find_markers, fit_expected_marker
from overruler.vision.markers.marker import Marker
from overruler.vision.markers.swapped import find_swapped
from overruler.vision.markers.unreadable import explain_small, explain_unreadable

MAX_CORNER_OFFSET_SHARE = 0.1
"""Largest distance of a hidden marker's corners from their prediction, as a share of its side."""
MIN_MARKERS = 2
"""Smallest number of markers."""
MIN_POINTS = 4
"""Smallest number of clicked points without markers; a marker counts as two."""
MIN_SPREAD_ON_BOARD = 0.2
"""Smallest ratio of the points' spread across to that along, on the board. Below it the camera is
far worse beside the points than its linear covariance says, as with the corners of a ruler."""
MIN_SPREAD_IN_PHOTO = 0.05
"""The same in the photo."""


def calibrate(
    frame: Frame,
    board: Board | None,
    points: Sequence[ClickedPoint] = (),
    lens: Lens | None = None,
    elsewhere: Collection[int] = (),
    told: Told = NOTHING_TOLD,
) -> Calibration:
    """Calibrate one photo by the board's markers and by clicked points (u, v, x_mm, y_mm).

    Markers with ids in `elsewhere` do not lie on the board and are ignored. Clicked points do not
    go together with free markers, which have no board frame. `told` is what is known beforehand.
    `CannotMeasure` if too little is visible or nothing fits it, `BadInput` for wrong points.
    """
    _check_points(frame, board, points)
    if told.calibration is not None:
        return told.calibration
    shared = told.lens if lens is None else None
    prior = shared or lens_prior(frame, lens, markers=board is not None)
    markers: tuple[Marker, ...] = ()
    if board is not None:
        board = board.without_markers(elsewhere)
        found = find_markers(frame, board) if told.markers is None else told.markers
        markers = tuple(marker for marker in found if marker.id not in elsewhere)
    return calibrate_from_markers(frame, board, markers, points, prior)[0]


def calibrate_from_markers(
    frame: Frame,
    board: Board | None,
    seen: Sequence[Marker],
    points: Sequence[ClickedPoint],
    prior: LensPrior,
) -> tuple[Calibration, LensPrior]:
    """Calibrate from the markers found; also the prior used.

    It is that of a cropped or a stretched picture where the photo is likelier one.
    """
    if board is not None and not board.layout_known:
        return _calibrate_free_markers(frame, board, seen, prior)
    return _calibrate_known_layout(frame, board, seen, points, prior)


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


def _calibrate_known_layout(
    frame: Frame,
    board: Board | None,
    seen: Sequence[Marker],
    points: Sequence[ClickedPoint],
    prior: LensPrior,
) -> tuple[Calibration, LensPrior]:
    corners_mm = (board and board.corners_mm) or {}
    clicked = point_observations(points)
    _check_enough_observations(frame, len(seen), clicked, board)
    _check_swapped_markers(seen, corners_mm)
    groups = [*(laid_marker_observation(marker, board) for marker in seen), *clicked]
    (first, kept), prior = _fit_inliers(frame, groups, solve_known_layout, prior)
    inliers = [marker for k, marker in enumerate(seen) if k in kept]
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    hidden = _find_hidden_markers(frame, corners_mm, inliers, left_out, first.state)
    markers = inliers + hidden
    contradicting = [group for k, group in enumerate(groups[: len(seen)]) if k not in kept]
    groups = [laid_marker_observation(marker, board) for marker in markers]
    groups += [group for k, group in enumerate(clicked) if k + len(seen) in kept]
    state = replace(first.state, bow=flat_bow(board, groups))
    fit = solve_with_noise_scales(frame, groups, markers, prior, state, contradicting)
    squares_mm = [corners_mm[marker.id] for marker in markers]
    return build_calibration(frame, board, fit, squares_mm, left_out), prior


def _fit_inliers(
    frame: Frame, groups: Sequence[Observation], solve: PriorSolver, prior: LensPrior
) -> tuple[InlierFit, LensPrior]:
    """Fit the inliers as in a whole picture, a cropped, a stretched or a zoomed one; also the prior used."""
    if prior.common is not None:  # by other photos of its size, so it is whole
        return fit_without_outliers(groups, with_prior(solve, prior)), prior
    size_px = frame.size_px
    cropped = cropped_prior(prior, size_px)
    fit, chosen = fit_choosing_prior(groups, solve, prior, cropped)
    is_odd = chosen.assumes_cropped
    stretched = fit_stretched(groups, solve, fit, stretched_priors(prior, size_px), is_odd)
    best, used = stretched or (fit, chosen)
    if prior.assumes_cropped:  # of no camera's shape: it may be squeezed
        return best, used
    zoomed = [*zoomed_priors(prior), *zoomed_priors(cropped)]
    return fit_zoomed(groups, solve, best, zoomed, used is not prior) or (best, used)


def fit_at_known_places(
    frame: Frame, board: Board, seen: Sequence[Marker], prior: LensPrior
) -> tuple[InlierFit, LensPrior]:
    """Fit markers at known places under nominal noise; also the prior used."""
    groups = [laid_marker_observation(marker, board) for marker in seen]
    return _fit_inliers(frame, groups, solve_known_layout, prior)


def _check_enough_observations(
    frame: Frame, markers: int, clicked: Sequence[Observation], board: Board | None
) -> None:
    """Require two markers, or four points that do not lie on a line."""
    if markers >= MIN_MARKERS:
        return
    if not clicked and board is not None:
        raise CannotMeasure(_too_few_markers_message(frame, markers, board))
    if 2 * markers + len(clicked) < MIN_POINTS:
        raise CannotMeasure(
            f"{len(clicked)} points given, four are needed: give more, or a board with markers"
        )
    if markers:
        return
    on_board = np.array([group.xyz_mm[0][:2] for group in clicked])
    in_photo = np.array([group.xy_px[0] for group in clicked])
    if _are_collinear(on_board, MIN_SPREAD_ON_BOARD) or _are_collinear(
        in_photo, MIN_SPREAD_IN_PHOTO
    ):
        raise CannotMeasure(
            "the points lie on one line or nearly so; give some farther to the side of it"
        )


def _check_swapped_markers(seen: Sequence[Marker], corners_mm: dict[int, Array]) -> None:
    swapped = find_swapped(seen, corners_mm)
    if swapped is not None:
        names = f"markers {swapped[0]} and {swapped[1]}"
        raise CannotMeasure(
            f"{names} lie in each other's place: exchange the cards, or the two in the board file; "
            "or this is another table than the board file's"
        )


def _are_collinear(points: Array, min_spread: float) -> bool:
    """Whether points (N, 2) spread across by less than `min_spread` of their spread along."""
    along, across = np.linalg.svd(points - points.mean(0), compute_uv=False)
    return bool(across < min_spread * along)


def _too_few_markers_message(frame: Frame, count: int, board: Board) -> str:
    small = explain_small(frame)
    if small is not None:
        return small
    reason = explain_unreadable(frame, board)
    if reason is not None:
        return f"the markers cannot be read: {reason}"
    found = "no marker of the board was found"
    if count:
        found = "only one marker of the board was found, two are needed"
    remedy = "have the markers whole, flat and in focus, and check the dictionary and the ids"
    return f"{found}; {remedy}"


def _find_hidden_markers(
    frame: Frame,
    corners_mm: dict[int, Array],
    seen: Sequence[Marker],
    left_out: Sequence[int],
    state: State,
) -> list[Marker]:
    """Markers whose id could not be read, found where the other markers predict them."""
    if len(seen) < MIN_MARKERS:
        return []
    known = {marker.id for marker in seen} | set(left_out)
    missing = missing_marker_ids(state.camera, frame.size_px, corners_mm, known, whole=False)
    hidden = []
    for number in missing:
        predicted_px = state.camera.project(corners_mm[number])
        marker = fit_expected_marker(frame, seen[0].dictionary, number, predicted_px)
        if marker is None:
            continue
        offset_px = np.abs(marker.corners_px - predicted_px).max()
        if offset_px < MAX_CORNER_OFFSET_SHARE * marker.side_px:
            hidden.append(marker)
    return hidden


def _calibrate_free_markers(
    frame: Frame, board: Board, seen: Sequence[Marker], prior: LensPrior
) -> tuple[Calibration, LensPrior]:
    if len(seen) < MIN_MARKERS:
        raise CannotMeasure(_too_few_markers_message(frame, len(seen), board))
    groups = [printed_marker_observation(marker, board) for marker in seen]
    corners_px = {id(group): marker.corners_px for group, marker in zip(groups, seen, strict=True)}

    def solve(some: Sequence[Observation], prior: LensPrior, rounds: int) -> Solution:
        squares_px = np.stack([corners_px[id(group)] for group in some])
        return solve_free_markers(some, squares_px, board.marker_mm, prior, rounds)

    (first, kept), prior = _fit_inliers(frame, groups, solve, prior)
    square_mm = printed_corners_mm(board)
    state = replace(first.state, bow=flat_bow_under_markers(first.state, square_mm))
    inliers = [seen[k] for k in kept]
    fit = solve_with_noise_scales(frame, [groups[k] for k in kept], inliers, prior, state)
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    squares_mm = [square_mm] * len(kept)
    return build_calibration(frame, board, fit, squares_mm, left_out), prior

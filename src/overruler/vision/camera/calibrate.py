"""From what is seen of the board to the camera, with the doubt of all of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.board import Board
from overruler.calibration import Bow, Calibration
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.bundle_adjustment import Bundle, Prior, Solution, State
from overruler.vision.camera.cross_validation import left_out_mm
from overruler.vision.camera.initial_pose import moved_frame, other_starts, pose_of_points, pose_of_squares
from overruler.vision.camera.lens_prior import as_cut, camera_of, lens_prior, matrix_of, straightened
from overruler.vision.camera.marker_layout import (
    POINTS_BUDGET,
    budget_of,
    laid_group,
    lifted,
    printed_group,
    printed_square_mm,
)
from overruler.vision.camera.observations import Group, Point, point_groups
from overruler.vision.camera.outliers import agreed
from overruler.vision.camera.plumb_lines import straightened_by_edges
from overruler.vision.camera.problems import Circumstances, problems_of, unfound, unsure, worst_first
from overruler.vision.markers.detect import find_markers, look_for_marker
from overruler.vision.markers.marker import Marker

UNEASY = 2.0
"""Residuals this many times the expected ones ask for other starts: a plane has a second pose that looks like it."""
NEAR = 0.1
"""A marker looked for lies within this share of its side of where the others say that it is."""
MAX_RMS_PX, MAX_POINTS_SHARE = 3.0, 0.008
"""Residuals of markers, and of points as a share of the longer side, beyond which something lies elsewhere."""
HOPELESS = 5.0
"""So many times beyond that, nothing is worked out any further."""
LEAST_SPREAD = {"xyz_mm": 0.2, "xy_px": 0.05}
"""Points that spread less across than this share of how they spread along, on the board or in the photo, tell a camera
that is far worse beside them than a linear doubt says: the corners of a ruler, say."""


def calibrate(
    frame: Frame,
    board: Board | None,
    points: Sequence[Point] = (),
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
        board = board.without(elsewhere)
    seen = tuple(m for m in find_markers(frame, board) if m.id not in elsewhere) if board is not None else ()
    return calibrate_seen(frame, board, seen, points, prior, lens is not None)


def calibrate_seen(
    frame: Frame, board: Board | None, seen: Sequence[Marker], points: Sequence[Point], prior: Prior, lens: bool
) -> Calibration:
    """The same once the markers are found; `lens` says whether the `prior` is a lens that was measured."""
    if board is None or board.known:
        return _known(frame, board, seen, points, prior, lens)
    return _free(frame, board, seen, prior, lens)


def _check_points(frame: Frame, board: Board | None, points: Sequence[Point]) -> None:
    if points and board is not None and not board.known:
        raise BadInput("points need a board file with the markers' places, or no markers at all")
    width, height = frame.size_px
    for u, v, x_mm, y_mm in points:
        if not np.isfinite([u, v, x_mm, y_mm]).all():
            raise BadInput(f"the point {u:g},{v:g}={x_mm:g},{y_mm:g} is not a place")
        if not (-0.5 <= u <= width - 0.5 and -0.5 <= v <= height - 0.5):
            raise BadInput(f"the point {u:g},{v:g} lies outside the photo ({width} × {height} pixels)")


# --- markers and points at known places ---


def _known(
    frame: Frame, board: Board | None, seen: Sequence[Marker], points: Sequence[Point], prior: Prior, lens: bool
) -> Calibration:
    corners_mm = (board.corners_mm if board is not None else None) or {}
    clicked = point_groups(points)
    _check_enough(len(seen), clicked, board)
    groups = [laid_group(marker, board) for marker in seen] + clicked
    (first, kept), prior = agreed(groups, _solve_known, prior, as_cut(prior, frame.size_px))
    markers = [marker for k, marker in enumerate(seen) if k in kept]
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    hidden = _hidden_markers(frame, corners_mm, markers, left_out, first.state)
    groups = [laid_group(marker, board) for marker in markers + hidden]
    groups += [group for k, group in enumerate(clicked) if k + len(seen) in kept]
    solved = _finish(frame, groups, markers + hidden, prior, replace(first.state, bow=_bow(board, groups)))
    return _calibration(frame, board, solved, [corners_mm[m.id] for m in solved.markers], left_out, lens)


def _check_enough(markers: int, clicked: Sequence[Group], board: Board | None) -> None:
    """Two markers, or four points that do not lie on a line."""
    if markers >= 2:
        return
    if not clicked and board is not None:
        raise CannotMeasure(_too_few(markers))
    if 2 * markers + len(clicked) < 4:
        raise CannotMeasure(f"{len(clicked)} points given, four are needed: give more, or a board with markers")
    for what, least in LEAST_SPREAD.items():
        places = np.array([getattr(group, what)[0][:2] for group in clicked])
        spread = np.linalg.svd(places - places.mean(0), compute_uv=False)
        if markers == 0 and spread[1] < least * spread[0]:
            raise CannotMeasure("the points lie on one line or nearly so; give some farther to the side of it")


def _too_few(count: int) -> str:
    found = "only one marker of the board was found, two are needed" if count else "no marker of the board was found"
    return f"{found}; have the markers whole, flat and in focus, and check the dictionary and the ids"


def _solve_known(groups: Sequence[Group], prior: Prior) -> Solution:
    xyz = np.concatenate([group.xyz_mm for group in groups])
    xy = straightened(prior, np.concatenate([group.xy_px for group in groups]))
    good = np.isfinite(xy).all(1)
    camera = camera_of(prior, pose_of_points(xyz[good], xy[good], matrix_of(prior)))
    bundle = Bundle(groups, prior)
    best = bundle.solve(State(camera, 0.0))
    if best.sigma > UNEASY:
        others = [bundle.solve(State(other, 0.0)) for other in other_starts(camera, xyz.mean(0))]
        best = max([best, *others], key=lambda solution: solution.evidence)
    if best.rms_px > HOPELESS * MAX_RMS_PX:
        return best
    return Bundle(lifted(groups, best.state.camera), prior).solve(best.state)


def _hidden_markers(
    frame: Frame, corners_mm: dict[int, Array], seen: Sequence[Marker], left_out: Sequence[int], state: State
) -> list[Marker]:
    """Markers whose id could not be read, looked for where the others say that they are."""
    if len(seen) < 2:
        return []
    known = {marker.id for marker in seen} | set(left_out)
    missing = unfound(state.camera, frame.size_px, corners_mm, known, whole=False)
    guesses = {number: state.camera.project(corners_mm[number]) for number in missing}
    found = [look_for_marker(frame, seen[0].dictionary, number, px) for number, px in guesses.items()]
    return [m for m in found if m is not None and np.abs(m.corners_px - guesses[m.id]).max() < NEAR * m.side_px]


# --- markers that lie anywhere ---


def _free(frame: Frame, board: Board, seen: Sequence[Marker], prior: Prior, lens: bool) -> Calibration:
    if len(seen) < 2:
        raise CannotMeasure(_too_few(len(seen)))
    groups = [printed_group(marker, board) for marker in seen]
    corners = {id(group): marker.corners_px for group, marker in zip(groups, seen, strict=True)}

    def solve(some: Sequence[Group], prior: Prior) -> Solution:
        return _solve_free(some, np.stack([corners[id(group)] for group in some]), board.marker_mm, prior)

    (first, kept), prior = agreed(groups, solve, prior, as_cut(prior, frame.size_px))
    state = replace(first.state, bow=_bow_under(first.state, printed_square_mm(board)))
    solved = _finish(frame, [groups[k] for k in kept], [seen[k] for k in kept], prior, state)
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    return _calibration(frame, board, solved, [printed_square_mm(board)] * len(kept), left_out, lens)


def _solve_free(groups: Sequence[Group], corners_px: Array, side_mm: float, prior: Prior) -> Solution:
    pose, places = pose_of_squares(straightened(prior, corners_px), side_mm, matrix_of(prior))
    return Bundle(groups, prior).solve(State(camera_of(prior, pose), 0.0, places))


# --- the result ---


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """The last solution, and what it rests on."""

    solution: Solution
    bundle: Bundle
    markers: Sequence[Marker]

    @property
    def free(self) -> bool:
        return self.solution.state.places is not None


def _finish(frame: Frame, groups: Sequence[Group], markers: Sequence[Marker], prior: Prior, state: State) -> _Solved:
    """The solution once the residuals have said how much the markers' edges share."""
    limit_px = MAX_RMS_PX if markers else MAX_POINTS_SHARE * max(frame.size_px)
    _check_fit(Bundle(groups, prior).solve(state, rounds=0), HOPELESS * limit_px)
    groups = groups if state.places is not None else lifted(groups, state.camera)
    as_said = Bundle(groups, prior)
    bundle, solution = as_said.averaged(state)
    if solution.rms_px > limit_px:  # more noise than there can be: what is known of the lens is wrong, and shall show
        bundle, solution = as_said, as_said.solve(state)
    _check_fit(solution, limit_px)
    return _Solved(solution, bundle, markers)


def _bow(board: Board | None, groups: Sequence[Group]) -> Bow:
    """A table that is flat so far: the board, or what lies within everything whose place is known."""
    xy = np.concatenate([group.xyz_mm[:, :2] for group in groups])
    low, high = xy.min(0), xy.max(0)
    if board is not None and board.width_mm and board.height_mm:
        low, high = np.zeros(2), np.array([board.width_mm, board.height_mm])
    return Bow((low + high) / 2, np.maximum((high - low) / 2, 1.0), np.zeros(2))


def _bow_under(state: State, square_mm: Array) -> Bow:
    """A table that is flat so far, under markers that lie anywhere: along and across the picture, in any frame."""
    count = len(state.places) if state.places is not None else 0
    xy = np.concatenate([state.on_board(np.full(4, i), square_mm)[0][:, :2] for i in range(count)])
    turn = float(np.arctan2(*state.camera.T_camera_board.rotation[0, 1::-1]))
    c, s = np.cos(turn), np.sin(turn)
    turned = xy @ np.array([[c, -s], [s, c]])
    low, high = turned.min(0), turned.max(0)
    middle = (low + high) / 2 @ np.array([[c, s], [-s, c]])
    return Bow(middle, (high - low) / 2, np.zeros(2), turn)


def _check_fit(solution: Solution, limit_px: float) -> None:
    if not np.isfinite(solution.covariance).all() or not solution.rms_px <= limit_px:
        raise CannotMeasure(
            f"the markers or points do not fit a flat board, they are {solution.rms_px:.1f} px off; "
            "check their places, that the table is flat, and the lens file"
        )


def _calibration(
    frame: Frame,
    board: Board | None,
    solved: _Solved,
    corners_mm: Sequence[Array],
    left_out: Sequence[int],
    lens: bool,
) -> Calibration:
    camera, covariance, state = solved.solution.state.camera, solved.solution.joint, solved.solution.state
    told = solved.bundle.as_told(state)
    low, high = _box(solved.bundle.groups, corners_mm, state)
    bow = state.bow
    if solved.free:
        (_, told), (camera, covariance) = (moved_frame(camera, low, one) for one in (told, covariance))
        bow, high = bow and replace(bow, middle_mm=bow.middle_mm - low), high - low
    width, height = (board.width_mm, board.height_mm) if board is not None else (None, None)
    corners_px = [marker.corners_px for marker in solved.markers]
    found = Calibration(
        camera=camera,
        covariance=covariance[:15, :15],
        with_bow=covariance,
        told=told,
        bow=bow,
        size_px=frame.size_px,
        rms_px=solved.solution.rms_px,
        markers=tuple(sorted(marker.id for marker in solved.markers)),
        board_mm=(width or float(high[0]), height or float(high[1])),
        left_out_mm=left_out_mm(solved.bundle, solved.solution, corners_px, corners_mm),
        edge_shift_px=state.shift_px,
        corners_px=tuple(corners_px),
        laid=not solved.free,
        budget=budget_of(board, solved.free, float(camera.center_mm[2])) if solved.markers else POINTS_BUDGET,
    )
    if not (lens or solved.free) and width and height:
        found = straightened_by_edges(frame, found)
    problems = problems_of(_circumstances(frame, board, solved, left_out, lens))
    return replace(found, problems=worst_first((*problems, *unsure(found, lens))))


def _circumstances(
    frame: Frame, board: Board | None, solved: _Solved, left_out: Sequence[int], lens: bool
) -> Circumstances:
    corners = (board.corners_mm if board is not None else None) or {}
    known = {marker.id for marker in solved.markers} | set(left_out)
    hidden = unfound(solved.solution.state.camera, frame.size_px, corners, known)
    points = sum(not group.shifts for group in solved.bundle.groups)
    worse = max(*solved.bundle.scales[:2], solved.solution.sigma)
    bent = solved.bundle.scales[2]
    cut = lens and solved.bundle.prior.cut
    return Circumstances(
        solved.solution, frame.size_px, solved.markers, points, left_out, hidden, worse, bent, lens, cut
    )


def _box(groups: Sequence[Group], corners_mm: Sequence[Array], state: State) -> tuple[Array, Array]:
    """The lower left and upper right corner (2,), on the board, of all markers' squares and all points."""
    laid = [state.on_board(np.full(4, i), corners)[0] for i, corners in enumerate(corners_mm)]
    xy = np.concatenate([*laid, *(group.xyz_mm for group in groups if not group.shifts)])[:, :2]
    return xy.min(0), xy.max(0)

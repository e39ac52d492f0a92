"""From what is seen of the board to the camera, with the doubt of all of it."""

from collections.abc import Sequence

import numpy as np

from overruler.board import Board
from overruler.calibration import Budget, Calibration
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision import noise
from overruler.vision.leftout import left_out_mm
from overruler.vision.markers import Marker, find_markers, look_for_marker
from overruler.vision.priors import camera_of, lens_prior, matrix_of, straightened
from overruler.vision.problems import Circumstances, problems_of, unfound
from overruler.vision.solve import Bundle, Group, Prior, Solution, State
from overruler.vision.start import moved_frame, other_starts, pose_of_points, pose_of_squares

POINT_PX, POINT_MM = 1.0, 0.6
"""1 σ of a clicked point: of the click in the photo, and of the place on the board that was named."""
UNEASY = 2.0
"""Residuals this many times the expected ones ask for other starts: a plane has a second pose that looks like it."""
SPOILED, STRAINED = 1.25, 1.5
"""Residuals this many times the expected ones, or a lens this many σ from what was known, ask for a moved marker."""
BETTER, ALONE = 0.75, 0.88
"""It is the one without which residuals are this share of what they were, and this share of those without any other."""
NEAR = 0.1
"""A marker looked for lies within this share of its side of where the others say that it is."""
MAX_RMS_PX, MAX_POINTS_SHARE = 3.0, 0.008
"""Residuals of markers, and of points as a share of the longer side, beyond which something lies elsewhere."""
KNOWN_BUDGET = Budget()
FREE_BUDGET = Budget(scale_share=1.5e-3)
"""A home printer's scale is off by a tenth of a percent or two, and nothing in the photo shows it."""
POINTS_BUDGET = Budget(scale_share=2e-3)
"""A mat's corners are cut and rounded."""

Point = tuple[float, float, float, float]


def calibrate(frame: Frame, board: Board | None, points: Sequence[Point] = (), lens: Lens | None = None) -> Calibration:
    """The camera of one photo, by the board's markers and by clicked points (u, v, x_mm, y_mm).

    Raises `CannotMeasure` where too little is seen or nothing fits it, `BadInput` where the points or the lens file are
    wrong. Points and markers that lie anywhere do not go together: the points have a frame, the markers none.
    """
    prior = lens_prior(frame, lens, markers=board is not None)
    if points:
        _check_points(frame, points)
    if board is None or board.known:
        return _known(frame, board, points, prior, lens is not None)
    if points:
        raise BadInput("points need a board file with the markers' places, or no markers at all")
    return _free(frame, board, prior, lens is not None)


def _check_points(frame: Frame, points: Sequence[Point]) -> None:
    width, height = frame.size_px
    for u, v, x_mm, y_mm in points:
        if not np.isfinite([u, v, x_mm, y_mm]).all():
            raise BadInput(f"the point {u:g},{v:g}={x_mm:g},{y_mm:g} is not a place")
        if not (-0.5 <= u <= width - 0.5 and -0.5 <= v <= height - 0.5):
            raise BadInput(f"the point {u:g},{v:g} lies outside the photo ({width} × {height} pixels)")


# --- markers and points at known places ---


def _known(frame: Frame, board: Board | None, points: Sequence[Point], prior: Prior, lens: bool) -> Calibration:
    seen = find_markers(frame, board) if board is not None else ()
    clicked = _point_groups(points)
    groups = [_known_group(board, marker) for marker in seen] + clicked
    _check_enough(len(seen), clicked, board)
    first, kept = _consistent(groups, prior)
    markers = [marker for k, marker in enumerate(seen) if k in kept]
    left_out = [marker.id for k, marker in enumerate(seen) if k not in kept]
    clicked = [group for k, group in enumerate(groups) if k in kept and k >= len(seen)]
    markers += _hidden_markers(frame, board, markers, left_out, first.state)
    groups = [_known_group(board, marker) for marker in markers] + clicked
    bundle = Bundle(groups, prior).rescaled(first.state)
    solution = bundle.solve(first.state)
    _check_fit(frame, markers, solution)
    corners = [] if board is None or board.corners_mm is None else [board.corners_mm[marker.id] for marker in markers]
    return _calibration(frame, board, markers, bundle, solution, corners, left_out, lens)


def _check_enough(markers: int, clicked: Sequence[Group], board: Board | None) -> None:
    """Two markers, or four points that do not lie on a line."""
    if markers >= 2:
        return
    if not clicked and board is not None:
        raise CannotMeasure(_too_few(markers))
    if 2 * markers + len(clicked) < 4:
        raise CannotMeasure(f"{len(clicked)} points given, four are needed: give more, or a board with markers")
    for what in ("xyz_mm", "xy_px"):
        places = np.array([getattr(group, what)[0][:2] for group in clicked])
        spread = np.linalg.svd(places - places.mean(0), compute_uv=False)
        if markers == 0 and spread[1] < 0.01 * spread[0]:
            raise CannotMeasure("the points lie on one line; give some to the side of it")


def _too_few(count: int) -> str:
    found = (
        "no marker of the board was found" if count == 0 else "only one marker of the board was found, two are needed"
    )
    return f"{found}; have the markers whole, flat and in focus, and check the dictionary and the ids"


def _known_group(board: Board | None, marker: Marker) -> Group:
    """A marker's edges where the board file has them."""
    if board is None or board.corners_mm is None:
        raise ValueError("the markers' places are not known")
    corners_mm = board.corners_mm[marker.id]
    return _group(marker, corners_mm, noise.place_columns(marker.square.edges, board.marker_mm / marker.side_px))


def _group(marker: Marker, corners_mm: Array, place_px: Array) -> Group:
    """A marker's edges at their places by its corners (4, 3)."""
    edges = marker.square.edges
    origin, right, down = corners_mm[0], corners_mm[1] - corners_mm[0], corners_mm[3] - corners_mm[0]
    xyz = origin + edges.place[:, :1] * right + edges.place[:, 1:] * down
    own, shape = noise.own_covariance(edges), noise.shape_columns(edges)
    return Group(xyz, edges.xy_px, edges.normal_px, own, place_px, shape)


def _point_groups(points: Sequence[Point]) -> list[Group]:
    """Each clicked point by itself, along u and along v."""
    if not points:
        return []
    seen, placed = np.split(np.array(points, float), 2, axis=1)
    mm_per_px = max(float(np.std(placed)), 1e-9) / max(float(np.std(seen)), 1e-9)
    own, nothing = np.eye(2) * (POINT_PX**2 + (POINT_MM / mm_per_px) ** 2), np.zeros((2, 0))
    return [
        Group(np.tile([x, y, 0.0], (2, 1)), np.tile([u, v], (2, 1)), np.eye(2), own, nothing, nothing, shifts=False)
        for u, v, x, y in points
    ]


def _solve_known(groups: Sequence[Group], prior: Prior) -> Solution:
    xyz = np.concatenate([group.xyz_mm for group in groups])
    xy = straightened(prior, np.concatenate([group.xy_px for group in groups]))
    good = np.isfinite(xy).all(1)
    pose = pose_of_points(xyz[good], xy[good], matrix_of(prior))
    bundle = Bundle(groups, prior)
    first = bundle.solve(State(camera_of(prior, pose), 0.0))
    if first.sigma < UNEASY:
        return first
    others = [bundle.solve(State(camera, 0.0)) for camera in other_starts(camera_of(prior, pose), xyz.mean(0))]
    return min([first, *others], key=lambda solution: solution.cost)


def _consistent(groups: Sequence[Group], prior: Prior) -> tuple[Solution, list[int]]:
    """The solution by the groups that agree, and which those are: one that spoils the rest is left out."""
    kept = list(range(len(groups)))
    solution = _solve_known(groups, prior)
    while solution.sigma > SPOILED or solution.strain > STRAINED:
        trials = [[k for k in kept if k != out] for out in kept]
        trials = [trial for trial in trials if sum(2 if groups[k].shifts else 1 for k in trial) >= 5]
        solved = [(_solve_or_none([groups[k] for k in trial], prior), trial) for trial in trials]
        ranked = sorted((s.sigma, i) for i, (s, _) in enumerate(solved) if s is not None)
        if len(ranked) < 2 or ranked[0][0] > min(BETTER * solution.sigma, ALONE * ranked[1][0]):
            break
        best, kept = solved[ranked[0][1]]
        solution = best or solution
    return solution, kept


def _solve_or_none(groups: Sequence[Group], prior: Prior) -> Solution | None:
    try:
        return _solve_known(groups, prior)
    except CannotMeasure:
        return None


def _hidden_markers(
    frame: Frame, board: Board | None, seen: Sequence[Marker], left_out: Sequence[int], state: State
) -> list[Marker]:
    """Markers whose id could not be read, looked for where the others say that they are."""
    if board is None or board.corners_mm is None or len(seen) < 2:
        return []
    known = {marker.id for marker in seen} | set(left_out)
    missing = unfound(state.camera, frame.size_px, board.corners_mm, known)
    guesses = {number: state.camera.project(board.corners_mm[number]) for number in missing}
    found = [look_for_marker(frame, seen[0].dictionary, number, px) for number, px in guesses.items()]
    return [m for m in found if m is not None and np.abs(m.corners_px - guesses[m.id]).max() < NEAR * m.side_px]


def _check_fit(frame: Frame, markers: Sequence[Marker], solution: Solution) -> None:
    limit_px = MAX_RMS_PX if markers else MAX_POINTS_SHARE * max(frame.size_px)
    if not np.isfinite(solution.covariance).all() or solution.rms_px > limit_px:
        raise CannotMeasure(
            f"the markers or points do not fit a flat board, they are {solution.rms_px:.1f} px off; "
            "check their places, that the table is flat, and the lens file"
        )


# --- markers that lie anywhere ---


def _free(frame: Frame, board: Board, prior: Prior, lens: bool) -> Calibration:
    markers = find_markers(frame, board)
    if len(markers) < 2:
        raise CannotMeasure(_too_few(len(markers)))
    side = board.marker_mm
    square = side * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (0, -1, 0)], float)
    groups = [_group(marker, square, np.zeros((len(marker.square.edges.place), 0))) for marker in markers]
    corners = straightened(prior, np.stack([marker.corners_px for marker in markers]))
    pose, places = pose_of_squares(corners, side, matrix_of(prior))
    first = Bundle(groups, prior).solve(State(camera_of(prior, pose), 0.0, places))
    bundle = Bundle(groups, prior).rescaled(first.state)
    solution = bundle.solve(first.state)
    _check_fit(frame, markers, solution)
    return _calibration(frame, board, markers, bundle, solution, [square] * len(markers), [], lens)


# --- the result ---


def _calibration(
    frame: Frame,
    board: Board | None,
    markers: Sequence[Marker],
    bundle: Bundle,
    solution: Solution,
    corners_mm: Sequence[Array],
    left_out: Sequence[int],
    lens: bool,
) -> Calibration:
    camera, covariance, free = solution.state.camera, solution.covariance, solution.state.places is not None
    low, high = _box(bundle.groups, corners_mm, solution.state)
    if free:
        camera, covariance = moved_frame(camera, low, covariance)
        high = high - low
    width, height = (board.width_mm, board.height_mm) if board is not None else (None, None)
    return Calibration(
        camera=camera,
        covariance=covariance,
        size_px=frame.size_px,
        rms_px=solution.rms_px,
        markers=tuple(sorted(marker.id for marker in markers)),
        board_mm=(width or float(high[0]), height or float(high[1])),
        left_out_mm=left_out_mm(bundle, solution, [marker.corners_px for marker in markers], corners_mm),
        edge_shift_px=solution.state.shift_px,
        budget=POINTS_BUDGET if not markers else FREE_BUDGET if free else KNOWN_BUDGET,
        problems=problems_of(_circumstances(frame, board, markers, bundle, solution, left_out, lens)),
    )


def _circumstances(
    frame: Frame,
    board: Board | None,
    markers: Sequence[Marker],
    bundle: Bundle,
    solution: Solution,
    left_out: Sequence[int],
    lens: bool,
) -> Circumstances:
    corners = board.corners_mm if board is not None else None
    known = {marker.id for marker in markers} | set(left_out)
    hidden = unfound(solution.state.camera, frame.size_px, corners, known) if corners else []
    points = sum(not group.shifts for group in bundle.groups)
    worse = max(*bundle.scales, solution.sigma)
    return Circumstances(solution, frame.size_px, markers, points, left_out, hidden, worse, lens)


def _box(groups: Sequence[Group], corners_mm: Sequence[Array], state: State) -> tuple[Array, Array]:
    """The lower left and upper right corner (2,), on the board, of all markers' squares and all points."""
    laid = [state.on_board(np.full(4, i), corners)[0] for i, corners in enumerate(corners_mm)]
    xy = np.concatenate([*laid, *(group.xyz_mm for group in groups if not group.shifts)])[:, :2]
    return xy.min(0), xy.max(0)

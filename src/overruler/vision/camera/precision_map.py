"""How sure distances are all over the board, and what would make them surer.

A marker that is not there yet is worth the information that it would add: nothing is measured again.
"""

from collections.abc import Iterator

import numpy as np

from overruler.calibration import Advice, Calibration, PrecisionMap
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import DEFAULT_SIGMAS
from overruler.vision.camera.marker_layout import MARKER_HEIGHT_SIGMA_MM
from overruler.vision.camera.table_bow import place_jacobian_bow

REFERENCE_LENGTH_MM = 300.0
"""The distance whose doubt is drawn, about the reach of a ruling; a smaller board's shorter side where that is less."""
GRID_STEP_MM, MIN_GRID_STEPS, MAX_GRID_STEPS = 30.0, 16, 60
"""How far apart the places of a map lie, how many there are along its shorter side and at most along its longer one."""
DIRECTIONS = np.stack([np.cos(np.arange(4) * np.pi / 4), np.sin(np.arange(4) * np.pi / 4)], -1)
NEW_CORNER_SIGMA_PX, NEW_MARKER_SIGMA_PX, NEW_MARKER_PLACE_SIGMA_MM = 0.05, 0.03, 0.05
"""1 σ of a new marker's corners: each for itself, all four together, and of where it is laid."""
FREE_PLACE_SIGMA_MM = 100.0
"""1 σ of where a marker lies that may lie anywhere: so much that its place says nothing."""
BOARD_INSET_SIDES, MIN_SPACING_SIDES = 1.2, 2.0
"""In sides of a marker: how far a new one lies from the board's edge, and how far from another."""
GOOD_SIGMA_MM = 0.1
"""Where no doubt is larger, nothing more is needed."""
MAX_REMAINING_SHARE = 0.8
"""The share of the doubt that must be left at most, for an advice to be given."""
MAX_NEW_MARKERS = 3
"""How many new ones are thought of together."""
COLUMN_NAMES, ROW_NAMES = ("left", "", "right"), ("lower", "", "upper")


def doubt_map(
    calibration: Calibration,
    lens: bool = False,
    good_mm: float = GOOD_SIGMA_MM,
    step_mm: float = GRID_STEP_MM,
) -> PrecisionMap:
    """The map of a photo's calibration; `lens` says whether there was a lens file.

    It is that of a table that is as its board file says. Where the doubt is nowhere above `good_mm` no advice is
    sought. The places lie about `step_mm` apart.
    """
    calibration = calibration.as_specified
    xy = _grid_places(calibration.board_mm, step_mm)
    slopes, seen = _distance_jacobians(calibration, xy), _visible_share(calibration, xy)
    sigma = _propagate_to_distances(calibration, calibration.joint_covariance, slopes)
    sought = float(np.max(sigma * seen)) > good_mm
    return PrecisionMap(
        reference_length_mm(calibration),
        xy,
        sigma,
        seen,
        tuple(_rank_advice(calibration, slopes[:, seen > 0], lens)) if sought else (),
    )


def reference_length_mm(calibration: Calibration) -> float:
    """The length of the distances whose doubt is told."""
    return min(REFERENCE_LENGTH_MM, *calibration.board_mm)


def distance_sigmas_mm(calibration: Calibration, covariance: Array, xy_mm: Array) -> Array:
    """1 σ (...) of distances of `reference_length_mm` about `xy_mm` (..., 2): their root mean square by direction.

    `covariance` (17, 17) is that of the camera and of the table's bow.
    Near the board's edge the distance is moved inwards, so that it lies on the board.
    """
    return _propagate_to_distances(calibration, covariance, _distance_jacobians(calibration, xy_mm))


def _distance_jacobians(calibration: Calibration, xy_mm: Array) -> Array:
    """How the distances about places (..., 2) change with the camera and the table's bow (directions, ..., 17)."""
    length, board, slopes = reference_length_mm(calibration), np.array(calibration.board_mm), []
    for direction in DIRECTIONS:
        reach = np.abs(direction) * length / 2
        middle = np.clip(xy_mm, reach, board - reach)
        ends = place_jacobian_camera_bow(
            calibration,
            np.stack([middle - direction * length / 2, middle + direction * length / 2]),
        )
        slopes.append(np.einsum("i,...ik->...k", direction, ends[1] - ends[0]))
    return np.stack(slopes)


def _propagate_to_distances(calibration: Calibration, covariance: Array, slopes: Array) -> Array:
    """The doubts (...) of distances with slopes (directions, ..., 17)."""
    variance = np.mean(np.sum((slopes @ covariance) * slopes, axis=-1), axis=0)
    return np.asarray(
        np.sqrt(variance + (calibration.budget.scale_share * reference_length_mm(calibration)) ** 2)
    )


def place_jacobian_camera_bow(calibration: Calibration, xy_mm: Array) -> Array:
    """How places (..., 2) on the table, fixed in the photo, move with the camera and the table's bow (..., 2, 17)."""
    return np.concatenate(
        [place_jacobian_camera(calibration.camera, xy_mm), place_jacobian_bow(calibration, xy_mm)],
        -1,
    )


def place_jacobian_camera(camera: Camera, xy_mm: Array) -> Array:
    """How places (..., 2) on the board, fixed in the photo, move with the camera's parameters (..., 2, 15)."""
    return camera.board_point_jacobian(
        np.concatenate([xy_mm, np.zeros((*xy_mm.shape[:-1], 1))], -1)
    )


def _grid_places(board_mm: tuple[float, float], step_mm: float) -> Array:
    step = max(min(step_mm, min(board_mm) / MIN_GRID_STEPS), max(board_mm) / MAX_GRID_STEPS)
    x, y = (np.linspace(0, size, max(2, round(size / step) + 1)) for size in board_mm)
    return np.stack(np.meshgrid(x, y), -1)


def _visible_share(calibration: Calibration, xy_mm: Array) -> Array:
    px = calibration.camera.project(np.concatenate([xy_mm, np.zeros((*xy_mm.shape[:-1], 1))], -1))
    return np.asarray(((px >= 0) & (px <= np.array(calibration.size_px) - 1)).all(-1), float)


# --- what would help ---


def _rank_advice(calibration: Calibration, slopes: Array, lens: bool) -> list[Advice]:
    """What would help where the doubt is greatest of distances with slopes (directions, N, 17), the best first."""
    if not slopes.size:
        return []
    before = _worst_sigma_mm(calibration, calibration.joint_covariance, slopes)
    tried = [Advice(text, before, after) for text, after in _try_more_markers(calibration, slopes)]
    if not lens:
        after = _worst_sigma_mm(calibration, covariance_with_lens_file(calibration), slopes)
        tried.append(
            Advice("make a lens file for this camera (overruler calibrate lens)", before, after)
        )
    worth = [advice for advice in tried if advice.after_mm < MAX_REMAINING_SHARE * before]
    return sorted(worth, key=lambda advice: advice.after_mm)


def _worst_sigma_mm(calibration: Calibration, covariance: Array, slopes: Array) -> float:
    return float(_propagate_to_distances(calibration, covariance, slopes).max())


def _try_more_markers(calibration: Calibration, slopes: Array) -> Iterator[tuple[str, float]]:
    """One marker more, then a second one to it and so on while that helps: in words, and the greatest doubt then."""
    rooms, covariance, laid = (
        dict(possible_new_markers(calibration)),
        calibration.joint_covariance,
        list[str](),
    )
    least = np.inf
    while rooms and len(laid) < MAX_NEW_MARKERS:
        after = {
            where: covariance_with_marker(calibration, covariance, corners)
            for where, corners in rooms.items()
        }
        worst = {where: _worst_sigma_mm(calibration, one, slopes) for where, one in after.items()}
        best = min(worst, key=lambda where: worst[where])
        if worst[best] > MAX_REMAINING_SHARE * least:
            break
        laid, covariance, least = [*laid, best], after[best], worst[best]
        del rooms[best]
        yield f"add {'a marker' if len(laid) == 1 else 'markers'} {_join_names(laid)}", least


def _join_names(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def possible_new_markers(calibration: Calibration) -> Iterator[tuple[str, Array]]:
    """Where a marker could be laid, in words, and its corners (4, 2) in mm: in sight, off others and the middle."""
    if not calibration.squares_mm:
        return
    side = float(
        np.median([np.linalg.norm(square[1] - square[0]) for square in calibration.squares_mm])
    )
    taken = np.array([square.mean(0) for square in calibration.squares_mm])
    width, height = calibration.board_mm
    for row, y in zip(
        ROW_NAMES,
        np.linspace(BOARD_INSET_SIDES * side, height - BOARD_INSET_SIDES * side, 3),
        strict=True,
    ):
        for column, x in zip(
            COLUMN_NAMES,
            np.linspace(BOARD_INSET_SIDES * side, width - BOARD_INSET_SIDES * side, 3),
            strict=True,
        ):
            corners = np.array([x, y]) + side / 2 * np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
            clear = np.linalg.norm(taken - [x, y], axis=1).min() > MIN_SPACING_SIDES * side
            if (row or column) and clear and _visible_share(calibration, corners).all():
                yield _describe_spot(row, column), corners


def _describe_spot(row: str, column: str) -> str:
    return f"in the {row} {column} corner" if row and column else f"at the {row or column} edge"


def covariance_with_marker(calibration: Calibration, covariance: Array, corners_mm: Array) -> Array:
    """The covariance (17, 17) of camera and bow, `covariance` before, had there been one more marker (4, 2).

    It is as surely placed as the others; where they lie anywhere, only its size and shape say something.
    """
    camera = calibration.camera
    _, d_point, slope = camera.project_with_jacobians(np.column_stack([corners_mm, np.zeros(4)]))
    mm_per_px = float(camera.mm_per_px(np.append(corners_mm.mean(0), 0.0)))
    shared = np.hypot(NEW_MARKER_SIGMA_PX, NEW_MARKER_PLACE_SIGMA_MM / mm_per_px)
    noise = NEW_CORNER_SIGMA_PX**2 * np.eye(8) + shared**2 * np.tile(np.eye(2), (4, 4))
    rise = d_point[..., 2].ravel() * MARKER_HEIGHT_SIGMA_MM
    noise += np.outer(rise, rise)
    if not calibration.layout_known:
        anywhere = d_point[..., :2] @ _rigid_motion_jacobian(corners_mm - corners_mm.mean(0))
        noise += FREE_PLACE_SIGMA_MM**2 * np.einsum("aik,bjk->aibj", anywhere, anywhere).reshape(
            8, 8
        )
    shares = (
        calibration.bow.height_weights(corners_mm)
        if calibration.bow is not None
        else np.zeros((4, 2))
    )
    rises = d_point[..., 2:] * shares[:, None, :]
    return kalman_covariance(covariance, np.concatenate([slope, rises], -1).reshape(8, 17), noise)


def _rigid_motion_jacobian(arms_mm: Array) -> Array:
    """How corners (4, 2) about their middle move (4, 2, 3) with its x, y and turn, the last in mm at its side."""
    moves = np.zeros((4, 2, 3))
    moves[:, 0, 0] = moves[:, 1, 1] = 1
    moves[..., 2] = np.stack([-arms_mm[:, 1], arms_mm[:, 0]], -1) / np.abs(arms_mm).max()
    return moves


def covariance_with_lens_file(calibration: Calibration) -> Array:
    """The covariance (17, 17) of camera and bow had there been a lens file as sure as one without covariance is taken
    to be."""
    sigma = np.array(DEFAULT_SIGMAS)
    sigma[:2] *= calibration.camera.matrix[[0, 1], [0, 1]]
    return kalman_covariance(calibration.joint_covariance, np.eye(9, 17), np.diag(sigma**2))


def kalman_covariance(covariance: Array, slope: Array, noise: Array) -> Array:
    """A covariance (P, P) after measures (M,) with slopes (M, P) and doubts (M, M) (Kalman, 1960)."""
    gain = np.linalg.solve(slope @ covariance @ slope.T + noise, slope @ covariance)
    after = covariance - covariance @ slope.T @ gain
    return np.asarray((after + after.T) / 2)

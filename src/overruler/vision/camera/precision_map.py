"""The precision of distances all over the board, and advice that would improve it.

Advice is evaluated by prediction: a marker that is not there yet adds its information, and nothing
is measured again.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import JOINT_SIZE, Advice, Calibration, PrecisionMap
from overruler.geometry.batched.vectors import left_normals, unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import default_sigmas
from overruler.vision.camera.marker_layout import MARKER_HEIGHT_SIGMA_MM
from overruler.vision.camera.measurement_update import predicted_covariance
from overruler.vision.camera.table_bow import place_jacobian_bow

REFERENCE_LENGTH_MM = 300.0
"""The distance whose σ is mapped, about the reach of a ruling; on a small board its shorter side."""
GRID_STEP_MM = 30.0
"""Spacing of the places of a map."""
MIN_GRID_STEPS = 16
"""Smallest number of steps along the board's shorter side."""
MAX_GRID_STEPS = 60
"""Largest number of steps along the board's longer side."""
ANGLES_RAD = np.arange(4) * np.pi / 4
"""Directions over which the variance of a distance is averaged, as angles."""
DIRECTIONS = unit_vectors(ANGLES_RAD)
"""(4, 2): the same as unit vectors."""
NEW_CORNER_SIGMA_PX = 0.05
"""1 σ of a new marker's corners, each independent."""
NEW_MARKER_SIGMA_PX = 0.03
"""1 σ of a new marker's corners, common to all four."""
NEW_MARKER_PLACE_SIGMA_MM = 0.05
"""1 σ of the place at which a new marker is laid."""
FREE_PLACE_SIGMA_MM = 100.0
"""1 σ of the place of a free marker: so large that the place carries no information."""
BOARD_INSET_SIDES = 1.2
"""Distance of a new marker from the board's edge, in sides of a marker."""
MIN_SPACING_SIDES = 2.0
"""Smallest distance of a new marker from another, in sides of a marker."""
GOOD_SIGMA_MM = 0.1
"""If no σ is larger, no advice is sought."""
MAX_REMAINING_SHARE = 0.8
"""Advice is given if at most this share of σ remains."""
MAX_NEW_MARKERS = 3
"""Largest number of new markers that are advised together."""
COLUMN_NAMES = ("left", "", "right")
"""Names of the columns of spots for new markers."""
ROW_NAMES = ("lower", "", "upper")
"""Names of the rows of spots for new markers."""


def precision_map(
    calibration: Calibration,
    has_lens_file: bool = False,
    good_mm: float = GOOD_SIGMA_MM,
    step_mm: float = GRID_STEP_MM,
) -> PrecisionMap:
    """The precision map of a calibration, for a table that is as its board file specifies.

    Advice is sought if some σ is above `good_mm`. The places lie about `step_mm` apart.
    """
    calibration = calibration.as_specified
    xy = _grid_places(calibration.board_mm, step_mm)
    jacobians = _distance_jacobians(calibration, xy)
    visible = _is_visible(calibration, xy)
    sigma = _propagate_to_distances(calibration, calibration.joint_covariance, jacobians)
    advice: list[Advice] = []
    if float(np.max(sigma * visible)) > good_mm:
        advice = _rank_advice(calibration, jacobians[:, visible], has_lens_file)
    length_mm = reference_length_mm(calibration)
    return PrecisionMap(length_mm, xy, sigma, visible.astype(float), tuple(advice))


def reference_length_mm(calibration: Calibration) -> float:
    """The length of the distances whose σ is mapped."""
    return min(REFERENCE_LENGTH_MM, *calibration.board_mm)


def distance_sigmas_mm(calibration: Calibration, covariance: Array, xy_mm: Array) -> Array:
    """1 σ (...) of distances of `reference_length_mm` about places (..., 2), by `covariance` (17, 17).

    It is the root mean square over directions. Near the board's edge the distance is moved inwards,
    so that it lies on the board.
    """
    return _propagate_to_distances(calibration, covariance, _distance_jacobians(calibration, xy_mm))


def _distance_jacobians(calibration: Calibration, xy_mm: Array) -> Array:
    """Jacobians (directions, ..., 17) of distances about places (..., 2) by camera and bow."""
    board_mm = np.array(calibration.board_mm)
    length = reference_length_mm(calibration)
    jacobians = []
    for direction in DIRECTIONS:
        reach = np.abs(direction) * length / 2
        middle = np.clip(xy_mm, reach, board_mm - reach)
        half = direction * length / 2
        ends = np.stack([middle - half, middle + half])
        by_parameters = place_jacobian_camera_bow(calibration, ends)
        difference = by_parameters[1] - by_parameters[0]
        jacobians.append(np.einsum("i,...ik->...k", direction, difference))
    return np.stack(jacobians)


def _propagate_to_distances(calibration: Calibration, covariance: Array, jacobians: Array) -> Array:
    """1 σ (...) of distances with these Jacobians (directions, ..., 17), with the scale's error."""
    by_direction = np.sum((jacobians @ covariance) * jacobians, axis=-1)
    variance = np.mean(by_direction, axis=0)
    by_scale = calibration.budget.scale_share * reference_length_mm(calibration)
    return np.asarray(np.sqrt(variance + by_scale**2))


def place_jacobian_camera_bow(calibration: Calibration, xy_mm: Array) -> Array:
    """Jacobian (..., 2, 17) of places (..., 2) on the table, fixed in the photo, by camera and bow."""
    by_camera = place_jacobian_camera(calibration.camera, xy_mm)
    by_bow = place_jacobian_bow(calibration, xy_mm)
    return np.concatenate([by_camera, by_bow], -1)


def place_jacobian_camera(camera: Camera, xy_mm: Array) -> Array:
    """Jacobian (..., 2, 15) of places (..., 2) on the board, fixed in the photo, by the camera."""
    return camera.board_point_jacobian(_at_height_zero(xy_mm))


def _at_height_zero(xy_mm: Array) -> Array:
    """Points (..., 3) of the board's plane at places (..., 2)."""
    return np.concatenate([xy_mm, np.zeros((*xy_mm.shape[:-1], 1))], -1)


def _grid_places(board_mm: tuple[float, float], step_mm: float) -> Array:
    """Places (R, C, 2) all over the board."""
    longest_step = min(step_mm, min(board_mm) / MIN_GRID_STEPS)
    step = max(longest_step, max(board_mm) / MAX_GRID_STEPS)
    axes = [np.linspace(0, size, max(2, round(size / step) + 1)) for size in board_mm]
    return np.stack(np.meshgrid(*axes), -1)


def _is_visible(calibration: Calibration, xy_mm: Array) -> NDArray[np.bool_]:
    """Whether places (..., 2) are in the picture (...)."""
    px = calibration.camera.project(_at_height_zero(xy_mm))
    limit = np.array(calibration.size_px) - 1
    return np.asarray(((px >= 0) & (px <= limit)).all(-1))


# --- advice ---


def _rank_advice(calibration: Calibration, jacobians: Array, has_lens_file: bool) -> list[Advice]:
    """Advice that reduces the largest σ of distances with Jacobians (directions, N, 17), best first."""
    if not jacobians.size:
        return []
    before = _worst_sigma_mm(calibration, calibration.joint_covariance, jacobians)
    options = dict(_try_more_markers(calibration, jacobians))
    if not has_lens_file:
        text = "make a lens file for this camera (overruler calibrate lens)"
        covariance = covariance_with_lens_file(calibration)
        options[text] = _worst_sigma_mm(calibration, covariance, jacobians)
    limit = MAX_REMAINING_SHARE * before
    useful = [Advice(text, before, after) for text, after in options.items() if after < limit]
    return sorted(useful, key=lambda advice: advice.after_mm)


def _worst_sigma_mm(calibration: Calibration, covariance: Array, jacobians: Array) -> float:
    return float(_propagate_to_distances(calibration, covariance, jacobians).max())


def _try_more_markers(calibration: Calibration, jacobians: Array) -> Iterator[tuple[str, float]]:
    """Add the best new markers one by one while that helps: advice in words, largest remaining σ."""
    spots = dict(possible_new_markers(calibration))
    covariance = calibration.joint_covariance
    chosen: list[str] = []
    smallest = np.inf
    while spots and len(chosen) < MAX_NEW_MARKERS:
        covariances = {
            spot: covariance_with_marker(calibration, covariance, corners)
            for spot, corners in spots.items()
        }
        worst = {
            spot: _worst_sigma_mm(calibration, after, jacobians)
            for spot, after in covariances.items()
        }
        best = min(worst, key=lambda spot: worst[spot])
        if worst[best] > MAX_REMAINING_SHARE * smallest:
            break
        chosen.append(best)
        covariance, smallest = covariances[best], worst[best]
        del spots[best]
        noun = "a marker" if len(chosen) == 1 else "markers"
        yield f"add {noun} {_join_names(chosen)}", smallest


def _join_names(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def possible_new_markers(calibration: Calibration) -> Iterator[tuple[str, Array]]:
    """Visible spots for a new marker at the edges, away from others: in words, and corners (4, 2)."""
    squares = calibration.squares_mm
    if not squares:
        return
    side = float(np.median([np.linalg.norm(square[1] - square[0]) for square in squares]))
    taken = np.array([square.mean(0) for square in squares])
    unit_square = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
    width, height = calibration.board_mm
    for row, y in zip(ROW_NAMES, _spots_along(height, side), strict=True):
        for column, x in zip(COLUMN_NAMES, _spots_along(width, side), strict=True):
            if not (row or column):
                continue
            corners = np.array([x, y]) + side / 2 * unit_square
            spacing = np.linalg.norm(taken - [x, y], axis=1).min()
            if spacing > MIN_SPACING_SIDES * side and _is_visible(calibration, corners).all():
                yield _describe_spot(row, column), corners


def _spots_along(length_mm: float, side_mm: float) -> Array:
    """The three coordinates (3,) of spots along one axis of the board."""
    inset = BOARD_INSET_SIDES * side_mm
    return np.linspace(inset, length_mm - inset, 3)


def _describe_spot(row: str, column: str) -> str:
    return f"in the {row} {column} corner" if row and column else f"at the {row or column} edge"


def covariance_with_marker(calibration: Calibration, covariance: Array, corners_mm: Array) -> Array:
    """The covariance (17, 17) of camera and bow with one more marker (4, 2), predicted.

    Its place is known like the others'. If they are free markers, only its size and shape carry
    information.
    """
    points = _at_height_zero(corners_mm)
    _, by_point, by_camera = calibration.camera.project_with_jacobians(points)
    noise = _new_marker_noise_px2(calibration, corners_mm, by_point)
    weights = np.zeros((4, 2))
    if calibration.bow is not None:
        weights = calibration.bow.height_weights(corners_mm)
    by_bow = by_point[..., 2:] * weights[:, None, :]
    jacobian = np.concatenate([by_camera, by_bow], -1).reshape(8, JOINT_SIZE)
    return predicted_covariance(covariance, jacobian, noise)


def _new_marker_noise_px2(calibration: Calibration, corners_mm: Array, by_point: Array) -> Array:
    """Covariance (8, 8) of a new marker's corners (4, 2), whose pixels have Jacobian (4, 2, 3)."""
    centre = np.append(corners_mm.mean(0), 0.0)
    mm_per_px = float(calibration.camera.mm_per_px(centre))
    common = np.hypot(NEW_MARKER_SIGMA_PX, NEW_MARKER_PLACE_SIGMA_MM / mm_per_px)
    noise = NEW_CORNER_SIGMA_PX**2 * np.eye(8) + common**2 * np.tile(np.eye(2), (4, 4))
    by_height = by_point[..., 2].ravel() * MARKER_HEIGHT_SIGMA_MM
    noise += np.outer(by_height, by_height)
    if not calibration.layout_known:
        by_place = by_point[..., :2] @ _rigid_motion_jacobian(corners_mm - corners_mm.mean(0))
        motion = np.einsum("aik,bjk->aibj", by_place, by_place)
        noise += FREE_PLACE_SIGMA_MM**2 * motion.reshape(8, 8)
    return np.asarray(noise)


def _rigid_motion_jacobian(arms_mm: Array) -> Array:
    """Jacobian (4, 2, 3) of corners (4, 2) by their centre's x, y and rotation, in mm at a side."""
    jacobian = np.zeros((4, 2, 3))
    jacobian[:, 0, 0] = jacobian[:, 1, 1] = 1
    perpendicular = left_normals(arms_mm)
    jacobian[..., 2] = perpendicular / np.abs(arms_mm).max()
    return jacobian


def covariance_with_lens_file(calibration: Calibration) -> Array:
    """The covariance (17, 17) of camera and bow with a lens file of the default precision, predicted."""
    sigmas = default_sigmas(calibration.camera.matrix)
    by_lens = np.eye(len(sigmas), JOINT_SIZE)
    return predicted_covariance(calibration.joint_covariance, by_lens, np.diag(sigmas**2))

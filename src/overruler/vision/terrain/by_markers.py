"""The height of a hill from the markers on it: their apparent sizes, and their measured places.

Least squares (Gauss-Newton) over each marker's place and turn, their common height above the table,
and the scale error of their print. Camera and bow of the table stay as found; their covariance adds
to the height's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.calibration import Calibration, TableBow
from overruler.declared_terrain import DeclaredTerrain
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.observations import square_corners_mm
from overruler.vision.markers.marker import Marker

CORNER_SWELL_SIGMA_PX = 0.06
"""1 σ of the outward shift of a marker's sides: soft corners, neighbouring edges."""
PRINT_SCALE_SIGMA = 2e-3
"""1 σ of the relative size of unmeasured prints."""
ITERATIONS = 12
"""Gauss-Newton steps."""
Z_INDEX = 0
"""Index of the height among the unknowns."""
SCALE_INDEX = 1
"""Index of the markers' relative scale error."""
FIRST_POSE_INDEX = 2
"""Index of the first marker's x, y and turn; three unknowns for each marker follow."""


@dataclass(frozen=True, slots=True, eq=False)
class HilltopFit:
    """The top of a hill by its markers."""

    z_mm: float
    """The height."""
    sigma_mm: float
    """1 σ of the height."""
    poses: Mapping[int, Array]
    """(3,) by marker id: x and y of the centre in mm, and the turn in rad."""
    max_residual_sigmas: float
    """The largest contradiction between what was declared and what is seen, in σ."""


def measure_top(
    calibration: Calibration, terrain: DeclaredTerrain, markers: Sequence[Marker], side_mm: float
) -> HilltopFit:
    """Return the height of a hill by markers `side_mm` wide, and by declared height and places."""
    state = _initial_state(calibration.camera, markers, side_mm)
    scale_sigma = _scale_sigma(markers)
    bow_weights = _bow_weights(calibration, state, len(markers))
    for _ in range(ITERATIONS):
        blocks = []
        for k, marker in enumerate(markers):
            weights = bow_weights[k]
            blocks.append(_corner_residuals(calibration, marker, side_mm, state, k, weights))
        blocks.append(_prior_residuals(terrain, markers, scale_sigma, state))
        residuals, slope, by_table = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        scale = np.linalg.norm(slope, axis=0)
        scaled = slope / scale
        covariance = np.linalg.inv(scaled.T @ scaled) / np.outer(scale, scale)
        state = state + covariance @ slope.T @ residuals
    by_table_z = covariance[Z_INDEX] @ slope.T @ by_table
    table_variance = by_table_z @ calibration.joint_covariance @ by_table_z
    sigma = np.sqrt(covariance[Z_INDEX, Z_INDEX] + table_variance)
    poses = {marker.id: state[_pose_slice(k)] for k, marker in enumerate(markers)}
    prior_residuals, *_ = _prior_residuals(terrain, markers, scale_sigma, state)
    worst = float(np.abs(prior_residuals).max())
    return HilltopFit(float(state[Z_INDEX]), float(sigma), poses, worst)


def _pose_slice(k: int) -> slice:
    """Return where the x, y and turn of the k-th marker stand among the unknowns."""
    first = FIRST_POSE_INDEX + 3 * k
    return slice(first, first + 3)


def _scale_sigma(markers: Sequence[Marker]) -> float:
    """Return 1 σ of the markers' relative scale."""
    mean_side_px = np.mean([marker.side_px for marker in markers])
    return float(np.hypot(PRINT_SCALE_SIGMA, CORNER_SWELL_SIGMA_PX / mean_side_px))


def _bow_weights(calibration: Calibration, state: Array, count: int) -> Array:
    """Return the weights (M, 2) of the table's bow heights at each marker."""
    bow = calibration.bow or TableBow(np.zeros(2), np.ones(2), np.zeros(2))
    places = np.stack([state[_pose_slice(k)][:2] for k in range(count)])
    return bow.height_weights(places)


def _initial_state(camera: Camera, markers: Sequence[Marker], side_mm: float) -> Array:
    """Return the unknowns by apparent size: markers nearer to the camera look larger."""
    squares = camera.unproject(np.stack([marker.corners_px for marker in markers]))
    sides = np.linalg.norm(squares - np.roll(squares, -1, axis=1), axis=-1)
    z_mm = float(camera.center_mm[2]) * (1 - side_mm / float(sides.mean()))
    state = [z_mm, 0.0]
    for marker in markers:
        corners = camera.unproject(marker.corners_px, z_mm)
        right = corners[1] - corners[0] + corners[2] - corners[3]
        state += [*corners.mean(0), np.arctan2(right[1], right[0])]
    return np.array(state)


ResidualBlock = tuple[Array, Array, Array]
"""Residuals (N,) in σ, the derivatives (N, U) of the predictions over the unknowns, and those (N,
17) of the residuals over the camera and the table's bow."""


def _corner_residuals(
    calibration: Calibration,
    marker: Marker,
    side_mm: float,
    state: Array,
    k: int,
    bow_weights: Array,
) -> ResidualBlock:
    """Return the residuals of the k-th marker's corners; `bow_weights` is (2,)."""
    at = FIRST_POSE_INDEX + 3 * k
    turn = state[at + 2]
    corners = square_corners_mm(side_mm)[:, :2] - [side_mm / 2, -side_mm / 2]
    c, s = np.cos(turn), np.sin(turn)
    axes = np.array([[c, s], [-s, c]])
    arm = (1 + state[SCALE_INDEX]) * corners @ axes
    rise_mm = bow_weights @ calibration.bow.height_mm if calibration.bow is not None else 0.0
    heights = np.full(4, state[Z_INDEX] + rise_mm)
    points = np.column_stack([arm + state[at : at + 2], heights])
    pixels, by_point, by_camera = calibration.camera.project_with_jacobians(points)
    by_table = np.concatenate([by_camera, by_point[..., 2:] * bow_weights], -1)
    by_place = by_point[..., :2]
    slope = np.zeros((4, 2, len(state)))
    slope[..., Z_INDEX] = by_point[..., 2]
    slope[..., SCALE_INDEX] = np.einsum("cij,cj->ci", by_place, corners @ axes)
    slope[..., at : at + 2] = by_place
    by_turn = arm[:, ::-1] * [-1, 1]
    slope[..., at + 2] = np.einsum("cij,cj->ci", by_place, by_turn)
    whitening = np.linalg.inv(np.linalg.cholesky(marker.square.covariance_px2))
    residuals = whitening @ (marker.corners_px - pixels).ravel()
    return residuals, whitening @ slope.reshape(8, -1), -whitening @ by_table.reshape(8, 17)


def _prior_residuals(
    terrain: DeclaredTerrain, markers: Sequence[Marker], scale_sigma: float, state: Array
) -> ResidualBlock:
    """Return the residuals of the markers' scale (1 σ `scale_sigma`) and of declared values."""
    known = [(SCALE_INDEX, 0.0, scale_sigma)]
    if terrain.top_z_mm is not None:
        known.append((Z_INDEX, terrain.top_z_mm, terrain.sigma_mm))
    for k, marker in enumerate(markers if terrain.markers_at_mm else ()):
        x, y = terrain.markers_at_mm[terrain.markers.index(marker.id)]
        at = FIRST_POSE_INDEX + 3 * k
        sigma_mm = terrain.edge_mm
        known += [(at, x, sigma_mm), (at + 1, y, sigma_mm)]
    which, value, sigma = (np.array(part) for part in zip(*known, strict=True))
    slope = np.eye(len(state))[which] / sigma[:, None]
    residuals = (value - state[which]) / sigma
    return residuals, slope, np.zeros((len(known), 17))

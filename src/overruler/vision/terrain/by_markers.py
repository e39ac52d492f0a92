"""How high a hill is by the markers that lie on it: how large they look, and where, if somebody measured that.

Least squares over each marker's place and turn, the height over the table that all of them share, and how much larger
than said they were printed (Gauss and Newton's method). The camera and the table's bow are taken as they were found;
the doubt of both together is added to the height's.
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
"""1 σ of how far the sides of markers look outwards of where they are: soft corners, neighbouring edges."""
PRINT_SCALE_SIGMA = 2e-3
"""1 σ of the size of markers whose print nobody measured."""
ITERATIONS = 12
Z_INDEX, SCALE_INDEX, FIRST_POSE_INDEX = 0, 1, 2
"""The unknowns: the height, by which share the markers are larger, then x, y and turn of each marker."""


@dataclass(frozen=True, slots=True, eq=False)
class HilltopFit:
    """A hill's top as its markers show it."""

    z_mm: float
    sigma_mm: float
    poses: Mapping[int, Array]
    """Of each marker: x and y of its middle in mm, and its turn in radians (3,)."""
    max_residual_sigmas: float
    """How many σ what was told lies from what is seen, where that is most."""


def measure_top(
    calibration: Calibration, told: DeclaredTerrain, markers: Sequence[Marker], side_mm: float
) -> HilltopFit:
    """The height of a hill on whose top these markers lie, one or more, `side_mm` wide.

    A height that was told counts too, as surely as it was told, and so do the markers' places.
    """
    state = _initial_state(calibration.camera, markers, side_mm)
    bow = calibration.bow or TableBow(np.zeros(2), np.ones(2), np.zeros(2))
    shares = bow.height_weights(
        np.stack(
            [
                state[FIRST_POSE_INDEX + 3 * k : FIRST_POSE_INDEX + 3 * k + 2]
                for k in range(len(markers))
            ]
        )
    )
    share = float(
        np.hypot(
            PRINT_SCALE_SIGMA,
            CORNER_SWELL_SIGMA_PX / np.mean([marker.side_px for marker in markers]),
        )
    )
    for _ in range(ITERATIONS):
        rows = [
            _corner_residuals(calibration, one, side_mm, state, k, shares[k])
            for k, one in enumerate(markers)
        ]
        rows.append(_prior_residuals(told, markers, share, state))
        misfit, slope, by_table = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        scale = np.linalg.norm(slope, axis=0)
        covariance = np.linalg.inv((slope / scale).T @ (slope / scale)) / np.outer(scale, scale)
        state = state + covariance @ slope.T @ misfit
    moved = covariance[Z_INDEX] @ slope.T @ by_table
    sigma = np.sqrt(covariance[Z_INDEX, Z_INDEX] + moved @ calibration.joint_covariance @ moved)
    places = {
        marker.id: state[FIRST_POSE_INDEX + 3 * k : FIRST_POSE_INDEX + 3 * k + 3]
        for k, marker in enumerate(markers)
    }
    strain = float(np.abs(_prior_residuals(told, markers, share, state)[0]).max())
    return HilltopFit(float(state[Z_INDEX]), float(sigma), places, strain)


def _initial_state(camera: Camera, markers: Sequence[Marker], side_mm: float) -> Array:
    """The unknowns by how large the markers look: on the board so much larger as they are nearer to the camera."""
    squares = camera.unproject(np.stack([marker.corners_px for marker in markers]))
    looks_mm = float(np.linalg.norm(squares - np.roll(squares, -1, axis=1), axis=-1).mean())
    z_mm = float(camera.center_mm[2]) * (1 - side_mm / looks_mm)
    state = [z_mm, 0.0]
    for marker in markers:
        corners = camera.unproject(marker.corners_px, z_mm)
        right = corners[1] - corners[0] + corners[2] - corners[3]
        state += [*corners.mean(0), np.arctan2(right[1], right[0])]
    return np.array(state)


ResidualBlock = tuple[Array, Array, Array]
"""Misfits (N,) in units of their doubt; how what is expected moves with the unknowns (N, U), and how misfits do with
the camera and the table's bow (N, 17)."""


def _corner_residuals(
    calibration: Calibration, marker: Marker, side_mm: float, state: Array, k: int, shares: Array
) -> ResidualBlock:
    """The corners of the k-th marker, over a table that has these `shares` (2,) of its bow's heights there."""
    at = FIRST_POSE_INDEX + 3 * k
    turn = state[at + 2]
    corners = square_corners_mm(side_mm)[:, :2] - [side_mm / 2, -side_mm / 2]
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    arm = (1 + state[SCALE_INDEX]) * corners @ axes
    rise_mm = shares @ calibration.bow.height_mm if calibration.bow is not None else 0.0
    points = np.column_stack([arm + state[at : at + 2], np.full(4, state[Z_INDEX] + rise_mm)])
    pixels, by_point, by_camera = calibration.camera.project_with_jacobians(points)
    by_table = np.concatenate([by_camera, by_point[..., 2:] * shares], -1)
    slope = np.zeros((4, 2, len(state)))
    slope[..., Z_INDEX] = by_point[..., 2]
    slope[..., SCALE_INDEX] = np.einsum("cij,cj->ci", by_point[..., :2], corners @ axes)
    slope[..., at : at + 2] = by_point[..., :2]
    slope[..., at + 2] = np.einsum("cij,cj->ci", by_point[..., :2], arm[:, ::-1] * [-1, 1])
    white = np.linalg.inv(np.linalg.cholesky(marker.square.covariance_px2))
    misfit = (marker.corners_px - pixels).ravel()
    return white @ misfit, white @ slope.reshape(8, -1), -white @ by_table.reshape(8, 17)


def _prior_residuals(
    told: DeclaredTerrain, markers: Sequence[Marker], share: float, state: Array
) -> ResidualBlock:
    """What is known besides: the markers' size, and what was told of the height and of where they lie."""
    known = [(SCALE_INDEX, 0.0, share)]
    if told.top_z_mm is not None:
        known.append((Z_INDEX, told.top_z_mm, told.sigma_mm))
    for k, marker in enumerate(markers if told.markers_at_mm else ()):
        x, y = told.markers_at_mm[told.markers.index(marker.id)]
        known += [
            (FIRST_POSE_INDEX + 3 * k, x, told.edge_mm),
            (FIRST_POSE_INDEX + 3 * k + 1, y, told.edge_mm),
        ]
    which, value, sigma = (np.array(part) for part in zip(*known, strict=True))
    slope = np.eye(len(state))[which] / sigma[:, None]
    return (value - state[which]) / sigma, slope, np.zeros((len(known), 17))

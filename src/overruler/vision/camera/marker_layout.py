"""Observations of markers by the board file: their places with covariances, and their printed size."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.board import Board
from overruler.calibration import SPEC_SHARE, ErrorBudget
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.observations import (
    Observation,
    free_marker_observation,
    known_marker_observation,
    square_corners_mm,
)
from overruler.vision.markers.marker import Marker

MARKER_HEIGHT_SIGMA_MM = 0.2
"""1 σ of a marker's height against the board file: paper curls, card is thick, mats are uneven."""
UNMEASURED_PRINT_SIGMA = 3e-3
"""Usual 1 σ of the scale of a print that nobody measured: home printers."""
FREE_MARKERS_BUDGET = ErrorBudget(scale_share=1e-3, specified_scale_share=SPEC_SHARE * 1e-3)
"""Budget of free markers: a home printer's scale is off by 0.1 or 0.2 %, which no photo shows."""
POINTS_BUDGET = ErrorBudget(scale_share=2e-3, specified_scale_share=2e-3)
"""Error budget of clicked points: a mat's corners are cut and rounded, and nobody gives their places
to a tenth of a millimetre."""
CARD_THICKNESS_SIGMA_MM = 0.2
"""1 σ of the height that all cards share: they are thick and curl upwards, so the table looks nearer."""


def laid_marker_observation(marker: Marker, board: Board | None) -> Observation:
    """A marker at its place in the board file, with the file's covariance if it has one."""
    if board is None or board.corners_mm is None:
        raise ValueError("the board file does not say where the marker lies")
    corners_mm = board.corners_mm[marker.id]
    observation = known_marker_observation(marker, corners_mm)
    if board.covariance is None:
        return observation
    covariance = marker_place_covariance(board, marker.id)
    factors_px = marker_place_factors_px(observation, marker, corners_mm, covariance)
    return observation.with_place_factors(factors_px)


def marker_place_covariance(board: Board, number: int) -> Array:
    """(3, 3): the board file's covariance of a marker's x, y and heading, without the common scale."""
    if board.covariance is None or board.corners_mm is None:
        raise ValueError("the board file has no covariance of its layout")
    start = 3 * sorted(board.corners_mm).index(number)
    block = board.covariance[start : start + 3, start : start + 3]
    centre = np.append(board.corners_mm[number].mean(0)[:2], 0.0)
    by_scale = centre * (board.scale_share or 0.0)
    return np.asarray(block - np.outer(by_scale, by_scale))


def marker_place_factors_px(
    group: Observation, marker: Marker, corners_mm: Array, covariance: Array
) -> Array:
    """The noise factor (K, 3) in px of a marker's place with `covariance` (3, 3).

    The covariance is over x, y and heading. Over one marker the projection is taken as affine,
    fitted to its four corners.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    centre = corners_mm.mean(0)
    corner_arms_mm = (corners_mm - centre)[:, :2]
    corner_arms_px = marker.corners_px - marker.corners_px.mean(0)
    px_by_mm = np.linalg.lstsq(corner_arms_mm, corner_arms_px, rcond=None)[0]
    arm = (group.xyz_mm - centre)[:, :2]
    jacobian = np.zeros((len(arm), 2, 3))
    jacobian[:, 0, 0] = jacobian[:, 1, 1] = 1
    jacobian[:, 0, 2] = -arm[:, 1]
    jacobian[:, 1, 2] = arm[:, 0]
    return np.asarray(np.einsum("ki,ji,kjp->kp", group.normal_px, px_by_mm, jacobian @ root))


def marker_budget(board: Board | None, free: bool, camera_height_mm: float) -> ErrorBudget:
    """The error budget of markers seen by a camera at a height over the board.

    A measured scale has the precision of the measurement. The common height of all cards looks like
    scale and is added to it. `free` markers lie anywhere. Places that photos gave by a print that nobody
    measured are as sure as such a print, and as the photos told them.
    """
    by_print = board is not None and board.scale_by_print
    budget = FREE_MARKERS_BUDGET if free or by_print else ErrorBudget()
    scale, specified = budget.scale_share, budget.specified_scale_share
    if board is not None and board.scale_share is not None:
        if by_print:
            by_photos = max(board.scale_share**2 - UNMEASURED_PRINT_SIGMA**2, 0.0) ** 0.5
            scale, specified = (
                float(np.hypot(scale, by_photos)),
                float(np.hypot(specified, by_photos)),
            )
        else:
            scale = specified = board.scale_share
    by_height = CARD_THICKNESS_SIGMA_MM / camera_height_mm
    return replace(
        budget,
        scale_share=float(np.hypot(scale, by_height)),
        specified_scale_share=float(np.hypot(specified, SPEC_SHARE * by_height)),
    )


def add_height_uncertainty(groups: Sequence[Observation], camera: Camera) -> list[Observation]:
    """Add the noise of each marker's height to observations of markers at known places.

    Height moves a marker outwards where the camera sees it at a slant. The camera need only be
    approximate.
    """
    return [
        group.with_place_factors(_height_factors_px(group, camera), SPEC_SHARE)
        if group.is_marker
        else group
        for group in groups
    ]


def _height_factors_px(group: Observation, camera: Camera) -> Array:
    """The noise factor (K, 1) in px of a marker's height."""
    _, by_point, _ = camera.project_with_jacobians(group.xyz_mm)
    by_height = (group.normal_px * by_point[..., 2]).sum(-1)
    return np.asarray(by_height[:, None] * MARKER_HEIGHT_SIGMA_MM)


def printed_marker_observation(marker: Marker, board: Board) -> Observation:
    """A free marker, in the size in which it was printed, on its card."""
    observation = free_marker_observation(marker, board.marker_mm)
    return replace(observation, xyz_mm=_as_printed(observation.xyz_mm, board))


def printed_corners_mm(board: Board) -> Array:
    """Corners (4, 3) of a free marker in its own frame, in the size in which it was printed, on its card."""
    return _as_printed(square_corners_mm(board.marker_mm), board)


def _as_printed(nominal_mm: Array, board: Board) -> Array:
    """Points (K, 3) of a marker in its own frame as its print and its card have them."""
    sides_mm = board.sides_mm or (board.marker_mm, board.marker_mm)
    aspect = np.array([*sides_mm, board.marker_mm]) / board.marker_mm
    return np.asarray(nominal_mm * aspect + [0.0, 0.0, board.raised_mm])

"""Markers as the board file has them: where they lie and how sure that is, and the size that they were printed in."""

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
"""1 σ of a marker's height against the board file: paper curls, card is thick, mats are not level."""
FREE_MARKERS_BUDGET = ErrorBudget(scale_share=1e-3, specified_scale_share=SPEC_SHARE * 1e-3)
"""A home printer's scale is off by a tenth of a percent or two, and nothing in the photo shows it."""
POINTS_BUDGET = ErrorBudget(scale_share=2e-3, specified_scale_share=2e-3)
"""A mat's corners are cut and rounded, and nobody told where they are to a tenth of a millimetre."""
CARD_THICKNESS_SIGMA_MM = 0.2
"""1 σ of the height that all cards share, being thick and curling upwards: the table looks nearer."""


def laid_marker_observation(marker: Marker, board: Board | None) -> Observation:
    """A marker whose place is known, as surely as the board file says where it says how surely."""
    if board is None or board.corners_mm is None:
        raise ValueError("a marker without a board that says where it lies")
    corners = board.corners_mm[marker.id]
    group = known_marker_observation(marker, corners)
    if board.covariance is None:
        return group
    doubt = marker_place_factors_px(
        group, marker, corners, marker_place_covariance(board, marker.id)
    )
    return group.with_place_factors(doubt)


def marker_place_covariance(board: Board, number: int) -> Array:
    """(3, 3) over x, y and turn of one marker: the file's, without the scale of the whole, which the budget has."""
    if board.covariance is None or board.corners_mm is None:
        raise ValueError("a board that does not say how sure its layout is")
    at = 3 * sorted(board.corners_mm).index(number)
    by_scale = np.append(board.corners_mm[number].mean(0)[:2], 0.0) * (board.scale_share or 0.0)
    return np.asarray(board.covariance[at : at + 3, at : at + 3] - np.outer(by_scale, by_scale))


def marker_place_factors_px(
    group: Observation, marker: Marker, corners_mm: Array, covariance: Array
) -> Array:
    """(K, 3) px: how each edge moves with one σ of its marker's place, for a covariance (3, 3) over x, y and turn.

    Over one marker the picture is as good as affine, fitted to its four corners.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    middle = corners_mm.mean(0)
    px_by_mm = np.linalg.lstsq(
        (corners_mm - middle)[:, :2], marker.corners_px - marker.corners_px.mean(0), rcond=None
    )[0]
    arm = (group.xyz_mm - middle)[:, :2]
    moves = np.zeros((len(arm), 2, 3))
    moves[:, 0, 0] = moves[:, 1, 1] = 1
    moves[:, 0, 2], moves[:, 1, 2] = -arm[:, 1], arm[:, 0]
    return np.asarray(np.einsum("ki,ji,kjp->kp", group.normal_px, px_by_mm, moves @ root))


def marker_budget(board: Board | None, free: bool, eye_mm: float) -> ErrorBudget:
    """The systematic terms of markers seen from so high; a scale that was measured is as sure as the measurement.

    The cards' common height aside, which looks like scale; `free` where they lie anywhere.
    """
    budget = FREE_MARKERS_BUDGET if free else ErrorBudget()
    if board is not None and board.scale_share is not None:
        budget = replace(
            budget, scale_share=board.scale_share, specified_scale_share=board.scale_share
        )
    nearer = CARD_THICKNESS_SIGMA_MM / eye_mm
    shares = np.hypot(
        [budget.scale_share, budget.specified_scale_share], [nearer, SPEC_SHARE * nearer]
    )
    return replace(budget, scale_share=float(shares[0]), specified_scale_share=float(shares[1]))


def add_height_uncertainty(groups: Sequence[Observation], camera: Camera) -> list[Observation]:
    """Groups of markers at known places, each as unsure of its height as a card is that lies on a table.

    Where it is seen at a slant, its height moves it outwards in the photo; the camera need only be roughly right.
    """
    return [
        group.with_place_factors(_height_factors_px(group, camera), SPEC_SHARE)
        if group.is_marker
        else group
        for group in groups
    ]


def _height_factors_px(group: Observation, camera: Camera) -> Array:
    """(K, 1) px: how each edge moves with one σ of its marker's height."""
    _, by_point, _ = camera.project_with_jacobians(group.xyz_mm)
    return np.asarray(
        (group.normal_px * by_point[..., 2]).sum(-1)[:, None] * MARKER_HEIGHT_SIGMA_MM
    )


def printed_marker_observation(marker: Marker, board: Board) -> Observation:
    """A marker that lies anywhere, in the size that it was printed in."""
    group = free_marker_observation(marker, board.marker_mm)
    return replace(group, xyz_mm=group.xyz_mm * _print_aspect(board))


def printed_corners_mm(board: Board) -> Array:
    """The corners (4, 3) of a marker that lies anywhere, in its own frame."""
    return square_corners_mm(board.marker_mm) * _print_aspect(board)


def _print_aspect(board: Board) -> Array:
    """How much wider and higher (3,) than a square of their mean size the markers were printed."""
    return (
        np.ones(3) if board.sides_mm is None else np.array([*board.sides_mm, 0.0]) / board.marker_mm
    )

"""Errors that all photos of a table share: more photos do not reduce them."""

from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.geometry.pose import Array

MAP_VARIANCE_FACTOR = 2.0
"""Factor on the variances by a map of markers: the photos that made the map are measured by it, so
their pixels count twice."""


def shared_covariance_mm2(calibration: Calibration, xy_mm: Array, bases: Sequence[Base]) -> Array:
    """(2 N, 2 N): by the print's scale, the table's misfit, and each base's own size."""
    budget = calibration.budget
    from_centre = xy_mm - np.array(calibration.board_mm) / 2
    flat = from_centre.ravel()
    covariance = budget.scale_share**2 * np.outer(flat, flat)
    covariance += calibration.doubt.covariance_mm2(from_centre)
    for k, base in enumerate(bases):
        corner_mm = budget.corner_mm if base.shape == "rectangle" else 0.0
        edge_mm = float(np.hypot(budget.diameter_mm / 2, corner_mm))
        two = slice(2 * k, 2 * k + 2)
        covariance[two, two] += np.eye(2) * edge_mm**2
    return np.asarray(covariance)


def map_covariance_mm2(calibrations: Sequence[Calibration], xyz_mm: Array, rare: bool) -> Array:
    """(2 N, 2 N): by the places of markers that were measured in photos, at places (N, 3).

    All photos hang on one map of the markers. Its error is part of each camera's, and the surest
    camera has little else.
    """
    options = []
    for calibration in calibrations:
        jacobian = np.concatenate(list(calibration.camera.board_point_jacobian(xyz_mm)))
        covariances = calibration.covariances
        camera = (covariances.rare if rare else covariances.usual)[:15, :15]
        options.append(jacobian @ camera @ jacobian.T)
    return np.asarray(MAP_VARIANCE_FACTOR * min(options, key=np.trace))

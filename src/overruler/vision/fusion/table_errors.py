"""Errors that all photos of a table share: more photos do not reduce them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.calibration import CAMERA_SIZE, JOINT_SIZE, Calibration
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.assembly.to_scene import table_covariance
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.pairing.sighting import SeenPhoto

MAP_VARIANCE_FACTOR = 2.0
"""Factor on the variances by a map of markers: the photos that made the map are measured by it, so
their pixels count twice."""


def shared_covariance_mm2(calibration: Calibration, xy_mm: Array, bases: Sequence[Base]) -> Array:
    """(2 N, 2 N): by the print's scale, the table's misfit, and each base's own size."""
    budget = calibration.budget
    covariance = table_covariance(calibration, xy_mm)
    for k, base in enumerate(bases):
        corner_mm = budget.corner_mm if base.shape == "rectangle" else 0.0
        edge_mm = float(np.hypot(budget.diameter_mm / 2, corner_mm))
        two = slice(2 * k, 2 * k + 2)
        covariance[two, two] += np.eye(2) * edge_mm**2
    return np.asarray(covariance)


def map_error(
    calibrations: Sequence[Calibration], xyz_mm: Array, rare: bool
) -> tuple[Camera, Array]:
    """A camera, and the covariance (17, 17) by which it stands for the error of the markers' map at places (N, 3).

    All photos hang on one map of the markers. Its error is part of each camera's, and the surest
    camera has little else.
    """
    options = []
    for calibration in calibrations:
        jacobian = calibration.camera.board_point_jacobian(xyz_mm).reshape(-1, CAMERA_SIZE)
        covariances = calibration.covariances
        covariance = np.zeros((JOINT_SIZE, JOINT_SIZE))
        camera = (covariances.rare if rare else covariances.usual)[:CAMERA_SIZE, :CAMERA_SIZE]
        covariance[:CAMERA_SIZE, :CAMERA_SIZE] = MAP_VARIANCE_FACTOR * camera
        size = float(np.trace(jacobian @ camera @ jacobian.T))
        options.append((size, calibration.camera, covariance))
    _, camera_of_map, least = min(options, key=lambda one: one[0])
    return camera_of_map, least


def share_table_doubt(photos: Sequence[SeenPhoto]) -> list[SeenPhoto]:
    """The photos with one doubt about their table: that of the photo that tells its scale best.

    Photos without known places of markers tell nothing of it by themselves; among them the first counts.
    """
    surest = min(photos, key=_scale_variance).calibration
    return [replace(one, calibration=_doubted_as(one.calibration, surest)) for one in photos]


def _scale_variance(photo: SeenPhoto) -> float:
    contrast = photo.calibration.contrast
    return float("inf") if contrast is None else float(np.trace(contrast.covariance))


def _doubted_as(calibration: Calibration, surest: Calibration) -> Calibration:
    own = [one for one in calibration.problems if one.flag != "scale_disagrees"]
    said = [one for one in surest.problems if one.flag == "scale_disagrees"]
    return replace(calibration, doubt=surest.doubt, problems=sort_by_severity([*own, *said]))

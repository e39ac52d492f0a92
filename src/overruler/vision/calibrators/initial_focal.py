"""Initial values for the fit of a lens: focal length, and a pose for each photo of the sheet."""

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array
from overruler.vision.calibrators.charuco import ChartCorners
from overruler.vision.calibrators.sheet_model import PoseAndZoom
from overruler.vision.camera.initial_pose import pose_from_points
from overruler.vision.camera.lens_prior import DEFAULT_FOCAL_SHARE


def initial_focal_px(
    size_px: tuple[int, int], sightings: Sequence[ChartCorners], focal_px: float | None
) -> float:
    """The focal length to start from: a known one, else estimated, else the default."""
    if focal_px:
        return focal_px
    return estimate_focal_px(size_px, sightings) or DEFAULT_FOCAL_SHARE * max(size_px)


def estimate_focal_px(size_px: tuple[int, int], sightings: Sequence[ChartCorners]) -> float | None:
    """Zhang's estimate of the focal length in px; None if no view of the sheet is tilted.

    The sheet's axes have to be perpendicular and equally long in every photo (Zhang, A flexible new
    technique for camera calibration, 2000). The principal point is taken as the picture's centre.
    """
    centre, longer = (np.array(size_px) - 1) / 2, max(size_px)
    constraints: list[tuple[float, float]] = []
    for sighting in sightings:
        xy = (sighting.xy_px - centre) / longer
        constraints += _zhang_constraints(sighting.xyz_mm[:, :2], xy)
    p, q = np.array(constraints).T
    denominator = float(p @ q)
    if not abs(denominator) > 1e-12:
        return None
    squared = -float(p @ p) / denominator
    if not 0.1 < squared < 100:
        return None
    return float(np.sqrt(squared)) * longer


def _zhang_constraints(mm: Array, xy: Array) -> list[tuple[float, float]]:
    """Coefficients (p, q) of the two equations p / f² + q = 0 of one view."""
    homography, _ = cv2.findHomography(mm, xy)
    normalized = homography / np.linalg.norm(homography[:, 0])
    a, b = normalized.T[:2]
    perpendicular = (a[0] * b[0] + a[1] * b[1], a[2] * b[2])
    equally_long = (a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2, a[2] ** 2 - b[2] ** 2)
    return [perpendicular, equally_long]


def estimate_initial_poses(
    size_px: tuple[int, int], photos: Mapping[str, ChartCorners], focal_px: float
) -> tuple[list[PoseAndZoom], dict[str, str]]:
    """An initial pose for each photo, and the photos without one, with the reason."""
    cx, cy = (np.array(size_px) - 1) / 2
    matrix = np.array([[focal_px, 0, cx], [0, focal_px, cy], [0, 0, 1]])
    poses, failed = [], {}
    for name, sighting in photos.items():
        try:
            pose = pose_from_points(sighting.xyz_mm, sighting.xy_px, matrix)
        except CannotMeasure:
            question = "is the picture mirrored, or another sheet?"
            failed[name] = f"its corners fit no camera before the sheet; {question}"
        else:
            poses.append(PoseAndZoom(pose))
    return poses, failed

"""One ruler, measured in the photo's own pixels at the height of its upper face."""

from dataclasses import dataclass

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import DetectedRuler
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.precision_map import place_jacobian_camera_bow
from overruler.vision.rulers.long_edges import LongEdgeFit, fit_long_edges
from overruler.vision.rulers.scale_fit import ScaleFit, fit_scale
from overruler.vision.rulers.strip import (
    RulerKind,
    Strip,
    points_on_path,
    regularize_path,
    shift_sideways,
)

THICKNESS_SIGMA_MM = 0.5
"""1 σ of the height of a ruler's face, in mm."""
CONTRADICTION_SIGMAS = 3.5
"""A ruler contradicts the markers if its length is farther from nominal than this, in σ."""
FEW_SEGMENTS = 2
"""A find of at most this many segments whose length is doubtful is no ruler: a wall, hexes."""
DOUBTFUL_SIGMAS = 2.5
"""The length of such a find is doubtful if it is farther from nominal than this, in σ. Of nine true
rulers none was farther than 1.9 σ."""
CLEARLY_SEEN_SHARE = 0.85
"""No ruler is one, either, that contradicts the markers and whose edges are visible along less than this
share of its length."""


@dataclass(frozen=True, slots=True, eq=False)
class _Aligned:
    """A path between two long edges."""

    path_mm: Array
    """(n + 1, 2)."""
    strip: Strip
    """The photo around the path from which it was moved."""
    edges: LongEdgeFit


def measure_ruler(
    frame: Frame, calibration: Calibration, kind: RulerKind, path_mm: Array
) -> DetectedRuler | None:
    """Measure a ruler near a path (n + 1, 2) on the board plane; None where none is found."""
    camera = calibration.camera
    pixels = camera.project(np.column_stack([path_mm, np.zeros(len(path_mm))]))
    path = camera.unproject(pixels, kind.z_mm)
    size = np.array(frame.size_px) - 1
    if not ((pixels > 0) & (pixels < size)).all():
        return None
    rough = _align_to_edges(frame, camera, kind, path)
    fine = None if rough is None else _align_to_edges(frame, camera, kind, rough.path_mm)
    if fine is None:
        return None
    center = np.append(fine.path_mm.mean(0), kind.z_mm)
    mm_per_px, white_px = float(camera.mm_per_px(center)), calibration.edge_shift_px
    fit = fit_scale(fine.strip, kind, fine.edges.edge_spread_mm, mm_per_px, white_px)
    if fit is None:
        return None
    ruler = _to_detected_ruler(calibration, kind, regularize_path(kind, fine.path_mm), fit)
    if kind.segments <= FEW_SEGMENTS and _sigmas_off(ruler) > DOUBTFUL_SIGMAS:
        return None
    seen = fine.edges.seen_share >= CLEARLY_SEEN_SHARE
    return ruler if seen or not contradicts_markers(ruler) else None


def _align_to_edges(frame: Frame, camera: Camera, kind: RulerKind, path: Array) -> _Aligned | None:
    """Move a path (n + 1, 2) midway between the long edges near it; None where there are none.

    None, too, for a path that leaves the ground that the lens shows.
    """
    if not np.isfinite(path).all():
        return None
    path = regularize_path(kind, path)
    if not np.isfinite(camera.mm_per_px(np.append(path.mean(0), kind.z_mm))):
        return None
    strip = Strip.of(frame, camera, kind, path)
    edges = fit_long_edges(strip, kind)
    if edges is None:
        return None
    return _Aligned(shift_sideways(path, edges.shift_mm), strip, edges)


def contradicts_markers(ruler: DetectedRuler) -> bool:
    """Whether a ruler's length in the markers' scale is not its nominal one."""
    return _sigmas_off(ruler) > CONTRADICTION_SIGMAS


def _sigmas_off(ruler: DetectedRuler) -> float:
    return abs(ruler.segment_mm - ruler.nominal_mm) / ruler.sigma_mm


def _to_detected_ruler(
    calibration: Calibration, kind: RulerKind, path: Array, fit: ScaleFit
) -> DetectedRuler:
    joints = np.arange(kind.segments + 1)
    distances = np.asarray(fit.start_mm + fit.segment_mm * joints, float)
    xy, _ = points_on_path(path, kind, distances)
    sigma = _segment_sigma_mm(calibration, kind, xy, fit)
    return DetectedRuler(
        kind.name, kind.segment_mm, fit.segment_mm, sigma, xy, kind.width_mm, fit.line_contrast
    )


def _segment_sigma_mm(calibration: Calibration, kind: RulerKind, xy: Array, fit: ScaleFit) -> float:
    """1 σ of a segment's length by the fit, the camera, the board's scale and its thickness."""
    whole = xy[-1] - xy[0]
    along = whole / np.linalg.norm(whole)
    jacobian = place_jacobian_camera_bow(calibration, xy[[0, -1]])
    slope = along @ np.diff(jacobian, axis=0)[0]
    by_camera = np.sqrt(slope @ calibration.joint_covariance @ slope) / kind.segments
    height = calibration.camera.center_mm[2]
    by_scale = calibration.budget.scale_share * kind.segment_mm
    by_thickness = THICKNESS_SIGMA_MM / height * kind.segment_mm
    return float(np.linalg.norm([fit.sigma_mm, by_camera, by_scale, by_thickness]))

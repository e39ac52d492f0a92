"""Refinement of the calibration by the bases found: bases of one size are equal all over the table.

With few markers and an unknown lens, the scale between the markers is uncertain. The rim of a base
measures the scale at its place to about 0.5 %, and there are many bases. Errors that all bases have
in common are parameters as well: a size off the catalogue's, or edges that lie outwards. Only
differences between bases carry information.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from overruler.calibration import CAMERA_SIZE, Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.measurement_update import (
    Measurements,
    find_worst_outlier,
    kalman_update,
)
from overruler.vision.camera.precision_map import distance_sigmas_mm, place_jacobian_camera
from overruler.vision.contours.radial_edges import (
    LabPatch,
    RadialEdges,
    association_weights,
    find_radial_edges,
    ray_directions,
)
from overruler.vision.contours.silhouette import PROFILES, project_rims

MIN_BASES = 5
"""Smallest number of bases for an update, and for bases to be a witness of the scale."""
ENOUGH_MARKERS = 6
"""With this many markers the bases are not used."""
MAX_REMAINING_SHARE = 0.97
"""The update is made if at most this share of the σ of distances remains."""
MIN_VISIBLE_SHARE = 0.6
"""Smallest visible share of a base's rim."""
EDGE_SIGMA_PX = 0.5
"""1 σ of an edge about the rim."""
MIN_RADIUS_SIGMA_PX = 0.1
"""Smallest σ of a radius, for any number of edges."""
SEARCH_REACH_SIGMAS = 2.5
"""Distance from the rim within which edges are searched for, in σ of an edge."""
REWEIGHTING_ROUNDS = 6
"""Rounds of the robust fit of a circle."""
RADIUS_SIGMA_INFLATION = 1.8
"""Actual scatter of radii within a photo over the fitted σ: edges share texture and shadow."""
BASE_TOLERANCE_SIGMA_MM = 0.06
"""1 σ of the radius of one base against others of its size."""
CATALOGUE_SIGMA_MM = 0.15
"""1 σ of the radius of all bases of a size against the catalogue."""
EDGE_OFFSET_SIGMA_PX = 0.4
"""1 σ of how far edges lie outwards, common to the whole photo."""
TREND_SIGMA_SHARE = 0.005
"""1 σ of the trend of apparent size from centre to end, as a share: light and view are slanted."""
MIN_RAYS = 12
"""Smallest number of directions in which a rim is seen."""
GRID_SHARES = np.linspace(0.1, 0.9, 5)
"""Grid of places, as shares of the board, over which the σ of distances is averaged."""


@dataclass(frozen=True, slots=True, eq=False)
class RimMeasurement:
    """The measured rim of a base."""

    radius_excess_mm: float
    """Measured radius minus the catalogue's."""
    sigma_mm: float
    """1 σ of that, by the edges alone."""
    camera_jacobian: Array
    """(15,): derivative of the radius by the camera's parameters, for edges fixed in the photo."""
    diameter_mm: float
    """Diameter of the base by the catalogue."""
    mm_per_px: float
    """Size of a pixel at the base."""
    board_offset: Array
    """(2,): distance from the board's centre, in halves of its longer side."""


_KNOWN_RIMS: WeakKeyDictionary[Frame, dict[tuple[Camera, Detection], RimMeasurement | None]] = (
    WeakKeyDictionary()
)
"""What was measured in each photo that is still there, by camera and base."""


def measure_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> RimMeasurement | None:
    """Measure the rim of one base; None if too little of its lower edge is visible.

    The answers are kept as long as the photo is: several steps ask for the same rims.
    """
    known = _KNOWN_RIMS.setdefault(frame, {})
    asked = calibration.camera, detection
    if asked not in known:
        known[asked] = _measure_rim(frame, calibration, detection)
    return known[asked]


def _measure_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> RimMeasurement | None:
    lower = visible_lower_rim(frame, calibration, detection)
    if lower is None:
        return None
    view, rays = lower
    radius = detection.base.width_mm / 2
    reach = SEARCH_REACH_SIGMAS * EDGE_SIGMA_PX * view.mm_per_px
    inner, outer = np.full(len(rays), radius - reach), np.full(len(rays), radius + reach)
    edges = find_radial_edges(view, detection.xy_mm, rays, inner, outer)
    if len(edges.ray) < MIN_RAYS:
        return None
    return _measure_radius(view, calibration, detection, rays, edges)


def visible_lower_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> tuple[LabPatch, Array] | None:
    """A round base's patch of the photo, and the directions (R, 2) in which its lower rim is visible.

    In these directions the lower rim is the outline for any profile of the base. None if the base is
    outside the picture or there are fewer than `MIN_RAYS` directions.
    """
    radius, camera = detection.base.width_mm / 2, calibration.camera
    view = LabPatch.crop_around(frame.pixels, camera, detection.xy_mm, radius, detection.z_mm)
    if view is None:
        return None
    rays = ray_directions(radius, view.mm_per_px)
    outlines = [
        project_rims(camera, detection.xy_mm, radius, detection.z_mm, profile, rays).outline_mm
        for profile in PROFILES
    ]
    rays = rays[np.max(outlines, axis=0) < radius + 1e-9]
    return (view, rays) if len(rays) >= MIN_RAYS else None


def _measure_radius(
    view: LabPatch, calibration: Calibration, detection: Detection, rays: Array, edges: RadialEdges
) -> RimMeasurement | None:
    """The rim of a base from its edges; None if they do not separate its place from its radius."""
    radius, normal = detection.base.width_mm / 2, rays[edges.ray]
    design = np.column_stack([normal, np.ones(len(normal))])
    residual = edges.radius_mm - radius
    edge_sigma_mm = EDGE_SIGMA_PX * view.mm_per_px
    circle = _fit_circle(design, residual, edges, edge_sigma_mm, len(rays))
    if circle is None:
        return None
    excess_mm, fit_sigma_mm, weight = circle
    on_rim = place_jacobian_camera(view.camera, detection.xy_mm + radius * normal)
    edge_by_camera = np.einsum("mi,mij->mj", normal, on_rim)
    information = design.T @ (design * weight[:, None])
    circle_by_camera = np.linalg.solve(information, design.T @ (edge_by_camera * weight[:, None]))
    inflated_mm = fit_sigma_mm * RADIUS_SIGMA_INFLATION
    from_centre = detection.xy_mm - np.array(calibration.board_mm) / 2
    return RimMeasurement(
        radius_excess_mm=excess_mm,
        sigma_mm=float(np.hypot(inflated_mm, MIN_RADIUS_SIGMA_PX * view.mm_per_px)),
        camera_jacobian=np.asarray(circle_by_camera[2]),
        diameter_mm=detection.base.width_mm,
        mm_per_px=view.mm_per_px,
        board_offset=from_centre / (max(calibration.board_mm) / 2),
    )


def _fit_circle(
    design: Array, residual_mm: Array, edges: RadialEdges, sigma_mm: float, rays: int
) -> tuple[float, float, Array] | None:
    """Fit a circle robustly: its radius excess, 1 σ of that for independent edges, and edge weights."""
    step: Array = np.zeros(3)
    for _ in range(REWEIGHTING_ROUNDS):
        weight = association_weights(edges, residual_mm - design @ step, sigma_mm, rays)
        information = design.T @ (design * weight[:, None])
        if np.linalg.cond(information) > 1e4:
            return None
        step = np.asarray(np.linalg.solve(information, design.T @ (weight * residual_mm)))
    squares = np.sum(weight * (residual_mm - design @ step) ** 2)
    variance = squares / max(weight.sum() - 3, 1)
    radius_variance = np.linalg.inv(information)[2, 2] * variance
    return float(step[2]), float(np.sqrt(radius_variance)), weight


def refine_by_bases(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection]
) -> tuple[Calibration, tuple[Detection, ...]]:
    """Update the calibration by the rims of the bases, and move the detections with it.

    A calibration with enough markers is left unchanged, and so is one that the bases would hardly
    improve.
    """
    unchanged = calibration, tuple(detections)
    if len(calibration.markers) >= ENOUGH_MARKERS:
        return unchanged
    rims = []
    for detection in detections:
        if has_usable_rim(detection):
            rim = measure_rim(frame, calibration, detection)
            if rim is not None:
                rims.append(rim)
    kept = keep_consistent_rims(rims, calibration.covariance)
    if len(kept) < MIN_BASES:
        return unchanged
    covariance = calibration.joint_covariance
    update = kalman_update(measures_of(kept, len(covariance)), covariance)
    before = _mean_distance_sigma_mm(calibration, covariance)
    after = _mean_distance_sigma_mm(calibration, update.updated_covariance(covariance))
    if after > MAX_REMAINING_SHARE * before:
        return unchanged
    camera_step = update.step[:CAMERA_SIZE]
    moved = tuple(replace(d, xy_mm=d.xy_mm + d.d_xy_d_camera @ camera_step) for d in detections)
    return calibration.updated_by(update.step, update.updated_covariance), moved


def has_usable_rim(detection: Detection) -> bool:
    """Whether a base is round, of known size, on the table and mostly in sight."""
    on_table = detection.base.shape == "circle" and not detection.z_mm
    return on_table and not detection.alternative_bases and detection.visible >= MIN_VISIBLE_SHARE


def _mean_distance_sigma_mm(calibration: Calibration, covariance: Array) -> float:
    """1 σ of distances, root mean square over the board, without the scale, which no base measures."""
    x, y = (GRID_SHARES * size for size in calibration.board_mm)
    places = np.stack(np.meshgrid(x, y), -1)
    without_scale = replace(calibration, budget=replace(calibration.budget, scale_share=0.0))
    sigmas = distance_sigmas_mm(without_scale, covariance, places)
    return float(np.sqrt(np.mean(sigmas**2)))


def measures_of(rims: Sequence[RimMeasurement], unknowns: int = CAMERA_SIZE) -> Measurements:
    """Rims as measurements of the first 15 of `unknowns` parameters."""
    excess = np.array([rim.radius_excess_mm for rim in rims])
    jacobian = np.zeros((len(rims), unknowns))
    jacobian[:, :CAMERA_SIZE] = np.stack([rim.camera_jacobian for rim in rims])
    return Measurements(-excess, jacobian, radius_covariance(rims))


def radius_covariance(rims: Sequence[RimMeasurement]) -> Array:
    """(N, N) mm²: noise of the radii, and errors common to bases of one size or to all."""
    diameter = np.array([rim.diameter_mm for rim in rims])
    mm_per_px = np.array([rim.mm_per_px for rim in rims])
    offset = np.stack([rim.board_offset for rim in rims])
    own = np.diag([rim.sigma_mm**2 + BASE_TOLERANCE_SIGMA_MM**2 for rim in rims])
    same_size = diameter[:, None] == diameter
    edge_offset = EDGE_OFFSET_SIGMA_PX**2 * np.outer(mm_per_px, mm_per_px)
    shared = CATALOGUE_SIGMA_MM**2 * same_size + edge_offset
    trend = offset * diameter[:, None] / 2
    return np.asarray(own + shared + TREND_SIGMA_SHARE**2 * trend @ trend.T)


def keep_consistent_rims(rims: Sequence[RimMeasurement], covariance: Array) -> list[RimMeasurement]:
    """Remove outliers one by one, the worst first; `covariance` (15, 15) is the camera's."""
    kept = list(rims)
    while len(kept) >= MIN_BASES:
        measurements = measures_of(kept)
        expected = measurements.innovation_covariance(covariance)
        worst = find_worst_outlier(measurements.innovation, expected)
        if worst is None:
            break
        del kept[worst]
    return kept

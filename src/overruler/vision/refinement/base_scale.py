"""What the bases that were found say about the camera: bases of one size are equally large all over the table.

Few markers and an unknown lens leave open how the scale varies between them. A base's rim measures the scale where the
base stands, to about half a per cent, and there are many. What all bases have in common, a size that is not quite the
catalogue's or edges that lie outside where they are, is unknown too: only differences count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
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

MIN_BASES, ENOUGH_MARKERS = 5, 6
"""Bases below which nothing is said, and markers from which on they need no help."""
MAX_REMAINING_SHARE = 0.97
"""The share of the doubt that may be left at most, for the bases to be listened to."""
MIN_VISIBLE_SHARE = 0.6
"""The share of its rim that must have been seen of a base."""
EDGE_SIGMA_PX, MIN_RADIUS_SIGMA_PX, SEARCH_REACH_SIGMAS = 0.5, 0.1, 2.5
"""1 σ of an edge about the rim, and of a radius whatever the number of edges; in how many σ they are looked for."""
REWEIGHTING_ROUNDS = 6
RADIUS_SIGMA_INFLATION = 1.8
"""Neighbouring radii share texture and shadow; by how much radii of one photo scatter."""
BASE_TOLERANCE_SIGMA_MM, CATALOGUE_SIGMA_MM, EDGE_OFFSET_SIGMA_PX = 0.06, 0.15, 0.4
"""1 σ of a radius: of one base against others of its size, of all of a size against the catalogue, and of how far edges
lie outside of where they are, in all of the photo."""
TREND_SIGMA_SHARE = 0.005
"""1 σ of how much larger, as a share, bases look at one end of the table than in the middle: light and view slant."""
MIN_RAYS = 12
"""A rim seen in fewer directions tells nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class RimMeasurement:
    """A base's rim as the camera measures it."""

    radius_excess_mm: float
    """By how much its radius comes out larger than the catalogue's."""
    sigma_mm: float
    """1 σ of that, by the edges alone."""
    camera_jacobian: Array
    """(15,): how the radius moves with the camera's parameters, the edges staying where they are in the photo."""
    diameter_mm: float
    mm_per_px: float
    board_offset: Array
    """(2,): how far from the board's middle, in halves of its longer side."""


def measure_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> RimMeasurement | None:
    """The rim of one base; None where too little of its lower edge shows."""
    lower = visible_lower_rim(frame, calibration, detection)
    if lower is None:
        return None
    radius, (view, rays) = detection.base.width_mm / 2, lower
    reach = SEARCH_REACH_SIGMAS * EDGE_SIGMA_PX * view.mm_per_px
    edges = find_radial_edges(
        view,
        detection.xy_mm,
        rays,
        np.full(len(rays), radius - reach),
        np.full(len(rays), radius + reach),
    )
    return (
        _measure_radius(view, calibration, detection, rays, edges)
        if len(edges.ray) >= MIN_RAYS
        else None
    )


def visible_lower_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> tuple[LabPatch, Array] | None:
    """A round base's surroundings, and the directions (R, 2) in which its lower rim is its outline, whatever its
    profile; None where it lies out of the picture or those directions are fewer than `MIN_RAYS`."""
    radius, camera = detection.base.width_mm / 2, calibration.camera
    view = LabPatch.crop_around(frame.pixels, camera, detection.xy_mm, radius, detection.z_mm)
    if view is None:
        return None
    rays = ray_directions(radius, view.mm_per_px)
    outlines = [
        project_rims(camera, detection.xy_mm, radius, detection.z_mm, p, rays).outline_mm
        for p in PROFILES
    ]
    rays = rays[np.max(outlines, axis=0) < radius + 1e-9]
    return (view, rays) if len(rays) >= MIN_RAYS else None


def _measure_radius(
    view: LabPatch, calibration: Calibration, detection: Detection, rays: Array, edges: RadialEdges
) -> RimMeasurement | None:
    """The ring of a base by the edges found across its rim; None where they do not tell its place from its radius."""
    radius, normal = detection.base.width_mm / 2, rays[edges.ray]
    design, off = np.column_stack([normal, np.ones(len(normal))]), edges.radius_mm - radius
    fitted = _fit_circle(design, off, edges, EDGE_SIGMA_PX * view.mm_per_px, len(rays))
    if fitted is None:
        return None
    larger_mm, sigma_mm, weight = fitted
    d_rim = place_jacobian_camera(view.camera, detection.xy_mm + radius * normal)
    by_edge = np.einsum("mi,mij->mj", normal, d_rim)
    slope = np.linalg.solve(
        design.T @ (design * weight[:, None]), design.T @ (by_edge * weight[:, None])
    )[2]
    own = float(np.hypot(sigma_mm * RADIUS_SIGMA_INFLATION, MIN_RADIUS_SIGMA_PX * view.mm_per_px))
    off_middle = (detection.xy_mm - np.array(calibration.board_mm) / 2) / (
        max(calibration.board_mm) / 2
    )
    return RimMeasurement(
        larger_mm, own, np.asarray(slope), detection.base.width_mm, view.mm_per_px, off_middle
    )


def _fit_circle(
    design: Array, off_mm: Array, edges: RadialEdges, sigma_mm: float, rays: int
) -> tuple[float, float, Array] | None:
    """How much larger the circle is, 1 σ of that for independent edges, and each edge's weight, by reweighting."""
    step: Array = np.zeros(3)
    for _ in range(REWEIGHTING_ROUNDS):
        weight = association_weights(edges, off_mm - design @ step, sigma_mm, rays)
        information = design.T @ (design * weight[:, None])
        if np.linalg.cond(information) > 1e4:
            return None
        step = np.asarray(np.linalg.solve(information, design.T @ (weight * off_mm)))
    noise = np.sum(weight * (off_mm - design @ step) ** 2) / max(weight.sum() - 3, 1)
    return float(step[2]), float(np.sqrt(np.linalg.inv(information)[2, 2] * noise)), weight


def refine_by_bases(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection]
) -> tuple[Calibration, tuple[Detection, ...]]:
    """The calibration with what the bases say, and the bases where it sees them.

    A calibration by enough markers is left as it is, and so is one that the bases would hardly make surer.
    """
    flat = [d for d in detections if d.base.shape == "circle" and not d.z_mm]
    plain = [d for d in flat if not d.alternative_bases and d.visible >= MIN_VISIBLE_SHARE]
    rings = [ring for d in plain if (ring := measure_rim(frame, calibration, d)) is not None]
    kept = keep_consistent_rims(rings, calibration.covariance)
    if len(kept) < MIN_BASES or len(calibration.markers) >= ENOUGH_MARKERS:
        return calibration, tuple(detections)
    update = kalman_update(
        measures_of(kept, len(calibration.joint_covariance)), calibration.joint_covariance
    )
    if _mean_distance_sigma_mm(
        calibration, update.updated_covariance(calibration.joint_covariance)
    ) > MAX_REMAINING_SHARE * _mean_distance_sigma_mm(calibration, calibration.joint_covariance):
        return calibration, tuple(detections)
    moved = tuple(
        replace(d, xy_mm=d.xy_mm + d.d_xy_d_camera @ update.step[:15]) for d in detections
    )
    return calibration.updated_by(update.step, update.updated_covariance), moved


def _mean_distance_sigma_mm(calibration: Calibration, covariance: Array) -> float:
    """The doubt of distances, root mean square over the board, but for the scale that no base tells."""
    x, y = (np.linspace(0.1, 0.9, 5) * size for size in calibration.board_mm)
    exact = replace(calibration, budget=replace(calibration.budget, scale_share=0.0))
    return float(
        np.sqrt(
            np.mean(distance_sigmas_mm(exact, covariance, np.stack(np.meshgrid(x, y), -1)) ** 2)
        )
    )


def measures_of(rings: Sequence[RimMeasurement], unknowns: int = 15) -> Measurements:
    """What rims say of the camera; `unknowns` may go on after the camera's 15 with some that no radius depends on."""
    larger, slope = (
        np.array([ring.radius_excess_mm for ring in rings]),
        np.zeros((len(rings), unknowns)),
    )
    slope[:, :15] = np.stack([ring.camera_jacobian for ring in rings])
    return Measurements(-larger, slope, radius_covariance(rings))


def radius_covariance(rings: Sequence[RimMeasurement]) -> Array:
    """(N, N) mm²: each radius's own doubt, and what bases of one size and all bases of the photo share."""
    diameter, scale = (
        np.array([ring.diameter_mm for ring in rings]),
        np.array([ring.mm_per_px for ring in rings]),
    )
    own = np.diag([ring.sigma_mm**2 + BASE_TOLERANCE_SIGMA_MM**2 for ring in rings])
    same = diameter[:, None] == diameter
    lean = np.stack([ring.board_offset for ring in rings]) * diameter[:, None] / 2
    shared = CATALOGUE_SIGMA_MM**2 * same + EDGE_OFFSET_SIGMA_PX**2 * np.outer(scale, scale)
    return np.asarray(own + shared + TREND_SIGMA_SHARE**2 * lean @ lean.T)


def keep_consistent_rims(
    rings: Sequence[RimMeasurement], covariance: Array
) -> list[RimMeasurement]:
    """The rings without those that the others contradict, the worst one at a time."""
    kept = list(rings)
    while len(kept) >= MIN_BASES:
        measures = measures_of(kept)
        worst = find_worst_outlier(measures.innovation, measures.innovation_covariance(covariance))
        if worst is None:
            break
        del kept[worst]
    return kept

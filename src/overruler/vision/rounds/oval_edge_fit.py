"""Fit one oval of known size to the edges in the photo: `cone_fit` with a heading besides.

Edges are searched on rays across the outline, along its normals. The edges of one ray compete with
each other and with "hidden".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.batched.draws import fuse_measurements
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import (
    HEIGHT_SIGMA_MM,
    HIDDEN_RIM_SIGMA_FACTOR,
    MIN_PLACE_SIGMA_PX,
    TAPER_SIGMA_MM,
    UPPER_RIM_PENALTY,
    UPPER_RIM_WEIGHT,
    camera_jacobian,
)
from overruler.vision.contours.outlines import Contour, project_silhouette
from overruler.vision.contours.radial_edges import (
    RAY_SPACING_PX,
    RAY_STEP_PX,
    LabPatch,
    RadialEdges,
    association_weights,
    find_radial_edges,
    ray_step_px,
)
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.contours.rim_fit import (
    CORRELATION_INFLATION,
    WIDE_EDGE_SIGMA_PX,
    residual_sigma_mm,
)
from overruler.vision.contours.rim_solver import (
    NARROW_EDGE_SIGMA_PX,
    REWEIGHTING_ITERATIONS,
    SEARCH_REACH_SIGMA,
)
from overruler.vision.contours.silhouette import PROFILES, Profile, upper_rim_shift_mm

RIM_MODELS = tuple((profile, upper) for upper in (False, True) for profile in PROFILES)
"""What is fitted: the outline and the upper edge, with each profile."""
WHOLE_OUTLINE_NATS = 15.0
"""Log-likelihood of a whole outline seen against none of it, between fits of one base: counted on
305 rendered ovals, as is `START_DISTANCE_WEIGHT`. Half or twice of either is hardly worse."""
START_DISTANCE_WEIGHT = 0.02
"""Share of the outline that must be seen in addition for each χ² of distance from the start."""
MIN_EDGES = 10
"""Smallest number of edges for a fit."""


@dataclass(frozen=True, slots=True, eq=False)
class PosePrior:
    """Where a fit starts, and how sure that is."""

    pose: Array
    """(3,): x, y in mm and the heading in rad."""
    sigma: Array
    """(3,): 1 σ of each, independent of each other."""


@dataclass(frozen=True, slots=True, eq=False)
class OvalFit:
    """The pose of an oval, if it is this oval."""

    base: Base
    """The size fitted."""
    pose: Array
    """(3,): x, y in mm and the heading in rad."""
    covariance: Array
    """(3, 3): of the pose, for an exact camera."""
    d_xy_d_camera: Array
    """(2, 15): derivative over `geometry.camera.CAMERA_PARAMETERS`."""
    seen: Array
    """(K,): how surely each direction of the outline was seen, 0 to 1."""
    merit: float
    """How much of outline and upper edge is seen, less penalties, to compare fits of one base."""

    @property
    def xy_mm(self) -> Array:
        return self.pose[:2]

    @property
    def turn_rad(self) -> float:
        return float(self.pose[2])

    @property
    def covariance_mm2(self) -> Array:
        """(2, 2): of the centre; the heading's effect on the outline counts as a shift."""
        lever = (self.base.length_mm - self.base.width_mm) / 2
        turn = np.eye(2) * self.covariance[2, 2] * lever**2 / 2
        return np.asarray(self.covariance[:2, :2] + turn)


def fit_oval(
    pixels: NDArray[np.uint8], camera: Camera, start: PosePrior, base: Base, z_mm: float
) -> OvalFit | None:
    """Fit (x, y, heading) of an oval of known size from a rough start.

    The result is the mean over all `RIM_MODELS`, weighted by how much each explains (Bayesian model
    averaging), fused with the start. None where nothing of the oval is seen.
    """
    view = LabPatch.crop_around(pixels, camera, start.pose[:2], base.length_mm / 2, z_mm)
    if view is None:
        return None
    attempts = [_fit_model(view, start, base, profile, upper) for profile, upper in RIM_MODELS]
    fits = [fit for fit in attempts if fit is not None]
    if not fits:
        return None
    return _fuse_prior(_average_models(view, fits), start)


@dataclass(frozen=True, slots=True, eq=False)
class _ConvergedFit:
    """One model's fit after convergence."""

    base: Base
    """The size fitted."""
    pose: Array
    """(3,): x, y in mm and the heading in rad."""
    covariance: Array
    """(3, 3): of the pose."""
    residual_sigma_mm: float
    """1 σ of the edges about the outline, including those that may belong to something else."""
    weight: Array
    """(K,): weight of the edges on each ray."""
    contour: Contour
    """The projected contour with K rays."""
    profile: Profile
    """The profile fitted."""
    upper: bool
    """Whether the upper edge was fitted instead of the outline."""
    merit: float = 0.0
    """As in `OvalFit`."""


def _average_models(view: LabPatch, fits: Sequence[_ConvergedFit]) -> OvalFit:
    """Return the mean of the fits, weighted by merit; their spread is part of its covariance."""
    best = max(fits, key=lambda fit: fit.merit)
    nats = [WHOLE_OUTLINE_NATS * (fit.merit - best.merit) for fit in fits]
    weights = np.array([np.exp(value) for value in nats])
    weights /= weights.sum()
    poses = np.stack([fit.pose for fit in fits])
    mean = weights @ poses
    offsets = poses - mean
    covariance = np.einsum("n,ni,nj->ij", weights, offsets, offsets)
    covariances = np.stack([fit.covariance for fit in fits])
    covariance += np.einsum("n,nij->ij", weights, covariances)
    slopes = camera_jacobian(view, best.contour.at_mm, best.contour.normals, best.weight)
    return OvalFit(best.base, mean, covariance, slopes, np.minimum(best.weight, 1), best.merit)


def _fuse_prior(fit: OvalFit, start: PosePrior) -> OvalFit:
    """Fuse fit and start by their covariances."""
    prior = np.diag(start.sigma**2)
    pose, covariance = fuse_measurements(fit.pose, fit.covariance, start.pose, prior)
    return replace(fit, pose=pose, covariance=covariance)


def _fit_model(
    view: LabPatch, start: PosePrior, base: Base, profile: Profile, upper: bool
) -> _ConvergedFit | None:
    """Fit one model with edge tolerances from wide to narrow."""
    start_px = start.sigma[:2].max() / view.mm_per_px
    wide_px = float(np.clip(start_px, WIDE_EDGE_SIGMA_PX, 5 * WIDE_EDGE_SIGMA_PX))
    medium_px = (wide_px * WIDE_EDGE_SIGMA_PX) ** 0.5
    pose, fit = start.pose, None
    for sigma_px in (wide_px, medium_px, WIDE_EDGE_SIGMA_PX):
        fit = _refine_pose(view, pose, base, profile, upper, sigma_px)
        if fit is None:
            return None
        pose = fit.pose
    return _assess_fit(view, fit, start) if fit is not None else None


def _refine_pose(
    view: LabPatch, pose: Array, base: Base, profile: Profile, upper: bool, sigma_px: float
) -> _ConvergedFit | None:
    """Move the pose to the edges within reach of its contour; None where there are too few."""
    contour = _project(view, base, pose, profile, upper)
    reach_mm = SEARCH_REACH_SIGMA * sigma_px * view.mm_per_px
    edges = _contour_edges(view, contour, reach_mm, ray_step_px(sigma_px))
    if len(edges.ray) < MIN_EDGES:
        return None
    rays = len(contour.at_mm)
    design = _pose_design(contour, pose)[edges.ray]
    length = float(base.length_mm / 2)
    ridge = np.diag([1e-3, 1e-3, length**2 * 1e-3])
    step: Array = np.zeros(3)
    for share in np.linspace(0, 1, REWEIGHTING_ITERATIONS):
        sigma = view.mm_per_px * sigma_px * (NARROW_EDGE_SIGMA_PX / sigma_px) ** share
        weight = association_weights(edges, edges.radius_mm - design @ step, sigma, rays)
        information = design.T @ (design * weight[:, None]) + ridge
        score = design.T @ (weight * edges.radius_mm)
        step = np.asarray(np.linalg.solve(information, score), float)
        farthest_mm = float(np.abs(design @ step).max())
        step *= min(1.0, reach_mm / max(farthest_mm, 1e-12))  # no edge was searched farther away
    residuals = edges.radius_mm - design @ step
    noise = np.sum(weight * residuals**2) / max(weight.sum() - 3, 1)
    covariance = np.linalg.inv(information) * noise * CORRELATION_INFLATION**2
    ray_weight = np.asarray(np.bincount(edges.ray, weight, rays), float)
    wide_mm = WIDE_EDGE_SIGMA_PX * view.mm_per_px
    spread = residual_sigma_mm(association_weights(edges, residuals, wide_mm, rays), residuals)
    return _ConvergedFit(base, pose + step, covariance, spread, ray_weight, contour, profile, upper)


def _project(view: LabPatch, base: Base, pose: Array, profile: Profile, upper: bool) -> Contour:
    """Return the silhouette, or the upper edge, of an oval at a pose."""
    step_mm = RAY_SPACING_PX * view.mm_per_px
    camera, z_mm = view.camera, view.z_mm
    return project_silhouette(camera, base, pose[:2], pose[2], z_mm, profile, upper, step_mm)


def _pose_design(contour: Contour, pose: Array) -> Array:
    """Return the derivative (K, 3) of the contour's normal shift over x, y and heading."""
    arm_x, arm_y = (contour.at_mm - pose[:2]).T
    normal_x, normal_y = contour.normals.T
    turning = normal_y * arm_x - normal_x * arm_y
    return np.column_stack([contour.normals, turning])


def _contour_edges(
    view: LabPatch, contour: Contour, reach_mm: float, every_px: float = RAY_STEP_PX
) -> RadialEdges:
    """Return the edges across a contour by their distance outside it."""
    reach = np.full(len(contour.at_mm), reach_mm)
    return find_radial_edges(view, contour.at_mm, contour.normals, -reach, reach, every_px)


def _assess_fit(view: LabPatch, fit: _ConvergedFit, start: PosePrior) -> _ConvergedFit:
    """Add merit, and the covariance that the edges alone do not show."""
    extra = np.zeros((3, 3))
    unseen = float(np.mean(fit.weight <= MIN_RIM_WEIGHT))
    edge_variance_px2 = (fit.residual_sigma_mm / view.mm_per_px) ** 2
    hidden_px = HIDDEN_RIM_SIGMA_FACTOR * unseen * edge_variance_px2
    floor_px = np.hypot(MIN_PLACE_SIGMA_PX, hidden_px)
    extra[:2, :2] = np.eye(2) * (floor_px * view.mm_per_px) ** 2
    extra[2, 2] = (2 * MIN_PLACE_SIGMA_PX * view.mm_per_px / fit.base.length_mm) ** 2
    if fit.upper:
        lean = upper_rim_shift_mm(view.camera, fit.pose[:2], view.z_mm, fit.profile)
        lean = lean * HEIGHT_SIGMA_MM / fit.profile.height_mm
        taper = np.eye(2) * TAPER_SIGMA_MM**2 / 4
        extra[:2, :2] += np.outer(lean, lean) + taper
    chi2 = float(np.sum(((fit.pose - start.pose) / start.sigma) ** 2))
    merit = _visible_share(view, fit) - UPPER_RIM_PENALTY * fit.upper
    merit -= START_DISTANCE_WEIGHT * chi2
    return replace(fit, covariance=fit.covariance + extra, merit=merit)


def _visible_share(view: LabPatch, fit: _ConvergedFit) -> float:
    """Return the weighted sum of the visible shares of outline and upper edge."""
    sigma_mm = NARROW_EDGE_SIGMA_PX * view.mm_per_px
    shares = []
    for upper in (False, True):
        contour = _project(view, fit.base, fit.pose, fit.profile, upper)
        edges = _contour_edges(view, contour, 2 * sigma_mm)
        rays = len(contour.at_mm)
        weight = association_weights(edges, edges.radius_mm, sigma_mm, rays)
        ray_weight = np.bincount(edges.ray, weight, rays)
        shares.append(float(np.mean(np.minimum(ray_weight, 1))))
    return shares[0] + UPPER_RIM_WEIGHT * shares[1]

"""One oval of known size, fitted where the photo's own pixels show its edge: `fit`, with a heading to find besides.

Edges are looked for across the outline, square to it; those on one ray compete with each other and with "hidden".
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
    NARROW_EDGE_SIGMA_PX,
    REWEIGHTING_ITERATIONS,
    SEARCH_REACH_SIGMA,
    WIDE_EDGE_SIGMA_PX,
    residual_sigma_mm,
)
from overruler.vision.contours.silhouette import PROFILES, Profile, upper_rim_shift_mm

RIM_MODELS = tuple((profile, upper) for upper in (False, True) for profile in PROFILES)
"""What is fitted: the outline, and the upper edge, whatever the profile."""
WHOLE_OUTLINE_NATS = 15.0
"""Log-likelihood of a whole outline seen against none of it, between fits of one base: counted on 305 rendered ovals,
as is `START_DISTANCE_WEIGHT`; half or twice as much of either is hardly worse."""
START_DISTANCE_WEIGHT = 0.02
"""How much more must be seen for each squared σ away from the start."""
MIN_EDGES = 10


@dataclass(frozen=True, slots=True, eq=False)
class PosePrior:
    """Where a fit starts, and how sure that is."""

    pose: Array
    """(3,): x, y in mm and the heading in rad."""
    sigma: Array
    """(3,): 1 σ of each, taken as independent of each other."""


@dataclass(frozen=True, slots=True, eq=False)
class OvalFit:
    """Where an oval lies, if it is this oval."""

    base: Base
    pose: Array
    """(3,): x, y in mm and the heading in rad."""
    covariance: Array
    """(3, 3), the camera taken as exact."""
    d_xy_d_camera: Array
    """(2, 15): over `geometry.camera.PARAMETERS`."""
    seen: Array
    """(K,): along the outline, how surely it was seen, 0 to 1."""
    merit: float

    @property
    def xy_mm(self) -> Array:
        return self.pose[:2]

    @property
    def turn_rad(self) -> float:
        return float(self.pose[2])

    @property
    def covariance_mm2(self) -> Array:
        """(2, 2) of the place; what the heading's doubt does to the outline, as if the whole base moved by it."""
        lever = (self.base.length_mm - self.base.width_mm) / 2
        return np.asarray(
            self.covariance[:2, :2] + np.eye(2) * self.covariance[2, 2] * lever**2 / 2
        )


def fit_oval(
    pixels: NDArray[np.uint8], camera: Camera, start: PosePrior, base: Base, z_mm: float
) -> OvalFit | None:
    """Fit (x, y, heading) of an oval of known size from a rough start; None where nothing is seen of it.

    The mean of the fits by each profile, by outline and by upper edge, weighed by how much each explains of what is
    seen (Bayesian model averaging), and of the start, by its own doubt.
    """
    view = LabPatch.crop_around(pixels, camera, start.pose[:2], base.length_mm / 2, z_mm)
    if view is None:
        return None
    tries = [_fit_model(view, start, base, profile, upper) for profile, upper in RIM_MODELS]
    settled = [one for one in tries if one is not None]
    return _fuse_prior(_average_models(view, settled), start) if settled else None


@dataclass(frozen=True, slots=True, eq=False)
class _ConvergedFit:
    """One profile's fit at rest."""

    base: Base
    pose: Array
    """(3,): x, y, heading."""
    covariance: Array
    residual_sigma_mm: float
    """1 σ of the edges about the outline, those counted that may well be something else."""
    weight: Array
    contour: Contour
    profile: Profile
    upper: bool
    merit: float = 0.0


def _average_models(view: LabPatch, tries: Sequence[_ConvergedFit]) -> OvalFit:
    """The mean of the fits by how much each explains; how far they lie apart is part of its doubt."""
    best = max(tries, key=lambda one: one.merit)
    weights = np.array([np.exp(WHOLE_OUTLINE_NATS * (one.merit - best.merit)) for one in tries])
    weights /= weights.sum()
    places = np.stack([one.pose for one in tries])
    mean = weights @ places
    apart = places - mean
    covariance = np.einsum("n,ni,nj->ij", weights, apart, apart)
    covariance += np.einsum("n,nij->ij", weights, np.stack([one.covariance for one in tries]))
    slopes = camera_jacobian(view, best.contour.at_mm, best.contour.normals, best.weight)
    return OvalFit(best.base, mean, covariance, slopes, np.minimum(best.weight, 1), best.merit)


def _fuse_prior(fit: OvalFit, start: PosePrior) -> OvalFit:
    """The fit and the start, each by its own doubt."""
    place, covariance = fuse_measurements(
        fit.pose, fit.covariance, start.pose, np.diag(start.sigma**2)
    )
    return replace(fit, pose=place, covariance=covariance)


def _fit_model(
    view: LabPatch, start: PosePrior, base: Base, profile: Profile, upper: bool
) -> _ConvergedFit | None:
    """From a wide look to a narrow one."""
    wide_px = float(
        np.clip(start.sigma[:2].max() / view.mm_per_px, WIDE_EDGE_SIGMA_PX, 5 * WIDE_EDGE_SIGMA_PX)
    )
    place, settled = start.pose, None
    for sigma_px in (wide_px, (wide_px * WIDE_EDGE_SIGMA_PX) ** 0.5, WIDE_EDGE_SIGMA_PX):
        settled = _refine_pose(view, place, base, profile, upper, sigma_px)
        if settled is None:
            return None
        place = settled.pose
    return _assess_fit(view, settled, start) if settled is not None else None


def _refine_pose(
    view: LabPatch, place: Array, base: Base, profile: Profile, upper: bool, sigma_px: float
) -> _ConvergedFit | None:
    step_mm = RAY_SPACING_PX * view.mm_per_px
    contour = project_silhouette(
        view.camera, base, place[:2], place[2], view.z_mm, profile, upper, step_mm
    )
    edges = _contour_edges(
        view, contour, SEARCH_REACH_SIGMA * sigma_px * view.mm_per_px, ray_step_px(sigma_px)
    )
    if len(edges.ray) < MIN_EDGES:
        return None
    arm = contour.at_mm - place[:2]
    turning = contour.normals[:, 1] * arm[:, 0] - contour.normals[:, 0] * arm[:, 1]
    design = np.column_stack([contour.normals, turning])[edges.ray]
    rays, reach = len(contour.at_mm), float(base.length_mm / 2)
    ridge = np.diag([1e-3, 1e-3, reach**2 * 1e-3])
    step: Array = np.zeros(3)
    for share in np.linspace(0, 1, REWEIGHTING_ITERATIONS):
        sigma = view.mm_per_px * sigma_px * (NARROW_EDGE_SIGMA_PX / sigma_px) ** share
        weight = association_weights(edges, edges.radius_mm - design @ step, sigma, rays)
        information = design.T @ (design * weight[:, None]) + ridge
        step = np.asarray(
            np.linalg.solve(information, design.T @ (weight * edges.radius_mm)), float
        )
    noise = np.sum(weight * (edges.radius_mm - design @ step) ** 2) / max(weight.sum() - 3, 1)
    covariance = np.linalg.inv(information) * noise * CORRELATION_INFLATION**2
    by_ray = np.asarray(np.bincount(edges.ray, weight, rays), float)
    left = edges.radius_mm - design @ step
    spread = residual_sigma_mm(
        association_weights(edges, left, WIDE_EDGE_SIGMA_PX * view.mm_per_px, rays), left
    )
    return _ConvergedFit(base, place + step, covariance, spread, by_ray, contour, profile, upper)


def _contour_edges(
    view: LabPatch, contour: Contour, reach_mm: float, every_px: float = RAY_STEP_PX
) -> RadialEdges:
    """The edges across a contour, by how far outside it they lie."""
    reach = np.full(len(contour.at_mm), reach_mm)
    return find_radial_edges(view, contour.at_mm, contour.normals, -reach, reach, every_px)


def _assess_fit(view: LabPatch, settled: _ConvergedFit, start: PosePrior) -> _ConvergedFit:
    """The fit with its merit, and with the doubt that the edges alone do not show."""
    more = np.zeros((3, 3))
    unseen = float(np.mean(settled.weight <= MIN_RIM_WEIGHT))
    floor_px = np.hypot(
        MIN_PLACE_SIGMA_PX,
        HIDDEN_RIM_SIGMA_FACTOR * unseen * (settled.residual_sigma_mm / view.mm_per_px) ** 2,
    )
    more[:2, :2] = np.eye(2) * (floor_px * view.mm_per_px) ** 2
    more[2, 2] = (2 * MIN_PLACE_SIGMA_PX * view.mm_per_px / settled.base.length_mm) ** 2
    if settled.upper:
        lean = upper_rim_shift_mm(view.camera, settled.pose[:2], view.z_mm, settled.profile)
        lean = lean * HEIGHT_SIGMA_MM / settled.profile.height_mm
        more[:2, :2] += np.outer(lean, lean) + np.eye(2) * TAPER_SIGMA_MM**2 / 4
    away = float(np.sum(((settled.pose - start.pose) / start.sigma) ** 2))
    merit = (
        _visible_share(view, settled)
        - UPPER_RIM_PENALTY * settled.upper
        - START_DISTANCE_WEIGHT * away
    )
    return replace(settled, covariance=settled.covariance + more, merit=merit)


def _visible_share(view: LabPatch, settled: _ConvergedFit) -> float:
    """The shares of outline and upper edge that are seen."""
    shown = []
    for upper in (False, True):
        step_mm = RAY_SPACING_PX * view.mm_per_px
        contour = project_silhouette(
            view.camera,
            settled.base,
            settled.pose[:2],
            settled.pose[2],
            view.z_mm,
            settled.profile,
            upper,
            step_mm,
        )
        edges = _contour_edges(view, contour, 2 * NARROW_EDGE_SIGMA_PX * view.mm_per_px)
        weight = association_weights(
            edges, edges.radius_mm, NARROW_EDGE_SIGMA_PX * view.mm_per_px, len(contour.at_mm)
        )
        shown.append(
            float(np.mean(np.minimum(np.bincount(edges.ray, weight, len(contour.at_mm)), 1)))
        )
    return shown[0] + UPPER_RIM_WEIGHT * shown[1]

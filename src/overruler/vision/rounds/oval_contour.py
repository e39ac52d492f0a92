"""One oval of known size, fitted where the photo's own pixels show its edge: `fit`, with a heading to find besides.

Edges are looked for across the outline, square to it; those on one ray compete with each other and with "hidden".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.batched.draws import fused
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import (
    FLOOR_PX,
    HEIGHT_SIGMA_MM,
    LEAST_SEEN,
    TAPER_SIGMA_MM,
    UNSEEN,
    UPPER_PENALTY,
    UPPER_WORTH,
    sensitivity,
)
from overruler.vision.contours.outlines import Contour, contour_of
from overruler.vision.contours.radial_edges import SPACING_PX, STEP_PX, Edges, View, claims, edges_across, step_px
from overruler.vision.contours.rim_fit import CORRELATION, ITERATIONS, NARROW_PX, REACH_SIGMA, WIDE_PX, spread_of
from overruler.vision.contours.silhouette import PROFILES, Profile, lean_of

TRIED = tuple((profile, upper) for upper in (False, True) for profile in PROFILES)
"""What is fitted: the outline, and the upper edge, whatever the profile."""
NATS = 15.0
"""Log-likelihood of a whole outline seen against none of it, between fits of one base: counted on 305 rendered ovals,
as is `AWAY`; half or twice as much of either is hardly worse."""
AWAY = 0.02
"""How much more must be seen for each squared σ away from the start."""
FEWEST_EDGES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a fit starts, and how sure that is."""

    place: Array
    """(3,): x, y in mm and the heading in rad."""
    sigma: Array
    """(3,): 1 σ of each, taken as independent of each other."""


@dataclass(frozen=True, slots=True, eq=False)
class OvalFit:
    """Where an oval lies, if it is this oval."""

    base: Base
    place: Array
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
        return self.place[:2]

    @property
    def turn_rad(self) -> float:
        return float(self.place[2])

    @property
    def covariance_mm2(self) -> Array:
        """(2, 2) of the place; what the heading's doubt does to the outline, as if the whole base moved by it."""
        lever = (self.base.length_mm - self.base.width_mm) / 2
        return np.asarray(self.covariance[:2, :2] + np.eye(2) * self.covariance[2, 2] * lever**2 / 2)


def fit_oval(pixels: NDArray[np.uint8], camera: Camera, start: Start, base: Base, z_mm: float) -> OvalFit | None:
    """Fit (x, y, heading) of an oval of known size from a rough start; None where nothing is seen of it.

    The mean of the fits by each profile, by outline and by upper edge, weighed by how much each explains of what is
    seen (Bayesian model averaging), and of the start, by its own doubt.
    """
    view = View.around(pixels, camera, start.place[:2], base.length_mm / 2, z_mm)
    if view is None:
        return None
    tries = [_fit(view, start, base, profile, upper) for profile, upper in TRIED]
    settled = [one for one in tries if one is not None]
    return _with_start(_together(view, settled), start) if settled else None


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """One profile's fit at rest."""

    base: Base
    place: Array
    """(3,): x, y, heading."""
    covariance: Array
    spread_mm: float
    """1 σ of the edges about the outline, those counted that may well be something else."""
    weight: Array
    contour: Contour
    profile: Profile
    upper: bool
    merit: float = 0.0


def _together(view: View, tries: Sequence[_Settled]) -> OvalFit:
    """The mean of the fits by how much each explains; how far they lie apart is part of its doubt."""
    best = max(tries, key=lambda one: one.merit)
    weights = np.array([np.exp(NATS * (one.merit - best.merit)) for one in tries])
    weights /= weights.sum()
    places = np.stack([one.place for one in tries])
    mean = weights @ places
    apart = places - mean
    covariance = np.einsum("n,ni,nj->ij", weights, apart, apart)
    covariance += np.einsum("n,nij->ij", weights, np.stack([one.covariance for one in tries]))
    slopes = sensitivity(view, best.contour.at_mm, best.contour.normals, best.weight)
    return OvalFit(best.base, mean, covariance, slopes, np.minimum(best.weight, 1), best.merit)


def _with_start(fit: OvalFit, start: Start) -> OvalFit:
    """The fit and the start, each by its own doubt."""
    place, covariance = fused(fit.place, fit.covariance, start.place, np.diag(start.sigma**2))
    return replace(fit, place=place, covariance=covariance)


def _fit(view: View, start: Start, base: Base, profile: Profile, upper: bool) -> _Settled | None:
    """From a wide look to a narrow one."""
    wide_px = float(np.clip(start.sigma[:2].max() / view.mm_per_px, WIDE_PX, 5 * WIDE_PX))
    place, settled = start.place, None
    for sigma_px in (wide_px, (wide_px * WIDE_PX) ** 0.5, WIDE_PX):
        settled = _refine(view, place, base, profile, upper, sigma_px)
        if settled is None:
            return None
        place = settled.place
    return _judged(view, settled, start) if settled is not None else None


def _refine(view: View, place: Array, base: Base, profile: Profile, upper: bool, sigma_px: float) -> _Settled | None:
    step_mm = SPACING_PX * view.mm_per_px
    contour = contour_of(view.camera, base, place[:2], place[2], view.z_mm, profile, upper, step_mm)
    edges = _across(view, contour, REACH_SIGMA * sigma_px * view.mm_per_px, step_px(sigma_px))
    if len(edges.ray) < FEWEST_EDGES:
        return None
    arm = contour.at_mm - place[:2]
    turning = contour.normals[:, 1] * arm[:, 0] - contour.normals[:, 0] * arm[:, 1]
    design = np.column_stack([contour.normals, turning])[edges.ray]
    rays, reach = len(contour.at_mm), float(base.length_mm / 2)
    ridge = np.diag([1e-3, 1e-3, reach**2 * 1e-3])
    step: Array = np.zeros(3)
    for share in np.linspace(0, 1, ITERATIONS):
        sigma = view.mm_per_px * sigma_px * (NARROW_PX / sigma_px) ** share
        weight = claims(edges, edges.radius_mm - design @ step, sigma, rays)
        information = design.T @ (design * weight[:, None]) + ridge
        step = np.asarray(np.linalg.solve(information, design.T @ (weight * edges.radius_mm)), float)
    noise = np.sum(weight * (edges.radius_mm - design @ step) ** 2) / max(weight.sum() - 3, 1)
    covariance = np.linalg.inv(information) * noise * CORRELATION**2
    by_ray = np.asarray(np.bincount(edges.ray, weight, rays), float)
    left = edges.radius_mm - design @ step
    spread = spread_of(claims(edges, left, WIDE_PX * view.mm_per_px, rays), left)
    return _Settled(base, place + step, covariance, spread, by_ray, contour, profile, upper)


def _across(view: View, contour: Contour, reach_mm: float, every_px: float = STEP_PX) -> Edges:
    """The edges across a contour, by how far outside it they lie."""
    reach = np.full(len(contour.at_mm), reach_mm)
    return edges_across(view, contour.at_mm, contour.normals, -reach, reach, every_px)


def _judged(view: View, settled: _Settled, start: Start) -> _Settled:
    """The fit with its merit, and with the doubt that the edges alone do not show."""
    more = np.zeros((3, 3))
    unseen = float(np.mean(settled.weight <= LEAST_SEEN))
    floor_px = np.hypot(FLOOR_PX, UNSEEN * unseen * (settled.spread_mm / view.mm_per_px) ** 2)
    more[:2, :2] = np.eye(2) * (floor_px * view.mm_per_px) ** 2
    more[2, 2] = (2 * FLOOR_PX * view.mm_per_px / settled.base.length_mm) ** 2
    if settled.upper:
        lean = lean_of(view.camera, settled.place[:2], view.z_mm, settled.profile)
        lean = lean * HEIGHT_SIGMA_MM / settled.profile.height_mm
        more[:2, :2] += np.outer(lean, lean) + np.eye(2) * TAPER_SIGMA_MM**2 / 4
    away = float(np.sum(((settled.place - start.place) / start.sigma) ** 2))
    merit = _merit(view, settled) - UPPER_PENALTY * settled.upper - AWAY * away
    return replace(settled, covariance=settled.covariance + more, merit=merit)


def _merit(view: View, settled: _Settled) -> float:
    """The shares of outline and upper edge that are seen."""
    shown = []
    for upper in (False, True):
        step_mm = SPACING_PX * view.mm_per_px
        contour = contour_of(
            view.camera, settled.base, settled.place[:2], settled.place[2], view.z_mm, settled.profile, upper, step_mm
        )
        edges = _across(view, contour, 2 * NARROW_PX * view.mm_per_px)
        weight = claims(edges, edges.radius_mm, NARROW_PX * view.mm_per_px, len(contour.at_mm))
        shown.append(float(np.mean(np.minimum(np.bincount(edges.ray, weight, len(contour.at_mm)), 1))))
    return shown[0] + UPPER_WORTH * shown[1]

"""One oval or rectangle, fitted where the photo's own pixels show its edge: `fit`, with a heading to find besides.

Edges are looked for across the outline, square to it; those on one ray compete with each other and with "hidden".
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.fit import (
    AWAY,
    FLOOR_PX,
    HEIGHT_SIGMA_MM,
    LEAST_SEEN,
    TAPER_SIGMA_MM,
    UNSEEN,
    UPPER_PENALTY,
    UPPER_WORTH,
    sensitivity,
)
from overruler.vision.outlined import Contour, contour_of
from overruler.vision.rays import SPACING_PX, STEP_PX, Edges, View, claims, edges_across, step_px
from overruler.vision.rim_fit import CORRELATION, ITERATIONS, NARROW_PX, REACH_SIGMA, WIDE_PX, spread_of
from overruler.vision.silhouette import PROFILES, Profile, lean_of

KINDS = (*PROFILES, Profile("flat", 0.15, 2.6))
"""Rectangles are often flatter than round bases."""
TRIED = tuple((profile, upper) for upper in (False, True) for profile in KINDS)
"""What is fitted: the outline, and the upper edge, whatever the profile."""
NATS = 7.0
"""Log-likelihood of a whole outline seen against none of it, between fits of one base: neighbours in rank and file, and
the edges of what lies on top, are as straight and as long as the outline itself."""
CORNERED_PX = 0.4
"""1 σ of a rectangle's place that no number of edges gets below: straight edges slide along each other."""
TURN_SIGMA = 0.12
"""1 σ of the heading to start from, in rad."""
TURNS = (-0.09, 0.09)
"""The likeliest kind is fitted from headings so far off the guessed one too, in rad: the wide look reaches few degrees
alone."""
FEWEST_EDGES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a fit starts, and how sure that is."""

    xy_mm: Array
    sigma_mm: float
    turn_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class OutlineFit:
    """Where a base stands, if it is this base."""

    base: Base
    xy_mm: Array
    """(2,)."""
    turn_rad: float
    covariance: Array
    """(3, 3) of x, y in mm and the heading in rad, the camera taken as exact."""
    d_xy_d_camera: Array
    """(2, 15): over `geometry.camera.PARAMETERS`."""
    seen: Array
    """(K,): along the outline, how surely it was seen, 0 to 1."""
    merit: float
    profile: Profile
    upper: bool

    @property
    def covariance_mm2(self) -> Array:
        """(2, 2) of the place; what the heading's doubt does to the outline, as if the whole base moved by it."""
        lever = (self.base.length_mm - self.base.width_mm) / 2 if self.base.shape == "oval" else self.base.length_mm / 2
        return np.asarray(self.covariance[:2, :2] + np.eye(2) * self.covariance[2, 2] * lever**2 / 2)


def fit_outline(pixels: NDArray[np.uint8], camera: Camera, start: Start, base: Base, z_mm: float) -> OutlineFit | None:
    """Fit (x, y, heading) of a base of known size from a rough start; None where nothing is seen of it.

    Of the profiles, and of outline and upper edge, the one that explains most of what is seen is kept.
    """
    view = View.around(pixels, camera, start.xy_mm, base.length_mm / 2, z_mm)
    if view is None:
        return None
    settled = _all(_fit(view, start, base, profile, upper, 0.0) for profile, upper in TRIED)
    if not settled:
        return None
    best = max(settled, key=lambda one: one.merit)
    return _either(view, settled + _all(_fit(view, start, base, best.profile, best.upper, turn) for turn in TURNS))


def _all(tries: "Iterable[_Settled | None]") -> "list[_Settled]":
    return [one for one in tries if one is not None]


def _either(view: View, tries: "list[_Settled]") -> OutlineFit:
    """The best of the tries; how far the others lie that explain the photo nearly as well is part of its doubt."""
    best = max(tries, key=lambda one: one.merit)
    weights = np.array([np.exp(NATS * (one.merit - best.merit)) for one in tries])
    apart = np.stack([one.place - best.place for one in tries])
    spread = np.einsum("n,ni,nj->ij", weights / weights.sum(), apart, apart)
    slopes = sensitivity(view, best.contour.at_mm, best.contour.normals, best.weight)
    return OutlineFit(
        best.base,
        best.place[:2],
        float(best.place[2]),
        best.covariance + spread,
        slopes,
        np.minimum(best.weight, 1),
        best.merit,
        best.profile,
        best.upper,
    )


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


def _fit(view: View, start: Start, base: Base, profile: Profile, upper: bool, turn_rad: float) -> _Settled | None:
    """From a wide look to a narrow one, from a heading so far off the start's."""
    wide_px = float(np.clip(start.sigma_mm / view.mm_per_px, WIDE_PX, 5 * WIDE_PX))
    place = np.array([*start.xy_mm, start.turn_rad + turn_rad])
    settled = None
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
    floor_px = np.hypot(
        CORNERED_PX if settled.base.shape == "rectangle" else FLOOR_PX,
        UNSEEN * unseen * (settled.spread_mm / view.mm_per_px) ** 2,
    )
    more[:2, :2] = np.eye(2) * (floor_px * view.mm_per_px) ** 2
    more[2, 2] = (2 * FLOOR_PX * view.mm_per_px / settled.base.length_mm) ** 2
    if settled.upper:
        lean = lean_of(view.camera, settled.place[:2], view.z_mm, settled.profile)
        lean = lean * HEIGHT_SIGMA_MM / settled.profile.height_mm
        more[:2, :2] += np.outer(lean, lean) + np.eye(2) * TAPER_SIGMA_MM**2 / 4
    away = np.sum((settled.place[:2] - start.xy_mm) ** 2) / start.sigma_mm**2
    away += ((settled.place[2] - start.turn_rad) / TURN_SIGMA) ** 2
    merit = _merit(view, settled) - UPPER_PENALTY * settled.upper - AWAY * float(away)
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

"""One round base, fitted where the photo's own pixels show its edge.

The base is a truncated cone of known diameter standing on a plane z = const. Its outline in the photo is the silhouette
of two circles, the lower rim and the smaller or equal upper one some millimetres above: towards the camera the lower
rim shows, away from it the upper one may stick out. Along each of many radii the photo is sampled across the predicted
outline; every edge found there competes with the others and with "hidden", and the place (x, y) is the robust least
squares over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.rays import Edges, View, claims, edges_across, rays_of, step_px
from overruler.vision.silhouette import PROFILES, Profile, Rims, lean_of, rims_of

REACH_SIGMA = 2.2
"""How far from the predicted outline an edge is looked for."""
WIDE_PX, NARROW_PX = 1.0, 0.35
"""1 σ of an edge about the outline at the start of the last pass, and at its end."""
ITERATIONS = 6
MERIT_NATS = 12.0
"""Log-likelihood of a whole rim seen against none of it: how fast a fit that shows less becomes unlikely."""
CORRELATION = 3.2
"""Neighbouring radii share texture, shadow and blur: 1 σ is this much larger than independent edges would have it."""
LEAST_SEEN = 0.35
"""A rim counts as seen in a direction where its edge has at least this weight."""
UNSEEN = 6.0
"""1 σ of the place in px, over the variance of the edges about the rim in px² times the share of it not seen: where it
is hidden, blurred or lost against the mat, the rest may be something else. Counted on renders, clean and spoilt."""
INSIDE, OUTSIDE = 0.92, 1.12
"""Where a rim's colour is looked at, and the mat's beside it, in radii."""
UPPER_WORTH = 0.2
"""What seeing the upper rim says of a base, against seeing its outline."""
UPPER_PENALTY = 0.08
"""How much more must be seen to go by the upper rim, the outline being lost."""
AWAY = 0.04
"""How much more must be seen for each squared σ away from the start."""
TAPER_SIGMA_MM, HEIGHT_SIGMA_MM = 0.2, 0.4
"""1 σ of the upper rim's radius and of the base's height against the profile."""
FLOOR_PX = 0.12
"""1 σ of the place that no number of edges gets below: sharpening, coding, the rim's own roughness."""


Way = tuple[Profile, bool]
"""How a base is taken to be seen: its profile, and whether by its upper rim, the outline being lost."""
WAYS: tuple[Way, ...] = tuple((profile, upper) for profile in PROFILES for upper in (False, True))


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Where a base stands, if it is this base."""

    xy_mm: Array
    """(2,)."""
    covariance_mm2: Array
    """(2, 2), the camera taken as exact."""
    d_xy_d_camera: Array
    """(2, 15): over `geometry.camera.PARAMETERS`."""
    seen: Array
    """(K,): by angle from +x counter-clockwise, how surely the fitted rim was seen, 0 to 1."""
    merit: float
    """How much of the base's two rims the photo shows, for comparing fits of the same base."""
    profile: Profile
    upper: bool
    """Whether the upper rim was fitted, the lower one being lost against the mat."""
    shown: tuple[float, float] = (0.0, 0.0)
    """The shares of the outline and of the upper rim that the photo shows."""
    contrast: float = 0.0
    """How far the colours inside and outside of the fitted rim lie apart (L*a*b* units), median over the directions."""

    @property
    def support(self) -> float:
        """Share of the rim that was seen."""
        return float(self.seen.mean())


def fit_base(
    pixels: NDArray[np.uint8],
    camera: Camera,
    start_mm: Array,
    start_sigma_mm: float,
    radius_mm: float,
    z_mm: float,
    ways: Sequence[Way] = WAYS,
) -> Fit | None:
    """Fit (x, y) of a base of known radius from a rough start; None where nothing is seen of it.

    `pixels` (H, W, 3) is the photo, `start_mm` (2,) the guess and `start_sigma_mm` its 1 σ; the lower rim lies at
    `z_mm`. Of the ways to see it, profiles with outline or upper rim, the one that explains most is kept.
    """
    view = View.around(pixels, camera, start_mm, radius_mm, z_mm)
    if view is None:
        return None
    start = np.asarray(start_mm, float), float(np.clip(start_sigma_mm / view.mm_per_px, WIDE_PX, 4 * WIDE_PX))
    by_rim = [(upper, [profile for profile, which in ways if which == upper]) for upper in (False, True)]
    tries = [one for upper, profiles in by_rim for one in _fit(view, *start, radius_mm, profiles, upper)]
    sigma = max(start_sigma_mm, WIDE_PX * view.mm_per_px)
    settled = [_against_start(one, start[0], sigma) for one in tries]
    return _fused(_concluded(view, _either(settled)), start[0], start_sigma_mm) if settled else None


def _against_start(settled: "_Settled", start_mm: Array, sigma_mm: float) -> "_Settled":
    """A fit at rest with what speaks against it taken off its merit."""
    away = float(np.sum((settled.center_mm - start_mm) ** 2)) / sigma_mm**2
    return replace(settled, merit=settled.merit - UPPER_PENALTY * settled.upper - AWAY * away)


def _either(tries: "list[_Settled]") -> "_Settled":
    """The best of the tries; how far the others lie that explain the photo nearly as well is part of its doubt."""
    best = max(tries, key=lambda one: one.merit)
    weights = np.array([np.exp(MERIT_NATS * (one.merit - best.merit)) for one in tries])
    apart = np.stack([one.center_mm - best.center_mm for one in tries])
    spread = np.einsum("n,ni,nj->ij", weights / weights.sum(), apart, apart)
    return replace(best, covariance_mm2=best.covariance_mm2 + spread)


def _fused(fit: Fit, start_mm: Array, start_sigma_mm: float) -> Fit:
    """The fit and the guess it started from, each by its own doubt; where they disagree, the doubt grows."""
    guess = np.eye(2) * start_sigma_mm**2
    apart = start_mm - fit.xy_mm
    surprise = max(1.0, float(apart @ np.linalg.solve(fit.covariance_mm2 + guess, apart)) / 4)
    gain = fit.covariance_mm2 @ np.linalg.inv(fit.covariance_mm2 + guess)
    covariance = (np.eye(2) - gain) @ fit.covariance_mm2 * surprise
    return replace(fit, xy_mm=fit.xy_mm + gain @ apart, covariance_mm2=(covariance + covariance.T) / 2)


def _fit(
    view: View, center: Array, wide_px: float, radius_mm: float, profiles: Sequence[Profile], upper: bool
) -> "list[_Settled]":
    """From a wide look, by the first of the profiles for all of them, to a narrow one by each."""
    for sigma_px in (wide_px, (wide_px * WIDE_PX) ** 0.5) if wide_px > WIDE_PX else (WIDE_PX,):
        rough = _refine(view, center, radius_mm, profiles[0], upper, sigma_px) if profiles else None
        if rough is None:
            return []
        center = rough.center_mm
    settled = [_refine(view, center, radius_mm, profile, upper, WIDE_PX) for profile in profiles]
    return [_judged(view, one) for one in settled if one is not None]


def _shown(view: View, center_mm: Array, rims: Rims, directions: Array) -> tuple[float, float]:
    """The shares of outline and upper rim that are seen, the latter where it can be told from the former."""
    reach = 2 * NARROW_PX * view.mm_per_px
    edges = edges_across(view, center_mm, directions, rims.upper_mm - reach, rims.outline_mm + reach)
    shown = []
    for contour in (rims.outline_mm, rims.upper_mm):
        weight = claims(edges, edges.radius_mm - contour[edges.ray], NARROW_PX * view.mm_per_px, len(directions))
        shown.append(np.minimum(np.bincount(edges.ray, weight, len(directions)), 1))
    apart = rims.outline_mm - rims.upper_mm > view.mm_per_px
    return float(np.mean(shown[0])), float(np.mean(shown[1] * apart))


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """One profile's fit at rest."""

    center_mm: Array
    """(2,)."""
    covariance_mm2: Array
    """(2, 2)."""
    spread_mm: float
    """1 σ of the edges about the rim, those counted that may well be something else."""
    weight: Array
    """(K,): how surely the rim was seen on each ray."""
    directions: Array
    """(K, 2): the rays."""
    rims: Rims
    profile: Profile
    upper: bool
    shown: tuple[float, float] = (0.0, 0.0)
    merit: float = 0.0


def _refine(
    view: View, center_mm: Array, radius_mm: float, profile: Profile, upper: bool, sigma_px: float
) -> _Settled | None:
    directions = rays_of(radius_mm, view.mm_per_px)
    rims = rims_of(view.camera, center_mm, radius_mm, view.z_mm, profile, directions)
    contour, normals = rims.contour(upper)
    reach_mm = REACH_SIGMA * sigma_px * view.mm_per_px
    edges = edges_across(view, center_mm, directions, contour - reach_mm, contour + reach_mm, step_px(sigma_px))
    if len(edges.ray) < 8:
        return None
    slant = np.sum(normals * directions, axis=-1)[edges.ray]
    offset = (edges.radius_mm - contour[edges.ray]) * slant
    shift, weight, information = _settle(edges, normals, offset, view.mm_per_px, sigma_px)
    left = offset - normals[edges.ray] @ shift
    covariance = np.asarray(np.linalg.inv(information) * (spread_of(weight, left) * CORRELATION) ** 2)
    spread = spread_of(claims(edges, left, WIDE_PX * view.mm_per_px, len(directions)), left)
    by_ray = np.asarray(np.bincount(edges.ray, weight, len(directions)), float)
    return _Settled(center_mm + shift, covariance, spread, by_ray, directions, rims, profile, upper)


def spread_of(weight: Array, left_mm: Array) -> float:
    """1 σ of what is left of edges (M,) that a place (x, y) was fitted to."""
    return float(np.sqrt(np.sum(weight * left_mm**2) / max(weight.sum() - 2, 1)))


def _judged(view: View, settled: _Settled) -> _Settled:
    """The fit with its merit, and with the doubt that the edges alone do not show."""
    center = settled.center_mm
    unseen = float(np.mean(settled.weight <= LEAST_SEEN))
    floor_px = np.hypot(FLOOR_PX, UNSEEN * unseen * (settled.spread_mm / view.mm_per_px) ** 2)
    covariance = settled.covariance_mm2 + np.eye(2) * (floor_px * view.mm_per_px) ** 2
    if settled.upper:
        lean = lean_of(view.camera, center, view.z_mm, settled.profile) * HEIGHT_SIGMA_MM / settled.profile.height_mm
        covariance = covariance + np.outer(lean, lean) + np.eye(2) * TAPER_SIGMA_MM**2 / 4
    shown = _shown(view, center, settled.rims, settled.directions)
    return replace(settled, covariance_mm2=covariance, shown=shown, merit=shown[0] + UPPER_WORTH * shown[1])


def _concluded(view: View, settled: _Settled) -> Fit:
    """The chosen fit with all that is to be known of it."""
    center, upper = settled.center_mm, settled.upper
    contour, normals = settled.rims.contour(upper)
    rim = center + settled.directions * contour[:, None]
    slopes = sensitivity(view, rim, normals, settled.weight)
    seen, contrast = np.minimum(settled.weight, 1), _contrast(view, settled, contour)
    covariance, merit, shown = settled.covariance_mm2, settled.merit, settled.shown
    return Fit(center, covariance, slopes, seen, merit, settled.profile, upper, shown, contrast)


def _contrast(view: View, settled: _Settled, contour_mm: Array) -> float:
    """The length of the median step of colour from outside the rim to its inside."""
    reach = contour_mm[:, None] * settled.directions
    inside, outside = view.sample(settled.center_mm + np.array([INSIDE, OUTSIDE])[:, None, None] * reach)[0]
    return float(np.linalg.norm(np.median(inside - outside, axis=0)))


def _settle(
    edges: Edges, normals: Array, offset_mm: Array, mm_per_px: float, wide_px: float
) -> tuple[Array, Array, Array]:
    """The shift (2,) of the centre, each edge's weight (M,) and the information matrix (2, 2), by reweighting."""
    normal = normals[edges.ray]
    x, y = normal.T
    sums = np.stack([x * x, x * y, y * y, x * offset_mm, y * offset_mm], -1)
    shift, weight = np.zeros(2), edges.strength
    xx, xy, yy = 1.0, 0.0, 1.0
    for step in np.linspace(0, 1, ITERATIONS).tolist():
        sigma = mm_per_px * wide_px * (NARROW_PX / wide_px) ** step
        weight = claims(edges, offset_mm - normal @ shift, sigma, len(normals))
        xx, xy, yy, right, up = (weight @ sums).tolist()
        xx, yy = xx + 1e-3, yy + 1e-3
        shift = np.array([yy * right - xy * up, xx * up - xy * right]) / (xx * yy - xy * xy)  # solved by Cramer's rule
    return shift, weight, np.array([[xx, xy], [xy, yy]])


def sensitivity(view: View, rim_mm: Array, normals: Array, weight: Array) -> Array:
    """d (x, y) / d camera (2, 15): the edges stay where they are in the photo while the camera moves."""
    points = np.concatenate([rim_mm, np.full((len(rim_mm), 1), view.z_mm)], -1)
    _, d_point, d_camera = view.camera.jacobians(points)
    d_rim = -np.linalg.solve(d_point[..., :2], d_camera)
    information = normals.T @ (normals * weight[:, None]) + np.eye(2) * 1e-3
    return np.asarray(np.linalg.solve(information, np.einsum("ki,k,kj,kjp->ip", normals, weight, normals, d_rim)))

"""Round bases, fitted where the photo's own pixels show their edge.

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

from overruler.geometry.batched.draws import fuse_measurements
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rim_fit import (
    WIDE_EDGE_SIGMA_PX,
    BaseHypothesis,
    FitAttempt,
    FittedRim,
    PlaceKey,
    fit_rims,
    visible_rim_shares,
)
from overruler.vision.contours.silhouette import Profile, upper_rim_shift_mm

BATCH_SIZE = 32
"""So many bases are fitted together: what more of them leave behind no cache holds."""
MERIT_NATS = 12.0
"""Log-likelihood of a whole rim seen against none of it: how fast a fit that shows less becomes unlikely."""
MIN_RIM_WEIGHT = 0.35
"""A rim counts as seen in a direction where its edge has at least this weight."""
HIDDEN_RIM_SIGMA_FACTOR = 6.0
"""1 σ of the place in px, over the variance of the edges about the rim in px² times the share of it not seen: where it
is hidden, blurred or lost against the mat, the rest may be something else. Counted on renders, clean and spoilt."""
INNER_COLOUR_RADII, OUTER_COLOUR_RADII = 0.92, 1.12
"""Where a rim's colour is looked at, and the mat's beside it, in radii."""
UPPER_RIM_WEIGHT = 0.2
"""What seeing the upper rim says of a base, against seeing its outline."""
UPPER_RIM_PENALTY = 0.08
"""How much more must be seen to go by the upper rim, the outline being lost."""
START_DISTANCE_PENALTY = 0.04
"""How much more must be seen for each squared σ away from the start."""
TAPER_SIGMA_MM, HEIGHT_SIGMA_MM = 0.2, 0.4
"""1 σ of the upper rim's radius and of the base's height against the profile."""
MIN_PLACE_SIGMA_PX = 0.12
"""1 σ of the place that no number of edges gets below: sharpening, coding, the rim's own roughness."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseFit:
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
    visible_shares: tuple[float, float] = (0.0, 0.0)
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
) -> BaseFit | None:
    """Fit (x, y) of a base of known radius from a rough start; None where nothing is seen of it.

    `pixels` (H, W, 3) is the photo, `start_mm` (2,) the guess and `start_sigma_mm` its 1 σ; the lower rim lies at
    `z_mm`. Of the ways to see it, profiles with outline or upper rim, the one that explains most is kept.
    """
    return fit_bases(
        pixels,
        camera,
        [BaseHypothesis(np.asarray(start_mm, float), start_sigma_mm, radius_mm, z_mm)],
    )[0]


def fit_bases(
    pixels: NDArray[np.uint8], camera: Camera, sought: Sequence[BaseHypothesis]
) -> list[BaseFit | None]:
    """The same for many bases: some at a time they take a fraction of the time."""
    some = [sought[start : start + BATCH_SIZE] for start in range(0, len(sought), BATCH_SIZE)]
    return [fit for part in some for fit in _fit_batch(pixels, camera, part)]


def _fit_batch(
    pixels: NDArray[np.uint8], camera: Camera, sought: Sequence[BaseHypothesis]
) -> list[BaseFit | None]:
    views = _crop_patches(pixels, camera, sought)
    tries = [
        FitAttempt(one, view, one.start_mm, profiles[0], upper)
        for one in sought
        if (view := views[one.place]) is not None
        for upper in (False, True)
        if (profiles := one.profiles(upper))
    ]
    at_rest = _score_fits(fit_rims(tries))
    chosen = [
        _select_best([_penalize_departure(one) for one in at_rest if one.hypothesis is each])
        for each in sought
    ]
    fits = iter(_to_base_fits(camera, [one for one in chosen if one is not None]))
    return [None if one is None else _fuse_with_start(next(fits), one.hypothesis) for one in chosen]


def _crop_patches(
    pixels: NDArray[np.uint8], camera: Camera, sought: Sequence[BaseHypothesis]
) -> dict[PlaceKey, LabPatch | None]:
    """What is round each place, as far as the largest base reaches that is sought there."""
    largest: dict[PlaceKey, float] = {}
    for one in sought:
        largest[one.place] = max(one.radius_mm, largest.get(one.place, 0.0))
    return {
        place: LabPatch.crop_around(pixels, camera, np.array(place[:2]), radius, place[2])
        for place, radius in largest.items()
    }


def _penalize_departure(settled: FittedRim) -> FittedRim:
    """A fit at rest with what speaks against it taken off its merit."""
    sigma_mm = max(settled.hypothesis.start_sigma_mm, WIDE_EDGE_SIGMA_PX * settled.view.mm_per_px)
    away = float(np.sum((settled.center_mm - settled.hypothesis.start_mm) ** 2)) / sigma_mm**2
    return replace(
        settled,
        merit=settled.merit - UPPER_RIM_PENALTY * settled.upper - START_DISTANCE_PENALTY * away,
    )


def _select_best(tries: Sequence[FittedRim]) -> FittedRim | None:
    """The best of the tries; how far the others lie that explain the photo nearly as well is part of its doubt."""
    if not tries:
        return None
    best = max(tries, key=lambda one: one.merit)
    weights = np.array([np.exp(MERIT_NATS * (one.merit - best.merit)) for one in tries])
    apart = np.stack([one.center_mm - best.center_mm for one in tries])
    spread = np.einsum("n,ni,nj->ij", weights / weights.sum(), apart, apart)
    return replace(best, covariance_mm2=best.covariance_mm2 + spread)


def _fuse_with_start(fit: BaseFit, sought: BaseHypothesis) -> BaseFit:
    """The fit and the guess it started from, each by its own doubt; where they disagree, the doubt grows."""
    guess = np.eye(2) * sought.start_sigma_mm**2
    apart = sought.start_mm - fit.xy_mm
    surprise = max(1.0, float(apart @ np.linalg.solve(fit.covariance_mm2 + guess, apart)) / 4)
    xy, covariance = fuse_measurements(fit.xy_mm, fit.covariance_mm2, sought.start_mm, guess)
    return replace(fit, xy_mm=xy, covariance_mm2=covariance * surprise)


def _score_fits(settled: Sequence[FittedRim]) -> list[FittedRim]:
    """The fits with their merit, and with the doubt that the edges alone do not show."""
    return [
        replace(
            one,
            covariance_mm2=one.covariance_mm2 + _systematic_covariance(one),
            visible_shares=shown,
            merit=shown[0] + UPPER_RIM_WEIGHT * shown[1],
        )
        for one, shown in zip(settled, visible_rim_shares(settled), strict=True)
    ]


def _systematic_covariance(settled: FittedRim) -> Array:
    """What the edges alone do not show (2, 2)."""
    view, profile = settled.view, settled.profile
    unseen = float(np.mean(settled.weight <= MIN_RIM_WEIGHT))
    floor_px = np.hypot(
        MIN_PLACE_SIGMA_PX,
        HIDDEN_RIM_SIGMA_FACTOR * unseen * (settled.spread_mm / view.mm_per_px) ** 2,
    )
    covariance = np.eye(2) * (floor_px * view.mm_per_px) ** 2
    if settled.upper:
        lean = (
            upper_rim_shift_mm(view.camera, settled.center_mm, view.z_mm, profile)
            * HEIGHT_SIGMA_MM
            / profile.height_mm
        )
        covariance = covariance + np.outer(lean, lean) + np.eye(2) * TAPER_SIGMA_MM**2 / 4
    return np.asarray(covariance)


def _to_base_fits(camera: Camera, chosen: Sequence[FittedRim]) -> list[BaseFit]:
    """The chosen fits with all that is to be known of them."""
    if not chosen:
        return []
    contours = [one.rims.contour(one.upper) for one in chosen]
    rims = [
        _lift_to_height(one.center_mm + one.directions * contour[:, None], one.view.z_mm)
        for one, (contour, _) in zip(chosen, contours, strict=True)
    ]
    d_rims = np.split(
        camera.board_point_jacobian(np.concatenate(rims)),
        np.cumsum([len(rim) for rim in rims])[:-1],
    )
    return [
        BaseFit(
            xy_mm=one.center_mm,
            covariance_mm2=one.covariance_mm2,
            d_xy_d_camera=_place_jacobian(normals, one.weight, d_rim),
            seen=np.minimum(one.weight, 1),
            merit=one.merit,
            profile=one.profile,
            upper=one.upper,
            visible_shares=one.visible_shares,
            contrast=_rim_contrast(one, contour),
        )
        for one, (contour, normals), d_rim in zip(chosen, contours, d_rims, strict=True)
    ]


def _rim_contrast(settled: FittedRim, contour_mm: Array) -> float:
    """The length of the median step of colour from outside the rim to its inside."""
    reach = contour_mm[:, None] * settled.directions
    inside, outside = settled.view.sample_board(
        settled.center_mm
        + np.array([INNER_COLOUR_RADII, OUTER_COLOUR_RADII])[:, None, None] * reach
    )[0]
    return float(np.linalg.norm(np.median(inside - outside, axis=0)))


def camera_jacobian(view: LabPatch, rim_mm: Array, normals: Array, weight: Array) -> Array:
    """d (x, y) / d camera (2, 15): the edges stay where they are in the photo while the camera moves."""
    return _place_jacobian(
        normals, weight, view.camera.board_point_jacobian(_lift_to_height(rim_mm, view.z_mm))
    )


def _lift_to_height(xy_mm: Array, z_mm: float) -> Array:
    return np.asarray(np.column_stack([xy_mm, np.full(len(xy_mm), z_mm)]))


def _place_jacobian(normals: Array, weight: Array, d_rim: Array) -> Array:
    """How a place moves (2, 15) that follows a rim with normals (K, 2) which moves by `d_rim` (K, 2, 15)."""
    weighted = normals * weight[:, None]
    information = normals.T @ weighted + np.eye(2) * 1e-3
    return np.asarray(
        np.linalg.solve(information, weighted.T @ np.einsum("kj,kjp->kp", normals, d_rim))
    )

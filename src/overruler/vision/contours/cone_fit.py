"""Fit round bases to their edges in the photo's own pixels.

A base is a truncated cone of known diameter on a plane z = const. Its outline in the photo is the
silhouette of two circles: the lower rim, and the smaller or equal upper rim some millimetres above.
The lower rim shows towards the camera; away from it the upper one may stick out. `rim_fit` fits
each way to see a base. This module chooses the best one and states its covariance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.draws import fuse_measurements
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
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
"""Bases that are fitted together. The intermediate results of more fit no cache."""
SCORED_TOGETHER = 48
"""Fits whose rims are looked at together: the rays across them take a megabyte a fit in fine photos."""
MERIT_NATS = 12.0
"""Log-likelihood of a whole visible rim against an invisible one, in nats."""
HIDDEN_RIM_SIGMA_FACTOR = 6.0
"""1 σ of the place in px, for each px² of the edges' variance and each unit of the unseen share.

Where the rim is hidden, blurred or lost against the mat, the edges found may be something else's.
Counted on renders, clean and degraded.
"""
INNER_COLOUR_RADII = 0.92
"""Where a rim's own colour is sampled, in radii."""
OUTER_COLOUR_RADII = 1.12
"""Where the mat's colour beside it is sampled, in radii."""
UPPER_RIM_WEIGHT = 0.2
"""Weight of the upper rim's visible share in the merit, against the outline's."""
UPPER_RIM_PENALTY = 0.08
"""Merit lost by a fit of the upper rim instead of the outline."""
START_DISTANCE_PENALTY = 0.04
"""Merit lost for each squared σ away from the start."""
TAPER_SIGMA_MM = 0.2
"""1 σ of the upper rim's radius against the profile, in mm."""
HEIGHT_SIGMA_MM = 0.4
"""1 σ of the base's height against the profile, in mm."""
MIN_PLACE_SIGMA_PX = 0.12
"""Least 1 σ of the place, in px: sharpening, compression and the rim's roughness."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseFit:
    """The fitted place of a base."""

    xy_mm: Array
    """(2,)."""
    covariance_mm2: Array
    """(2, 2), for an exact camera."""
    d_xy_d_camera: Array
    """(2, 15): derivatives by `geometry.camera.CAMERA_PARAMETERS`."""
    seen: Array
    """(K,): weight of the fitted rim by angle from +x counter-clockwise, 0 to 1."""
    merit: float
    """How much of both rims the photo shows; compares fits of the same base."""
    profile: Profile
    """The profile that fits best."""
    upper: bool
    """Whether the upper rim was fitted, because the lower one is lost against the mat."""
    visible_shares: tuple[float, float] = (0.0, 0.0)
    """Visible shares of the outline and of the upper rim."""
    contrast: float = 0.0
    """Colour difference across the fitted rim in L*a*b* units, median over the directions."""

    @property
    def support(self) -> float:
        """Visible share of the rim."""
        return float(self.seen.mean())


def fit_base(
    pixels: NDArray[np.uint8],
    camera: Camera,
    start_mm: Array,
    start_sigma_mm: float,
    radius_mm: float,
    z_mm: float,
) -> BaseFit | None:
    """Fit the place of a base of known radius from a rough start; None where nothing of it is seen.

    `pixels` (H, W, 3) is the photo, `start_mm` (2,) the expected place and `start_sigma_mm` its 1
    σ. The lower rim lies at `z_mm`. Every profile is tried by its outline and by its upper rim.
    """
    start = np.asarray(start_mm, float)
    return fit_bases(pixels, camera, [BaseHypothesis(start, start_sigma_mm, radius_mm, z_mm)])[0]


def fit_bases(
    pixels: NDArray[np.uint8], camera: Camera, sought: Sequence[BaseHypothesis]
) -> list[BaseFit | None]:
    """Fit many bases in batches, which is several times as fast as one by one."""
    fits: list[BaseFit | None] = []
    for start in range(0, len(sought), BATCH_SIZE):
        fits += _fit_batch(pixels, camera, sought[start : start + BATCH_SIZE])
    return fits


def _fit_batch(
    pixels: NDArray[np.uint8], camera: Camera, sought: Sequence[BaseHypothesis]
) -> list[BaseFit | None]:
    views = _crop_patches(pixels, camera, sought)
    tries: list[FitAttempt] = []
    for hypothesis in sought:
        view = views[hypothesis.place]
        if view is not None:
            tries += _first_attempts(hypothesis, view)
    scored = [_penalize_departure(fit) for fit in _score_fits(fit_rims(tries))]
    best = [
        _select_best([fit for fit in scored if fit.hypothesis is hypothesis])
        for hypothesis in sought
    ]
    found = iter(_to_base_fits(camera, [fit for fit in best if fit is not None]))
    return [None if fit is None else _fuse_with_start(next(found), fit.hypothesis) for fit in best]


def _first_attempts(hypothesis: BaseHypothesis, view: LabPatch) -> list[FitAttempt]:
    """Start with the first profile by its outline, and with the first by its upper rim."""
    attempts = []
    for upper in (False, True):
        profiles = hypothesis.profiles(upper)
        if profiles:
            start_mm = hypothesis.start_mm
            attempts.append(FitAttempt(hypothesis, view, start_mm, profiles[0], upper))
    return attempts


def _crop_patches(
    pixels: NDArray[np.uint8], camera: Camera, sought: Sequence[BaseHypothesis]
) -> dict[PlaceKey, LabPatch | None]:
    """Crop the photo around each place, wide enough for the largest base expected there."""
    largest: dict[PlaceKey, float] = {}
    for hypothesis in sought:
        radius_mm = largest.get(hypothesis.place, 0.0)
        largest[hypothesis.place] = max(hypothesis.radius_mm, radius_mm)
    return {
        place: LabPatch.crop_around(pixels, camera, np.array(place[:2]), radius_mm, place[2])
        for place, radius_mm in largest.items()
    }


def _penalize_departure(settled: FittedRim) -> FittedRim:
    """Reduce a fit's merit by its distance from the start, and if it uses the upper rim."""
    hypothesis = settled.hypothesis
    sigma_mm = max(hypothesis.start_sigma_mm, WIDE_EDGE_SIGMA_PX * settled.view.mm_per_px)
    squared_mm2 = float(np.sum((settled.center_mm - hypothesis.start_mm) ** 2))
    merit = settled.merit - UPPER_RIM_PENALTY * settled.upper
    return replace(settled, merit=merit - START_DISTANCE_PENALTY * (squared_mm2 / sigma_mm**2))


def _select_best(tries: Sequence[FittedRim]) -> FittedRim | None:
    """Select the fit with the most merit.

    Its covariance grows by the distance of other fits that explain the photo nearly as well.
    """
    if not tries:
        return None
    best = max(tries, key=lambda fit: fit.merit)
    weights = np.array([np.exp(MERIT_NATS * (fit.merit - best.merit)) for fit in tries])
    apart = np.stack([fit.center_mm - best.center_mm for fit in tries])
    spread = np.einsum("n,ni,nj->ij", weights / weights.sum(), apart, apart)
    return replace(best, covariance_mm2=best.covariance_mm2 + spread)


def _fuse_with_start(fit: BaseFit, sought: BaseHypothesis) -> BaseFit:
    """Fuse a fit with its start; the covariance is inflated where they disagree."""
    start_mm2 = np.eye(2) * sought.start_sigma_mm**2
    apart = sought.start_mm - fit.xy_mm
    chi2 = float(apart @ np.linalg.solve(fit.covariance_mm2 + start_mm2, apart))
    inflation = max(1.0, chi2 / 4)
    xy, covariance = fuse_measurements(fit.xy_mm, fit.covariance_mm2, sought.start_mm, start_mm2)
    return replace(fit, xy_mm=xy, covariance_mm2=covariance * inflation)


def _score_fits(settled: Sequence[FittedRim]) -> list[FittedRim]:
    """Add merit, visible shares and systematic covariance to fits."""
    scored = []
    shares: list[tuple[float, float]] = []
    for start in range(0, len(settled), SCORED_TOGETHER):
        shares += visible_rim_shares(settled[start : start + SCORED_TOGETHER])
    for fit, (outline, upper) in zip(settled, shares, strict=True):
        covariance = fit.covariance_mm2 + _systematic_covariance(fit)
        merit = outline + UPPER_RIM_WEIGHT * upper
        scored.append(
            replace(fit, covariance_mm2=covariance, visible_shares=(outline, upper), merit=merit)
        )
    return scored


def _systematic_covariance(settled: FittedRim) -> Array:
    """Return the covariance (2, 2) that the scatter of the edges does not show."""
    view, profile = settled.view, settled.profile
    unseen = float(np.mean(settled.weight <= MIN_RIM_WEIGHT))
    variance_px2 = (settled.spread_mm / view.mm_per_px) ** 2
    floor_px = np.hypot(MIN_PLACE_SIGMA_PX, HIDDEN_RIM_SIGMA_FACTOR * unseen * variance_px2)
    covariance = np.eye(2) * (floor_px * view.mm_per_px) ** 2
    if settled.upper:
        shift_mm = upper_rim_shift_mm(view.camera, settled.center_mm, view.z_mm, profile)
        lean = shift_mm * HEIGHT_SIGMA_MM / profile.height_mm
        covariance = covariance + np.outer(lean, lean)
        covariance = covariance + np.eye(2) * TAPER_SIGMA_MM**2 / 4
    return np.asarray(covariance)


def _to_base_fits(camera: Camera, chosen: Sequence[FittedRim]) -> list[BaseFit]:
    """Complete the chosen fits."""
    if not chosen:
        return []
    contours = [fit.rims.contour(fit.upper) for fit in chosen]
    rims = []
    for fit, (contour, _) in zip(chosen, contours, strict=True):
        rim_mm = fit.center_mm + fit.directions * contour[:, None]
        rims.append(_lift_to_height(rim_mm, fit.view.z_mm))
    jacobian = camera.board_point_jacobian(np.concatenate(rims))
    d_rims = np.split(jacobian, np.cumsum([len(rim) for rim in rims])[:-1])
    return [
        BaseFit(
            xy_mm=fit.center_mm,
            covariance_mm2=fit.covariance_mm2,
            d_xy_d_camera=_place_jacobian(normals, fit.weight, d_rim),
            seen=np.minimum(fit.weight, 1),
            merit=fit.merit,
            profile=fit.profile,
            upper=fit.upper,
            visible_shares=fit.visible_shares,
            contrast=_rim_contrast(fit, contour),
        )
        for fit, (contour, normals), d_rim in zip(chosen, contours, d_rims, strict=True)
    ]


def _rim_contrast(settled: FittedRim, contour_mm: Array) -> float:
    """Return the length of the median colour step from outside the rim to its inside."""
    reach = contour_mm[:, None] * settled.directions
    radii = np.array([INNER_COLOUR_RADII, OUTER_COLOUR_RADII])
    places_mm = settled.center_mm + radii[:, None, None] * reach
    (inside, outside), _ = settled.view.sample_board(places_mm)
    return float(np.linalg.norm(np.median(inside - outside, axis=0)))


def camera_jacobian(view: LabPatch, rim_mm: Array, normals: Array, weight: Array) -> Array:
    """Return d (x, y) / d camera (2, 15), with the edges fixed in the photo."""
    points = _lift_to_height(rim_mm, view.z_mm)
    return _place_jacobian(normals, weight, view.camera.board_point_jacobian(points))


def _lift_to_height(xy_mm: Array, z_mm: float) -> Array:
    height = np.full(len(xy_mm), z_mm)
    return np.asarray(np.column_stack([xy_mm, height]))


def _place_jacobian(normals: Array, weight: Array, d_rim: Array) -> Array:
    """Return d place (2, 15) for rim points moving by `d_rim` (K, 2, 15), normals (K, 2)."""
    weighted = normals * weight[:, None]
    information = normals.T @ weighted + np.eye(2) * 1e-3
    along_normal = np.einsum("kj,kjp->kp", normals, d_rim)
    return np.asarray(np.linalg.solve(information, weighted.T @ along_normal))

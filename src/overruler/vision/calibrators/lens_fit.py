"""Calibration of a lens from several photos of a calibration sheet.

The parameters are the lens, the deformation of the paper (printed longer than wide, bent on its
support), and a pose for each photo. The covariance is scaled by the residuals and by how much the
photos disagree with one another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.calibrators.charuco import MIN_CORNERS, ChartCorners
from overruler.vision.calibrators.initial_focal import estimate_initial_poses, initial_focal_px
from overruler.vision.calibrators.left_out import join_reasons
from overruler.vision.calibrators.sheet_model import (
    FIXED_ZOOM_SIGMA,
    PoseAndZoom,
    SheetAdjustment,
    SheetSolution,
)
from overruler.vision.least_squares.schur_solver import invert_information

MIN_PHOTOS = 3
"""Smallest number of photos for a lens."""
OUTLIER_RATIO = 4.5
"""A corner whose residual is this many times the median one of its photo is an outlier."""
MIN_TYPICAL_RESIDUAL_PX = 0.01
"""Lower limit of that median."""
MAX_DISAGREEMENT = 4.0
"""Disagreement above which a photo is left out if the others then fit better by this factor."""
MAX_RMS_PX = 0.3
"""Root mean square residual of a photo above which one is left out, under the same condition."""
MAX_RATIO_TO_RUNNER_UP = 0.5
"""Without the outlier the covariance factor is at most this share of that without any other."""
ZOOM_DISAGREEMENT = 1.15
"""Disagreement of the photos above which each may have its own zoom."""
ZOOM_SIGMAS = (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
"""1 σ of the zooms that are tried, as shares of the focal length."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoFit:
    """One photo in the fit of a lens."""

    name: str
    """The photo's name."""
    corners: ChartCorners
    """The sheet's corners, in the lens's pixels: as stored, before any EXIF rotation."""
    camera: Camera
    """The lens at this photo's pose over the sheet."""
    rms_px: float
    """Root mean square residual along an axis."""

    @property
    def tilt_deg(self) -> float:
        """Angle between the sheet's normal and the camera's axis."""
        return self.camera.tilt_deg


@dataclass(frozen=True, slots=True, eq=False)
class LensFit:
    """A calibrated lens, and what it is based on."""

    lens: Lens
    """The lens with its covariance."""
    photos: tuple[PhotoFit, ...]
    """The photos used."""
    left_out: dict[str, str]
    """Each photo left out, with the reason."""
    rms_px: float
    """Root mean square residual over all corners, along an axis."""
    disagreement: float
    """Scatter between photos against the noise of their corners; 1 as expected."""
    zoom_sigma: float
    """1 σ of the photos' own zooms by focusing, as a share; 0 if no photo shows any."""
    stretch_share: float
    """How much longer the sheet was printed along than across."""
    bow_mm: float
    """Height of the sheet's centre over its edges."""
    information: Array
    """(12, 12): information matrix of lens and paper, the inverse of the covariance."""


def fit_lens(
    size_px: tuple[int, int], sightings: Mapping[str, ChartCorners], focal_px: float | None = None
) -> LensFit:
    """Fit the lens of pictures of `size_px` to sightings of the sheet, by photo name.

    Photos that contradict the others are left out. `CannotMeasure` if fewer than three remain.
    """
    left_out: dict[str, str] = {}
    while True:
        photos = {name: sighting for name, sighting in sightings.items() if name not in left_out}
        _check_enough_photos(photos, left_out)
        focal = initial_focal_px(size_px, list(photos.values()), focal_px)
        poses, rejected = estimate_initial_poses(size_px, photos, focal)
        if not rejected:
            adjustment = SheetAdjustment(size_px, photos, focal)
            adjustment, solution = _remove_outlier_corners(adjustment, poses)
            rejected = _find_outlier_photo(adjustment, solution)
            if not rejected:
                adjustment, solution = _fit_focus_zoom(adjustment, solution)
                return _build_lens_fit(adjustment, solution, left_out)
        left_out |= rejected


def _check_enough_photos(photos: Mapping[str, ChartCorners], left_out: Mapping[str, str]) -> None:
    if len(photos) >= MIN_PHOTOS:
        return
    raise CannotMeasure(
        f"{len(photos)} of the photos {'shows' if len(photos) == 1 else 'show'} the sheet well enough, "
        f"{MIN_PHOTOS} are needed, ten are better{join_reasons(left_out)}"
    )


# --- outliers ---


def _remove_outlier_corners(
    adjustment: SheetAdjustment, poses: Sequence[PoseAndZoom]
) -> tuple[SheetAdjustment, SheetSolution]:
    """The solution without outlying corners, and the problem that it solves."""
    solution = adjustment.solve(poses)
    inliers = [_inlier_corners(adjustment, k, solution) for k in range(len(poses))]
    if all(good.all() for good in inliers):
        return adjustment, solution
    photos = dict(adjustment.photos)
    for (name, sighting), good in zip(adjustment.photos.items(), inliers, strict=True):
        if good.sum() >= MIN_CORNERS:
            photos[name] = sighting.select_corners(good)
    cleaned = adjustment.with_photos(photos)
    return cleaned, cleaned.solve(solution.own)


def _inlier_corners(
    adjustment: SheetAdjustment, photo: int, solution: SheetSolution
) -> NDArray[np.bool_]:
    residual = adjustment.corner_residuals_px(photo, solution.shared, solution.own[photo])
    distance = np.linalg.norm(residual, axis=1)
    typical = max(float(np.median(distance)), MIN_TYPICAL_RESIDUAL_PX)
    return np.asarray(distance < OUTLIER_RATIO * typical)


def _find_outlier_photo(adjustment: SheetAdjustment, solution: SheetSolution) -> dict[str, str]:
    """The one photo without which the others fit far better, with the reason; empty if none."""
    count = len(solution.own)
    if count <= MIN_PHOTOS or not _needs_outlier_search(adjustment, solution):
        return {}
    factors = [
        _covariance_factor(_solve_without(adjustment, solution, photo)) for photo in range(count)
    ]
    photo = int(np.argmin(factors))
    best, runner_up = sorted(factors)[:2]
    factor = _covariance_factor(solution)
    if best > min(factor / MAX_DISAGREEMENT, MAX_RATIO_TO_RUNNER_UP * runner_up):
        return {}
    times = np.sqrt(factor / best)
    question = "was the sheet bent, or the zoom another?"
    reason = f"without it the others fit {times:.0f} times better; {question}"
    return {list(adjustment.photos)[photo]: reason}


def _needs_outlier_search(adjustment: SheetAdjustment, solution: SheetSolution) -> bool:
    """Whether the photos disagree, or one of them has large residuals."""
    if solution.disagreement > MAX_DISAGREEMENT:
        return True
    return float(_photo_rms_px(adjustment, solution).max()) > MAX_RMS_PX


def _covariance_factor(solution: SheetSolution) -> float:
    return solution.variance_factor * max(solution.disagreement, 1.0)


def _solve_without(
    adjustment: SheetAdjustment, solution: SheetSolution, photo: int
) -> SheetSolution:
    photos = dict(adjustment.photos)
    del photos[list(photos)[photo]]
    poses = [own for k, own in enumerate(solution.own) if k != photo]
    return adjustment.with_photos(photos).solve(poses)


def _photo_rms_px(adjustment: SheetAdjustment, solution: SheetSolution) -> Array:
    """(K,): each photo's root mean square residual along an axis."""
    residuals = [
        adjustment.corner_residuals_px(k, solution.shared, own)
        for k, own in enumerate(solution.own)
    ]
    return np.array([np.sqrt(np.mean(residual**2)) for residual in residuals])


# --- zooms by focusing ---


def _fit_focus_zoom(
    adjustment: SheetAdjustment, solution: SheetSolution
) -> tuple[SheetAdjustment, SheetSolution]:
    """The solution under the most likely σ of the photos' zooms: phones focus anew for each photo."""
    if solution.disagreement < ZOOM_DISAGREEMENT:
        return adjustment, solution
    poses = [PoseAndZoom(own.pose) for own in solution.own]
    widest = adjustment.with_zooms(ZOOM_SIGMAS[-1]).solve(poses, solution.shared)
    variance = widest.variance_factor
    best, best_likelihood = None, -np.inf
    for zoom_sigma in (FIXED_ZOOM_SIGMA, *ZOOM_SIGMAS):
        trial = adjustment.with_zooms(zoom_sigma, variance)
        trial_solution = trial.solve(poses, solution.shared)
        normalization = len(poses) * np.log(zoom_sigma)
        likelihood = trial_solution.log_likelihood - normalization
        if best is None or likelihood > best_likelihood:
            best, best_likelihood = (trial, trial_solution), likelihood
    assert best is not None
    return best


# --- the lens ---


def _build_lens_fit(
    adjustment: SheetAdjustment, solution: SheetSolution, left_out: Mapping[str, str]
) -> LensFit:
    shared, values = solution.shared, solution.shared.values
    covariance = solution.covariance()
    zoom_px = values[:2] * adjustment.zoom_sigma  # the next photo has a zoom of its own, too
    covariance[:2, :2] += np.outer(zoom_px, zoom_px)
    unzoomed = shared.camera(PoseAndZoom(solution.own[0].pose))
    rms = _photo_rms_px(adjustment, solution)
    photos = tuple(
        PhotoFit(name, sighting, shared.camera(own), float(photo_rms))
        for (name, sighting), own, photo_rms in zip(
            adjustment.photos.items(), solution.own, rms, strict=True
        )
    )
    counts = [len(sighting.xy_px) for sighting in adjustment.sightings]
    moves = adjustment.zoom_sigma > FIXED_ZOOM_SIGMA
    return LensFit(
        lens=Lens(adjustment.size_px, unzoomed.matrix, values[4:9], covariance[:9, :9]),
        photos=photos,
        left_out=dict(left_out),
        rms_px=float(np.sqrt(np.average(rms**2, weights=counts))),
        disagreement=solution.disagreement,
        zoom_sigma=adjustment.zoom_sigma if moves else 0.0,
        stretch_share=float(values[9]),
        bow_mm=float(values[10] + values[11]) * adjustment.reach_mm,
        information=invert_information(covariance),
    )

"""One lens from several photos of a calibration sheet.

The unknowns: the lens, what the paper does (printed longer than wide, bent on its support), and a pose for each photo.
The covariance is that of the least squares, scaled by the residuals and by how far the photos contradict one another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.calibrators.charuco import MIN_CORNERS, ChartCorners
from overruler.vision.calibrators.sheet_model import (
    FIXED_ZOOM_SIGMA,
    LensAndPaper,
    PoseAndZoom,
    SheetAdjustment,
)
from overruler.vision.camera.initial_pose import pose_from_points
from overruler.vision.camera.schur_solver import (
    JointSolution,
    invert_information,
    solve_photos_jointly,
)

MIN_PHOTOS = 3
DEFAULT_FOCAL_SHARE = 0.8
"""A focal length of which nothing is known, as a share of the picture's longer side."""
OUTLIER_RATIO = 4.5
"""A corner this many times farther from the fit than its photo's typical one is left out."""
MIN_TYPICAL_RESIDUAL_PX = 0.01
"""No residuals are typically smaller."""
MAX_DISAGREEMENT, MAX_RMS_PX = 4.0, 0.3
"""Photos that contradict one another so many times more than noise does, or residuals so large, ask for one to be left
out; without it the rest must fit so many times better,"""
MAX_RATIO_TO_RUNNER_UP = 0.5
"""and this much better than without any other."""

ZOOM_DISAGREEMENT, ZOOM_SIGMAS = 1.15, (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
"""Photos that contradict one another so many times more than noise does may each have their own zoom; 1 σ of it."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoFit:
    """What one photo gave to the lens."""

    name: str
    corners: ChartCorners
    """In the pixels of the lens: as stored, before any EXIF turn."""
    camera: Camera
    """The lens at this photo's pose over the sheet."""
    rms_px: float

    @property
    def tilt_deg(self) -> float:
        """How far the sheet leans away from facing the camera."""
        return float(
            np.degrees(np.arccos(np.clip(-self.camera.T_camera_board.rotation[2, 2], -1, 1)))
        )


@dataclass(frozen=True, slots=True, eq=False)
class LensFit:
    """A lens, and what it rests on."""

    lens: Lens
    photos: tuple[PhotoFit, ...]
    left_out: dict[str, str]
    """Each photo left out, and why."""
    rms_px: float
    disagreement: float
    """How much more the photos contradict one another than their corners' noise explains: 1 is as expected."""
    zoom_sigma: float
    """1 σ of the photos' own zooms, as a share: how much focusing moves the focal length; 0 where nothing shows it."""
    stretch_share: float
    """How much longer the sheet was printed along than across."""
    bow_mm: float
    """How far the sheet's middle stands over its edges."""
    information: Array
    """(12, 12) of the lens and the paper, in the units of the covariance: what one more photo would add to."""


def fit_lens(
    size_px: tuple[int, int], sightings: Mapping[str, ChartCorners], focal_px: float | None = None
) -> LensFit:
    """The lens of pictures of `size_px` by sheets (photo's name to sighting); photos that spoil it are left out.

    `CannotMeasure` where fewer than three photos are left.
    """
    left_out: dict[str, str] = {}
    while True:
        photos = {name: sighting for name, sighting in sightings.items() if name not in left_out}
        _check_enough_photos(photos, left_out)
        focal = (
            focal_px
            or estimate_focal_px(size_px, list(photos.values()))
            or DEFAULT_FOCAL_SHARE * max(size_px)
        )
        stands, lost = _estimate_initial_poses(size_px, photos, focal)
        if not lost:
            sheets, joint = _remove_outlier_corners(SheetAdjustment(size_px, photos, focal), stands)
            lost = _find_outlier_photo(sheets, joint)
            if not lost:
                return _build_lens_fit(*_fit_focus_zoom(sheets, joint), left_out)
        left_out |= lost


def _check_enough_photos(photos: Mapping[str, ChartCorners], left_out: Mapping[str, str]) -> None:
    if len(photos) >= MIN_PHOTOS:
        return
    why = "".join(f"; {name}: {reason}" for name, reason in left_out.items())
    raise CannotMeasure(
        f"{len(photos)} of the photos show the sheet well enough, {MIN_PHOTOS} are needed, ten are better{why}"
    )


# --- the start ---


def _estimate_initial_poses(
    size_px: tuple[int, int], photos: Mapping[str, ChartCorners], focal: float
) -> tuple[list[PoseAndZoom], dict[str, str]]:
    """A pose for each photo to begin with, and the photos that have none, each with the reason."""
    matrix = np.array(
        [[focal, 0, (size_px[0] - 1) / 2], [0, focal, (size_px[1] - 1) / 2], [0, 0, 1]]
    )
    stands, lost = [], {}
    for name, sighting in photos.items():
        try:
            stands.append(PoseAndZoom(pose_from_points(sighting.xyz_mm, sighting.xy_px, matrix)))
        except CannotMeasure:
            lost[name] = (
                "its corners fit no camera before the sheet; is the picture mirrored, or another sheet?"
            )
    return stands, lost


def estimate_focal_px(size_px: tuple[int, int], sightings: Sequence[ChartCorners]) -> float | None:
    """The focal length in px that makes the sheet's axes square and equal in every photo; None where no view leans.

    Zhang, A flexible new technique for camera calibration (2000), with the principal point in the middle.
    """
    middle, longer = (np.array(size_px) - 1) / 2, max(size_px)
    lines = [
        line
        for s in sightings
        for line in _zhang_constraints(s.xyz_mm[:, :2], (s.xy_px - middle) / longer)
    ]
    p, q = np.array(lines).T
    squared = -float(p @ p) / float(p @ q) if abs(float(p @ q)) > 1e-12 else -1.0
    return float(np.sqrt(squared)) * longer if 0.1 < squared < 100 else None


def _zhang_constraints(mm: Array, xy: Array) -> list[tuple[float, float]]:
    """(p, q) of two equations p / f² + q = 0."""
    h, _ = cv2.findHomography(mm, xy)
    a, b = (h / np.linalg.norm(h[:, 0])).T[:2]
    return [
        (a[0] * b[0] + a[1] * b[1], a[2] * b[2]),
        (a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2, a[2] ** 2 - b[2] ** 2),
    ]


# --- what does not belong ---


def _remove_outlier_corners(
    sheets: SheetAdjustment, stands: Sequence[PoseAndZoom]
) -> "tuple[SheetAdjustment, JointSolution[LensAndPaper, PoseAndZoom]]":
    """The solution without corners that lie elsewhere, and what it rests on."""
    joint = solve_photos_jointly(
        sheets.initial_parameters, stands, sheets.residual_block, sheets.prior_residuals
    )
    kept = [_inlier_corners(sheets, k, joint) for k in range(len(stands))]
    if all(good.all() for good in kept):
        return sheets, joint
    named = zip(sheets.photos.items(), kept, strict=True)
    photos = {
        name: s.select_corners(good) if good.sum() >= MIN_CORNERS else s
        for (name, s), good in named
    }
    calm = SheetAdjustment(sheets.size_px, photos, sheets.mean[0])
    return calm, solve_photos_jointly(
        calm.initial_parameters, joint.own, calm.residual_block, calm.prior_residuals
    )


def _inlier_corners(
    sheets: SheetAdjustment, photo: int, joint: "JointSolution[LensAndPaper, PoseAndZoom]"
) -> NDArray[np.bool_]:
    """Which corners (N,) lie within `OUTLIER_RATIO` times their photo's typical residual."""
    off = np.linalg.norm(sheets.corner_residuals_px(photo, joint.shared, joint.own[photo]), axis=1)
    return np.asarray(off < OUTLIER_RATIO * max(float(np.median(off)), MIN_TYPICAL_RESIDUAL_PX))


def _find_outlier_photo(
    sheets: SheetAdjustment, joint: "JointSolution[LensAndPaper, PoseAndZoom]"
) -> dict[str, str]:
    """The photo without which the others fit far better, and how much; empty where it is none, or not clear which."""
    if len(joint.own) <= MIN_PHOTOS or not _needs_outlier_search(sheets, joint):
        return {}
    left = sorted(
        (_covariance_factor(_solve_without(sheets, joint, k)), k) for k in range(len(joint.own))
    )
    (best, photo), (second, _) = left[:2]
    if best > min(_covariance_factor(joint) / MAX_DISAGREEMENT, MAX_RATIO_TO_RUNNER_UP * second):
        return {}
    times = np.sqrt(_covariance_factor(joint) / best)
    reason = f"without it the others fit {times:.0f} times better; was the sheet bent, or the zoom another?"
    return {list(sheets.photos)[photo]: reason}


def _needs_outlier_search(
    sheets: SheetAdjustment, joint: "JointSolution[LensAndPaper, PoseAndZoom]"
) -> bool:
    """Whether something is wrong with the photos as they are."""
    return (
        joint.disagreement > MAX_DISAGREEMENT
        or float(_photo_rms_px(sheets, joint).max()) > MAX_RMS_PX
    )


def _covariance_factor(joint: "JointSolution[LensAndPaper, PoseAndZoom]") -> float:
    """What the covariance is scaled by."""
    return joint.variance_factor * max(joint.disagreement, 1.0)


def _solve_without(
    sheets: SheetAdjustment, joint: "JointSolution[LensAndPaper, PoseAndZoom]", photo: int
) -> "JointSolution[LensAndPaper, PoseAndZoom]":
    """The solution by the other photos."""
    photos = {
        name: sighting for k, (name, sighting) in enumerate(sheets.photos.items()) if k != photo
    }
    others = SheetAdjustment(sheets.size_px, photos, sheets.mean[0])
    return solve_photos_jointly(
        others.initial_parameters,
        [stand for k, stand in enumerate(joint.own) if k != photo],
        others.residual_block,
        others.prior_residuals,
    )


def _photo_rms_px(
    sheets: SheetAdjustment, joint: "JointSolution[LensAndPaper, PoseAndZoom]"
) -> Array:
    """(K,): each photo's root mean square residual along an axis."""
    misfits = [
        sheets.corner_residuals_px(k, joint.shared, stand) for k, stand in enumerate(joint.own)
    ]
    return np.array([np.sqrt(np.mean(misfit**2)) for misfit in misfits])


# --- focus that moves ---


def _fit_focus_zoom(
    sheets: SheetAdjustment, joint: "JointSolution[LensAndPaper, PoseAndZoom]"
) -> "tuple[SheetAdjustment, JointSolution[LensAndPaper, PoseAndZoom]]":
    """With as much zoom of each photo's own as makes the photos likeliest: a phone focuses anew for each."""
    if joint.disagreement < ZOOM_DISAGREEMENT:
        return sheets, joint
    variance = _solve_with_zooms(sheets, joint, ZOOM_SIGMAS[-1]).variance_factor
    tries = [
        _solve_with_zooms(sheets, joint, zoom, variance)
        for zoom in (FIXED_ZOOM_SIGMA, *ZOOM_SIGMAS)
    ]
    odds = [
        one.log_likelihood - len(joint.own) * np.log(zoom)
        for one, zoom in zip(tries, (FIXED_ZOOM_SIGMA, *ZOOM_SIGMAS), strict=True)
    ]
    best = int(np.argmax(odds))
    zoom = (FIXED_ZOOM_SIGMA, *ZOOM_SIGMAS)[best]
    return SheetAdjustment(sheets.size_px, sheets.photos, sheets.mean[0], zoom, variance), tries[
        best
    ]


def _solve_with_zooms(
    sheets: SheetAdjustment,
    joint: "JointSolution[LensAndPaper, PoseAndZoom]",
    zoom_sigma: float,
    variance: float = 1.0,
) -> "JointSolution[LensAndPaper, PoseAndZoom]":
    freed = SheetAdjustment(sheets.size_px, sheets.photos, sheets.mean[0], zoom_sigma, variance)
    return solve_photos_jointly(
        joint.shared,
        [PoseAndZoom(stand.pose) for stand in joint.own],
        freed.residual_block,
        freed.prior_residuals,
    )


# --- the result ---


def _build_lens_fit(
    sheets: SheetAdjustment,
    joint: "JointSolution[LensAndPaper, PoseAndZoom]",
    left_out: Mapping[str, str],
) -> LensFit:
    covariance, values = joint.covariance(), joint.shared.values
    breath = values[:2] * sheets.zoom_sigma  # the next photo's zoom is its own, too
    covariance[:2, :2] += np.outer(breath, breath)
    rms, camera = _photo_rms_px(sheets, joint), joint.shared.camera
    photos = zip(sheets.photos.items(), joint.own, rms, strict=True)
    fits = tuple(
        PhotoFit(name, sighting, camera(stand), float(own))
        for (name, sighting), stand, own in photos
    )
    return LensFit(
        lens=Lens(
            sheets.size_px,
            camera(PoseAndZoom(joint.own[0].pose)).matrix,
            values[4:9],
            covariance[:9, :9],
        ),
        photos=fits,
        left_out=dict(left_out),
        rms_px=float(np.sqrt(np.average(rms**2, weights=[len(s.xy_px) for s in sheets.sightings]))),
        disagreement=joint.disagreement,
        zoom_sigma=sheets.zoom_sigma if sheets.zoom_sigma > FIXED_ZOOM_SIGMA else 0.0,
        stretch_share=float(values[9]),
        bow_mm=float(values[10] + values[11]) * sheets.reach_mm,
        information=invert_information(covariance),
    )

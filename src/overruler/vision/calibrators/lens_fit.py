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
from overruler.vision.calibrators.charuco import FEWEST_CORNERS, Sighting
from overruler.vision.calibrators.sheet_model import STEADY, Shared, Sheets, Stand
from overruler.vision.camera.initial_pose import pose_of_points
from overruler.vision.camera.schur_solver import Joint, inverse, solve

FEWEST_PHOTOS = 3
FOCAL_SHARE = 0.8
"""A focal length of which nothing is known, as a share of the picture's longer side."""
STRAY = 4.5
"""A corner this many times farther from the fit than its photo's typical one is left out."""
CALM_PX = 0.01
"""No residuals are typically smaller."""
SPOILED, SPOILED_PX = 4.0, 0.3
"""Photos that contradict one another so many times more than noise does, or residuals so large, ask for one to be left
out; without it the rest must fit so many times better,"""
CLEARLY = 0.5
"""and this much better than without any other."""

RESTLESS, ZOOMS = 1.15, (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
"""Photos that contradict one another so many times more than noise does may each have their own zoom; 1 σ of it."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoFit:
    """What one photo gave to the lens."""

    name: str
    sighting: Sighting
    """In the pixels of the lens: as stored, before any EXIF turn."""
    camera: Camera
    """The lens at this photo's pose over the sheet."""
    rms_px: float

    @property
    def tilt_deg(self) -> float:
        """How far the sheet leans away from facing the camera."""
        return float(np.degrees(np.arccos(np.clip(-self.camera.T_camera_board.rotation[2, 2], -1, 1))))


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


def fit_lens(size_px: tuple[int, int], sightings: Mapping[str, Sighting], focal_px: float | None = None) -> LensFit:
    """The lens of pictures of `size_px` by sheets (photo's name to sighting); photos that spoil it are left out.

    `CannotMeasure` where fewer than three photos are left.
    """
    left_out: dict[str, str] = {}
    while True:
        photos = {name: sighting for name, sighting in sightings.items() if name not in left_out}
        _check_enough(photos, left_out)
        focal = focal_px or focal_of(size_px, list(photos.values())) or FOCAL_SHARE * max(size_px)
        stands, lost = _stands(size_px, photos, focal)
        if not lost:
            sheets, joint = _without_strays(Sheets(size_px, photos, focal), stands)
            lost = _spoiled(sheets, joint)
            if not lost:
                return _fit(*_breathing(sheets, joint), left_out)
        left_out |= lost


def _check_enough(photos: Mapping[str, Sighting], left_out: Mapping[str, str]) -> None:
    if len(photos) >= FEWEST_PHOTOS:
        return
    why = "".join(f"; {name}: {reason}" for name, reason in left_out.items())
    raise CannotMeasure(
        f"{len(photos)} of the photos show the sheet well enough, {FEWEST_PHOTOS} are needed, ten are better{why}"
    )


# --- the start ---


def _stands(
    size_px: tuple[int, int], photos: Mapping[str, Sighting], focal: float
) -> tuple[list[Stand], dict[str, str]]:
    """A pose for each photo to begin with, and the photos that have none, each with the reason."""
    matrix = np.array([[focal, 0, (size_px[0] - 1) / 2], [0, focal, (size_px[1] - 1) / 2], [0, 0, 1]])
    stands, lost = [], {}
    for name, sighting in photos.items():
        try:
            stands.append(Stand(pose_of_points(sighting.xyz_mm, sighting.xy_px, matrix)))
        except CannotMeasure:
            lost[name] = "its corners fit no camera before the sheet; is the picture mirrored, or another sheet?"
    return stands, lost


def focal_of(size_px: tuple[int, int], sightings: Sequence[Sighting]) -> float | None:
    """The focal length in px that makes the sheet's axes square and equal in every photo; None where no view leans.

    Zhang, A flexible new technique for camera calibration (2000), with the principal point in the middle.
    """
    middle, longer = (np.array(size_px) - 1) / 2, max(size_px)
    lines = [line for s in sightings for line in _zhang(s.xyz_mm[:, :2], (s.xy_px - middle) / longer)]
    p, q = np.array(lines).T
    squared = -float(p @ p) / float(p @ q) if abs(float(p @ q)) > 1e-12 else -1.0
    return float(np.sqrt(squared)) * longer if 0.1 < squared < 100 else None


def _zhang(mm: Array, xy: Array) -> list[tuple[float, float]]:
    """(p, q) of two equations p / f² + q = 0."""
    h, _ = cv2.findHomography(mm, xy)
    a, b = (h / np.linalg.norm(h[:, 0])).T[:2]
    return [
        (a[0] * b[0] + a[1] * b[1], a[2] * b[2]),
        (a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2, a[2] ** 2 - b[2] ** 2),
    ]


# --- what does not belong ---


def _without_strays(sheets: Sheets, stands: Sequence[Stand]) -> "tuple[Sheets, Joint[Shared, Stand]]":
    """The solution without corners that lie elsewhere, and what it rests on."""
    joint = solve(sheets.start, stands, sheets.look, sheets.known)
    kept = [_near_enough(sheets, k, joint) for k in range(len(stands))]
    if all(good.all() for good in kept):
        return sheets, joint
    named = zip(sheets.photos.items(), kept, strict=True)
    photos = {name: s.kept(good) if good.sum() >= FEWEST_CORNERS else s for (name, s), good in named}
    calm = Sheets(sheets.size_px, photos, sheets.mean[0])
    return calm, solve(calm.start, joint.own, calm.look, calm.known)


def _near_enough(sheets: Sheets, photo: int, joint: "Joint[Shared, Stand]") -> NDArray[np.bool_]:
    """Which corners (N,) lie within `STRAY` times their photo's typical residual."""
    off = np.linalg.norm(sheets.misfit_px(photo, joint.shared, joint.own[photo]), axis=1)
    return np.asarray(off < STRAY * max(float(np.median(off)), CALM_PX))


def _spoiled(sheets: Sheets, joint: "Joint[Shared, Stand]") -> dict[str, str]:
    """The photo without which the others fit far better, and how much; empty where it is none, or not clear which."""
    if len(joint.own) <= FEWEST_PHOTOS or not _uneasy(sheets, joint):
        return {}
    left = sorted((_badness(_without(sheets, joint, k)), k) for k in range(len(joint.own)))
    (best, photo), (second, _) = left[:2]
    if best > min(_badness(joint) / SPOILED, CLEARLY * second):
        return {}
    times = np.sqrt(_badness(joint) / best)
    reason = f"without it the others fit {times:.0f} times better; was the sheet bent, or the zoom another?"
    return {list(sheets.photos)[photo]: reason}


def _uneasy(sheets: Sheets, joint: "Joint[Shared, Stand]") -> bool:
    """Whether something is wrong with the photos as they are."""
    return joint.disagreement > SPOILED or float(_rms_px(sheets, joint).max()) > SPOILED_PX


def _badness(joint: "Joint[Shared, Stand]") -> float:
    """What the covariance is scaled by."""
    return joint.variance * max(joint.disagreement, 1.0)


def _without(sheets: Sheets, joint: "Joint[Shared, Stand]", photo: int) -> "Joint[Shared, Stand]":
    """The solution by the other photos."""
    photos = {name: sighting for k, (name, sighting) in enumerate(sheets.photos.items()) if k != photo}
    others = Sheets(sheets.size_px, photos, sheets.mean[0])
    return solve(others.start, [stand for k, stand in enumerate(joint.own) if k != photo], others.look, others.known)


def _rms_px(sheets: Sheets, joint: "Joint[Shared, Stand]") -> Array:
    """(K,): each photo's root mean square residual along an axis."""
    misfits = [sheets.misfit_px(k, joint.shared, stand) for k, stand in enumerate(joint.own)]
    return np.array([np.sqrt(np.mean(misfit**2)) for misfit in misfits])


# --- focus that moves ---


def _breathing(sheets: Sheets, joint: "Joint[Shared, Stand]") -> "tuple[Sheets, Joint[Shared, Stand]]":
    """With as much zoom of each photo's own as makes the photos likeliest: a phone focuses anew for each."""
    if joint.disagreement < RESTLESS:
        return sheets, joint
    variance = _zooming(sheets, joint, ZOOMS[-1]).variance
    tries = [_zooming(sheets, joint, zoom, variance) for zoom in (STEADY, *ZOOMS)]
    odds = [one.evidence - len(joint.own) * np.log(zoom) for one, zoom in zip(tries, (STEADY, *ZOOMS), strict=True)]
    best = int(np.argmax(odds))
    zoom = (STEADY, *ZOOMS)[best]
    return Sheets(sheets.size_px, sheets.photos, sheets.mean[0], zoom, variance), tries[best]


def _zooming(
    sheets: Sheets, joint: "Joint[Shared, Stand]", zoom_sigma: float, variance: float = 1.0
) -> "Joint[Shared, Stand]":
    freed = Sheets(sheets.size_px, sheets.photos, sheets.mean[0], zoom_sigma, variance)
    return solve(joint.shared, [Stand(stand.pose) for stand in joint.own], freed.look, freed.known)


# --- the result ---


def _fit(sheets: Sheets, joint: "Joint[Shared, Stand]", left_out: Mapping[str, str]) -> LensFit:
    covariance, values = joint.covariance(), joint.shared.values
    breath = values[:2] * sheets.zoom_sigma  # the next photo's zoom is its own, too
    covariance[:2, :2] += np.outer(breath, breath)
    rms, camera = _rms_px(sheets, joint), joint.shared.camera
    photos = zip(sheets.photos.items(), joint.own, rms, strict=True)
    fits = tuple(PhotoFit(name, sighting, camera(stand), float(own)) for (name, sighting), stand, own in photos)
    return LensFit(
        lens=Lens(sheets.size_px, camera(Stand(joint.own[0].pose)).matrix, values[4:9], covariance[:9, :9]),
        photos=fits,
        left_out=dict(left_out),
        rms_px=float(np.sqrt(np.average(rms**2, weights=[len(s.xy_px) for s in sheets.sightings]))),
        disagreement=joint.disagreement,
        zoom_sigma=sheets.zoom_sigma if sheets.zoom_sigma > STEADY else 0.0,
        stretch_share=float(values[9]),
        bow_mm=float(values[10] + values[11]) * sheets.reach_mm,
        information=inverse(covariance),
    )

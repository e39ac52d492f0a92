"""Priors of the lens: from a lens file, or from the photo's metadata and what lenses are like."""

from dataclasses import dataclass, replace

import numpy as np

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.lens import Lens, intrinsic_matrix, pack_lens
from overruler.vision.least_squares.schur_solver import invert_information

DEFAULT_FOCAL_SHARE = 0.8
"""An unknown focal length, as a share of the picture's longer side."""
DEFAULT_FOCAL_SIGMA = 0.1
"""1 σ of an unknown focal length, as a share of it."""
PHONE_FOCAL_SIGMA = 0.03
"""A focal σ at or below this share comes from the uncropped photo of a phone."""
ASPECT_SIGMA = 5e-4
"""1 σ of fy against fx, as a share of the focal length."""
PRINCIPAL_POINT_SIGMA = 0.006
"""1 σ of the principal point about the picture's centre, as a share of the longer side."""
CROPPED_FOCAL_RATIO = 1.25
"""Focal length of a cropped picture, in shares of its longer side, against that of a whole one."""
CROPPED_FOCAL_SIGMA = 0.25
"""1 σ of a cropped picture's focal length, as a share of it."""
CROPPED_PRINCIPAL_POINT_SIGMA = 0.1
"""1 σ of a cropped picture's principal point, as a share of the longer side."""
ZOOM_RATIOS = (0.45, 0.65, 1.5, 2.2, 3.2, 4.7)
"""Focal lengths that are tried against the usual one: phones have two lenses more, and all cameras zoom."""
ZOOM_SIGMA = 0.2
"""1 σ about each of them, as a share."""
STRETCHES = (0.5, 0.65, 0.8, 1.0, 1.25, 1.55, 2.0)
"""Angular width of a pixel over its height (fy / fx) that is tried."""
STRETCH_SIGMA = 0.15
"""1 σ about each of them, as a share."""
CAMERA_ASPECT_RATIOS = (1.0, 4 / 3, 3 / 2, 16 / 10, 16 / 9, 2.0, 13 / 6, 20 / 9)
"""Aspect ratios of cameras' pictures, longer side to shorter one."""
ASPECT_RATIO_TOLERANCE_SHARE = 0.0015
"""A picture has one of these ratios if its longer side is as near as this, as a share of it."""
ASPECT_RATIO_TOLERANCE_PX = 1.5
"""The same in pixels, if that is more: scaled copies are rounded."""
RESIZED_SIGMA = 1e-3
"""1 σ about a stretch that resizing a camera's picture gives, as a share: sizes are rounded."""
BARREL = np.array([1.0, -0.25, 0, 0, 0.04])
"""Distortion mode of wide lenses over k1 k2 p1 p2 k3; one published: (-0.31, 0.08, 0, 0, 0)."""
MOUSTACHE = np.array([1.0, -2.4, 0, 0, 1.5])
"""That of phones and good webcams, outwards, then back; one published: (0.17, -0.72, 0, 0, 1.63)."""
WEBCAM_MOUSTACHE_MEAN = 0.008
"""Mean amount of `MOUSTACHE` in cameras other than phones: it has one sign only."""
PHONE_MODE_SIGMAS = (0.03, 0.02)
"""1 σ of `BARREL` and `MOUSTACHE` in a phone's photo, which the phone has mostly undistorted."""
WEBCAM_MODE_SIGMAS = (0.11, 0.025)
"""1 σ of `BARREL` and `MOUSTACHE` in any other camera's picture."""
RESIDUAL_DISTORTION_SIGMAS = (0.02, 0.02, 6e-4, 6e-4, 0.004)
"""1 σ of k1 k2 p1 p2 k3 beside the two modes."""
POINTS_DISTORTION_SIGMAS = (0.03, 0.01, 6e-4, 6e-4, 0.002)
"""1 σ of k1 k2 p1 p2 k3 if a few clicked points are all there is: those of a phone. With wider ones
the lens would bend to fit a curled sheet."""
RARE_FOCAL_SIGMA = 0.35
"""1 σ of what a zoom or another lens of a phone adds to an unknown focal length, as a share of it."""
RARE_PRINCIPAL_POINT_SIGMA = 0.05
"""1 σ of what a cut adds to the principal point of a picture without metadata, as a share of the longer side."""
RARE_CROPPED_PRINCIPAL_POINT_SIGMA = 0.25
"""The same for a picture that is surely cropped: a third of it may be left."""
RARE_LENSES = 0.3 * np.array([(0.17, -0.72, 0, 0, 1.63), (0.27, -1.24, 0, 0, 1.85)])
"""1 σ of what strong lenses add to k1 k2 p1 p2 k3: two published ones of phones that nothing straightened."""
PHOTO_ROOM_SHARE = 0.4
"""1 σ of a lens that clicked points cannot see, as a share of a webcam's, in a photo without metadata: one of five
is a webcam's."""
FILM_ASPECT_RATIO = 16 / 9
"""Aspect ratio of films' and webcams' pictures."""
FOCUS_SIGMA_SHARE = 1e-5
"""1 σ of fx and fy beside what any lens file says, as a share: focusing alone moves them."""
FOCUS_SIGMA_PX = 0.01
"""1 σ of cx and cy beside what any lens file says."""
FOCUS_DISTORTION_SIGMA = 1e-6
"""1 σ of k1 k2 p1 p2 k3 beside what any lens file says."""


@dataclass(frozen=True, slots=True, eq=False)
class LensPrior:
    """Prior mean and covariance of the lens's parameters fx fy cx cy k1 k2 p1 p2 k3."""

    mean: Array
    """(9,): mean."""
    covariance: Array
    """(9, 9): covariance."""
    assumes_cropped: bool = False
    """Whether the prior assumes that the picture was cropped."""
    assumes_stretched: bool = False
    """Whether the prior assumes that the picture was resized along one side only."""
    is_from_file: bool = False
    """Whether a lens file says it."""
    common: Array | None = None
    """(9, 9): covariance of the lens error that this photo shares with the other photos of its camera.
    None for a single photo."""
    rare: Array | None = None
    """(9, 9): covariance that rare lenses add, a zoom or a strong distortion. The fit is that of usual
    lenses; only its doubt has room for these. None where somebody says which lens it is."""

    @property
    def focal_share(self) -> float:
        """1 σ of the focal length, as a share of it."""
        return float(np.sqrt(self.covariance[0, 0]) / self.mean[0])

    @property
    def pixel_shape_sigma(self) -> float:
        """1 σ of fy against fx, as a share."""
        share = np.array([1 / self.mean[0], -1 / self.mean[1]])
        return float(np.sqrt(share @ self.covariance[:2, :2] @ share))

    @property
    def matrix(self) -> Array:
        """(3, 3): intrinsic matrix of the mean."""
        return intrinsic_matrix(self.mean)

    def added_by_rare_lenses(self, covariance: Array) -> Array:
        """(17, 17): what rare lenses add to a solution's `covariance` (17, 17) of camera and bow.

        The solution follows the prior's mean where the observations say little of the lens. So it
        errs by as much as the prior does there, and by nothing where they tell the lens.
        """
        if self.rare is None:
            return np.zeros_like(covariance)
        follow = covariance[:, : len(self.mean)] @ invert_information(self.covariance)
        return np.asarray(follow @ self.rare @ follow.T)

    def camera_at(self, pose: Pose) -> Camera:
        """The mean lens at a pose."""
        return Camera(self.matrix, self.mean[4:], pose)

    def undistort_pixels(self, xy_px: Array) -> Array:
        """Pixels (..., 2) as the mean lens would see them without its distortion."""
        camera = self.camera_at(Pose(np.eye(3), np.zeros(3)))
        return np.asarray(camera.undistort(xy_px) * self.mean[:2] + self.mean[2:4])


def lens_prior(frame: Frame, lens: Lens | None, markers: bool = True) -> LensPrior:
    """The prior from a lens file if there is one, else from the photo's metadata.

    `markers` is False for a photo with clicked points only. `BadInput` if the lens file is not for
    pictures of this shape.
    """
    if lens is not None:
        return _prior_from_lens(lens.for_picture(frame.size_px, frame.orientation))
    if markers:
        return _prior_from_metadata(frame, *_unknown_distortion(frame))
    distortion = np.diag(np.square(POINTS_DISTORTION_SIGMAS))
    prior = _prior_from_metadata(frame, np.zeros(5), distortion)
    if prior.rare is None:
        return prior
    barrel = WEBCAM_MODE_SIGMAS[0] * BARREL
    share = 1.0 if _has_aspect(frame, FILM_ASPECT_RATIO) else PHOTO_ROOM_SHARE
    rare = prior.rare.copy()
    rare[4:, 4:] = share**2 * (rare[4:, 4:] + np.outer(barrel, barrel))
    return replace(prior, rare=rare)


def _prior_from_lens(lens: Lens) -> LensPrior:
    mean = pack_lens(lens.matrix, lens.distortion)
    focal = (FOCUS_SIGMA_SHARE * mean[:2]) ** 2
    centre = np.full(2, FOCUS_SIGMA_PX**2)
    distortion = np.full(5, FOCUS_DISTORTION_SIGMA**2)
    focus = np.diag(np.concatenate([focal, centre, distortion]))
    return LensPrior(mean, lens.covariance + focus, is_from_file=True)


def _unknown_distortion(frame: Frame) -> tuple[Array, Array]:
    """Mean (5,) and covariance (5, 5) of an unknown lens's distortion."""
    phone = _is_whole(frame)
    barrel, moustache = PHONE_MODE_SIGMAS if phone else WEBCAM_MODE_SIGMAS
    modes = np.stack([barrel * BARREL, moustache * MOUSTACHE])
    mean = 0.0 if phone else WEBCAM_MOUSTACHE_MEAN
    residual = np.diag(np.square(RESIDUAL_DISTORTION_SIGMAS))
    return mean * MOUSTACHE, modes.T @ modes + residual


def _prior_from_metadata(
    frame: Frame, distortion_mean: Array, distortion_covariance: Array
) -> LensPrior:
    longer = max(frame.size_px)
    centre = (np.array(frame.size_px) - 1) / 2
    focal, focal_sigma = DEFAULT_FOCAL_SHARE * longer, DEFAULT_FOCAL_SIGMA
    if frame.focal_px:
        focal, focal_sigma = frame.focal_px, frame.focal_share
    aspect = np.eye(2) * (ASPECT_SIGMA * focal) ** 2
    covariance = np.zeros((9, 9))
    covariance[:2, :2] = (focal_sigma * focal) ** 2 + aspect
    covariance[2:4, 2:4] = np.eye(2) * (PRINCIPAL_POINT_SIGMA * longer) ** 2
    covariance[4:, 4:] = distortion_covariance
    mean = np.array([focal, focal, *centre, *distortion_mean])
    whole = LensPrior(mean, covariance, rare=_rare_lenses(frame, focal))
    return cropped_prior(whole, frame.size_px) if _is_cropped(frame) else whole


def _rare_lenses(frame: Frame, focal_px: float) -> Array | None:
    """(9, 9): what rare lenses add to the covariance; None for a phone's whole picture."""
    if _is_whole(frame):
        return None
    rare = np.zeros((9, 9))
    rare[4:, 4:] = RARE_LENSES.T @ RARE_LENSES
    if not frame.focal_px:
        rare[:2, :2] = (RARE_FOCAL_SIGMA * focal_px) ** 2
        rare[2:4, 2:4] = np.eye(2) * (RARE_PRINCIPAL_POINT_SIGMA * max(frame.size_px)) ** 2
    return rare


def _rare_about(rare: Array | None, focal_px: Array) -> Array | None:
    """The same for focal lengths (2,) that are unknown."""
    if rare is None:
        return None
    moved = rare.copy()
    moved[:2, :2] = RARE_FOCAL_SIGMA**2 * np.outer(focal_px, focal_px)
    return moved


def cropped_prior(prior: LensPrior, size_px: tuple[int, int]) -> LensPrior:
    """The prior of the same lens for a cropped picture: little is known but the distortion."""
    longer = max(size_px)
    centre = (np.array(size_px) - 1) / 2
    focal = CROPPED_FOCAL_RATIO * prior.mean[:2]
    common = CROPPED_FOCAL_SIGMA**2 * np.outer(focal, focal)
    covariance = np.zeros((9, 9))
    covariance[:2, :2] = common + np.diag(ASPECT_SIGMA * focal) ** 2
    covariance[2:4, 2:4] = np.eye(2) * (CROPPED_PRINCIPAL_POINT_SIGMA * longer) ** 2
    covariance[4:, 4:] = prior.covariance[4:, 4:]
    mean = np.concatenate([focal, centre, prior.mean[4:]])
    rare, from_file = _rare_about(prior.rare, focal), prior.is_from_file
    if rare is not None:
        rare[2:4, 2:4] = np.eye(2) * (RARE_CROPPED_PRINCIPAL_POINT_SIGMA * longer) ** 2
    return LensPrior(mean, covariance, assumes_cropped=True, is_from_file=from_file, rare=rare)


def zoomed_priors(prior: LensPrior) -> list[LensPrior]:
    """Priors of the same picture by other focal lengths; none where a file or a phone says which it is."""
    if prior.is_from_file or prior.focal_share < (PHONE_FOCAL_SIGMA + DEFAULT_FOCAL_SIGMA) / 2:
        return []
    return [_zoomed_prior(prior, ratio) for ratio in ZOOM_RATIOS]


def _zoomed_prior(prior: LensPrior, ratio: float) -> LensPrior:
    focal = ratio * prior.mean[:2]
    sigma = max(ZOOM_SIGMA, prior.focal_share)
    covariance = prior.covariance.copy()
    covariance[:2, :2] = sigma**2 * np.outer(focal, focal) + np.diag(ASPECT_SIGMA * focal) ** 2
    return replace(prior, mean=np.concatenate([focal, prior.mean[2:]]), covariance=covariance)


def stretched_priors(prior: LensPrior, size_px: tuple[int, int]) -> list[LensPrior]:
    """Priors of the same lens for a picture resized along one side only, or stretched anyhow.

    Resizing started from a camera's picture, so the stretch is one of few; the others are a net of
    any stretch, for pictures that were straightened.
    """
    width_px, height_px = size_px
    ratios = {ratio**sign for ratio in CAMERA_ASPECT_RATIOS for sign in (-1, 1)}
    resized = sorted(ratio * height_px / width_px for ratio in ratios)
    some = [
        _stretched_prior(prior, size_px, stretch, RESIZED_SIGMA)
        for stretch in resized
        if STRETCHES[0] * 0.9 < stretch < STRETCHES[-1] * 1.1
    ]
    anyhow = [_stretched_prior(prior, size_px, stretch, STRETCH_SIGMA) for stretch in STRETCHES]
    return some + anyhow


def _stretched_prior(
    prior: LensPrior, size_px: tuple[int, int], stretch: float, sigma: float
) -> LensPrior:
    """The prior where a pixel stands for `stretch` times more across than up and down."""
    shrunk = np.array([min(1.0, 1 / stretch), min(1.0, stretch)])
    before_px = np.array(size_px) / shrunk
    focal = float(prior.mean[:2].mean()) / max(size_px) * before_px.max() * shrunk
    covariance = prior.covariance.copy()
    covariance[:2, 2:] = covariance[2:, :2] = 0.0
    common = DEFAULT_FOCAL_SIGMA**2 * np.outer(focal, focal)
    covariance[:2, :2] = common + np.diag(sigma * focal) ** 2
    mean = np.concatenate([focal, prior.mean[2:]])
    rare, from_file = _rare_about(prior.rare, focal), prior.is_from_file
    return LensPrior(mean, covariance, assumes_stretched=True, is_from_file=from_file, rare=rare)


def _is_cropped(frame: Frame) -> bool:
    """Whether a picture has no camera's aspect ratio, and no metadata say that it is whole."""
    if _is_whole(frame):
        return False
    return not any(_has_aspect(frame, ratio) for ratio in CAMERA_ASPECT_RATIOS)


def _has_aspect(frame: Frame, ratio: float) -> bool:
    """Whether a picture's longer side is so many times its shorter one."""
    longer, shorter = max(frame.size_px), min(frame.size_px)
    tolerance_px = max(ASPECT_RATIO_TOLERANCE_SHARE * longer, ASPECT_RATIO_TOLERANCE_PX)
    return abs(longer - ratio * shorter) <= tolerance_px


def _is_whole(frame: Frame) -> bool:
    """Whether the metadata say that a picture is whole; then it is a phone's."""
    return frame.focal_px is not None and frame.focal_share <= PHONE_FOCAL_SIGMA

"""What is known of a lens before the photo is seen."""

import numpy as np

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.lens import Lens
from overruler.vision.camera.bundle_adjustment import LensPrior

DEFAULT_FOCAL_SHARE, DEFAULT_FOCAL_SIGMA = 0.8, 0.1
"""A focal length of which nothing is known: as a share of the picture's longer side, and 1 σ as a share of that."""
PHONE_FOCAL_SIGMA = 0.03
"""A claimed focal length as sure as this comes with the whole picture of a phone's main camera."""
ASPECT_SIGMA, PRINCIPAL_POINT_SIGMA = 5e-4, 0.006
"""1 σ of fy against fx, and of the principal point against the middle as a share of the picture's longer side."""
CROPPED_FOCAL_RATIO, CROPPED_FOCAL_SIGMA, CROPPED_PRINCIPAL_POINT_SIGMA = 1.25, 0.25, 0.1
"""Of a picture that somebody cut: its focal length as a share of what it would be uncut; 1 σ of that as a share of it,
and of the principal point as a share of the picture's longer side."""
CAMERA_ASPECT_RATIOS = (1.0, 4 / 3, 3 / 2, 16 / 10, 16 / 9, 2.0, 13 / 6, 20 / 9)
"""The longer side of a camera's pictures, in shorter ones."""
ASPECT_RATIO_TOLERANCES = 0.0015, 1.5
"""A picture has one of these shapes whose longer side comes so near to it, as a share or in pixels: those made smaller
are rounded."""
BARREL, MOUSTACHE = np.array([1.0, -0.25, 0, 0, 0.04]), np.array([1.0, -2.4, 0, 0, 1.5])
"""The two ways in which lenses bend the picture, over k1 k2 p1 p2 k3: wide ones inwards; those of phones and good
webcams outwards, then back. By published calibrations, (-0.31, 0.08, 0, 0, 0) and (0.17, -0.72, 0, 0, 1.63) for two."""
WEBCAM_MOUSTACHE_MEAN = 0.008
"""How much there is of the second on average, but in phones: it goes one way only."""
PHONE_MODE_SIGMAS, WEBCAM_MODE_SIGMAS = (0.03, 0.02), (0.11, 0.025)
"""1 σ of the two: of a phone's photo, which is mostly straightened, and of any other camera's picture."""
RESIDUAL_DISTORTION_SIGMAS = (0.02, 0.02, 6e-4, 6e-4, 0.004)
"""1 σ of k1 k2 p1 p2 k3 beside the two."""
POINTS_DISTORTION_SIGMAS = (0.03, 0.01, 6e-4, 6e-4, 0.002)
"""The same where a few clicked points are all there is, which would bend any lens to fit a curled sheet: a phone's."""


def lens_prior(frame: Frame, lens: Lens | None, markers: bool = True) -> LensPrior:
    """A lens file's values and doubts, or the metadata's focal length and a plain lens.

    `BadInput` where the lens file is not for pictures like this one.
    """
    if lens is not None:
        fitted = lens.for_picture(frame.size_px, frame.orientation)
        mean = np.concatenate([fitted.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], fitted.distortion])
        return LensPrior(mean, fitted.covariance + np.diag(_variance_floor(mean)))
    return _prior_from_metadata(
        frame,
        *(
            _unknown_distortion(frame)
            if markers
            else (np.zeros(5), np.diag(np.square(POINTS_DISTORTION_SIGMAS)))
        ),
    )


def _unknown_distortion(frame: Frame) -> tuple[Array, Array]:
    """Mean (5,) and covariance (5, 5) of an unknown lens's distortion."""
    phone = _is_whole(frame)
    barrel, moustache = PHONE_MODE_SIGMAS if phone else WEBCAM_MODE_SIGMAS
    modes = np.stack([barrel * BARREL, moustache * MOUSTACHE])
    mean = 0.0 if phone else WEBCAM_MOUSTACHE_MEAN
    return mean * MOUSTACHE, modes.T @ modes + np.diag(np.square(RESIDUAL_DISTORTION_SIGMAS))


def _variance_floor(mean: Array) -> Array:
    """What a lens is unsure of whatever its file says: focus alone moves it by this much."""
    return np.concatenate([(1e-5 * mean[:2]) ** 2, np.full(2, 0.01**2), np.full(5, 1e-6**2)])


def _prior_from_metadata(frame: Frame, mean_distortion: Array, distortion: Array) -> LensPrior:
    longer, middle = max(frame.size_px), (np.array(frame.size_px) - 1) / 2
    focal, share = (
        (frame.focal_px, frame.focal_share)
        if frame.focal_px
        else (DEFAULT_FOCAL_SHARE * longer, DEFAULT_FOCAL_SIGMA)
    )
    covariance = np.zeros((9, 9))
    covariance[:2, :2] = (share * focal) ** 2 + np.eye(2) * (ASPECT_SIGMA * focal) ** 2
    covariance[2:4, 2:4] = np.eye(2) * (PRINCIPAL_POINT_SIGMA * longer) ** 2
    covariance[4:, 4:] = distortion
    whole = LensPrior(np.array([focal, focal, *middle, *mean_distortion]), covariance)
    return cropped_prior(whole, frame.size_px) if _is_cropped(frame) else whole


def cropped_prior(prior: LensPrior, size_px: tuple[int, int]) -> LensPrior:
    """What is known of the same lens in a picture (width, height) that somebody cut: little but how it bends."""
    longer, middle, focal = (
        max(size_px),
        (np.array(size_px) - 1) / 2,
        CROPPED_FOCAL_RATIO * prior.mean[:2],
    )
    covariance = np.zeros((9, 9))
    covariance[:2, :2] = (
        CROPPED_FOCAL_SIGMA**2 * np.outer(focal, focal) + np.diag(ASPECT_SIGMA * focal) ** 2
    )
    covariance[2:4, 2:4] = np.eye(2) * (CROPPED_PRINCIPAL_POINT_SIGMA * longer) ** 2
    covariance[4:, 4:] = prior.covariance[4:, 4:]
    return LensPrior(
        np.concatenate([focal, middle, prior.mean[4:]]), covariance, assumes_cropped=True
    )


def _is_cropped(frame: Frame) -> bool:
    """Whether a picture has the shape of no camera's, and no metadata say that it is whole."""
    longer, shorter = max(frame.size_px), min(frame.size_px)
    share, pixels = ASPECT_RATIO_TOLERANCES
    off_px = min(abs(longer - shape * shorter) for shape in CAMERA_ASPECT_RATIOS)
    return not _is_whole(frame) and off_px > max(share * longer, pixels)


def _is_whole(frame: Frame) -> bool:
    """Whether metadata say that nothing was cut off a picture: then it is a phone's."""
    return frame.focal_px is not None and frame.focal_share <= PHONE_FOCAL_SIGMA


def camera_at_pose(prior: LensPrior, pose: Pose) -> Camera:
    """The prior's lens at a pose."""
    return Camera(intrinsic_matrix(prior), prior.mean[4:], pose)


def intrinsic_matrix(prior: LensPrior) -> Array:
    fx, fy, cx, cy = prior.mean[:4]
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])


def undistort_pixels(prior: LensPrior, xy_px: Array) -> Array:
    """Pixels (..., 2) as the prior's lens without its distortion would see them."""
    return np.asarray(
        camera_at_pose(prior, Pose(np.eye(3), np.zeros(3))).undistort(xy_px) * prior.mean[:2]
        + prior.mean[2:4]
    )

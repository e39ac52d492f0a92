"""The bundle adjustment of several photos of a calibration sheet: parameters and residuals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.lens import intrinsic_matrix
from overruler.vision.calibrators.charuco import ChartCorners
from overruler.vision.least_squares.schur_solver import (
    JointSolution,
    ResidualBlock,
    solve_photos_jointly,
    whitening_matrix,
)

FOCAL_SIGMA = 0.5
"""Prior σ of fx, as a share of it."""
ASPECT_SIGMA = 0.01
"""Prior σ of fy against fx, as a share of it."""
PRINCIPAL_POINT_SIGMA = 0.05
"""Prior σ of the principal point about the centre, as a share of the picture's longer side."""
DISTORTION_SIGMA = (0.5, 0.5, 0.01, 0.01, 0.5)
"""Prior σ of k1 k2 p1 p2 k3 about 0: so wide that it matters only in corners that no photo reaches."""
STRETCH_SIGMA = 2e-3
"""Prior σ of the paper's stretch: how much longer it was printed along than across, as a share."""
BOW_SIGMA = 1.5e-2
"""Prior σ of each bow of the paper, as a share of half its longer side (1.5 mm on 100 mm)."""
FIXED_ZOOM_SIGMA = 1e-6
"""1 σ of the photos' own zooms, as a share, for a fixed focus."""
SHARED_COUNT = 12
"""Number of shared parameters: nine of the lens, stretch and two bows."""
OWN_COUNT = 7
"""Number of a photo's own parameters: six of its pose, and its zoom."""


@dataclass(frozen=True, slots=True, eq=False)
class LensAndPaper:
    """The shared parameters: fx fy cx cy k1 k2 p1 p2 k3, stretch, bow across, bow along."""

    values: Array
    """(12,): the parameters in that order."""

    def moved(self, step: Array) -> Self:
        """Add a step (12,)."""
        return replace(self, values=self.values + step)

    def camera(self, own: "PoseAndZoom") -> Camera:
        """The camera of one photo: the lens at its zoom and pose."""
        matrix = intrinsic_matrix(self.values)
        zoom = 1 + own.zoom
        matrix[0, 0] *= zoom
        matrix[1, 1] *= zoom
        return Camera(matrix, self.values[4:9], own.pose)


@dataclass(frozen=True, slots=True, eq=False)
class PoseAndZoom:
    """The own parameters of a photo."""

    pose: Pose
    """The camera's pose over the sheet."""
    zoom: float = 0.0
    """Deviation of the photo's focal length from the common one, as a share."""

    def moved(self, step: Array) -> Self:
        """Add a step (7,)."""
        return replace(self, pose=self.pose.moved(step[:6]), zoom=self.zoom + float(step[6]))


SheetSolution = JointSolution[LensAndPaper, PoseAndZoom]
"""The solution of a `SheetAdjustment`."""


class SheetAdjustment:
    """The least-squares problem of photos of one sheet by one lens."""

    __slots__ = ("_whiteners", "mean", "middle_mm", "photos", "prior_root",
                 "reach_mm", "sightings", "size_px", "zoom_sigma")  # fmt: skip

    def __init__(
        self,
        size_px: tuple[int, int],
        photos: Mapping[str, ChartCorners],
        focal_px: float,
        zoom_sigma: float = FIXED_ZOOM_SIGMA,
        variance: float = 1.0,
    ) -> None:
        """Set up the problem of `photos`, by name, of `size_px`, with prior focal length `focal_px`.

        `zoom_sigma` is 1 σ of the photos' own zooms, as a share: focusing changes the focal length.
        `variance` is the actual variance of the corners over the stated one.
        """
        self.size_px, self.photos, self.zoom_sigma = size_px, dict(photos), zoom_sigma
        self.sightings = tuple(photos.values())
        self._whiteners = [
            whitening_matrix(sighting.covariance_px2 * variance) for sighting in self.sightings
        ]
        corners = np.concatenate([sighting.xyz_mm for sighting in self.sightings])[:, :2]
        self.middle_mm = (corners.min(0) + corners.max(0)) / 2
        self.reach_mm = float(np.ptp(corners, axis=0).max()) / 2
        centre = (np.array(size_px) - 1) / 2
        self.mean = np.array([focal_px, focal_px, *centre, *[0.0] * 8])
        self.prior_root = np.eye(SHARED_COUNT)
        self.prior_root[1, 0] = -1.0  # the prior of fy is relative to fx
        self.prior_root /= _prior_sigmas(size_px, focal_px)[:, None]

    @property
    def initial_parameters(self) -> LensAndPaper:
        """The prior mean."""
        return LensAndPaper(self.mean)

    def with_photos(self, photos: Mapping[str, ChartCorners]) -> "SheetAdjustment":
        """The problem of other photos, with fixed zooms."""
        return SheetAdjustment(self.size_px, photos, self.mean[0])

    def with_zooms(self, zoom_sigma: float, variance: float = 1.0) -> "SheetAdjustment":
        """The problem with other σ of the photos' zooms and another variance of the corners."""
        return SheetAdjustment(self.size_px, self.photos, self.mean[0], zoom_sigma, variance)

    def solve(
        self, poses: Sequence[PoseAndZoom], shared: LensAndPaper | None = None
    ) -> SheetSolution:
        """Solve from each photo's pose, and from `shared` or else the prior mean."""
        start = self.initial_parameters if shared is None else shared
        return solve_photos_jointly(start, poses, self.residual_block, self.prior_residuals)

    def prior_residuals(self, shared: LensAndPaper) -> tuple[Array, Array]:
        """Whitened residuals (12,) of the prior, and their Jacobian (12, 12)."""
        return self.prior_root @ (shared.values - self.mean), self.prior_root

    def residual_block(
        self, photo: int, shared: LensAndPaper, own: PoseAndZoom
    ) -> ResidualBlock | None:
        """Whitened residuals of one photo's corners and of its zoom; None if they are impossible."""
        if shared.values[:2].min() <= 0 or own.zoom <= -1:
            return None
        sighting, whitener = self.sightings[photo], self._whiteners[photo]
        xyz, by_paper = self.deform_paper(shared, sighting.xyz_mm)
        if own.pose.apply(xyz)[:, 2].min() <= 0:
            return None
        projected, by_point, by_camera = shared.camera(own).project_with_jacobians(xyz)
        by_zoom = by_camera[..., :2] @ shared.values[:2, None]
        by_camera[..., :2] *= 1 + own.zoom
        by_shared = np.concatenate([by_camera[..., :9], by_point @ by_paper], -1)
        by_own = np.concatenate([by_camera[..., 9:], by_zoom], -1)
        residual = (whitener @ (projected - sighting.xy_px)[..., None]).ravel()
        zoom_by_own = np.eye(OWN_COUNT)[6:] / self.zoom_sigma
        return ResidualBlock(
            np.append(residual, own.zoom / self.zoom_sigma),
            np.vstack([_stack_axes(whitener @ by_shared), np.zeros((1, SHARED_COUNT))]),
            np.vstack([_stack_axes(whitener @ by_own), zoom_by_own]),
        )

    def corner_residuals_px(self, photo: int, shared: LensAndPaper, own: PoseAndZoom) -> Array:
        """(N, 2): reprojection residuals of one photo's corners."""
        sighting = self.sightings[photo]
        xyz, _ = self.deform_paper(shared, sighting.xyz_mm)
        return np.asarray(shared.camera(own).project_beyond_fold(xyz) - sighting.xy_px)

    def deform_paper(self, shared: LensAndPaper, xyz_mm: Array) -> tuple[Array, Array]:
        """Stretch and bend corners (N, 3) of the sheet; also the Jacobian (N, 3, 3) by that."""
        x, y = ((xyz_mm[:, :2] - self.middle_mm) / self.reach_mm).T
        jacobian = np.zeros((len(xyz_mm), 3, 3))
        jacobian[:, 1, 0] = y * self.reach_mm
        jacobian[:, 2, 1] = (1 - x * x) * self.reach_mm
        jacobian[:, 2, 2] = (1 - y * y) * self.reach_mm
        return xyz_mm + jacobian @ shared.values[9:], jacobian


def _prior_sigmas(size_px: tuple[int, int], focal_px: float) -> Array:
    """Prior σ (12,) of the shared parameters; that of fy is relative to fx."""
    focal = [FOCAL_SIGMA * focal_px, ASPECT_SIGMA * focal_px]
    centre = [PRINCIPAL_POINT_SIGMA * max(size_px)] * 2
    paper = [STRETCH_SIGMA, BOW_SIGMA, BOW_SIGMA]
    return np.array([*focal, *centre, *DISTORTION_SIGMA, *paper])


def _stack_axes(rows: Array) -> Array:
    """Reshape (N, 2, K) to (2 N, K)."""
    return np.asarray(rows.reshape(-1, rows.shape[-1]))

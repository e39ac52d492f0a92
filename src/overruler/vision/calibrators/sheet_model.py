"""The unknowns of a lens that photos of a sheet are taken with, and the corners as the least squares take them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.calibrators.charuco import ChartCorners
from overruler.vision.camera.schur_solver import ResidualBlock

FOCAL_SIGMA, ASPECT_SIGMA, PRINCIPAL_POINT_SIGMA = 0.5, 0.01, 0.05
"""1 σ beforehand: fx as a share of itself, fy against fx, the principal point as a share of the longer side."""
DISTORTION_SIGMA = (0.5, 0.5, 0.01, 0.01, 0.5)
"""1 σ beforehand of k1 k2 p1 p2 k3 about 0: so wide that only corners never reached by a photo feel it."""
STRETCH_SIGMA, BOW_SIGMA = 2e-3, 1.5e-2
"""1 σ of the paper: how much longer it was printed along than across, and how far its middle stands over its edges, as
a share of half its longer side (a millimetre and a half on ten centimetres)."""
FIXED_ZOOM_SIGMA = 1e-6
"""1 σ of the photos' own zooms where the focus stays as it is."""


@dataclass(frozen=True, slots=True, eq=False)
class LensAndPaper:
    """Lens and paper: fx fy cx cy k1 k2 p1 p2 k3, stretch, bow across, bow along."""

    values: Array
    """(12,)."""

    def moved(self, step: Array) -> Self:
        return replace(self, values=self.values + step)

    def camera(self, stand: "PoseAndZoom") -> Camera:
        """The lens at one photo's zoom and pose."""
        fx, fy, cx, cy = self.values[:4]
        zoom = 1 + stand.zoom
        return Camera(
            np.array([[fx * zoom, 0, cx], [0, fy * zoom, cy], [0, 0, 1]]),
            self.values[4:9],
            stand.pose,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PoseAndZoom:
    """What is one photo's own: where the camera stood, and how much longer its focal length was, as a share."""

    pose: Pose
    zoom: float = 0.0

    def moved(self, step: Array) -> Self:
        return replace(self, pose=self.pose.moved(step[:6]), zoom=self.zoom + float(step[6]))


class SheetAdjustment:
    """The photos' corners as the least squares take them.

    `zoom_sigma` is 1 σ of the photos' own zooms, as a share: focusing changes the focal length. `variance` is how many
    times larger the corners' covariances are than they say.
    """

    def __init__(
        self,
        size_px: tuple[int, int],
        photos: Mapping[str, ChartCorners],
        focal_px: float,
        zoom_sigma: float = FIXED_ZOOM_SIGMA,
        variance: float = 1.0,
    ) -> None:
        self.size_px, self.photos, self.zoom_sigma = size_px, dict(photos), zoom_sigma
        self.sightings = tuple(photos.values())
        self.whiteners = [
            np.linalg.inv(np.linalg.cholesky(s.covariance_px2 * variance)) for s in self.sightings
        ]
        every = np.concatenate([s.xyz_mm for s in self.sightings])[:, :2]
        self.middle_mm, self.reach_mm = (
            (every.min(0) + every.max(0)) / 2,
            float(np.ptp(every, axis=0).max()) / 2,
        )
        longer = max(size_px)
        self.mean = np.array([focal_px, focal_px, *(np.array(size_px) - 1) / 2, *[0.0] * 8])
        focal = [FOCAL_SIGMA * focal_px, ASPECT_SIGMA * focal_px]
        sigma = [
            *focal,
            *[PRINCIPAL_POINT_SIGMA * longer] * 2,
            *DISTORTION_SIGMA,
            STRETCH_SIGMA,
            BOW_SIGMA,
            BOW_SIGMA,
        ]
        self.before = np.eye(12)
        self.before[1, 0] = -1.0  # fy is known against fx
        self.before /= np.array(sigma)[:, None]

    @property
    def initial_parameters(self) -> LensAndPaper:
        return LensAndPaper(self.mean)

    def prior_residuals(self, shared: LensAndPaper) -> tuple[Array, Array]:
        return self.before @ (shared.values - self.mean), self.before

    def residual_block(
        self, photo: int, shared: LensAndPaper, stand: PoseAndZoom
    ) -> ResidualBlock | None:
        """Residuals of one photo's corners and of its zoom, with slopes by the shared (12) and its own unknowns (7)."""
        if shared.values[:2].min() <= 0 or stand.zoom <= -1:
            return None
        sighting, white = self.sightings[photo], self.whiteners[photo]
        xyz, by_paper = self.deform_paper(shared, sighting.xyz_mm)
        if stand.pose.apply(xyz)[:, 2].min() <= 0:
            return None
        seen, d_point, d_camera = shared.camera(stand).project_with_jacobians(xyz)
        by_zoom = d_camera[..., :2] @ shared.values[:2, None]
        d_camera[..., :2] *= 1 + stand.zoom
        by_shared = _stack_axes(white @ np.concatenate([d_camera[..., :9], d_point @ by_paper], -1))
        by_own = _stack_axes(white @ np.concatenate([d_camera[..., 9:], by_zoom], -1))
        residual = (white @ (seen - sighting.xy_px)[..., None]).ravel()
        return ResidualBlock(
            np.append(residual, stand.zoom / self.zoom_sigma),
            np.vstack([by_shared, np.zeros((1, 12))]),
            np.vstack([by_own, np.eye(7)[6:] / self.zoom_sigma]),
        )

    def corner_residuals_px(self, photo: int, shared: LensAndPaper, stand: PoseAndZoom) -> Array:
        """(N, 2): how far one photo's corners are seen from where they should be."""
        sighting = self.sightings[photo]
        return np.asarray(
            shared.camera(stand).project(self.deform_paper(shared, sighting.xyz_mm)[0])
            - sighting.xy_px
        )

    def deform_paper(self, shared: LensAndPaper, xyz_mm: Array) -> tuple[Array, Array]:
        """Where the sheet's corners (N, 3) are once it is stretched and bent, and the slopes (N, 3, 3) by that."""
        x, y = ((xyz_mm[:, :2] - self.middle_mm) / self.reach_mm).T
        slopes = np.zeros((len(xyz_mm), 3, 3))
        slopes[:, 1, 0] = y * self.reach_mm
        slopes[:, 2, 1], slopes[:, 2, 2] = (1 - x * x) * self.reach_mm, (1 - y * y) * self.reach_mm
        return xyz_mm + slopes @ shared.values[9:], slopes


def _stack_axes(rows: Array) -> Array:
    """(N, 2, K) as (2 N, K)."""
    return np.asarray(rows.reshape(-1, rows.shape[-1]))

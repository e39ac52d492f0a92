"""The bundle adjustment of several photos of one table: parameters and residuals.

The shared parameters are the lens, the growth of all markers and each marker's place. The
lowest-numbered marker fixes the gauge. Each photo has a pose and a shift of its edges. One camera
draws all markers too large or too small alike: more photos by it do not reduce that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.lens import LENS_SIZE, intrinsic_matrix, pack_lens
from overruler.vision.calibrators.views import LayoutView, merge_places, rotation_2d
from overruler.vision.camera.bundle_adjustment import (
    EDGE_SHIFT_SIGMA_PX,
    MARKER_GROWTH_SIGMA_PX,
)
from overruler.vision.least_squares.schur_solver import (
    JointSolution,
    ResidualBlock,
    solve_photos_jointly,
    whitening_matrix,
)

PLACES_START = LENS_SIZE + 1
"""Index of the first place among the shared parameters; the growth of markers comes before it."""
OWN_COUNT = 7
"""Number of a photo's own parameters: six of its pose, and the shift of its edges."""


@dataclass(frozen=True, slots=True, eq=False)
class LensAndPlaces:
    """The shared parameters, of M markers."""

    lens: Array
    """(9,): fx fy cx cy k1 k2 p1 p2 k3."""
    places: Array
    """(M, 3): each marker's upper left corner in mm and heading in radians; the first is fixed."""
    marker_growth_px: float = 0.0
    """Outward shift in px of every marker's outer sides against its inner edges."""

    def moved(self, step: Array) -> Self:
        """Add a step (10 + 3 (M - 1),)."""
        steps = step[PLACES_START:].reshape(-1, 3)
        places = self.places + np.concatenate([np.zeros((1, 3)), steps])
        growth_px = self.marker_growth_px + float(step[LENS_SIZE])
        lens = self.lens + step[:LENS_SIZE]
        return replace(self, lens=lens, places=places, marker_growth_px=growth_px)

    def camera(self, pose: Pose) -> Camera:
        """The lens at a pose."""
        return Camera(intrinsic_matrix(self.lens), self.lens[4:], pose)


@dataclass(frozen=True, slots=True, eq=False)
class PoseAndEdgeShift:
    """The own parameters of a photo."""

    pose: Pose
    """The camera's pose over the board."""
    edge_shift_px: float
    """Shift of edges towards their dark side."""

    def moved(self, step: Array) -> Self:
        """Add a step (7,)."""
        edge_shift_px = self.edge_shift_px + float(step[6])
        return replace(self, pose=self.pose.moved(step[:6]), edge_shift_px=edge_shift_px)


MapSolution = JointSolution[LensAndPlaces, PoseAndEdgeShift]
"""The solution of a `MarkerMapAdjustment`."""


class MarkerMapAdjustment:
    """The least-squares problem of linked views of one table."""

    __slots__ = ("_growth_sigma_px", "_whiteners", "ids", "mean", "own_parameters",
                 "prior_root", "start", "views")  # fmt: skip

    def __init__(self, views: Sequence[LayoutView]) -> None:
        places = merge_places(views)
        self.ids = tuple(places)
        x, y, heading = places[self.ids[0]]
        rotation = rotation_2d(-heading)
        shift_mm = -rotation @ np.array([x, y])
        self.views = [view.in_frame(-heading, shift_mm) for view in views]
        self.own_parameters = [
            PoseAndEdgeShift(view.camera.T_camera_board, view.edge_shift_px) for view in self.views
        ]
        camera = self.views[0].camera
        first_places = np.stack(list(merge_places(self.views).values()))
        self.start = LensAndPlaces(pack_lens(camera.matrix, camera.distortion), first_places)
        prior = views[0].prior
        self.mean = prior.mean
        self.prior_root = whitening_matrix(prior.covariance)
        self._whiteners = [
            [whitening_matrix(group.covariance(view.scales)) for group in view.groups]
            for view in self.views
        ]
        shape = max(view.scales.shape for view in self.views)
        self._growth_sigma_px = MARKER_GROWTH_SIGMA_PX * shape

    @property
    def shared_count(self) -> int:
        """Number of shared parameters."""
        return PLACES_START + 3 * (len(self.ids) - 1)

    def solve(self) -> MapSolution:
        """Solve from the layouts of the single views."""
        return solve_photos_jointly(
            self.start, self.own_parameters, self.residual_block, self.prior_residuals
        )

    def prior_residuals(self, layout: LensAndPlaces) -> tuple[Array, Array]:
        """Whitened residuals (10,) of the priors of lens and growth, and their Jacobian."""
        residual = np.zeros(PLACES_START)
        residual[:LENS_SIZE] = self.prior_root @ (layout.lens - self.mean)
        residual[LENS_SIZE] = layout.marker_growth_px / self._growth_sigma_px
        jacobian = np.zeros((PLACES_START, self.shared_count))
        jacobian[:LENS_SIZE, :LENS_SIZE] = self.prior_root
        jacobian[LENS_SIZE, LENS_SIZE] = 1 / self._growth_sigma_px
        return residual, jacobian

    def residual_block(
        self, photo: int, layout: LensAndPlaces, own: PoseAndEdgeShift
    ) -> ResidualBlock | None:
        """Whitened residuals of one photo's edges and of its edge shift; None if impossible."""
        if layout.lens[:2].min() <= 0 or not self._is_before_camera(photo, layout, own):
            return None
        residuals, by_shared, by_own = [], [], []
        for k, whitener in enumerate(self._whiteners[photo]):
            residual, d_shared, d_own = self._marker_residuals(photo, k, layout, own)
            if not np.isfinite(residual).all():
                return None
            residuals.append(whitener @ residual)
            by_shared.append(whitener @ d_shared)
            by_own.append(whitener @ d_own)
        residuals.append(np.array([own.edge_shift_px / EDGE_SHIFT_SIGMA_PX]))
        by_shared.append(np.zeros((1, self.shared_count)))
        by_own.append(np.eye(OWN_COUNT)[6:] / EDGE_SHIFT_SIGMA_PX)
        return ResidualBlock(
            np.concatenate(residuals), np.concatenate(by_shared), np.concatenate(by_own)
        )

    def edge_residuals_px(self, photo: int, layout: LensAndPlaces, own: PoseAndEdgeShift) -> Array:
        """(N,): reprojection residuals of one photo's edges along their normals."""
        count = len(self.views[photo].ids)
        return np.concatenate(
            [self._marker_residuals(photo, k, layout, own)[0] for k in range(count)]
        )

    def _is_before_camera(self, photo: int, layout: LensAndPlaces, own: PoseAndEdgeShift) -> bool:
        """Whether all points of a photo's markers lie before the camera."""
        count = len(self.views[photo].ids)
        points = [self._points_on_board(photo, k, layout)[0] for k in range(count)]
        return bool(own.pose.apply(np.concatenate(points))[:, 2].min() > 0)

    def _points_on_board(self, photo: int, k: int, layout: LensAndPlaces) -> tuple[Array, Array]:
        """Points (N, 3) of a photo's k-th marker on the board, and arms (N, 2) from its corner."""
        view = self.views[photo]
        group, (x, y, heading) = view.groups[k], layout.places[self.ids.index(view.ids[k])]
        arm = group.xyz_mm[:, :2] @ rotation_2d(heading).T
        return np.column_stack([arm + np.array([x, y]), group.xyz_mm[:, 2]]), arm

    def _marker_residuals(
        self, photo: int, k: int, layout: LensAndPlaces, own: PoseAndEdgeShift
    ) -> tuple[Array, Array, Array]:
        """Residuals (N,) in px of a photo's k-th marker, and Jacobians (N, shared) and (N, 7)."""
        view, camera = self.views[photo], layout.camera(own.pose)
        group, index = view.groups[k], self.ids.index(view.ids[k])
        points, arm = self._points_on_board(photo, k, layout)
        projected, d_point, d_camera = camera.project_with_jacobians(points)
        growth = group.growth_jacobian
        residual = ((group.xy_px - projected) * group.normal_px).sum(1) + own.edge_shift_px
        residual -= growth * layout.marker_growth_px
        by_camera = -(group.normal_px[:, :, None] * d_camera).sum(1)
        by_point = -(group.normal_px[:, :, None] * d_point).sum(1)
        by_shared = np.zeros((len(residual), self.shared_count))
        by_shared[:, :LENS_SIZE] = by_camera[:, :LENS_SIZE]
        by_shared[:, LENS_SIZE] = -growth
        if index:
            by_heading = by_point[:, 1] * arm[:, 0] - by_point[:, 0] * arm[:, 1]
            start = PLACES_START + 3 * (index - 1)
            by_shared[:, start : start + 3] = np.column_stack([by_point[:, :2], by_heading])
        by_own = np.column_stack([by_camera[:, LENS_SIZE:], np.ones(len(residual))])
        return residual, by_shared, by_own

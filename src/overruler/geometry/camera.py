"""A pinhole camera with OpenCV's five-coefficient lens, at a pose over the board."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array, Pose, skew

LENS_PARAMETERS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
POSE_PARAMETERS = ("rx", "ry", "rz", "tx", "ty", "tz")
CAMERA_PARAMETERS = LENS_PARAMETERS + POSE_PARAMETERS
"""The order of every vector and matrix over a camera's parameters.

Nine of the lens come first, then a step of the pose (`Pose.moved`): a rotation vector in the camera
frame about the board's origin, and a translation in mm.
"""
UNDISTORT_STEPS = 12
"""Most Newton steps when a pixel is undistorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """The projection of board points to pixels, and back."""

    matrix: Array
    """(3, 3): fx, fy, cx, cy in pixels; no skew."""
    distortion: Array
    """(5,): k1 k2 p1 p2 k3, OpenCV's model."""
    T_camera_board: Pose

    @property
    def center_mm(self) -> Array:
        """The camera's position in the board frame (3,)."""
        pose = self.T_camera_board
        return np.asarray(-pose.rotation.T @ pose.translation_mm)

    @property
    def tilt_deg(self) -> float:
        """The angle between the camera's axis and straight down onto the board."""
        cosine = np.clip(-self.T_camera_board.rotation[2, 2], -1, 1)
        return float(np.degrees(np.arccos(cosine)))

    def moved(self, step: ArrayLike) -> "Camera":
        """Return the camera with `step` (15,) added, in the order of `CAMERA_PARAMETERS`."""
        step = np.asarray(step, float)
        matrix = self.matrix.copy()
        matrix[[0, 1, 0, 1], [0, 1, 2, 2]] += step[:4]
        pose = self.T_camera_board.moved(step[9:])
        return Camera(matrix, self.distortion + step[4:9], pose)

    def with_origin_at(self, origin_mm: Array) -> tuple["Camera", Array]:
        """Express the camera in a board frame with its origin at `origin_mm` (3,), with Jacobian (15, 15)."""
        T_camera_board = self.T_camera_board @ Pose(np.eye(3), origin_mm)
        jacobian = np.eye(len(CAMERA_PARAMETERS))
        # a rotation ω about the old origin moves the new one by ω × arm
        arm = T_camera_board.translation_mm - self.T_camera_board.translation_mm
        jacobian[12:15, 9:12] = -skew(arm)
        return replace(self, T_camera_board=T_camera_board), jacobian

    def with_lens(self, matrix: ArrayLike, distortion: ArrayLike) -> "Camera":
        matrix = np.asarray(matrix, float)
        return replace(self, matrix=matrix, distortion=np.asarray(distortion, float))

    # --- board to picture ---

    def distort(self, xy: ArrayLike) -> Array:
        """Distort ideal image coordinates (..., 2) at focal length 1."""
        xy = np.asarray(xy, float)
        x, y = self._distort_xy(xy[..., 0], xy[..., 1])
        return np.stack([x, y], -1)

    def _distort_xy(self, x: Array, y: Array) -> tuple[Array, Array]:
        k1, k2, p1, p2, k3 = self.distortion
        xx, yy = x * x, y * y
        xy = x * y
        r2 = xx + yy
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        distorted_x = x * radial + 2 * p1 * xy + p2 * (r2 + 2 * xx)
        distorted_y = y * radial + p1 * (r2 + 2 * yy) + 2 * p2 * xy
        return distorted_x, distorted_y

    def project(self, xyz_mm: ArrayLike) -> Array:
        """Project board points (..., 3) to pixels (..., 2).

        Points behind the camera and beyond the radius where the lens model folds back give NaN.
        """
        return self._project(xyz_mm, self._fold_radius_squared)

    def project_beyond_fold(self, xyz_mm: ArrayLike) -> Array:
        """The same by the lens model alone, as `project_with_jacobians` does: smooth for least squares."""
        return self._project(xyz_mm, np.inf)

    def _project(self, xyz_mm: ArrayLike, fold_radius_squared: float) -> Array:
        points = np.asarray(xyz_mm, float)
        pose = self.T_camera_board
        # Coordinates as rows are quicker than as columns.
        x, y, z = pose.rotation @ points.reshape(-1, 3).T + pose.translation_mm[:, None]
        z[z <= 0] = np.nan
        x, y = x / z, y / z
        if fold_radius_squared < np.inf:
            x[x * x + y * y >= fold_radius_squared] = np.nan
        pixels = np.empty((len(z), 2))
        for k, distorted in enumerate(self._distort_xy(x, y)):
            pixels[:, k] = distorted * self.matrix[k, k] + self.matrix[k, 2]
        return pixels.reshape(*points.shape[:-1], 2)

    def project_along_rays(
        self, start_mm: Array, directions: Array, reach_mm: Array
    ) -> tuple[Array, Array]:
        """Project points on level rays to pixels u and v (K, S); quick for many points.

        Rays begin at `start_mm` (K, 3) and run along `directions` (K, 2); `reach_mm` (K, S) is the
        distance of each point along its ray.
        """
        pose = self.T_camera_board
        starts = start_mm @ pose.rotation.T + pose.translation_mm
        steps = directions @ pose.rotation[:, :2].T
        x, y, z = (starts[:, k, None] + steps[:, k, None] * reach_mm for k in range(3))
        z[z <= 0] = np.nan
        u, v = self._distort_xy(x / z, y / z)
        fx = self.matrix[0, 0]
        fy = self.matrix[1, 1]
        return u * fx + self.matrix[0, 2], v * fy + self.matrix[1, 2]

    def project_with_jacobians(self, xyz_mm: ArrayLike) -> tuple[Array, Array, Array]:
        """Project points; also return d pixel / d point (..., 2, 3) and d parameters (..., 2, 15).

        A least-squares step may pass beyond the lens model's fold, so there the model goes on.
        """
        points = np.asarray(xyz_mm, float)
        pose, shape = self.T_camera_board, points.shape[:-1]
        # Coordinates as rows are quicker than as columns.
        rotated = pose.rotation @ points.reshape(-1, 3).T
        ahead = rotated + pose.translation_mm[:, None]
        x, y = ahead[:2] / ahead[2]
        distorted = self._distort_xy(x, y)
        parameters = np.empty((2, len(CAMERA_PARAMETERS), len(x)))
        by_lens, turn, by_camera_point = parameters[:, :9], parameters[:, 9:12], parameters[:, 12:]
        self._fill_lens_jacobian(by_lens, x, y, distorted)
        self._fill_camera_point_jacobian(by_camera_point, x, y, ahead[2])
        _fill_turn_jacobian(turn, rotated, by_camera_point)
        by_point = pose.rotation.T @ by_camera_point
        pixels = np.stack([distorted[k] * self.matrix[k, k] + self.matrix[k, 2] for k in (0, 1)])
        return (
            np.moveaxis(pixels, -1, 0).reshape(*shape, 2),
            np.moveaxis(by_point, -1, 0).reshape(*shape, 2, 3),
            np.moveaxis(parameters, -1, 0).reshape(*shape, 2, len(CAMERA_PARAMETERS)),
        )

    def _fill_lens_jacobian(
        self, jacobian: Array, x: Array, y: Array, distorted: tuple[Array, Array]
    ) -> None:
        """Fill in d pixel / d lens parameters (2, 9, N) at ideal image coordinates (N,)."""
        fx, fy = self.matrix[0, 0], self.matrix[1, 1]
        xx, yy, twice_xy = x * x, y * y, 2 * x * y
        r2 = xx + yy
        jacobian[:] = 0.0
        jacobian[0, 0], jacobian[1, 1] = distorted
        jacobian[0, 2] = jacobian[1, 3] = 1.0
        for row, scaled in zip(jacobian, (fx * x, fy * y), strict=True):
            row[4] = scaled * r2
            row[5] = row[4] * r2
            row[8] = row[5] * r2
        jacobian[0, 6], jacobian[0, 7] = fx * twice_xy, fx * (r2 + 2 * xx)
        jacobian[1, 6], jacobian[1, 7] = fy * (r2 + 2 * yy), fy * twice_xy

    def board_point_jacobian(self, xyz_mm: ArrayLike) -> Array:
        """Return d point / d parameters (..., 2, 15) of board points that keep pixel and height."""
        _, d_point, d_camera = self.project_with_jacobians(xyz_mm)
        return np.asarray(-np.linalg.solve(d_point[..., :2], d_camera))

    def _distortion_jacobian(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """Return d distorted / d ideal coordinates, a symmetric matrix: its xx, xy and yy (...,)."""
        k1, k2, p1, p2, k3 = self.distortion
        r2 = x * x + y * y
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        slope = k1 + r2 * (2 * k2 + 3 * r2 * k3)  # d radial / d r2
        xx = radial + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
        xy = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
        yy = radial + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
        return xx, xy, yy

    def _fill_camera_point_jacobian(self, jacobian: Array, x: Array, y: Array, z: Array) -> None:
        """Fill in d pixel / d point (2, 3, N) of points of depth z at ideal image coordinates (N,)."""
        xx, xy, yy = self._distortion_jacobian(x, y)
        slopes = (xx, xy), (xy, yy)
        for row, (by_x, by_y), focal in zip(jacobian, slopes, np.diag(self.matrix), strict=False):
            scale = focal / z
            row[0], row[1] = by_x * scale, by_y * scale
            row[2] = -(row[0] * x + row[1] * y)

    # --- picture to board ---

    def undistort(self, xy_px: ArrayLike) -> Array:
        """Return the ideal image coordinates (..., 2), at focal length 1, of pixels (..., 2).

        Newton's method solves the forward model: OpenCV's fixed-point iteration leaves up to 0.2 px.
        Pixels beyond the radius where the lens model folds back give NaN.
        """
        target = (np.asarray(xy_px, float) - self.matrix[:2, 2]) / self.matrix[[0, 1], [0, 1]]
        guess = target.copy()
        for _ in range(UNDISTORT_STEPS):
            a, b, d = self._distortion_jacobian(guess[..., 0], guess[..., 1])
            error = self.distort(guess) - target
            determinant = a * d - b * b
            guess[..., 0] -= (d * error[..., 0] - b * error[..., 1]) / determinant
            guess[..., 1] -= (a * error[..., 1] - b * error[..., 0]) / determinant
            if np.nanmax(np.abs(error), initial=0) < 1e-13:
                break
        residual = np.abs(self.distort(guess) - target).max(-1, keepdims=True)
        is_unfolded = (guess * guess).sum(-1, keepdims=True) < self._fold_radius_squared
        return np.where((residual < 1e-9) & is_unfolded, guess, np.nan)

    @property
    def _fold_radius_squared(self) -> float:
        """The squared radius at which the lens model folds back: the first root of d (r·radial)/dr."""
        k1, k2, _, _, k3 = self.distortion.tolist()
        return _first_fold_squared(k1, k2, k3)

    def unproject(self, xy_px: ArrayLike, z_mm: ArrayLike = 0.0) -> Array:
        """Return the board points (..., 2) that pixels see at `z_mm`; NaN if a ray misses it."""
        ideal = self.undistort(xy_px)
        ones = np.ones((*ideal.shape[:-1], 1))
        rays = np.concatenate([ideal, ones], -1) @ self.T_camera_board.rotation
        eye = self.center_mm
        reach = (np.asarray(z_mm, float) - eye[2]) / rays[..., 2]
        reach = np.where(reach > 0, reach, np.nan)
        return np.asarray(eye[:2] + rays[..., :2] * reach[..., None])

    def mm_per_px(self, xyz_mm: ArrayLike) -> Array:
        """Return the mm in a pixel (...,) at points (..., 3): a geometric mean over directions."""
        points = np.asarray(xyz_mm, float)
        pose = self.T_camera_board
        ahead = pose.rotation @ points.reshape(-1, 3).T + pose.translation_mm[:, None]
        by_camera_point = np.empty((2, 3, ahead.shape[1]))
        x, y = ahead[:2] / ahead[2]
        self._fill_camera_point_jacobian(by_camera_point, x, y, ahead[2])
        (a, b), (c, d) = pose.rotation[:, :2].T @ by_camera_point
        return np.asarray(1 / np.sqrt(np.abs(a * d - b * c))).reshape(points.shape[:-1])


@lru_cache(maxsize=256)
def _first_fold_squared(k1: float, k2: float, k3: float) -> float:
    slope = np.array([7 * k3, 5 * k2, 3 * k1, 1.0])
    roots = np.roots(np.where(np.abs(slope) < 1e-12, 0, slope))
    is_real = np.abs(roots.imag) < 1e-12
    folds = roots.real[is_real & (roots.real > 0)]
    return float(folds.min(initial=np.inf))


def _fill_turn_jacobian(jacobian: Array, rotated: Array, by_camera_point: Array) -> None:
    """Fill in d pixel / d ω (2, 3, N) of turned points ω × q: slope · (ω × q) = ω · (q × slope).

    `rotated` (3, N) are the points q, `by_camera_point` (2, 3, N) the slopes.
    """
    a, b, c = rotated
    for row, (along_x, along_y, along_z) in zip(jacobian, by_camera_point, strict=True):
        row[0] = b * along_z - c * along_y
        row[1] = c * along_x - a * along_z
        row[2] = a * along_y - b * along_x

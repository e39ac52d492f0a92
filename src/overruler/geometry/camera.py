"""The camera: a pinhole with OpenCV's five-number lens, at a pose over the board."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array, Pose

CAMERA_PARAMETERS = (
    "fx",
    "fy",
    "cx",
    "cy",
    "k1",
    "k2",
    "p1",
    "p2",
    "k3",
    "rx",
    "ry",
    "rz",
    "tx",
    "ty",
    "tz",
)
"""The order of every vector and matrix over a camera's parameters: nine of the lens, then a step of the pose
(`Pose.moved`): a rotation vector in the camera frame about the board's origin, and a translation in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """Where a point of the board is seen, and which point of the board a pixel sees."""

    matrix: Array
    """(3, 3): fx, fy, cx, cy in pixels; no skew."""
    distortion: Array
    """(5,): k1 k2 p1 p2 k3, OpenCV's model."""
    T_camera_board: Pose

    @property
    def center_mm(self) -> Array:
        """Where the camera stands on the board (3,)."""
        return self.T_camera_board.inverse().translation_mm

    def moved(self, step: ArrayLike) -> "Camera":
        """The camera with `step` (15,) added, in the order of `CAMERA_PARAMETERS`."""
        step = np.asarray(step, float)
        matrix = self.matrix.copy()
        matrix[[0, 1, 0, 1], [0, 1, 2, 2]] += step[:4]
        return Camera(matrix, self.distortion + step[4:9], self.T_camera_board.moved(step[9:]))

    def with_lens(self, matrix: ArrayLike, distortion: ArrayLike) -> "Camera":
        return replace(
            self, matrix=np.asarray(matrix, float), distortion=np.asarray(distortion, float)
        )

    # --- board to picture ---

    def distort(self, xy: ArrayLike) -> Array:
        """Ideal image coordinates (..., 2), at focal length 1, to distorted ones."""
        xy = np.asarray(xy, float)
        return np.stack(self._distort_xy(xy[..., 0], xy[..., 1]), -1)

    def _distort_xy(self, x: Array, y: Array) -> tuple[Array, Array]:
        k1, k2, p1, p2, k3 = self.distortion
        xx, yy, xy = x * x, y * y, x * y
        r2 = xx + yy
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        return x * radial + 2 * p1 * xy + p2 * (r2 + 2 * xx), y * radial + p1 * (
            r2 + 2 * yy
        ) + 2 * p2 * xy

    def project(self, xyz_mm: ArrayLike) -> Array:
        """Board points (..., 3) to pixels (..., 2). Points behind the camera give NaN."""
        points, pose = np.asarray(xyz_mm, float), self.T_camera_board
        x, y, z = (
            pose.rotation @ points.reshape(-1, 3).T + pose.translation_mm[:, None]
        )  # rows: quicker than columns
        z[z <= 0] = np.nan
        pixels = np.empty((len(z), 2))
        for k, distorted in enumerate(self._distort_xy(x / z, y / z)):
            pixels[:, k] = distorted * self.matrix[k, k] + self.matrix[k, 2]
        return pixels.reshape(*points.shape[:-1], 2)

    def project_along_rays(
        self, start_mm: Array, directions: Array, reach_mm: Array
    ) -> tuple[Array, Array]:
        """The pixels u and v (K, S) of board points that lie so far (K, S) along level rays: many points, quickly.

        Rays begin at `start_mm` (K, 3) and go along `directions` (K, 2).
        """
        pose = self.T_camera_board
        starts, ways = (
            start_mm @ pose.rotation.T + pose.translation_mm,
            directions @ pose.rotation[:, :2].T,
        )
        x, y, z = (starts[:, k, None] + ways[:, k, None] * reach_mm for k in range(3))
        z[z <= 0] = np.nan
        u, v = self._distort_xy(x / z, y / z)
        return u * self.matrix[0, 0] + self.matrix[0, 2], v * self.matrix[1, 1] + self.matrix[1, 2]

    def project_with_jacobians(self, xyz_mm: ArrayLike) -> tuple[Array, Array, Array]:
        """Board points (..., 3) to pixels (..., 2); slopes by the point (..., 2, 3) and the parameters (..., 2, 15)."""
        rotated = np.asarray(xyz_mm, float) @ self.T_camera_board.rotation.T
        x, y, d_pixel_d_camera = self._pixel_by_camera_point_jacobian(
            rotated + self.T_camera_board.translation_mm
        )
        fx, fy = self.matrix[0, 0], self.matrix[1, 1]
        r2 = x * x + y * y
        parameters = np.zeros((*x.shape, 2, 15))
        distorted = self.distort(np.stack([x, y], -1))
        parameters[..., 0, 0], parameters[..., 1, 1] = distorted[..., 0], distorted[..., 1]
        parameters[..., 0, 2] = parameters[..., 1, 3] = 1
        powers = np.stack([r2, r2 * r2, r2**3], -1)
        parameters[..., 0, [4, 5, 8]] = fx * x[..., None] * powers
        parameters[..., 1, [4, 5, 8]] = fy * y[..., None] * powers
        parameters[..., 0, 6], parameters[..., 0, 7] = fx * 2 * x * y, fx * (r2 + 2 * x * x)
        parameters[..., 1, 6], parameters[..., 1, 7] = fy * (r2 + 2 * y * y), fy * 2 * x * y
        # d (ω × q) / d ω = -[q]×, with q the rotated point
        a, b, c = rotated[..., 0], rotated[..., 1], rotated[..., 2]
        o = np.zeros_like(a)
        turn = np.stack(
            [np.stack([o, c, -b], -1), np.stack([-c, o, a], -1), np.stack([b, -a, o], -1)], -2
        )
        parameters[..., 9:12] = d_pixel_d_camera @ turn
        parameters[..., 12:15] = d_pixel_d_camera
        pixels = distorted * np.array([fx, fy]) + self.matrix[:2, 2]
        return pixels, d_pixel_d_camera @ self.T_camera_board.rotation, parameters

    def board_point_jacobian(self, xyz_mm: ArrayLike) -> Array:
        """How board points (..., 3) that keep their pixels and their height move with the parameters (..., 2, 15)."""
        _, d_point, d_camera = self.project_with_jacobians(xyz_mm)
        return np.asarray(-np.linalg.solve(d_point[..., :2], d_camera))

    def _pixel_by_camera_point_jacobian(self, xyz: Array) -> tuple[Array, Array, Array]:
        """Points (..., 3) in the camera's frame to ideal image coordinates, and pixels' slopes by them (..., 2, 3)."""
        z = xyz[..., 2]
        x, y = xyz[..., 0] / z, xyz[..., 1] / z
        k1, k2, p1, p2, k3 = self.distortion
        r2 = x * x + y * y
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        slope = k1 + r2 * (2 * k2 + 3 * r2 * k3)  # d radial / d r2
        d_distorted = np.empty((*x.shape, 2, 2))
        d_distorted[..., 0, 0] = radial + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
        d_distorted[..., 0, 1] = d_distorted[..., 1, 0] = (
            2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
        )
        d_distorted[..., 1, 1] = radial + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
        d_ideal = np.zeros((*x.shape, 2, 3))
        d_ideal[..., 0, 0] = d_ideal[..., 1, 1] = 1 / z
        d_ideal[..., 0, 2], d_ideal[..., 1, 2] = -x / z, -y / z
        return x, y, self.matrix[[0, 1], [0, 1]][:, None] * (d_distorted @ d_ideal)

    # --- picture to board ---

    def undistort(self, xy_px: ArrayLike) -> Array:
        """Pixels (..., 2) to ideal image coordinates at focal length 1 (..., 2).

        Newton's method on the forward model: OpenCV's fixed-point iteration leaves up to 0.2 px. Pixels beyond the lens
        model's fold give NaN.
        """
        target = (np.asarray(xy_px, float) - self.matrix[:2, 2]) / self.matrix[[0, 1], [0, 1]]
        guess = target.copy()
        k1, k2, p1, p2, k3 = self.distortion
        for _ in range(12):
            x, y = guess[..., 0], guess[..., 1]
            r2 = x * x + y * y
            radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
            slope = k1 + r2 * (2 * k2 + 3 * r2 * k3)
            a = radial + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
            b = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
            d = radial + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
            error = self.distort(guess) - target
            determinant = a * d - b * b
            guess[..., 0] -= (d * error[..., 0] - b * error[..., 1]) / determinant
            guess[..., 1] -= (a * error[..., 1] - b * error[..., 0]) / determinant
            if np.nanmax(np.abs(error), initial=0) < 1e-13:
                break
        good = np.abs(self.distort(guess) - target).max(-1, keepdims=True) < 1e-9
        good &= (guess * guess).sum(-1, keepdims=True) < self._fold_radius_squared
        return np.where(good, guess, np.nan)

    @property
    def _fold_radius_squared(self) -> float:
        """The squared radius from which on the lens model folds back: where d (r · radial) / d r first reaches 0."""
        k1, k2, _, _, k3 = self.distortion
        slope = np.array([7 * k3, 5 * k2, 3 * k1, 1.0])
        roots = np.roots(np.where(np.abs(slope) < 1e-12, 0, slope))
        folds = roots.real[(np.abs(roots.imag) < 1e-12) & (roots.real > 0)]
        return float(folds.min(initial=np.inf))

    def unproject(self, xy_px: ArrayLike, z_mm: ArrayLike = 0.0) -> Array:
        """The board points (..., 2) at height `z_mm` that pixels (..., 2) see; NaN where the ray misses the plane."""
        ideal = self.undistort(xy_px)
        rays = (
            np.concatenate([ideal, np.ones((*ideal.shape[:-1], 1))], -1)
            @ self.T_camera_board.rotation
        )
        eye = self.center_mm
        reach = (np.asarray(z_mm, float) - eye[2]) / rays[..., 2]
        reach = np.where(reach > 0, reach, np.nan)
        return np.asarray(eye[:2] + rays[..., :2] * reach[..., None])

    def mm_per_px(self, xyz_mm: ArrayLike) -> Array:
        """The board's millimetres in a pixel (...,) around points (..., 3): the geometric mean over directions."""
        pose = self.T_camera_board
        d_camera = self._pixel_by_camera_point_jacobian(
            np.asarray(xyz_mm, float) @ pose.rotation.T + pose.translation_mm
        )[2]
        (a, b), (c, d) = np.moveaxis(d_camera @ pose.rotation[:, :2], (-2, -1), (0, 1))
        return np.asarray(1 / np.sqrt(np.abs(a * d - b * c)))

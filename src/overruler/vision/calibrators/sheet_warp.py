"""A model of where one photo shows each point of a flat sheet, exact enough for how its lines curve."""

from dataclasses import dataclass, replace

import cv2
import numpy as np

from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array

RADIAL_ITERATIONS = 4
"""Gauss-Newton steps over the radial coefficients."""
RADIAL_PRIOR_SIGMA = 0.3
"""Prior σ of the radial coefficients."""
MAX_RADIAL = 0.6
"""Largest absolute value of the radial coefficients."""
DIFFERENCE_STEP = 1e-3
"""Step of the radial coefficients for the numerical Jacobian."""
CUBIC_REGULARIZATION = 1e-2
"""Regularization of the cubic in information of a corner: few corners do not determine it."""


@dataclass(frozen=True, slots=True, eq=False)
class SheetWarp:
    """A homography, a radial distortion about the picture's centre, and a small cubic for the rest.

    A cubic of the sheet's own coordinates would not do: on a tilted sheet, perspective is of a
    higher order and lines would curve wrongly.
    """

    matrix: Array
    """(3, 3): homography from mm to undistorted px."""
    middle: Array
    """(2,): centre of the picture."""
    radial_coefficients: Array
    """(2,): of the second and fourth power of the distance from the centre, in half diagonals."""
    cubic_coefficients: Array
    """(10, 2): px by the monomials of `_cubic_monomials`."""

    @classmethod
    def fit(cls, mm: Array, px: Array, shape: tuple[int, ...]) -> "SheetWarp":
        """Fit the warp to points (N, 2) and their pixels (N, 2) in a picture (H, W)."""
        middle = (np.array([shape[1], shape[0]]) - 1) / 2
        warp = cls(np.eye(3), middle, np.zeros(2), np.zeros((10, 2)))
        warp = warp._fit_homography(mm, px)
        for _ in range(RADIAL_ITERATIONS):
            warp = warp._improve_radial(mm, px)
        monomials = warp._cubic_monomials(warp._apply_homography(mm))
        regularization = CUBIC_REGULARIZATION * np.eye(10) * len(mm)
        information = monomials.T @ monomials + regularization
        cubic = np.linalg.solve(information, monomials.T @ (px - warp(mm)))
        return replace(warp, cubic_coefficients=np.asarray(cubic, float))

    def _improve_radial(self, mm: Array, px: Array) -> "SheetWarp":
        """One Gauss-Newton step over the radial coefficients; the homography follows them."""
        predicted = self(mm)
        columns = []
        for step in DIFFERENCE_STEP * np.eye(2):
            trial = self._with_radial(self.radial_coefficients + step, mm, px)
            columns.append((trial(mm) - predicted).ravel() / DIFFERENCE_STEP)
        jacobian = np.stack(columns, 1)
        information = jacobian.T @ jacobian + np.eye(2) / RADIAL_PRIOR_SIGMA**2
        prior_gradient = self.radial_coefficients / RADIAL_PRIOR_SIGMA**2
        gradient = jacobian.T @ (px - predicted).ravel() - prior_gradient
        step = np.linalg.solve(information, gradient)
        radial = np.clip(self.radial_coefficients + step, -MAX_RADIAL, MAX_RADIAL)
        return self._with_radial(radial, mm, px)

    def _with_radial(self, radial: Array, mm: Array, px: Array) -> "SheetWarp":
        """The warp with these radial coefficients and the homography that fits best with them."""
        return replace(self, radial_coefficients=radial)._fit_homography(mm, px)

    def _fit_homography(self, mm: Array, px: Array) -> "SheetWarp":
        """The warp with the homography that fits best with its radial coefficients."""
        distorted = px - self.middle
        undistorted = distorted
        for _ in range(12):
            undistorted = distorted / self._radial_factor(undistorted)
        matrix, _ = cv2.findHomography(mm, undistorted + self.middle, 0)
        if matrix is None or not np.isfinite(matrix).all():
            raise CannotMeasure(
                "the sheet is seen too much from the side: hold the camera more in front of it"
            )
        return replace(self, matrix=np.array(matrix, float))

    @property
    def _half_diagonal_px(self) -> float:
        return float(np.hypot(*self.middle))

    def _radial_factor(self, xy: Array) -> Array:
        """Factor (..., 1) of the radial distortion at undistorted px (..., 2) from the centre."""
        r2 = (xy**2).sum(-1, keepdims=True) / self._half_diagonal_px**2
        first, second = self.radial_coefficients
        return np.asarray(1 + r2 * (first + r2 * second))

    def _apply_homography(self, mm: Array) -> Array:
        """Undistorted px (..., 2) from the centre of points (..., 2)."""
        homogeneous = np.concatenate([mm, np.ones((*mm.shape[:-1], 1))], -1) @ self.matrix.T
        return np.asarray(homogeneous[..., :2] / homogeneous[..., 2:] - self.middle)

    def _cubic_monomials(self, xy: Array) -> Array:
        """Monomials (..., 10) up to degree 3 of undistorted px (..., 2) from the centre."""
        x, y = np.moveaxis(xy / self._half_diagonal_px, -1, 0)
        constant = np.ones_like(x)
        cubics = [x**3, x * x * y, x * y * y, y**3]
        return np.stack([constant, x, y, x * x, x * y, y * y, *cubics], -1)

    def __call__(self, mm: Array) -> Array:
        """Pixels (..., 2) of points (..., 2) of the sheet."""
        xy = self._apply_homography(mm)
        distorted = xy * self._radial_factor(xy)
        cubic = self._cubic_monomials(xy) @ self.cubic_coefficients
        return np.asarray(self.middle + distorted + cubic)

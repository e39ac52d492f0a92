"""Where each place of a flat sheet is seen in one photo: exact enough to know how its lines curve."""

from dataclasses import dataclass, replace

import cv2
import numpy as np

from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array

BEND_ITERATIONS, BEND_PRIOR_SIGMA, MAX_BEND = 4, 0.3, 0.6
"""Rounds of fitting how a photo is bent, and by how much at its corner: 1 σ beforehand, and at most."""
DIFFERENCE_STEP = 1e-3
"""A bend's change that shows the slopes."""
CUBIC_REGULARIZATION = 1e-2
"""How much the cubic is held back, against what one corner says: with few corners it would be anything."""


@dataclass(frozen=True, slots=True, eq=False)
class SheetWarp:
    """A homography, bent about the picture's middle, and a small cubic for what is left of the lens.

    A cubic of the sheet itself would not do: where it leans, perspective is of a higher order, and lines curve wrongly.
    """

    matrix: Array
    """(3, 3): mm to straight px."""
    middle: Array
    """(2,): of the picture."""
    radial_coefficients: Array
    """(2,): by the second and fourth power of the distance from the middle, in `radius`."""
    cubic_coefficients: Array
    """(10, 2): px by `_powers`."""

    @classmethod
    def fit(cls, mm: Array, px: Array, shape: tuple[int, ...]) -> "SheetWarp":
        """The map that fits places (N, 2) and pixels (N, 2) of a picture (H, W) best."""
        middle = (np.array([shape[1], shape[0]]) - 1) / 2
        bent = cls(np.eye(3), middle, np.zeros(2), np.zeros((10, 2)))._fit_homography(mm, px)
        for _ in range(BEND_ITERATIONS):
            bent = bent._improve_radial(mm, px)
        powers = bent._cubic_monomials(bent._apply_homography(mm))
        held = powers.T @ powers + CUBIC_REGULARIZATION * np.eye(10) * len(mm)
        return replace(
            bent,
            cubic_coefficients=np.asarray(np.linalg.solve(held, powers.T @ (px - bent(mm))), float),
        )

    def _improve_radial(self, mm: Array, px: Array) -> "SheetWarp":
        """After one step of Gauss and Newton's method over the bends, the homography following them."""
        now = self(mm)
        tries = [
            replace(self, radial_coefficients=self.radial_coefficients + step)._fit_homography(
                mm, px
            )(mm)
            for step in DIFFERENCE_STEP * np.eye(2)
        ]
        slopes = np.stack([(seen - now).ravel() / DIFFERENCE_STEP for seen in tries], 1)
        held = slopes.T @ slopes + np.eye(2) / BEND_PRIOR_SIGMA**2
        step = np.linalg.solve(
            held, slopes.T @ (px - now).ravel() - self.radial_coefficients / BEND_PRIOR_SIGMA**2
        )
        return replace(
            self, radial_coefficients=np.clip(self.radial_coefficients + step, -MAX_BEND, MAX_BEND)
        )._fit_homography(mm, px)

    def _fit_homography(self, mm: Array, px: Array) -> "SheetWarp":
        """With the homography that goes best with the bends."""
        from_middle = px - self.middle
        flat = from_middle
        for _ in range(12):
            flat = from_middle / self._radial_factor(flat)
        matrix, _ = cv2.findHomography(mm, flat + self.middle, 0)
        if matrix is None or not np.isfinite(matrix).all():
            raise CannotMeasure(
                "the sheet is seen too much from the side: hold the camera more in front of it"
            )
        return replace(self, matrix=np.array(matrix, float))

    @property
    def _half_diagonal_px(self) -> float:
        return float(np.hypot(*self.middle))

    def _radial_factor(self, flat: Array) -> Array:
        share = (flat**2).sum(-1, keepdims=True) / self._half_diagonal_px**2
        return np.asarray(
            1 + share * (self.radial_coefficients[0] + share * self.radial_coefficients[1])
        )

    def _apply_homography(self, mm: Array) -> Array:
        """Places (..., 2) as a lens without bends would see them, from the middle (..., 2)."""
        flat = np.concatenate([mm, np.ones((*mm.shape[:-1], 1))], -1) @ self.matrix.T
        return np.asarray(flat[..., :2] / flat[..., 2:] - self.middle)

    def _cubic_monomials(self, flat: Array) -> Array:
        x, y = np.moveaxis(flat / self._half_diagonal_px, -1, 0)
        one = np.ones_like(x)
        return np.stack([one, x, y, x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3], -1)

    def __call__(self, mm: Array) -> Array:
        """Places (..., 2) to pixels (..., 2)."""
        flat = self._apply_homography(mm)
        return np.asarray(
            self.middle
            + flat * self._radial_factor(flat)
            + self._cubic_monomials(flat) @ self.cubic_coefficients
        )

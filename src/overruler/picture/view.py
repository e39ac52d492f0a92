"""Where the board's millimetres land on the drawing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape

OUTLINE_POINTS = 96
"""Points round a base, and the share of a long line: what is drawn is a polygon, what is measured is not."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The photo as a canvas: one unit of the drawing is one pixel of the photo, (0, 0) its upper left corner."""

    camera: Camera
    size_px: tuple[int, int]

    @property
    def unit(self) -> float:
        """A thousandth of the photo's longer side: what sizes of letters and lines are given in."""
        return max(self.size_px) / 1000

    def to_px(self, xy_mm: ArrayLike, z_mm: float = 0.0) -> Array:
        """Board points (..., 2) at a height to places on the drawing (..., 2); NaN far outside the picture.

        The centre of the upper left pixel is (0.5, 0.5) here. Far outside the picture the lens model means nothing.
        """
        xy = np.asarray(xy_mm, float)
        xyz = np.concatenate([xy, np.full((*xy.shape[:-1], 1), z_mm)], -1)
        places = self.camera.project(xyz) + 0.5
        return np.where(self._within_lens_model(xyz)[..., None], places, np.nan)

    def _within_lens_model(self, xyz_mm: Array) -> Array:
        seen = self.camera.T_camera_board.apply(xyz_mm)
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = np.hypot(seen[..., 0], seen[..., 1]) / seen[..., 2]
        return np.asarray((seen[..., 2] > 0) & (radius < 1.25 * self._corner_radius()))

    def _corner_radius(self) -> float:
        width, height = self.size_px
        corners = np.array([[0, 0], [width, 0], [0, height], [width, height]], float)
        ideal = self.camera.undistort(corners)
        radius = float(np.nanmax(np.linalg.norm(ideal, axis=-1), initial=0.0))
        return radius or float(np.hypot(width, height)) / (2 * float(self.camera.matrix[0, 0]))

    def line_px(self, start_mm: ArrayLike, end_mm: ArrayLike, z_mm: float = 0.0) -> Array:
        """A straight line of the board (N, 2) on the drawing, bent as the lens bends it."""
        share = np.linspace(0, 1, 33)[:, None]
        return self.to_px(
            np.asarray(start_mm, float) * (1 - share) + np.asarray(end_mm, float) * share, z_mm
        )

    def contains_all(self, places: Array, border_px: float = 0.0) -> bool:
        """Whether all places (N, 2) lie on the drawing, a border away from its edge."""
        low, high = border_px, np.array(self.size_px) - border_px
        return bool(np.all((places > low) & (places < high)))

    def px_per_mm(self, xy_mm: ArrayLike, z_mm: float = 0.0) -> float:
        """The drawing's units in a millimetre of the board around a point (2,)."""
        return float(1 / self.camera.mm_per_px(np.append(np.asarray(xy_mm, float), z_mm)))


def offset_outline(shape: Shape, offset_mm: float = 0.0, steps: int = OUTLINE_POINTS) -> Array:
    """The line (steps, 2) on the board that runs `offset_mm` outside a shape's edge.

    The shape's outermost point in each direction, moved on along that direction: for a convex shape that is exact.
    """
    angle = (np.arange(steps) + 0.5) * 2 * np.pi / steps
    normal = np.stack([np.cos(angle), np.sin(angle)], -1)
    return np.asarray(shape.support_points(normal) + offset_mm * normal)

"""Projection of the board's millimetres to the drawing."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape

OUTLINE_POINTS = 96
"""Points round a base. The drawing is a polygon, the measurement is not."""
LINE_POINTS = 33
"""Points along a straight line of the board, which the lens bends."""
LENS_MODEL_REACH = 1.25
"""Radius up to which the lens model is trusted, in radii of the picture's corner."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The photo as a canvas: one unit is one pixel, (0, 0) its upper left corner."""

    camera: Camera
    size_px: tuple[int, int]
    magnification: float = 1.0
    """How much larger than usual letters and lines are: more for a small picture."""

    @property
    def unit(self) -> float:
        """A thousandth of the photo's longer side, in px: the unit of letters and lines."""
        return self.magnification * max(self.size_px) / 1000

    def to_px(self, xy_mm: ArrayLike, z_mm: float = 0.0) -> Array:
        """Project board points (..., 2) at a height to the drawing (..., 2).

        The centre of the upper left pixel is (0.5, 0.5) here. Points far outside the picture give
        NaN, since the lens model does not hold there.
        """
        xy = np.asarray(xy_mm, float)
        heights = np.full((*xy.shape[:-1], 1), z_mm)
        xyz = np.concatenate([xy, heights], -1)
        places = self.camera.project(xyz) + 0.5
        return np.where(self._within_lens_model(xyz)[..., None], places, np.nan)

    def _within_lens_model(self, xyz_mm: Array) -> Array:
        points = self.camera.T_camera_board.apply(xyz_mm)
        x = points[..., 0]
        y = points[..., 1]
        z = points[..., 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = np.hypot(x, y) / z
        reach = LENS_MODEL_REACH * _corner_radius(self.camera, self.size_px)
        return np.asarray((z > 0) & (radius < reach))

    def line_px(self, start_mm: ArrayLike, end_mm: ArrayLike, z_mm: float = 0.0) -> Array:
        """Project a straight line of the board to the drawing (N, 2), bent as the lens bends it."""
        share = np.linspace(0, 1, LINE_POINTS)[:, None]
        start = np.asarray(start_mm, float) * (1 - share)
        return self.to_px(start + np.asarray(end_mm, float) * share, z_mm)

    def contains_all(self, places: Array, border_px: float = 0.0) -> bool:
        """Tell whether all places (N, 2) lie on the drawing, a border away from its edge."""
        low, high = border_px, np.array(self.size_px) - border_px
        return bool(np.all((places > low) & (places < high)))

    def px_per_mm(self, xy_mm: ArrayLike, z_mm: float = 0.0) -> float:
        """Return the drawing's units in a millimetre of the board around a point (2,)."""
        point = np.append(np.asarray(xy_mm, float), z_mm)
        return float(1 / self.camera.mm_per_px(point))


@lru_cache(maxsize=64)
def _corner_radius(camera: Camera, size_px: tuple[int, int]) -> float:
    """Return the radius of the picture's farthest corner, at focal length 1."""
    width, height = size_px
    corners = np.array([[0, 0], [width, 0], [0, height], [width, height]], float)
    ideal = camera.undistort(corners)
    radii = np.linalg.norm(ideal, axis=-1)
    radius = float(np.nanmax(radii, initial=0.0))
    focal_px = float(camera.matrix[0, 0])
    return radius or float(np.hypot(width, height)) / (2 * focal_px)


def offset_outline(shape: Shape, offset_mm: float = 0.0, steps: int = OUTLINE_POINTS) -> Array:
    """Return the line (steps, 2) on the board that runs `offset_mm` outside a shape's edge.

    It is the support point in each direction, moved along that direction, which is exact for a
    convex shape.
    """
    angle = (np.arange(steps) + 0.5) * 2 * np.pi / steps
    normal = unit_vectors(angle)
    return np.asarray(shape.support_points(normal) + offset_mm * normal)

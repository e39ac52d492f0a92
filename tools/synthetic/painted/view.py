"""A camera with its canvas, and exact shapes on it."""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from synthetic.painted.solids import Array, Floats

Mask = NDArray[np.uint8]
Box = tuple[int, int, int, int]
"""Left, upper, width, height."""

GROWTH_PX = 0.47
"""How much larger than asked OpenCV fills a convex polygon, all round (measured on discs of 15 to 40 px)."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A camera and the canvas it paints."""

    camera: Camera
    width_px: int
    height_px: int

    def finer(self, times: int) -> "View":
        """The same view with `times` as many pixels a side."""
        matrix = self.camera.matrix.copy()
        matrix[:2] *= times
        matrix[:2, 2] += (times - 1) / 2
        return View(
            replace(self.camera, matrix=matrix), self.width_px * times, self.height_px * times
        )

    def part(self, box: Box) -> "View":
        """A box x, y, width, height of the canvas."""
        matrix = self.camera.matrix.copy()
        matrix[:2, 2] -= box[:2]
        return View(replace(self.camera, matrix=matrix), box[2], box[3])

    def blank(self) -> Mask:
        return np.zeros((self.height_px, self.width_px), np.uint8)

    def pixels(self, xy_mm: Array, z_mm: float) -> Array:
        return self.camera.project(np.column_stack([xy_mm, np.full(len(xy_mm), z_mm)]))

    def plane(self, z_mm: float) -> Array:
        """The homography (3, 3) from the plane at z, in mm, to the canvas."""
        pose = self.camera.T_camera_board
        columns = np.stack(
            [
                pose.rotation[:, 0],
                pose.rotation[:, 1],
                pose.rotation[:, 2] * z_mm + pose.translation_mm,
            ],
            1,
        )
        return np.asarray(self.camera.matrix @ columns)


def fill(mask: Mask, points: Array, value: int = 255, convex: bool = True) -> None:
    """Fill a polygon (n, 2), taking off what OpenCV adds to it."""
    middle = points.mean(0)
    out = points - middle
    shrunk = middle + out * (
        1 - GROWTH_PX / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1)
    )
    fixed = np.round(shrunk * 16).astype(np.int32)
    if convex:
        cv2.fillConvexPoly(mask, fixed, value, cv2.LINE_8, 4)
    else:
        cv2.fillPoly(mask, [fixed], value, cv2.LINE_8, 4)


def hull(points: Array) -> Array:
    return np.asarray(cv2.convexHull(points.astype(np.float32)), float).reshape(-1, 2)


def softened(mask: Mask, sigma_px: float) -> Floats:
    """A mask (h, w) blurred, 0 to 1; wide blurs on a smaller picture."""
    times = int(np.clip(sigma_px / 2, 1, 16))
    size = (max(1, mask.shape[1] // times), max(1, mask.shape[0] // times))
    small = mask if times == 1 else cv2.resize(mask, size, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small.astype(np.float32) / 255, (0, 0), max(sigma_px / times, 0.4))
    return np.asarray(
        soft if times == 1 else cv2.resize(soft, mask.shape[::-1], interpolation=cv2.INTER_LINEAR),
        np.float32,
    )


def bounds(points: Array, view: View, margin: float) -> Box:
    """The part of the canvas around points (n, 2); without width or height where it is out of sight."""
    size = [view.width_px, view.height_px]
    low = np.floor(points.min(0) - margin).astype(int).clip(0, size)
    high = np.ceil(points.max(0) + margin + 1).astype(int).clip(0, size)
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def px_per_mm(view: View) -> float:
    return float(1 / view.camera.mm_per_px(np.zeros((1, 3)))[0])

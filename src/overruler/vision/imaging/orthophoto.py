"""The board as seen from straight above, in millimetres: for finding things, never for measuring them."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

WARP_GRID_PX = 16
"""The warp is exact on a grid this wide and linear in between."""


@dataclass(frozen=True, slots=True, eq=False)
class Orthophoto:
    """A rectified picture of the plane z = 0; its first row is the far edge of the box."""

    pixels: NDArray[np.uint8]
    """(H, W, 3), blue green red."""
    seen: NDArray[np.bool_]
    """(H, W): whether the photo shows this place."""
    left_mm: float
    top_mm: float
    mm_per_px: float

    def to_mm(self, xy_px: ArrayLike) -> Array:
        """Pixels (..., 2) of this picture on the board (..., 2)."""
        step = (np.asarray(xy_px, float) + 0.5) * self.mm_per_px
        return np.stack([self.left_mm + step[..., 0], self.top_mm - step[..., 1]], -1)

    def to_px(self, xy_mm: ArrayLike) -> Array:
        """Board points (..., 2) in this picture's pixels (..., 2)."""
        xy = np.asarray(xy_mm, float)
        return (
            np.stack([xy[..., 0] - self.left_mm, self.top_mm - xy[..., 1]], -1) / self.mm_per_px
            - 0.5
        )


def rectify_photo(
    pixels: NDArray[np.uint8],
    camera: Camera,
    box_mm: tuple[float, float, float, float],
    mm_per_px: float,
) -> Orthophoto:
    """Rectify a photo (H, W, 3) over the box (left, bottom, right, top) at one resolution."""
    left, bottom, right, top = box_mm
    width, height = (max(1, round(size / mm_per_px)) for size in (right - left, top - bottom))
    coarse = _project_warp_grid(camera, left, top, width, height, mm_per_px)
    center = np.array([[(left + right) / 2, (bottom + top) / 2, 0.0]])
    shrink = int(np.clip(mm_per_px / float(camera.mm_per_px(center)[0]), 1, 8))
    if shrink > 1:  # average first, so that nothing aliases
        pixels = np.asarray(
            cv2.resize(pixels, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA),
            np.uint8,
        )
        coarse = (coarse + 0.5) / shrink - 0.5
    u, v = (_interpolate_grid(part, width, height) for part in (coarse[..., 0], coarse[..., 1]))
    rows, columns = pixels.shape[:2]
    seen = (u >= 0) & (v >= 0) & (u <= columns - 1) & (v <= rows - 1)
    flat = cv2.remap(pixels, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return Orthophoto(np.asarray(flat, np.uint8), seen, left, top, mm_per_px)


def resample_orthophoto(view: Orthophoto, mm_per_px: float) -> Orthophoto:
    """The same picture at another resolution."""
    rows, columns = view.pixels.shape[:2]
    share = view.mm_per_px / mm_per_px
    if abs(share - 1) < 1e-6:
        return view
    size = max(1, int(columns * share)), max(1, int(rows * share))
    matrix = np.array([[1 / share, 0, 0.5 / share - 0.5], [0, 1 / share, 0.5 / share - 0.5]])
    pixels = view.pixels
    if share < 0.9:  # average first, so that nothing aliases
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), 0.4 / share), np.uint8)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    there = cv2.warpAffine(pixels, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.resize(view.seen.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
    return Orthophoto(np.asarray(there, np.uint8), seen, view.left_mm, view.top_mm, mm_per_px)


def relief_displacement_map(view: Orthophoto, camera: Camera) -> NDArray[np.float32]:
    """How far (H, W, 2), per mm of its height, a thing appears from its foot: to the right and down in the picture."""
    rows, columns = view.pixels.shape[:2]
    eye: Array = camera.center_mm
    right = (
        view.to_mm(np.stack([np.arange(columns), np.zeros(columns)], -1))[:, 0] - eye[0]
    ) / eye[2]
    down = -(view.to_mm(np.stack([np.zeros(rows), np.arange(rows)], -1))[:, 1] - eye[1]) / eye[2]
    return np.stack(np.meshgrid(right, down), -1).astype(np.float32)


def _project_warp_grid(
    camera: Camera, left_mm: float, top_mm: float, width: int, height: int, mm_per_px: float
) -> Array:
    """Where in the photo every `WARP_GRID_PX`-th pixel of the rectified picture lies (h, w, 2)."""
    columns = np.arange(0, width + WARP_GRID_PX, WARP_GRID_PX)
    rows = np.arange(0, height + WARP_GRID_PX, WARP_GRID_PX)
    x, y = np.meshgrid(left_mm + (columns + 0.5) * mm_per_px, top_mm - (rows + 0.5) * mm_per_px)
    return camera.project(np.stack([x, y, np.zeros_like(x)], -1))


def _interpolate_grid(coarse: Array, width: int, height: int) -> NDArray[np.float32]:
    """One coordinate (height, width) at every pixel, by that on the grid; far outside where it is unknown."""
    grow = np.array([[1 / WARP_GRID_PX, 0, 0], [0, 1 / WARP_GRID_PX, 0]])
    fine = cv2.warpAffine(
        coarse.astype(np.float32),
        grow,
        (width, height),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
    )
    return np.asarray(
        fine if np.isfinite(coarse).all() else np.nan_to_num(fine, copy=False, nan=-1e4), np.float32
    )


Image = NDArray[np.float32]


def visibility_mask(view: Orthophoto, hidden: Sequence[Array], level: int) -> Image:
    """1 where rims count, 0 where the photo shows nothing or something known lies."""
    mask = view.seen.astype(np.uint8)
    for polygon in hidden:
        cv2.fillPoly(mask, [np.round(view.to_px(polygon)).astype(np.int32)], 0)
    mask = np.asarray(cv2.erode(mask, np.ones((5, 5), np.uint8)), np.uint8)
    rows, columns = (round(size * 0.5**level) for size in mask.shape)
    return np.asarray(
        cv2.resize(mask, (columns, rows), interpolation=cv2.INTER_NEAREST), np.float32
    )

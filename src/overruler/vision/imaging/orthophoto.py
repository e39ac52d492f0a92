"""The board rectified to a view from straight above: used to find things, never to measure them."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

Image = NDArray[np.float32]

WARP_GRID_PX = 16
"""Spacing of the grid on which the warp is exact, in px. Between its nodes the warp is linear."""
MAX_SIDE_PX = 32_000
"""Largest side of a rectified picture in px: OpenCV warps no larger ones."""
MAX_PIXELS = 150_000_000
"""Largest area of a rectified picture in px; it bounds the memory to a few gigabytes."""
UNKNOWN_PX = -1e4
"""Photo coordinate of grid nodes that the camera cannot see: far outside of any picture."""


@dataclass(frozen=True, slots=True, eq=False)
class Orthophoto:
    """A rectified picture of the plane z = 0. Its first row is the far edge of the box."""

    pixels: NDArray[np.uint8]
    """(H, W, 3), BGR."""
    seen: NDArray[np.bool_]
    """(H, W): whether the photo shows this place."""
    left_mm: float
    """Board x of the picture's left border."""
    top_mm: float
    """Board y of the picture's upper border."""
    mm_per_px: float
    """Size of a pixel on the board."""

    def to_mm(self, xy_px: ArrayLike) -> Array:
        """Convert pixels (..., 2) of this picture to board points (..., 2)."""
        step = (np.asarray(xy_px, float) + 0.5) * self.mm_per_px
        x, y = self.left_mm + step[..., 0], self.top_mm - step[..., 1]
        return np.stack([x, y], -1)

    def to_px(self, xy_mm: ArrayLike) -> Array:
        """Convert board points (..., 2) to pixels (..., 2) of this picture."""
        xy = np.asarray(xy_mm, float)
        right, down = xy[..., 0] - self.left_mm, self.top_mm - xy[..., 1]
        step = np.stack([right, down], -1)
        return step / self.mm_per_px - 0.5


def rectify_photo(
    pixels: NDArray[np.uint8],
    camera: Camera,
    box_mm: tuple[float, float, float, float],
    mm_per_px: float,
) -> Orthophoto:
    """Rectify a photo (H, W, 3) over the box (left, bottom, right, top) at one resolution."""
    left, bottom, right, top = box_mm
    width = max(1, round((right - left) / mm_per_px))
    height = max(1, round((top - bottom) / mm_per_px))
    _check_size((width, height), (right - left, top - bottom))
    coarse = _project_warp_grid(camera, left, top, width, height, mm_per_px)
    centre = np.array([[(left + right) / 2, (bottom + top) / 2, 0.0]])
    photo_mm_per_px = float(camera.mm_per_px(centre)[0])
    shrink = int(np.clip(mm_per_px / photo_mm_per_px, 1, 8))
    if shrink > 1:  # average first to avoid aliasing
        scale = 1 / shrink
        small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        pixels = np.asarray(small, np.uint8)
        coarse = (coarse + 0.5) / shrink - 0.5
    u = _interpolate_grid(coarse[..., 0], width, height)
    v = _interpolate_grid(coarse[..., 1], width, height)
    rows, columns = pixels.shape[:2]
    seen = is_inside(u, v, rows, columns)
    flat = cv2.remap(pixels, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return Orthophoto(np.asarray(flat, np.uint8), seen, left, top, mm_per_px)


def _check_size(size_px: tuple[int, int], size_mm: tuple[float, float]) -> None:
    """Raise `CannotMeasure` for a rectified picture that is too large for memory or OpenCV."""
    width, height = size_px
    if max(width, height) > MAX_SIDE_PX or width * height > MAX_PIXELS:
        raise CannotMeasure(
            in_mm=f"the board would be {size_mm[0]:.0f} mm × {size_mm[1]:.0f} mm large: check the board's or "
            "the markers' size, whichever you gave, and that all markers lie on one table"
        )


def resample_orthophoto(view: Orthophoto, mm_per_px: float) -> Orthophoto:
    """Resample an orthophoto to another resolution."""
    rows, columns = view.pixels.shape[:2]
    scale = view.mm_per_px / mm_per_px
    if abs(scale - 1) < 1e-6:
        return view
    size = max(1, int(columns * scale)), max(1, int(rows * scale))
    _check_size(size, (columns * view.mm_per_px, rows * view.mm_per_px))
    shift = 0.5 / scale - 0.5
    step = 1 / scale
    matrix = np.array([[step, 0, shift], [0, step, shift]])
    pixels = view.pixels
    if scale < 0.9:  # blur first to avoid aliasing
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), 0.4 / scale), np.uint8)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    resampled = cv2.warpAffine(pixels, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.resize(view.seen.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    pixels = np.asarray(resampled, np.uint8)
    return Orthophoto(pixels, seen > 0, view.left_mm, view.top_mm, mm_per_px)


def relief_displacement_map(view: Orthophoto, camera: Camera) -> NDArray[np.float32]:
    """Map the displacement (H, W, 2), right and down, of a point for each mm of its height."""
    rows, columns = view.pixels.shape[:2]
    eye: Array = camera.center_mm
    first_row = np.stack([np.arange(columns), np.zeros(columns)], -1)
    first_column = np.stack([np.zeros(rows), np.arange(rows)], -1)
    x_mm = view.to_mm(first_row)[:, 0]
    y_mm = view.to_mm(first_column)[:, 1]
    right = (x_mm - eye[0]) / eye[2]
    down = -(y_mm - eye[1]) / eye[2]
    displacement = np.empty((rows, columns, 2), np.float32)
    displacement[..., 0] = right
    displacement[..., 1] = down[:, None]
    return displacement


def is_inside(u_px: Image, v_px: Image, rows: int, columns: int) -> NDArray[np.bool_]:
    """Tell which pixels u, v (...,) lie in a picture of `rows` and `columns`."""
    after = (u_px >= 0) & (v_px >= 0)
    before = (u_px <= columns - 1) & (v_px <= rows - 1)
    return after & before


def visibility_mask(view: Orthophoto, hidden: Sequence[Array], level: int) -> Image:
    """Mask an orthophoto, reduced by 2^`level`: 1 where the search may look, else 0.

    The mask is 0 where the photo shows nothing, inside `hidden` polygons (K, 2) in mm, and within
    2 px of either.
    """
    mask = view.seen.astype(np.uint8)
    for polygon in hidden:
        corners = np.round(view.to_px(polygon)).astype(np.int32)
        cv2.fillPoly(mask, [corners], 0)
    kernel = np.ones((5, 5), np.uint8)
    mask = np.asarray(cv2.erode(mask, kernel), np.uint8)
    rows, columns = (round(size * 0.5**level) for size in mask.shape)
    reduced = cv2.resize(mask, (columns, rows), interpolation=cv2.INTER_NEAREST)
    return np.asarray(reduced, np.float32)


def _project_warp_grid(
    camera: Camera, left_mm: float, top_mm: float, width: int, height: int, mm_per_px: float
) -> Array:
    """Project every `WARP_GRID_PX`-th pixel of the rectified picture into the photo (h, w, 2)."""
    columns = np.arange(0, width + WARP_GRID_PX, WARP_GRID_PX)
    rows = np.arange(0, height + WARP_GRID_PX, WARP_GRID_PX)
    x_mm = left_mm + (columns + 0.5) * mm_per_px
    y_mm = top_mm - (rows + 0.5) * mm_per_px
    x, y = np.meshgrid(x_mm, y_mm)
    points = np.stack([x, y, np.zeros_like(x)], -1)
    return camera.project(points)


def _interpolate_grid(coarse: Array, width: int, height: int) -> NDArray[np.float32]:
    """Interpolate one grid coordinate at every pixel (height, width)."""
    share = 1 / WARP_GRID_PX
    grow = np.array([[share, 0, 0], [0, share, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    fine = cv2.warpAffine(coarse.astype(np.float32), grow, (width, height), flags=flags)
    if not np.isfinite(coarse).all():
        fine = np.nan_to_num(fine, copy=False, nan=UNKNOWN_PX)
    return np.asarray(fine, np.float32)

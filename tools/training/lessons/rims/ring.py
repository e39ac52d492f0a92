"""The candidates that a ring filter offers: where edges all round a circle stand along its tangents."""

from collections.abc import Sequence

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from synthetic.arrays import Array, Floats, Picture

RADII_MM = (12.8, 14.2, 16, 20, 25, 30, 35, 40, 45, 50, 60, 80)
_WIDTH_PX = 1.2

Box = tuple[float, float, float, float]
"""Left, low, right, high."""


def ring_candidates(
    photo: Picture, camera: Camera, box_mm: Box, radii: Sequence[float] = RADII_MM, most: int = 14
) -> Array:
    """Places and radii (N, 3) in mm, within a box of the board, where the filter answers most strongly."""
    found: list[tuple[float, float, float, float]] = []
    for radius in radii:
        mm = max(0.8, radius / 12)
        field = _double_angle(_from_above(photo, camera, box_mm, mm))
        peaks = _peaks(_answer(field, radius / mm), radius / mm)
        found += [
            (a, box_mm[0] + (x + 0.5) * mm, box_mm[3] - (y + 0.5) * mm, radius) for x, y, a in peaks
        ]
    found.sort(reverse=True)
    return np.array([item[1:] for item in found[:most]]).reshape(-1, 3)


def _from_above(photo: Picture, camera: Camera, box_mm: Box, mm: float) -> Floats:
    """The plane z = 0 from above, `mm` a pixel, as CIE Lab."""
    left, low, right, high = box_mm
    x, y = np.meshgrid(np.arange(left + mm / 2, right, mm), np.arange(high - mm / 2, low, -mm))
    at = camera.project(np.stack([x, y, np.zeros_like(x)], -1)).astype(np.float32)
    seen = cv2.remap(
        photo, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    lab = cv2.cvtColor(seen.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    return np.asarray(cv2.GaussianBlur(lab, (0, 0), 1.0), np.float32)


def _double_angle(lab: Floats) -> tuple[Floats, Floats]:
    """The gradients' direction as a double angle, weighted by how much they stand out."""
    gx, gy = cv2.Sobel(lab, cv2.CV_32F, 1, 0), cv2.Sobel(lab, cv2.CV_32F, 0, 1)
    energy = (gx * gx + gy * gy).sum(2)
    energy += 4 * np.median(energy) + 1e-6
    return (gx * gx - gy * gy).sum(2) / energy, (2 * gx * gy).sum(2) / energy


def _answer(field: tuple[Floats, Floats], radius_px: float) -> Floats:
    reach = int(np.ceil(radius_px + 3 * _WIDTH_PX))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float32)
    weight = np.exp(-((np.hypot(x, y) - radius_px) ** 2) / 2 / _WIDTH_PX**2)
    weight /= weight.sum()
    turn = 2 * np.arctan2(y, x)
    answer = cv2.filter2D(field[0], -1, weight * np.cos(turn)) + cv2.filter2D(
        field[1], -1, weight * np.sin(turn)
    )
    return np.asarray(answer, np.float32)


def _peaks(answer: Floats, radius_px: float) -> list[tuple[int, int, float]]:
    reach = int(0.4 * radius_px)
    greatest = cv2.dilate(answer, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    ys, xs = np.nonzero((answer >= greatest) & (answer > 0.1))
    return [(int(x), int(y), float(answer[y, x])) for x, y in zip(xs, ys, strict=True)]

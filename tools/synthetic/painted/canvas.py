"""Exact shapes on the canvas of a view."""

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Mask

GROWTH_PX = 0.47
"""How much larger than asked OpenCV fills a convex polygon, all round (measured on discs of 15 to 40 px)."""


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


def outline(canvas: Floats | Mask, points: Array, colour: object, width: int, closed: bool) -> None:
    """Draw a line through points (N, 2)."""
    fixed = np.round(points * 16).astype(np.int32)
    cv2.polylines(canvas, [fixed], closed, colour, width, cv2.LINE_8, 4)  # type: ignore[call-overload]

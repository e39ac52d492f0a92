"""Colour gradients of the orthophoto, and how clear an edge each makes."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import left_normals
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto

HALF_CLEAR_GRADIENT = 5.0
"""Gradient of an edge of clearness 0.5, in L*a*b* units a pixel."""
CROSS_SAMPLE_OFFSETS = np.array([-0.7, -0.35, 0.0, 0.35, 0.7])
"""Where across a bar the edges that cross it are sampled, in half widths."""
REMAP_ROW_LENGTH = 256
"""Points are looked up in rows of this length: OpenCV limits the length of rows."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class StructureTensor:
    """The structure tensor of an orthophoto, summed over L*a*b*."""

    tensor: Floats
    """(H, W, 3): xx, xy and yy; 0 where the photo shows nothing."""

    @classmethod
    def of(cls, view: Orthophoto) -> "StructureTensor":
        lab = cv2.GaussianBlur(cv2.cvtColor(view.pixels, cv2.COLOR_BGR2Lab), (0, 0), 0.7)
        x = cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125)
        y = cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125)
        seen = cv2.erode(view.seen.astype(np.uint8), np.ones((5, 5), np.uint8))
        hidden = seen == 0
        hidden[[0, -1]] = hidden[:, [0, -1]] = True  # lookups beyond the picture read its border
        products = (cv2.multiply(x, x), cv2.multiply(x, y), cv2.multiply(y, y))
        tensor = cv2.merge([cv2.transform(product, np.ones((1, 3))) for product in products])
        tensor[hidden] = 0
        return cls(np.asarray(tensor, np.float32))

    def gradient_along(self, at_px: Array, normal: Array) -> Array:
        """Gradient (...) along unit vectors `normal` (..., 2) at pixels (..., 2)."""
        count = at_px.size // 2
        rows = max(-(-count // REMAP_ROW_LENGTH), 1)
        at = np.resize(at_px.astype(np.float32), (rows, REMAP_ROW_LENGTH, 2))
        found = cv2.remap(self.tensor, at, None, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
        xx, xy, yy = found.reshape(-1, 3)[:count].T.reshape(3, *at_px.shape[:-1])
        nx, ny = normal[..., 0], normal[..., 1]
        square = xx * nx**2 + 2 * xy * nx * ny + yy * ny**2
        return np.asarray(np.sqrt(np.maximum(square, 0)))


def clearness_of_gradient(gradient: Array) -> Array:
    """Clearness (...) of edges with such gradients: 0 to 1."""
    return np.asarray(gradient / (gradient + HALF_CLEAR_GRADIENT))


def crossing_clearness(
    slopes: StructureTensor, at_px: Array, along: Array, width_px: float, steps_px: Array
) -> Array:
    """Clearness (...) of the clearest edge across a bar, `steps_px` (N,) from pixels (..., 2)."""
    across_px = width_px / 2 * CROSS_SAMPLE_OFFSETS
    aside = left_normals(along)[..., None, None, :] * across_px[:, None]
    onward = along[..., None, None, :]
    at = at_px[..., None, None, :] + onward * steps_px[:, None, None] + aside
    return clearness_of_gradient(slopes.gradient_along(at, onward).mean(-1).max(-1))

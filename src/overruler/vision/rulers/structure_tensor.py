"""Colour gradients of the orthophoto, and how clear an edge each makes."""

from collections.abc import Iterator
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
BAND_ROWS = 128
"""Rows of a band: pictures are filtered band by band, within the processor's cache."""
BAND_MARGIN_ROWS = 8
"""Rows around a band that filters reach."""
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
        seen = cv2.erode(view.seen.astype(np.uint8), np.ones((5, 5), np.uint8))
        hidden = seen == 0
        hidden[[0, -1]] = hidden[:, [0, -1]] = True  # lookups beyond the picture read its border
        tensor = np.empty((*hidden.shape, 3), np.float32)
        for band, around in row_bands(len(tensor)):
            inner = slice(band.start - around.start, band.stop - around.start)
            tensor[band] = _colour_tensor(view.pixels[around])[inner]
        tensor[hidden] = 0
        return cls(tensor)

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


def row_bands(rows: int) -> Iterator[tuple[slice, slice]]:
    """Yield the bands of a picture's rows: each, and with the rows around it that filters reach."""
    for top in range(0, rows, BAND_ROWS):
        end = min(top + BAND_ROWS, rows)
        yield slice(top, end), slice(max(top - BAND_MARGIN_ROWS, 0), end + BAND_MARGIN_ROWS)


def _colour_tensor(pixels: NDArray[np.uint8]) -> Floats:
    """Return the tensor (H, W, 3) of a picture (H, W, 3), BGR."""
    lab = cv2.GaussianBlur(cv2.cvtColor(pixels, cv2.COLOR_BGR2Lab), (0, 0), 0.7)
    x = cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125)
    y = cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125)
    products = (cv2.multiply(x, x), cv2.multiply(x, y), cv2.multiply(y, y))
    summed = [cv2.transform(product, np.ones((1, 3))) for product in products]
    return np.asarray(cv2.merge(summed), np.float32)


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

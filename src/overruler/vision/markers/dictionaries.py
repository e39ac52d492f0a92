"""Identify the dictionary of markers: compare each square's cells with every code."""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

GreyPicture = NDArray[np.uint8]
Bits = NDArray[np.bool_]

UNIT_SQUARE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)

CELL_PX = 8
"""Side of a cell in a rectified square, in px."""
MAX_WHITE_FRAME_SHARE = 0.35
"""Most white-looking cells of the black frame, as a share of the code's: OpenCV's limit."""
MIN_BRIGHTNESS_SIGMA = 5.0
"""Least standard deviation of the cells' brightness, in grey levels, of a square with a code."""


def count_markers_by_dictionary(
    small: GreyPicture, quads: Sequence[Array], names: Sequence[str], error_correction: float
) -> dict[str, int]:
    """Count the different markers of each dictionary (by OpenCV's name) that squares (4, 2) show.

    `error_correction` is the share of a dictionary's correctable cells that may be wrong.
    """
    counts = dict.fromkeys(names, 0)
    for size in sorted({load_dictionary(name).markerSize for name in names}):
        bits = [code for quad in quads if (code := _read_bits(small, quad, size)) is not None]
        if not bits:
            continue
        seen = np.stack(bits)
        for name in names:
            family = load_dictionary(name)
            if family.markerSize == size:
                allowed_errors = int(family.maxCorrectionBits * error_correction)
                counts[name] = _count_known_codes(seen, name, allowed_errors)
    return counts


def load_dictionary(name: str) -> cv2.aruco.Dictionary:
    """Return a dictionary by OpenCV's name."""
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))


def _count_known_codes(seen: Bits, name: str, allowed_errors: int) -> int:
    """Count a dictionary's markers among codes (N, n²), in any rotation."""
    codes = np.where(seen, 1, -1).astype(np.float32)
    agreement = codes @ _code_table(name)  # cells that agree, minus cells that do not
    known = agreement.max(1) >= seen.shape[1] - 2 * allowed_errors
    return len(np.unique(agreement[known].argmax(1) // 4))


@cache
def _code_table(name: str) -> NDArray[np.float32]:
    """Return all markers of a dictionary in all rotations (n², 4 K): 1 white, -1 black."""
    family = load_dictionary(name)
    # OpenCV stores the four rotations in turn, eight cells a byte; the last byte fills from its end
    rotations = np.asarray(family.bytesList, np.uint8).reshape(-1, family.bytesList.shape[1])
    whole_bytes, rest = divmod(family.markerSize**2, 8)
    bits = np.unpackbits(rotations, axis=1)
    if rest:
        last = bits[:, bits.shape[1] - rest :]
        bits = np.concatenate([bits[:, : 8 * whole_bytes], last], 1)
    return np.ascontiguousarray(np.where(bits.T, 1, -1).astype(np.float32))


def _read_bits(small: GreyPicture, quad: Array, size: int) -> Bits | None:
    """Read the cells (size²,) of a square, True for white; None without frame or contrast."""
    count = size + 2
    side = CELL_PX * count
    target = UNIT_SQUARE * side - 0.5
    warp = cv2.getPerspectiveTransform(np.asarray(quad, np.float32), target)
    flat = cv2.warpPerspective(small, warp, (side, side))
    cells = flat.reshape(count, CELL_PX, count, CELL_PX)
    means = cells[:, 2:6, :, 2:6].mean((1, 3))
    if means.std() < MIN_BRIGHTNESS_SIGMA:
        return None
    limit, _ = cv2.threshold(flat, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    white = means > limit
    code = white[1:-1, 1:-1]
    if white.sum() - code.sum() > MAX_WHITE_FRAME_SHARE * size**2:
        return None
    return np.asarray(code.ravel(), bool)

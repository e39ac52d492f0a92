"""Which family of markers lies in a picture: squares are looked for once, and their cells held against every code."""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

GreyPicture = NDArray[np.uint8]
Bits = NDArray[np.bool_]

CELL_PX = 8
"""Side of a cell in the square as it is laid out flat."""
MAX_WHITE_FRAME_SHARE = 0.35
"""So many cells of the black frame may look white, as a share of the code's cells: OpenCV's own limit."""
MIN_BRIGHTNESS_SIGMA = 5.0
"""1 σ of brightness below which a square shows no code."""


def count_markers_by_dictionary(
    small: GreyPicture, quads: Sequence[Array], names: Sequence[str], error_correction: float
) -> dict[str, int]:
    """How many different markers of each family the squares (4, 2) show, by OpenCV's names.

    `error_correction` is the share of a family's correctable cells that may be wrong.
    """
    counts = dict.fromkeys(names, 0)
    for size in sorted({load_dictionary(name).markerSize for name in names}):
        bits = [code for quad in quads if (code := _read_bits(small, quad, size)) is not None]
        if not bits:
            continue
        seen = np.stack(bits)
        for name in names:
            if load_dictionary(name).markerSize == size:
                counts[name] = _count_known_codes(
                    seen, name, int(load_dictionary(name).maxCorrectionBits * error_correction)
                )
    return counts


def load_dictionary(name: str) -> cv2.aruco.Dictionary:
    """A family of markers by OpenCV's name."""
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))


def _count_known_codes(seen: Bits, name: str, wrong: int) -> int:
    """How many of a family's markers are among the cells (N, n²), turned any way, but for so many wrong ones."""
    agree = np.where(seen, 1, -1).astype(np.float32) @ _code_table(
        name
    )  # cells that agree less those that do not
    good = agree.max(1) >= seen.shape[1] - 2 * wrong
    return len(np.unique(agree[good].argmax(1) // 4))


@cache
def _code_table(name: str) -> NDArray[np.float32]:
    """(n², 4 K): every marker of a family, turned every way, 1 where white and -1 where black."""
    family = load_dictionary(name)
    # OpenCV's table has the four turns one after the other, eight cells a byte, the last byte filled from its end
    turned = np.asarray(family.bytesList, np.uint8).reshape(-1, family.bytesList.shape[1])
    cells = family.markerSize**2
    whole, rest = divmod(cells, 8)
    bits = np.unpackbits(turned, axis=1)
    kept = (
        np.concatenate([bits[:, : 8 * whole], bits[:, bits.shape[1] - rest :]], 1) if rest else bits
    )
    return np.ascontiguousarray(np.where(kept.T, 1, -1).astype(np.float32))


def _read_bits(small: GreyPicture, quad: Array, size: int) -> Bits | None:
    """The cells (size²,) of a square, True where white; None where it has no black frame or shows nothing."""
    count = size + 2
    target = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32) * (CELL_PX * count) - 0.5
    flat = cv2.warpPerspective(
        small,
        cv2.getPerspectiveTransform(np.asarray(quad, np.float32), target),
        (CELL_PX * count,) * 2,
    )
    middle = flat.reshape(count, CELL_PX, count, CELL_PX)[:, 2:6, :, 2:6].mean((1, 3))
    if middle.std() < MIN_BRIGHTNESS_SIGMA:
        return None
    limit, _ = cv2.threshold(flat, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    white = middle > limit
    inner = white[1:-1, 1:-1]
    if white.sum() - inner.sum() > MAX_WHITE_FRAME_SHARE * size**2:
        return None
    return np.asarray(inner.ravel(), bool)

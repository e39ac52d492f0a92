"""The kinds of arrays that made pictures are built of."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
Mask = NDArray[np.uint8]
"""One value a pixel (H, W)."""
Picture = NDArray[np.uint8]
"""Three values a pixel (H, W, 3)."""
Rng = np.random.Generator
Shape = tuple[int, int]
"""Rows and columns."""

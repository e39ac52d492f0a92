"""The card that a marker is printed on."""

import numpy as np

from overruler.geometry.pose import Array

MARKER_CARD_SHARE = 1.47
"""Side of a marker's card over that of its square: 88 over 60 mm as printed, the strip for words included."""


def card_about(square: Array) -> Array:
    """Return the corners (4, 2) of a marker's card by those of its black square, in the same unit."""
    return np.asarray(square.mean(0) + MARKER_CARD_SHARE * (square - square.mean(0)))

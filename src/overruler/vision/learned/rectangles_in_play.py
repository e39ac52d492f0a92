"""What the network in play says of rectangles: it knows a base by the whole, and not by its sides."""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.in_play_net import (
    PLACE,
    RECTANGLE_LOGIT,
    SIZE,
    STRETCH,
    corrected_shapes,
    look_at_shapes,
)
from overruler.vision.learned.patches import Picture
from overruler.vision.learned.shapes_in_play import answers_from_both_sides, may_be_bases

OVAL_TO_RECTANGLE = float(np.sqrt(np.pi) / 2)
"""Sides of a rectangle by the axes of the oval of its area, which is what the network takes it for."""
LOGITS = (-8.0, 4.0)
"""Limits of the network's log odds."""
MAX_CHANGE, MAX_MOVE = 0.4, 0.5
"""Limits of the changes of size and proportions, which are logarithms, and of the place, in radii."""
CORRECTIONS = 3
"""Times that a rectangle is corrected."""


def rectangle_ovals(xy_mm: Array, size_mm: Array, turn_rad: Array) -> Array:
    """Return the ovals (N, 5) of rectangles: places (N, 2), lengths and widths (N, 2), headings (N,)."""
    return np.column_stack([xy_mm, size_mm / 2 / OVAL_TO_RECTANGLE, turn_rad])


def look_at_rectangles(levels: list[Picture], camera: Camera, ovals: Array) -> Array:
    """Look at rectangles, as ovals (N, 5); return N times what tells whether they are bases of their size.

    Those are the log odds of a rectangle, then by how much it would change size, proportions and place (N, 4).
    """
    answers = answers_from_both_sides(levels, camera, ovals)
    return np.column_stack(
        [
            answers[:, RECTANGLE_LOGIT].clip(*LOGITS),
            np.abs(answers[:, SIZE]).clip(max=MAX_CHANGE),
            np.hypot(*answers[:, STRETCH].T).clip(max=MAX_CHANGE),
            np.hypot(*answers[:, PLACE].T).clip(max=MAX_MOVE),
        ]
    )


def corrected_rectangles(
    levels: list[Picture], camera: Camera, ovals: Array
) -> tuple[NDArray[np.intp], Array]:
    """Return rectangles, as ovals (N, 5), where and as large as the network sees them.

    Those that can be no bases by their size are left out: the numbers (K,) of the others, and these (K, 5).
    """
    numbers = np.arange(len(ovals))
    for _ in range(CORRECTIONS):
        ovals = corrected_shapes(camera, ovals, look_at_shapes(levels, camera, ovals))
        usual = may_be_bases(ovals)
        numbers, ovals = numbers[usual], ovals[usual]
    return numbers, ovals

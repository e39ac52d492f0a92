"""What the network in play says of rectangles: it knows a base by the whole, and not by its sides."""

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.in_play_net import LOGITS, RECTANGLE_LOGIT, wanted_changes
from overruler.vision.learned.patches import Picture
from overruler.vision.learned.shapes_in_play import answers_from_both_sides

OVAL_TO_RECTANGLE = float(np.sqrt(np.pi) / 2)
"""Sides of a rectangle by the axes of the oval of its area, which is what the network takes it for."""


def rectangle_ovals(xy_mm: Array, size_mm: Array, turn_rad: Array) -> Array:
    """Return the ovals (N, 5) of rectangles: places (N, 2), lengths and widths (N, 2), headings (N,)."""
    return np.column_stack([xy_mm, size_mm / 2 / OVAL_TO_RECTANGLE, turn_rad])


def look_at_rectangles(levels: list[Picture], camera: Camera, ovals: Array) -> Array:
    """Look at rectangles, as ovals (N, 5); return N times what tells whether they are bases of their size.

    Those are the log odds of a rectangle, then by how much it would change size, proportions and place (N, 4).
    """
    answers = answers_from_both_sides(levels, camera, ovals)
    as_rectangle = answers[:, RECTANGLE_LOGIT].clip(*LOGITS)
    return np.column_stack([as_rectangle, wanted_changes(answers)])

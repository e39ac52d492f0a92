"""Where figures on known bases hide the ground from a photo."""

import numpy as np

from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.pairing.sighting import SeenPhoto

FIGURE_LENGTHS = 1.2
"""Height of a figure, in lengths of its base: one on 27 mm is about 32 mm high."""
MAX_FIGURE_MM = 40.0
"""Greatest height that is taken for a figure's: what stands on large bases is slim higher up."""
SLIMMER = 0.3
"""By how much of its base's radius a figure is slimmer at its top."""
STEPS = 4
"""Discs that stand for a figure, from its base to its top."""


def hidden_discs(photo: SeenPhoto, discs_mm: Array) -> Array:
    """(M, 3): discs of the board that a photo shows covered, if figures stand on the bases (N, 3).

    Both are centres and radii in mm. A figure hides the ground behind it, as seen from the camera.
    """
    if not len(discs_mm):
        return discs_mm
    centres, radii = discs_mm[:, :2], discs_mm[:, 2]
    heights = np.minimum(FIGURE_LENGTHS * 2 * radii, MAX_FIGURE_MM)
    behind = -relief_displacement_per_mm(photo.calibration.camera, centres, 0.0)
    shares = np.linspace(0, 1, STEPS)[:, None]
    places = centres + shares[..., None] * heights[:, None] * behind
    sizes = radii * (1 - SLIMMER * shares)
    return np.concatenate([places, sizes[..., None]], -1).reshape(-1, 3)

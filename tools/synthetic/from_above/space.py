"""Space as mats for ships show it."""

import cv2
import numpy as np

from synthetic.painted.figures import any_colour
from synthetic.painted.mats import Picture, encode, ramp, shuffled_grain
from synthetic.painted.plates import circle
from synthetic.painted.prints import Print
from synthetic.painted.solids import Rng


def planet(rng: Rng, reach_mm: float) -> Print:
    at, radius = rng.uniform(-reach_mm, reach_mm, 2), rng.uniform(20, 200)
    return Print(
        at + circle(radius), any_colour(rng), rng.uniform(0.3, 1), rng.uniform(0, 0.3) * radius
    )


def nebula(rng: Rng) -> Picture:
    """Space as mats show it (512, 512, 3): clouds of any colours, and stars of any size."""
    colours = np.stack([any_colour(rng) for _ in range(4)]) * np.exp(rng.uniform(-3.5, 0.3))
    colours[0] *= 0.1
    t = (
        0.35
        + rng.uniform(0.1, 0.4) * shuffled_grain(rng, 3)
        + rng.uniform(0, 0.12) * shuffled_grain(rng, 2)
    )
    tile = ramp(np.clip(t, 0, 1), colours[rng.permutation(4)] if rng.random() < 0.3 else colours)
    for x, y in rng.uniform(0, len(tile), (int(np.exp(rng.uniform(2, 7))), 2)):
        bright = (rng.uniform(0.1, 1) ** 3 * np.exp(rng.normal(0, 0.2, 3))).tolist()
        cv2.circle(tile, (int(x), int(y)), int(rng.exponential(0.6)), bright, -1, cv2.LINE_AA)
    return encode(np.asarray(tile, np.float32))

"""What tables and hills are covered with: the mats that bases lie on, and stuff of any grain and colour."""

from collections.abc import Sequence

import numpy as np

from synthetic.painted.mats import Picture, Rng, encode, library, ramp, shuffled_grain

ANY = 0.35
"""The share of stuff that no recipe knows."""


def tiles(seed: int, count: int) -> Sequence[Picture]:
    """So many tiles (512, 512, 3) of half a millimetre."""
    strange = int(ANY * count)
    return [
        *library(seed, count - strange),
        *(_any(np.random.default_rng([seed, 78, k])) for k in range(strange)),
    ]


def _any(rng: Rng) -> Picture:
    """Clouds and grain of any spectrum in colours that lie near each other."""
    colour = rng.uniform(0.05, 0.8) ** 1.5 * np.exp(rng.normal(0, rng.choice([0.15, 0.5]), 3))
    colours = colour * np.exp(
        rng.normal(0, rng.uniform(0.05, 0.5), (4, 1)) + rng.normal(0, 0.12, (4, 3))
    )
    parts = [
        rng.uniform(0, 0.25) * shuffled_grain(rng, int(kind)) for kind in rng.integers(0, 12, 3)
    ]
    tile = ramp(np.clip(0.5 + sum(parts), 0, 1).astype(np.float32), colours)
    tile *= np.exp(rng.uniform(0, 0.35) * shuffled_grain(rng, int(rng.integers(0, 3))))[..., None]
    return encode(tile)

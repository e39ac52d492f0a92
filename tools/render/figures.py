"""Miniatures by name."""

from collections.abc import Callable

import numpy as np

from render.machines import monster, tank, walker
from render.materials import Part
from render.paints import Paints
from render.ships import fighter, freighter
from render.soldiers import hero, infantry, rider

Rng = np.random.Generator
Figure = Callable[[Paints, Rng], list[Part]]


FIGURES: dict[str, Figure] = {
    "inf": infantry,
    "hero": hero,
    "cav": rider,
    "monster": monster,
    "walker": walker,
    "tank": tank,
    "ship": fighter,
    "bigship": freighter,
}


def build(name: str, p: Paints, rng: Rng, size: float = 1) -> list[Part]:
    """A figure by its name."""
    return [part.scaled(size) for part in FIGURES[name](p, rng)]

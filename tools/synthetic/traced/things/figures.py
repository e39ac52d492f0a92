"""Miniatures by name."""

from collections.abc import Callable

import numpy as np

from synthetic.traced.materials import Part
from synthetic.traced.paints import Paints
from synthetic.traced.things.machines import monster, tank, walker
from synthetic.traced.things.ships import fighter, freighter
from synthetic.traced.things.soldiers import hero, infantry, rider

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

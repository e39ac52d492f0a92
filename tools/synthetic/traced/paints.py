"""Armies' colours."""

from dataclasses import dataclass

import numpy as np

from synthetic.traced.materials import Material, Part, plain
from synthetic.traced.mesh import Array, Mesh

Rng = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Paints:
    """A unit's paints."""

    cloth: Material
    armour: Material
    skin: Material
    metal: Material
    accent: Material


HUES = {
    "rebels": (("#6b5b3e", "#4f6a3a", "#8a6d4a"), ("#2f4a38", "#7a6a50"), "#c2612c"),
    "empire": (("#26282c", "#33363b"), ("#e4e4e0", "#d7d8d4"), "#a02020"),
    "north": (("#29427a", "#3b5c9a"), ("#8c939c", "#6f7780"), "#d0b13c"),
    "south": (("#7a2626", "#963a2c"), ("#6a5846", "#8a7a5c"), "#e0d6c0"),
    "forest": (("#2e5a2c", "#4a7a3a"), ("#5c4a2e", "#7a5f38"), "#d8c33a"),
    "violet": (("#54307a", "#6d4a94"), ("#3a7a7a", "#4f9a94"), "#e0d4ee"),
}
"""Each army's cloth, armour and accent."""
SKINS = ("#c99a74", "#8a5a3c", "#e0b694", "#6a8a3c", "#5e7a8a")


def paints(army: str, rng: Rng) -> Paints:
    """One unit's paints out of its army's."""
    cloth, armour, accent = HUES[army]
    return Paints(
        plain(str(rng.choice(cloth)), gloss=0.1),
        plain(str(rng.choice(armour)), gloss=0.25),
        plain(str(rng.choice(SKINS)), gloss=0.1),
        plain(str(rng.choice(["#4a4c50", "#77797c", "#7a5a30"])), gloss=0.5, rough=0.25),
        plain(accent, gloss=0.2),
    )


def parts(*pairs: tuple[Mesh, Material]) -> list[Part]:
    """Surfaces and their paints."""
    return [Part(mesh, material) for mesh, material in pairs]


def off(point: Array, x_mm: float, y_mm: float, z_mm: float) -> Array:
    """A point (3,) that much further."""
    return np.asarray(point + np.array([x_mm, y_mm, z_mm]))

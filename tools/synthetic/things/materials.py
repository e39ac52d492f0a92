"""What surfaces look like: paint, grain and print."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from synthetic.arrays import Floats, Picture
from synthetic.develop import decode_srgb
from synthetic.noise import repeating, rgb
from synthetic.things.mesh import Mesh


def paint(name: str) -> tuple[float, float, float]:
    """`#rrggbb` as reflectances; black paint still gives back 1 %, white 85 %."""
    red, green, blue = (0.012 + 0.84 * decode_srgb(rgb(name))).tolist()
    return red, green, blue


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A surface's paint."""

    color: tuple[float, float, float]
    """Reflectance."""
    second: tuple[float, float, float] | None = None
    """The colour that the grain mixes in; None: a shade of the first."""
    grain: str = "fine"
    """The grain map's name."""
    grain_mm: float = 40
    """Length of the map's side on the surface."""
    image: Picture | None = None
    """A print over uv 0 to 1, upper row first; it replaces the colours."""
    sharp: bool = False
    """The print's pixels have hard edges."""
    gloss: float = 0.15
    """How strongly lamps are mirrored: 0 cloth, 1 wet."""
    rough: float = 0.35
    """How wide that mirror image is spread."""
    clear: float = 0
    """Share of the light that goes through."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One surface of the scene."""

    mesh: Mesh
    material: Material
    solid: bool = True
    """Whether it hides what is behind; blades of grass, loose stones and clear plates do not count."""

    def moved(
        self, x_mm: float = 0, y_mm: float = 0, z_mm: float = 0, turn_deg: float = 0
    ) -> "Part":
        return Part(self.mesh.moved(x_mm, y_mm, z_mm, turn_deg), self.material, self.solid)

    def scaled(self, size: float) -> "Part":
        return Part(self.mesh.scaled(size, size, size), self.material, self.solid)


def plain(color: str, second: str | None = None, **more: Any) -> Material:
    """A painted surface, its colours as `#rrggbb`."""
    return Material(paint(color), paint(second) if second else None, **more)


def printed(image: Picture, **more: Any) -> Material:
    """A surface with a picture on it."""
    red, green, blue = (
        (0.012 + 0.84 * decode_srgb(image.reshape(-1, 3)[::97] / 255)).mean(0).tolist()
    )
    return Material((red, green, blue), image=image, **more)


GRAINS = {
    "fine": (1, 0.7, 1.0),
    "sand": (2, 0.45, 1.0),
    "cloud": (3, 1.7, 1.0),
    "stone": (4, 1.1, 1.0),
    "wood": (5, 1.2, 24.0),
    "blades": (6, 0.6, 3.0),
}
"""Of each grain map the seed, how fast its spectrum falls, and how much it is stretched along x."""


@cache
def grains() -> dict[str, Floats]:
    """Grain maps (TILE, TILE) from 0 to 1 that repeat without a seam."""
    return {
        name: np.asarray((0.5 + 0.22 * repeating(*kind)).clip(0, 1), np.float32)
        for name, kind in GRAINS.items()
    }

"""What surfaces look like: paint, grain and print."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthetic.traced.mesh import Mesh

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Picture = NDArray[np.uint8]

TILE = 512
"""A grain map's side in pixels."""


def linear(srgb: ArrayLike) -> Array:
    """Colour values from 0 to 1 as in a picture file to amounts of light (IEC 61966-2-1)."""
    c = np.asarray(srgb, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def paint(name: str) -> tuple[float, float, float]:
    """`#rrggbb` as reflectances; black paint still gives back 1 %, white 85 %."""
    red, green, blue = (
        0.012 + 0.84 * linear([int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    ).tolist()
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
    red, green, blue = (0.012 + 0.84 * linear(image.reshape(-1, 3)[::97] / 255)).mean(0).tolist()
    return Material((red, green, blue), image=image, **more)


@cache
def grains() -> dict[str, Floats]:
    """Grain maps (TILE, TILE) from 0 to 1 that repeat without a seam."""
    return {
        "fine": _grain(1, 0.7, 1),
        "sand": _grain(2, 0.45, 1),
        "cloud": _grain(3, 1.7, 1),
        "stone": _grain(4, 1.1, 1),
        "wood": _grain(5, 1.2, 24),
        "blades": _grain(6, 0.6, 3),
    }


def _grain(seed: int, slope: float, stretch: float) -> Floats:
    """Noise whose spectrum falls as frequency^-slope, `stretch` times longer along x."""
    white = np.random.default_rng(seed).normal(size=(TILE, TILE))
    fy, fx = np.meshgrid(np.fft.fftfreq(TILE), np.fft.rfftfreq(TILE), indexing="ij")
    frequency = np.hypot(fx * stretch, fy)
    frequency[0, 0] = np.inf
    noise = np.fft.irfft2(np.fft.rfft2(white) * frequency**-slope, s=(TILE, TILE))
    return np.asarray((0.5 + 0.22 * noise / noise.std()).clip(0, 1), np.float32)

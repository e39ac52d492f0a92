"""Light: glowing rectangles over a room that glows a little everywhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from synthetic.arrays import Array, Floats, Rng


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A glowing rectangle: a window, a lamp, a ceiling light."""

    centre_mm: Floats
    across_mm: Floats
    """Half its width, as a vector (3,)."""
    along_mm: Floats
    """Half its height, square to the width."""
    glow: Floats
    """Light per area and solid angle (3,)."""

    @property
    def normal(self) -> Floats:
        n = np.cross(self.across_mm, self.along_mm)
        return np.asarray(n / np.linalg.norm(n), np.float32)

    @property
    def area_mm2(self) -> float:
        return float(4 * np.linalg.norm(self.across_mm) * np.linalg.norm(self.along_mm))

    def at(self, uv: Floats) -> Floats:
        """Its points (N, 3) at (N, 2), each from -1 to 1."""
        return np.asarray(
            self.centre_mm + uv[:, :1] * self.across_mm + uv[:, 1:] * self.along_mm, np.float32
        )

    def reach(self, points_mm: Floats, normals: Floats) -> Floats:
        """The light (N, 3) that falls on surfaces: exact for a disc seen along its axis, near enough elsewhere."""
        way = self.centre_mm - points_mm
        d2 = np.einsum("ij,ij->i", way, way)
        cosines = np.einsum("ij,ij->i", way, normals).clip(0) * np.abs(way @ self.normal) / d2
        return np.asarray(
            (self.area_mm2 * cosines / (d2 + self.area_mm2 / np.pi))[:, None] * self.glow,
            np.float32,
        )

    def mirrored(self, points_mm: Floats, rays: Floats, rough: Floats) -> Floats:
        """How much of it (N,) a blurred mirror sees along the rays (N, 3) from points (N, 3)."""
        n = self.normal
        t = ((self.centre_mm - points_mm) @ n) / np.where(
            np.abs(rays @ n) < 1e-4, np.float32(1e-4), rays @ n
        )
        off = points_mm + rays * t[:, None] - self.centre_mm
        blur = rough * np.abs(t) + 1
        seen = np.ones(len(points_mm), np.float32)
        for half in (self.across_mm, self.along_mm):
            length = np.linalg.norm(half)
            x = (length - np.abs(off @ (half / length))) / blur
            seen *= _ramp(x) * np.minimum(1, 2 * length / blur)
        return np.asarray(np.where(t > 0, seen, 0), np.float32)


def _ramp(x: Floats) -> Floats:
    s = (x * 0.5 + 0.5).clip(0, 1)
    return np.asarray(s * s * (3 - 2 * s), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Lights:
    """All the light there is."""

    name: str
    panels: tuple[Panel, ...]
    above: Floats
    """The room's own light from above (3,)."""
    below: Floats
    lean: Floats
    """Where the room is brighter (3,): a vector."""

    def ambient(self, normals: Floats) -> Floats:
        """The room's light (N, 3) on surfaces that nothing shades."""
        up = 0.5 + 0.5 * normals[:, 2:]
        return np.asarray(
            (self.above * up + self.below * (1 - up)) * (1 + normals @ self.lean)[:, None],
            np.float32,
        )


def panel(
    centre_mm: ArrayLike, towards_mm: ArrayLike, width_mm: float, height_mm: float, power: ArrayLike
) -> Panel:
    """A rectangle that faces a point and lights it with `power` (3,) where that point faces it too."""
    centre, way = (
        np.asarray(centre_mm, float),
        np.asarray(towards_mm, float) - np.asarray(centre_mm, float),
    )
    d2 = float(way @ way)
    n = way / np.sqrt(d2)
    across = np.cross([0, 0, 1], n) if abs(n[2]) < 0.95 else np.array([1.0, 0, 0]) - n * n[0]
    across /= np.linalg.norm(across)
    area = width_mm * height_mm
    glow = np.asarray(power, float) * (d2 + area / np.pi) / area
    parts = (centre, across * width_mm / 2, np.cross(n, across) * height_mm / 2, glow)
    return Panel(*(np.asarray(p, np.float32) for p in parts))


def _warmth(kelvin: float) -> Array:
    """A rough colour of light, green at 1, against a camera balanced for 5000 K."""
    t = np.log2(kelvin / 5000)
    return np.array([2 ** (-0.45 * t), 1, 2 ** (0.75 * t)])


def lights(name: str, middle_mm: ArrayLike, rng: Rng) -> Lights:
    """One of the styles of `STYLES` over the middle of the board (3,)."""
    middle = np.asarray(middle_mm, float)
    panels, room = STYLES[name](middle, rng)
    tint = _warmth(rng.uniform(4200, 5600)) * room
    floats = [
        np.asarray(v, np.float32)
        for v in (tint, tint * 0.35, np.append(rng.uniform(-0.25, 0.25, 2), 0))
    ]
    return Lights(name, tuple(panels), *floats)


def _around(middle: Array, rng: Rng, away_mm: float, up_mm: float) -> Array:
    angle = rng.uniform(0, 2 * np.pi)
    return np.asarray(middle + np.array([away_mm * np.cos(angle), away_mm * np.sin(angle), up_mm]))


def _window(middle: Array, rng: Rng) -> tuple[list[Panel], float]:
    place = _around(middle, rng, rng.uniform(1700, 2600), rng.uniform(900, 1500))
    return [panel(place, middle, 1300, 1400, _warmth(rng.uniform(5500, 7000)) * 1.6)], rng.uniform(
        0.3, 0.6
    )


def _ceiling(middle: Array, rng: Rng) -> tuple[list[Panel], float]:
    color = _warmth(rng.uniform(3800, 5200))
    shift = np.append(rng.uniform(-900, 900, 2), 2300)
    step = np.array([rng.uniform(900, 1500), 0, 0])
    return [
        panel(middle + shift + s * step, middle + s * step, 1200, 300, color * 0.7) for s in (-1, 1)
    ], rng.uniform(0.35, 0.6)


def _lamp(middle: Array, rng: Rng) -> tuple[list[Panel], float]:
    place = _around(middle, rng, rng.uniform(500, 1100), rng.uniform(900, 1400))
    return [panel(place, middle, 140, 140, _warmth(rng.uniform(2900, 3800)) * 1.7)], rng.uniform(
        0.15, 0.3
    )


def _mixed(middle: Array, rng: Rng) -> tuple[list[Panel], float]:
    (window,), room = _window(middle, rng)
    place = _around(middle, rng, rng.uniform(100, 700), 2200)
    return [
        window,
        panel(place, middle, 350, 350, _warmth(rng.uniform(2900, 3600)) * 0.9),
    ], room * 0.8


def _glare(middle: Array, rng: Rng) -> tuple[list[Panel], float]:
    place = _around(middle, rng, rng.uniform(250, 500), 2100)
    return [panel(place, middle, 500, 350, _warmth(rng.uniform(3500, 5500)) * 1.3)], rng.uniform(
        0.3, 0.5
    )


def _low(middle: Array, rng: Rng) -> tuple[list[Panel], float]:
    place = _around(middle, rng, rng.uniform(1300, 2000), rng.uniform(500, 900))
    return [panel(place, middle, 300, 300, _warmth(rng.uniform(2700, 3400)) * 1.5)], rng.uniform(
        0.12, 0.25
    )


STYLES = {
    "window": _window,
    "ceiling": _ceiling,
    "lamp": _lamp,
    "mixed": _mixed,
    "glare": _glare,
    "low": _low,
}

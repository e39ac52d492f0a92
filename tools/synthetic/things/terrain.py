"""Terrain: buildings, hills, trees and rocks, about the origin on z = 0."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from synthetic.arrays import Array, Rng
from synthetic.things.materials import Material, Part, plain
from synthetic.things.mesh import Mesh, about_z, blob, box, lathe, limb, prism, rectangle, stack


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """A piece of terrain with its outline."""

    kind: str
    footprint_mm: Array
    """(N, 2)."""
    top_mm: float
    parts: list[Part]

    def moved(self, x_mm: float, y_mm: float, turn_deg: float) -> "Terrain":
        outline = self.footprint_mm @ about_z(turn_deg)[:2, :2].T + [x_mm, y_mm]
        return Terrain(
            self.kind, outline, self.top_mm, [p.moved(x_mm, y_mm, 0, turn_deg) for p in self.parts]
        )


WALLS = (
    ("#b8a88c", "#8c7d64"),
    ("#8f8c86", "#6b6862"),
    ("#c7b48e", "#a08a62"),
    ("#7d6a58", "#5a4a3c"),
)


def _wall(rng: Rng) -> Material:
    color, second = WALLS[rng.integers(len(WALLS))]
    return plain(color, second, grain="stone", grain_mm=90, gloss=0.04)


def building(rng: Rng) -> Terrain:
    """A house with a flat roof behind a parapet."""
    length, width, height = rng.uniform(95, 150), rng.uniform(70, 110), rng.uniform(60, 105)
    wall, dark = _wall(rng), plain("#2a2826", gloss=0.3)
    roof = plain("#77726a", "#55514b", grain="sand", grain_mm=70, gloss=0.03)
    parts = [Part(box(length, width, height - 6), wall)]
    parts.append(Part(box(length - 6, width - 6, 0.4).moved(0, 0, height - 6), roof))
    for s in (1, -1):
        parts.append(Part(box(length, 3, 6).moved(0, s * (width - 3) / 2, height - 6), wall))
        parts.append(Part(box(3, width, 6).moved(s * (length - 3) / 2, 0, height - 6), wall))
        for x in np.arange(-length / 2 + 18, length / 2 - 10, 26):
            parts.append(Part(box(12, 1, 18).moved(x, s * width / 2, height * 0.45), dark))
    for _ in range(int(rng.integers(1, 4))):
        at = rng.uniform(-0.3, 0.3, 2) * [length, width]
        parts.append(
            Part(
                _crate(rng).moved(at[0], at[1], height - 6, float(rng.uniform(0, 90))),
                dark if rng.random() < 0.5 else wall,
            )
        )
    return Terrain("building", rectangle(length, width), height, parts)


def flat_roof(rng: Rng) -> Terrain:
    """A house with a flat roof without a parapet, which bases stand on."""
    length, width, height = rng.uniform(120, 170), rng.uniform(90, 130), rng.uniform(40, 95)
    roof = plain("#8d867a", "#6b655b", grain="sand", grain_mm=70, gloss=0.03)
    house = Part(box(length - 8, width - 8, height - 5), _wall(rng))
    slab = Part(box(length, width, 5).moved(0, 0, height - 5), roof)
    return Terrain("roof", rectangle(length, width), height, [house, slab])


def _crate(rng: Rng) -> Mesh:
    length, width, height = rng.uniform(8, 22, 3).tolist()
    return box(length, width, height / 2)


def ruin(rng: Rng) -> Terrain:
    """Two broken walls on a slab."""
    length, width, height = rng.uniform(110, 150), rng.uniform(75, 110), rng.uniform(55, 85)
    wall = _wall(rng)
    parts = [Part(box(length, width, 4, 0.98), plain("#6b655c", "#4c4740", grain="stone"))]
    for x in np.arange(-length / 2 + 8, length / 2 - 4, 15):
        parts.append(
            Part(box(15, 8, height * rng.uniform(0.35, 1)).moved(x, width / 2 - 5, 0), wall)
        )
    for y in np.arange(-width / 2 + 10, width / 2 - 8, 15):
        parts.append(
            Part(box(8, 15, height * rng.uniform(0.3, 0.9)).moved(-length / 2 + 5, y, 0), wall)
        )
    for _ in range(14):
        at = rng.uniform(-0.42, 0.42, 2) * [length, width]
        parts.append(Part(blob(float(rng.uniform(2, 6)), 0.5, rng, 10).shifted([*at, 4]), wall))
    return Terrain("ruin", rectangle(length, width), height, parts)


def container(rng: Rng) -> Terrain:
    """A ribbed steel box."""
    length, width, height = rng.uniform(110, 150), rng.uniform(42, 56), rng.uniform(38, 50)
    paint = plain(
        str(rng.choice(["#8a3a24", "#2f5a6b", "#5c6a34", "#7a7d80"])), grain="cloud", gloss=0.25
    )
    ribs = [
        Part(box(3, width + 2, height - 4).moved(x, 0, 2), paint)
        for x in np.arange(-length / 2 + 6, length / 2, 9)
    ]
    roof = [
        Part(box(4, width - 4, 1).moved(x, 0, height), paint)
        for x in np.arange(-length / 2 + 8, length / 2, 12)
    ]
    return Terrain(
        "container",
        rectangle(length, width + 2),
        height + 1,
        [Part(box(length, width, height), paint), *ribs, *roof],
    )


def barricade(rng: Rng) -> Terrain:
    """A row of concrete blocks."""
    count, height, wall = int(rng.integers(3, 6)), rng.uniform(16, 27), _wall(rng)
    parts = [
        Part(
            box(23, 12, height, 0.75).moved(
                (k - (count - 1) / 2) * 24.5, rng.normal(0, 0.7), 0, rng.normal(0, 3)
            ),
            wall,
        )
        for k in range(count)
    ]
    return Terrain("barricade", rectangle(count * 24.5 + 2, 15), height, parts)


def tower(rng: Rng) -> Terrain:
    """A round tower."""
    radius, height, wall = rng.uniform(32, 48), rng.uniform(70, 115), _wall(rng)
    parts = [
        Part(
            lathe(
                [
                    (radius, 0),
                    (radius * 0.86, height - 12),
                    (radius, height - 10),
                    (radius, height),
                    (radius - 4, height),
                    (radius - 4, height - 5),
                ],
                40,
            ),
            wall,
        )
    ]
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return Terrain("tower", radius * np.stack([np.cos(angles), np.sin(angles)], 1), height, parts)


def tree(rng: Rng) -> Terrain:
    """A tree with a lumpy crown."""
    radius, height = rng.uniform(24, 42), rng.uniform(60, 105)
    bark, leaf = (
        plain("#4a3524", "#33241a", grain="wood"),
        plain(
            str(rng.choice(["#3a5a22", "#4f6b24", "#2c4a24"])),
            "#1c3010",
            grain="blades",
            grain_mm=24,
            gloss=0.05,
        ),
    )
    parts = [Part(limb([0, 0, 0], [2, 0, height - radius], 4.5, 3, 12), bark)]
    for _ in range(int(rng.integers(4, 7))):
        at = rng.normal(0, 0.33, 3) * radius
        parts.append(
            Part(
                blob(radius * rng.uniform(0.5, 0.7), 0.45, rng, 24).moved(
                    at[0], at[1], height - radius * 0.7 + at[2] * 0.5
                ),
                leaf,
            )
        )
    return Terrain("tree", _ring(radius * 0.75), height, parts)


def pine(rng: Rng) -> Terrain:
    """A conifer: cones on a stem."""
    radius, height = rng.uniform(22, 34), rng.uniform(90, 130)
    leaf = plain("#24442a", "#142a18", grain="blades", grain_mm=24, gloss=0.05)
    parts = [Part(limb([0, 0, 0], [0, 0, height * 0.4], 4, 3, 10), plain("#4a3524"))]
    for k in range(6):
        r, z = radius * (1 - k / 7), height * (0.18 + 0.13 * k)
        wave = 1 + 0.12 * np.sin(np.arange(40) * 2 * np.pi * 9 / 40 + k)[:, None]
        ring = _ring(1, 40) * wave
        parts.append(
            Part(
                stack(
                    [
                        np.column_stack([ring * r, np.full(40, z)]),
                        np.column_stack([ring * r * 0.12, np.full(40, z + height * 0.2)]),
                    ],
                    facets=True,
                ),
                leaf,
            )
        )
    return Terrain("pine", _ring(radius * 0.9), height, parts)


def rock(rng: Rng) -> Terrain:
    """A boulder."""
    radius = rng.uniform(24, 44)
    stretch = rng.uniform(0.7, 1.2, 2)
    mesh = blob(radius, 0.5, rng, 30).scaled(
        float(stretch[0]), float(stretch[1]), float(rng.uniform(0.6, 0.9))
    )
    top = float(mesh.points_mm[..., 2].max())
    outline = _ring(radius * 1.1) * stretch
    return Terrain(
        "rock",
        outline,
        top,
        [Part(mesh, plain("#6f6962", "#48443f", grain="stone", grain_mm=70, gloss=0.05))],
    )


def hill(rng: Rng, size_mm: float = 120) -> Terrain:
    """A hill with a flat top that bases stand on."""
    angles = (
        np.sort(rng.uniform(0, 2 * np.pi, 9)) * 0.25
        + np.linspace(0, 2 * np.pi, 9, endpoint=False) * 0.75
    )
    low = np.stack([np.cos(angles), np.sin(angles)], 1) * rng.uniform(0.8, 1.15, (9, 1)) * size_mm
    height = rng.uniform(14, 40)
    color, second, grain = [
        ("#b59764", "#8a6c40", "sand"),
        ("#5a6b2c", "#3c4c1c", "blades"),
        ("#7a756c", "#57534c", "stone"),
    ][rng.integers(3)]
    side = plain("#6b5338", "#4a3826", grain="stone", grain_mm=80, gloss=0.03)
    top = prism(low * 0.88, height - 0.01, height)
    return Terrain(
        "hill",
        low,
        height,
        [
            Part(prism(low, 0, height - 0.02, 0.88), side),
            Part(top, plain(color, second, grain=grain, grain_mm=60, gloss=0.03)),
        ],
    )


def _ring(radius_mm: float, points: int = 24) -> Array:
    angles = np.linspace(0, 2 * np.pi, points, endpoint=False)
    return radius_mm * np.stack([np.cos(angles), np.sin(angles)], 1)


KINDS: dict[str, Callable[[Rng], Terrain]] = {
    "building": building,
    "ruin": ruin,
    "container": container,
    "barricade": barricade,
    "tower": tower,
    "tree": tree,
    "pine": pine,
    "rock": rock,
}

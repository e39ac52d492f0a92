"""What the game lies on: mat, table, floor."""

import numpy as np

from overruler.pieces import Grid
from synthetic.arrays import Array, Picture, Rng
from synthetic.mats import WOODS, as_bytes, hexes, mat, planks
from synthetic.printed_grids import print_grid
from synthetic.things.materials import Material, Part, plain, printed
from synthetic.things.mesh import Mesh, box, sheet
from synthetic.traced.spec import Spec

MAT_MM = 2.0
"""A mat's thickness: its top is at 0."""
FELTS = {
    "laminate": ("#d8d6d0", 0.3),
    "felt": ("#1d1e20", 0.02),
    "baize": ("#24382a", 0.02),
    "steel": ("#6d747c", 0.2),
}


def draw_grid(spec: Spec, rng: Rng) -> Grid | None:
    """The mat's grid, where it has one."""
    if spec.mat != "hex":
        return None
    across = float(rng.choice([25.4, 50, 60, 76.2]))
    x, y = rng.integers(0, 40, 2).tolist()
    return Grid(str(rng.choice(["flat", "pointy"])), across / 3**0.5, (float(x), float(y)))


def scenery(spec: Spec, grid: Grid | None, texel_mm: float, rng: Rng) -> list[Part]:
    """Mat, table and floor; the prints have pixels of `texel_mm`."""
    size, margin = np.array(spec.size_mm), rng.uniform(120, 420, 2)
    outer, top_mm = size + 2 * margin, 0.0 if spec.mat == "none" else -MAT_MM
    parts = [
        Part(_lying(-margin, size + margin, top_mm), _table_top(spec, outer, texel_mm, rng)),
        Part(_slab(outer, top_mm - 0.3, 28).shifted(size / 2), plain("#4a3422")),
        Part(_lying(np.full(2, -6000.0), np.full(2, 8000.0), -740), _floor(rng)),
    ]
    if spec.mat == "none":
        return parts
    cloth = printed(
        _print(spec, grid, texel_mm, rng),
        gloss=float(rng.choice([0.05, 0.25, 0.6])),
        rough=float(rng.uniform(0.25, 0.5)),
    )
    rubber = Part(_slab(size, -0.02, MAT_MM - 0.04).shifted(size / 2), plain("#1a1a1c"))
    return [*parts, rubber, Part(_lying(np.zeros(2), size, 0), cloth)]


def _floor(rng: Rng) -> Material:
    color = str(rng.choice(["#3a3a3c", "#5c4a38", "#6b665e", "#2c2f36"]))
    return plain(color, grain="cloud", grain_mm=900, gloss=0.02)


def _print(spec: Spec, grid: Grid | None, texel_mm: float, rng: Rng) -> Picture:
    image = mat(spec.mat, *spec.size_mm, texel_mm, rng)
    if spec.lines is not None:
        own = np.random.default_rng([spec.seed, 7])
        drawn = print_grid(image.astype(np.float32) / np.float32(255), texel_mm, *spec.lines, own)
        return as_bytes(drawn)
    if grid is None:
        return image
    lines = hexes(
        image.astype(np.float32) / np.float32(255),
        texel_mm,
        grid.size_mm,
        grid.origin_mm,
        flat=grid.orientation == "flat",
    )
    return as_bytes(lines)


def _table_top(spec: Spec, outer: Array, texel_mm: float, rng: Rng) -> Material:
    """Wood mostly; else laminate or felt."""
    name = spec.table or str(rng.choice([*WOODS, *WOODS, *FELTS]))
    if name in FELTS:
        color, gloss = FELTS[name]
        grain, length = ("cloud", 260) if gloss > 0.1 else ("fine", 70)
        return plain(color, grain=grain, grain_mm=length, gloss=gloss)
    texel = texel_mm * 1.3
    shape = round(float(outer[1]) / texel), round(float(outer[0]) / texel)
    image = as_bytes(planks(name, shape, texel, rng))
    return printed(image, gloss=float(rng.uniform(0.1, 0.6)), rough=float(rng.uniform(0.15, 0.4)))


def _slab(size_mm: Array, top_mm: float, thick_mm: float) -> Mesh:
    return box(float(size_mm[0]), float(size_mm[1]), thick_mm).moved(0, 0, top_mm - thick_mm)


def _lying(low: Array, high: Array, z_mm: float) -> Mesh:
    return sheet([[*low, z_mm], [high[0], low[1], z_mm], [*high, z_mm], [low[0], high[1], z_mm]])

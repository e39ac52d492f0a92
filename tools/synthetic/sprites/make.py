"""Write the sprites that the painter sets on bases: one file out of a folder of meshes.

python tools/synthetic/sprites/make.py MESHES build/sprites.npz

`synthetic/sprites/material_list.py` says where the meshes come from. It needs the package embreex.
"""

import argparse
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from overruler.writing import write_atomically
from synthetic.arrays import Array, Rng
from synthetic.painted.wardrobe import FIGURE, ITEM, LARGE
from synthetic.sprites import material_list as listed
from synthetic.sprites.draw_views import Sprite, draw_views, packed, scale_for
from synthetic.sprites.read_glb import Rig
from synthetic.sprites.read_meshes import read_triangles
from synthetic.sprites.shapes import (
    Shape,
    bannered,
    bent,
    mounted,
    plain_shape,
    stood,
    winged,
)
from synthetic.sprites.vehicles import vehicle

UP = {
    "x": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "y": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "z": np.eye(3),
}
"""What turns an axis upwards."""
CUT_MM = 1.6
"""Triangles of a printed figure up to this height belong to its base, or to the letters on it."""
HEROIC = 1.45
"""How much stouter printed figures become: they are of true proportions, and miniatures are not."""
VEHICLES, RIDERS = 6, 9
"""How many machines are made up, and how many figures are put on a mount."""
Named = tuple[str, int, Shape]
"""Name, kind and body."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("meshes", type=Path, help="folder of meshes")
    parser.add_argument("file", type=Path, help="file to write (.npz)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.meshes.is_dir():
        parser.error(f"{options.meshes}: no such folder; material_list.py says what belongs in it")
    rng = np.random.default_rng(options.seed)
    sprites: list[Sprite] = []
    rows: list[list[float]] = []
    names: list[tuple[str, int, float, float]] = []
    for name, kind, shape in _bodies(options.meshes, rng):
        px_per_mm = scale_for(shape, kind)
        for tilt, turn, sprite in draw_views(shape, px_per_mm, rng):
            rows.append([len(names), tilt, turn, px_per_mm])
            sprites.append(sprite)
        points = shape.triangles.reshape(-1, 3)
        reach = float(np.linalg.norm(points[:, :2], axis=1).max())
        names.append((name, kind, float(points[:, 2].max()), reach))
        print(f"{len(names)}: {name}", flush=True)
    _write(options.file, sprites, rows, names)
    return 0


def _write(
    path: Path,
    sprites: list[Sprite],
    rows: list[list[float]],
    names: list[tuple[str, int, float, float]],
) -> None:
    pixels, sizes, feet = packed(sprites)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        pixels=np.ascontiguousarray(pixels.T),
        sizes=sizes.astype(np.int32),
        feet=feet,
        views=np.array(rows),
        names=np.array([row[0] for row in names]),
        kinds=np.array([row[1] for row in names], np.int32),
        extents=np.array([row[2:] for row in names], float),
    )
    write_atomically(path, buffer.getvalue())
    print(f"{len(sprites)} sprites of {len(names)} bodies, {len(buffer.getvalue()) / 1e6:.1f} MB")


def _bodies(folder: Path, rng: Rng) -> Iterator[Named]:
    figures = [*_printed(folder), *_rigged(folder, rng)]
    for k, (name, shape) in enumerate(figures):
        yield name, FIGURE, shape
        change = (bent, winged, bannered)[k % 3]
        yield f"{name} {change.__name__}", FIGURE, change(bent(shape, rng), rng)
    beasts = [*_beasts(folder)]
    for name, shape in beasts:
        yield name, LARGE, shape
        if "plane" not in name and "boat" not in name:
            yield f"{name} winged", LARGE, winged(bent(shape, rng), rng)
    mounts = [one for one in beasts if any(word in one[0] for word in ("boar", "spot", "cat"))]
    for _ in range(RIDERS if mounts and figures else 0):
        (rider, who), (mount, which) = (
            pool[int(rng.integers(len(pool)))] for pool in (figures, mounts)
        )
        yield f"{rider} on {mount}", LARGE, mounted(who, bent(which, rng), rng)
    for k in range(VEHICLES):
        yield f"vehicle {k}", LARGE, vehicle(rng)
    for place, axis in listed.OBJECTS.items():
        for name, triangles in _found(folder / place):
            high = listed.SIZES_MM.get(name, listed.OBJECT_MM)
            yield name, ITEM, _upright(triangles, axis, high, name)


def _found(path: Path) -> Iterator[tuple[str, Array]]:
    """The file's triangles; nothing where it is missing."""
    if path.exists():
        yield path.stem, read_triangles(path)
    else:
        print(f"{path} is missing: left out")


def _upright(triangles: Array, axis: str, height: float, name: str) -> Shape:
    seed = sum(name.encode())
    return stood(plain_shape(triangles @ UP[axis].T, seed), height, feet_share=1.0)


def _printed(folder: Path) -> Iterator[tuple[str, Shape]]:
    """Printed figures without their bases."""
    for name in listed.FIGURES:
        for stem, triangles in _found(folder / "rpg" / f"{name}.stl"):
            kept = triangles[triangles[..., 2].max(1) > CUT_MM]
            high = float(np.clip(np.ptp(kept[..., 2]), 20, 60))
            body = plain_shape(kept * [HEROIC, HEROIC, 1], sum(stem.encode()))
            yield stem, stood(body, high)


def _rigged(folder: Path, rng: Rng) -> Iterator[tuple[str, Shape]]:
    """Each rig in a few poses, with one of the weapons in each hand."""
    for path in sorted((folder / "kaykit").glob("*.glb")):
        rig = Rig(path)
        poses = rng.choice(len(listed.RIG_POSES), listed.POSES_EACH, replace=False)
        for k in poses.tolist():
            pose, moment = listed.RIG_POSES[k]
            left_out: set[str] = set()
            for bone in ("handslot.l", "handslot.r"):
                held = rig.node_names(bone)
                kept = held[int(rng.integers(len(held)))] if held else ""
                left_out |= {name for name in held if name != kept}
            head = float(rng.uniform(*listed.HEAD_SHARES))
            shape = rig.posed(pose, moment, left_out, head)
            yield f"{path.stem} {pose}", stood(shape, listed.FIGURE_MM)


def _beasts(folder: Path) -> Iterator[tuple[str, Shape]]:
    """Long bodies along x."""
    for name in listed.BEASTS:
        for stem, triangles in _found(folder / "rpg" / f"{name}.stl"):
            kept = triangles[triangles[..., 2].max(1) > CUT_MM]
            yield stem, stood(plain_shape(kept, 3), listed.BEAST_MM, feet_share=1.0)
    for name, axis in listed.LYING.items():
        for stem, triangles in _found(folder / "oded" / f"{name}.obj"):
            yield stem, _lengthwise(_upright(triangles, axis, listed.BEAST_MM, stem))


def _lengthwise(shape: Shape) -> Shape:
    """Turned so that it is longest along x."""
    if shape.size[0] >= shape.size[1]:
        return shape
    return shape.mapped(np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]))


if __name__ == "__main__":
    sys.exit(main())

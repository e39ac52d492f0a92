"""Write the sprites that the painter sets on bases: one file out of a folder of meshes.

python tools/synthetic/sprites/make.py MESHES build/sprites.npz

`synthetic/sprites/material_list.py` says where the meshes come from. It needs the package embreex.
"""

import argparse
import io
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.writing import write_atomically
from synthetic.arrays import Array, Floats, Rng
from synthetic.painted.wardrobe import FIGURE, ITEM, LARGE, PARTS
from synthetic.sprites import material_list as listed
from synthetic.sprites.actors import Actors, Pose
from synthetic.sprites.draw_views import SIDE_PX, Sprite, draw_views, packed, scale_for
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


@dataclass(frozen=True)
class Drawn:
    """What the file says of a body, as `Wardrobe` has it."""

    name: str
    kind: int
    extent: tuple[float, float]
    bulk: tuple[float, float]
    paints: Array | Floats


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
    bodies: list[Drawn] = []
    for name, kind, shape in _bodies(options.meshes, rng):
        px_per_mm = scale_for(shape, kind)
        for tilt, turn, sprite in draw_views(shape, px_per_mm, rng):
            rows.append([len(bodies), tilt, turn, px_per_mm])
            sprites.append(sprite)
        paints = np.zeros((PARTS + 1, 3)) if shape.skin is None else shape.skin.paints
        bodies.append(Drawn(name, kind, _extent(shape.triangles), _extent(shape.bulk), paints))
        print(f"{len(bodies)}: {name}", flush=True)
    _write(options.file, sprites, rows, bodies)
    return 0


def _extent(triangles: Array) -> tuple[float, float]:
    """Height and reach around the origin."""
    points = triangles.reshape(-1, 3)
    return float(points[:, 2].max()), float(np.linalg.norm(points[:, :2], axis=1).max())


def _write(
    path: Path,
    sprites: list[Sprite],
    rows: list[list[float]],
    bodies: list[Drawn],
) -> None:
    pixels, sizes, feet = packed(sprites)
    arrays: dict[str, NDArray[Any]] = {
        "pixels": np.ascontiguousarray(pixels.T),
        "sizes": sizes.astype(np.int32),
        "feet": feet,
        "views": np.array(rows),
        "names": np.array([one.name for one in bodies]),
        "kinds": np.array([one.kind for one in bodies], np.int32),
        "extents": np.array([one.extent for one in bodies], float),
        "bulks": np.array([one.bulk for one in bodies], float),
        "paints": np.array([one.paints for one in bodies], np.float32),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as file:  # a fifth smaller than numpy's own
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    write_atomically(path, buffer.getvalue())
    print(f"{len(sprites)} sprites of {len(bodies)} bodies, {len(buffer.getvalue()) / 1e6:.1f} MB")


def _bodies(folder: Path, rng: Rng) -> Iterator[Named]:
    figures = [*_printed(folder), *_rigged(folder, rng)]
    for k, (name, shape) in enumerate(figures):
        yield name, FIGURE, shape
        if k % 2:
            change = (bent, winged, bannered)[k // 2 % 3]
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
    yield from _of_the_game(folder / "zeroad" / "public.zip")
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


def _of_the_game(archive: Path) -> Iterator[Named]:
    """Bodies of 0 A.D. with their textures."""
    if not archive.exists():
        print(f"{archive} is missing: left out")
        return
    actors = Actors(archive)
    for name in listed.ON_FOOT:
        shape = _acting(actors, f"units/{name}", FIGURE, listed.STOUT)
        yield name, FIGURE, stood(shape, listed.FIGURE_MM)
    for name in listed.RIDERS:
        shape = _acting(actors, name, LARGE, listed.MOUNTED_STOUT)
        yield name, LARGE, _lengthwise(stood(shape, listed.RIDER_MM, feet_share=1.0))
    for name, high in listed.STANDING.items():
        yield name, ITEM, stood(_acting(actors, name, ITEM, 1.0), high, feet_share=1.0)


def _acting(actors: Actors, name: str, kind: int, stout: float) -> Shape:
    rng = np.random.default_rng(list(name.encode()))
    deed = listed.DEEDS[int(rng.integers(len(listed.DEEDS)))]
    pose = Pose(deed, int(rng.integers(9)), float(rng.random()))
    return actors.body(f"{name}.xml", pose, SIDE_PX[kind], stout, rng)


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

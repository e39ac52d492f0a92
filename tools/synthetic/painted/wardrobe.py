"""Pictures of real figures, as `synthetic/sprites/make.py` writes them, and what stands on a table out of them."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Array, Floats, Picture
from synthetic.things.solids import Solid

FIGURE, LARGE, ITEM = 0, 1, 2
"""Kinds of bodies: on foot; long ones along x; what lies about without a base."""
PARTS = 6
"""Areas of a body that are painted alike."""
NEUTRAL = 128
"""The grain of what is as light as its surroundings, and of bodies without a texture."""


@dataclass(frozen=True, slots=True, eq=False)
class Wardrobe:
    """Pictures of bodies from several sides."""

    pictures: list[Picture]
    """(h, w, 5) each: part (0 where nothing is seen), openness to the sky, facing to the right and up, and grain: how
    light its texture is against its surroundings, as a ratio of sRGB values to `NEUTRAL`."""
    feet: Array
    """(K, 2): x and y of the foot point in each picture."""
    frames: Array
    """(K, 3, 3): right, up and towards the camera of each, in the body's frame."""
    px_per_mm: Array
    """(K,)"""
    rows: list[slice]
    """The pictures of each body."""
    kinds: NDArray[np.int32]
    extents_mm: Array
    """(B, 2): each body's height and its reach around its foot."""
    bulks_mm: Array
    """(B, 2): the same without what it holds: so large a body is for its base."""
    paints: Floats
    """(B, PARTS + 1, 3): the paint of each part as its texture has it; 0 for bodies without a texture."""

    def nearest(self, body: int, towards: Array) -> int:
        """The picture of a body from a direction (3,) in its frame."""
        rows = self.rows[body]
        return int(rows.start) + int(np.argmax(self.frames[rows, 2] @ towards))


def wardrobe_of(path: Path | None) -> Wardrobe | None:
    """The wardrobe in a file, or none; a file is read once."""
    return None if path is None else _read(path)


@cache
def _read(path: Path) -> Wardrobe:
    if not path.is_file():
        raise SystemExit(f"{path}: no file of sprites; tools/synthetic/sprites/make.py writes one")
    with np.load(path) as file:
        pixels = np.ascontiguousarray(file["pixels"].T)
        sizes, views = file["sizes"], file["views"]
        feet, kinds, extents = file["feet"], file["kinds"], file["extents"]
        bulks, paints = file["bulks"], file["paints"]
    ends = np.cumsum(sizes.prod(1))
    pieces = np.split(pixels, ends[:-1])
    pictures = [
        piece.reshape(*size, pixels.shape[1])
        for piece, size in zip(pieces, sizes.tolist(), strict=True)
    ]
    first = np.searchsorted(views[:, 0], np.arange(len(kinds) + 1)).tolist()
    rows = [slice(start, end) for start, end in pairwise(first)]
    frames = np.array([view_frame(tilt, turn) for tilt, turn in views[:, 1:3].tolist()])
    return Wardrobe(pictures, feet, frames, views[:, 3], rows, kinds, extents, bulks, paints)


def view_frame(tilt_rad: float, turn_rad: float) -> Array:
    """Right, up and towards the camera (3, 3): tilted from straight above, and from which side."""
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    towards = np.array([c * np.sin(tilt_rad), s * np.sin(tilt_rad), np.cos(tilt_rad)])
    right = np.array([-s, c, 0.0])
    return np.array([right, np.cross(towards, right), towards])


@dataclass(frozen=True, slots=True, eq=False)
class Cutout:
    """A body out of a wardrobe that stands somewhere."""

    wardrobe: Wardrobe
    body: int
    foot_mm: Array
    """(3,)"""
    scale: float
    turn_rad: float
    coats: Floats
    """(PARTS + 1, 3): the paint of each part, blue green red; the first is not used."""
    gloss: float = 0.0
    drybrush: float = 0.0
    """How much lighter its open edges are painted."""
    detail: float = 0.0
    """1 σ of the logarithm of brightness from spot to spot: 0 for plastic and primer."""
    mirrored: bool = False
    relief: float = 0.0
    """How strongly its texture's grain shows: 1 as in the texture."""

    @property
    def extent_mm(self) -> tuple[float, float]:
        """Its height and its reach."""
        high, reach = (self.scale * self.wardrobe.extents_mm[self.body]).tolist()
        return high, reach

    @property
    def points_mm(self) -> Array:
        """The corners (8, 3) of a box around it."""
        high, reach = self.extent_mm
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        low, top = (np.column_stack([reach * signs, np.full(4, z)]) for z in (0.0, high))
        return np.asarray(np.concatenate([low, top]) + self.foot_mm)


Body = Solid | Cutout

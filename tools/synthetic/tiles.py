"""Tiles of mats, tables and any other stuff, in any colour: what painted scenes are covered with."""

import os
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from synthetic.arrays import Floats, Picture, Rng
from synthetic.develop import LIGHT, encode_srgb
from synthetic.mats import MATS, WOODS, as_bytes, hexes, planks
from synthetic.noise import TILE, clouds, speckle
from synthetic.painted.art import any_art
from synthetic.things.figures import any_colour

TILE_TEXEL_MM = 0.5
"""What a pixel of a tile shows."""


PHOTOGRAPHED = 0.5
"""The share of tiles that are cut from photographs of ground, where a folder of them is named."""


GROUNDS = "OVERRULER_GROUNDS"
"""The environment variable that names a folder of photographed grounds; without it tiles are all drawn.
`docs/rims.md` says where to get such pictures."""


def library(seed: int, count: int) -> list[Picture]:
    """Tiles that the scenes of a lesson choose from; half of them are photographed, where a folder is named."""
    tiles = [any_tile(np.random.default_rng([seed, 77, i])) for i in range(count)]
    folder = os.environ.get(GROUNDS)
    photographs = _photographs(Path(folder)) if folder else []
    for i in range(count if photographs else 0):
        rng = np.random.default_rng([seed, 78, i])
        if rng.random() < PHOTOGRAPHED:
            tiles[i] = _photographed(rng, photographs[int(rng.integers(len(photographs)))])
    return tiles


@cache
def _photographs(folder: Path) -> list[Picture]:
    """All pictures of a folder, blue green red."""
    paths = sorted(path for kind in ("jpg", "png") for path in folder.glob(f"*.{kind}"))
    return [np.asarray(cv2.imread(str(path)), np.uint8) for path in paths]


def _photographed(rng: Rng, ground: Picture) -> Picture:
    """A piece of a photographed ground: turned, of any size, often recoloured, seldom with a hex grid."""
    turned = np.rot90(ground, int(rng.integers(4)))
    side = int(min(turned.shape[:2]) * rng.uniform(0.4, 1))
    row, column = (int(rng.integers(0, n - side + 1)) for n in turned.shape[:2])
    piece = turned[row : row + side, column : column + side]
    tile = np.asarray(cv2.resize(piece, (TILE, TILE), interpolation=cv2.INTER_AREA), np.uint8)
    if rng.random() < RECOLOURED:
        tile = as_bytes(_recoloured(rng, _as_floats(tile)))
    return np.ascontiguousarray(as_bytes(_maybe_hexed(rng, _as_floats(tile), TILE_TEXEL_MM)))


def _as_floats(tile: Picture) -> Floats:
    return np.asarray(tile, np.float32) / np.float32(255)


def _maybe_hexed(rng: Rng, picture: Floats, texel_mm: float) -> Floats:
    """The picture, seldom with a hex grid over it."""
    if rng.random() >= HEXED:
        return picture
    size_mm = float(rng.uniform(13, 55))
    return hexes(picture, texel_mm, size_mm, (0.0, 0.0), rng.random() < 0.5)


BOARD, RUBBLE = 0.1, 0.12
"""The shares of printed boards, rooms and maps, and of what is made of many little pieces: gravel, flock, leaves."""
PLAIN, WOODEN, HEXED, RECOLOURED = 0.3, 0.12, 0.12, 0.6
"""The shares of tiles that no recipe knows, of wooden ones, and of the others those with a hex
grid and those whose colours are changed."""


def any_tile(rng: Rng, name: str | None = None) -> Picture:
    """A piece (512, 512, 3) of a mat, of a table or of any stuff, blue green red."""
    special = rng.random() if name is None else 1.0
    if special < BOARD + RUBBLE:
        return _board(rng) if special < BOARD else _rubble(rng)
    kind, shape = rng.random(), (TILE, TILE)
    texel = TILE_TEXEL_MM * float(np.exp(rng.uniform(-0.4, 0.4)))
    if name is None and kind < PLAIN:
        picture = _any_stuff(rng)
    elif name is None and kind < PLAIN + WOODEN:
        picture = planks(str(rng.choice(list(WOODS))), shape, texel, rng)
        picture = picture if rng.random() < 0.5 else picture.swapaxes(0, 1)
    else:
        picture = MATS[name or str(rng.choice(list(MATS)))](shape, texel, rng)
    picture = _maybe_hexed(rng, picture, texel)
    tile = as_bytes(_recoloured(rng, picture) if rng.random() < RECOLOURED else picture)
    return np.ascontiguousarray(tile[..., ::-1])


def _board(rng: Rng) -> Picture:
    """A printed board: squares of any pictures, a few of them again and again, or one large picture."""
    count = int(rng.choice([1, 2, 4, 8, 16]))
    side = TILE // count
    kinds = [any_art(rng, max(side, 48)) for _ in range(min(count * count, 4))]
    rows = []
    for _ in range(count):
        row = [
            np.rot90(kinds[int(rng.integers(len(kinds)))], int(rng.integers(4)))
            for _ in range(count)
        ]
        rows.append(np.concatenate(row, 1))
    picture = cv2.resize(np.concatenate(rows), (TILE, TILE), interpolation=cv2.INTER_AREA)
    dull = picture * np.float32(rng.uniform(0.15, 1)) + any_colour(rng) * np.float32(
        rng.uniform(0, 0.5)
    )
    grain = np.exp(0.08 * speckle((TILE, TILE), rng, float(rng.uniform(0.4, 2))))[..., None]
    return np.ascontiguousarray(
        as_bytes(np.asarray(encode_srgb((dull * grain).clip(0, 1)), np.float32))
    )


def _rubble(rng: Rng) -> Picture:
    """Pieces of a few colours, each lit on one side, of a size from flock to pebbles."""
    size = float(np.exp(rng.uniform(np.log(1.5), np.log(14))))
    noise = [clouds((TILE, TILE), size, rng, 2) for _ in range(2)]
    height = np.maximum(*noise) + 0.4 * clouds((TILE, TILE), 12 * size, rng, 2)
    colours = np.stack([any_colour(rng) for _ in range(3)])
    colours = colours[0] + (colours - colours[0]) * np.float32(rng.uniform(0.1, 1))
    which = np.digitize(noise[0], [-0.5, 0.6])
    lit = cv2.Sobel(height, cv2.CV_32F, 1, 0) * np.float32(rng.uniform(0.05, 0.35))
    tone = np.exp((lit + 0.25 * height).clip(-2, 1.2))[..., None]
    return np.ascontiguousarray(
        as_bytes(np.asarray(encode_srgb((colours[which] * tone).clip(0, 1)), np.float32))
    )


def _any_stuff(rng: Rng) -> Floats:
    """Clouds and grain of any size in colours that lie near each other: felt, earth, paint."""
    colours = rng.uniform(0.2, 0.95) * np.exp(rng.normal(0, rng.choice([0.05, 0.25]), (2, 3)))
    cover = 0.5 + rng.uniform(0, 0.3) * clouds((TILE, TILE), rng.uniform(10, 600), rng)
    picture = colours[0] + (colours[1] - colours[0]) * cover.clip(0, 1)[..., None]
    grain = rng.uniform(0, 0.25) * speckle((TILE, TILE), rng, rng.uniform(0.4, 2))
    return np.asarray(picture * np.exp(grain)[..., None], np.float32)


def _recoloured(rng: Rng, picture: Floats) -> Floats:
    """The same print, lighter or darker, of more contrast or less, and of other colours."""
    light = LIGHT[as_bytes(picture)] ** np.float32(np.exp(rng.normal(0, 0.2)))
    if rng.random() < 0.1:
        light = light[..., rng.permutation(3)]
    light = light * np.exp(rng.normal(0, 0.3) + rng.normal(0, 0.15, 3)).astype(np.float32)
    return np.asarray(encode_srgb(light.clip(0, 1)), np.float32)

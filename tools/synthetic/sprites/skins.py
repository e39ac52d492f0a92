"""Textures of bodies: what on them is painted alike, how light it is, and where there are holes."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Ints, Picture, Rng
from synthetic.painted.wardrobe import PARTS
from synthetic.sprites.shapes import Shape, Skin, clusters, texels

LIGHTNESS_WEIGHT = 0.4
"""How much lightness counts in what is painted alike, against colour: folds and wear are no paint of their own."""
TEXELS = 1.3
"""Pixels of a texture for each of a body's picture: more would flicker."""
HOLE = 0.4
"""Where textures with holes cover less, they let light through."""
SAMPLES = 4000
"""Places on a body out of which its paints are found."""
GAMMA = 2.2
"""Light is about this power of a texture's values."""
LEAST_PX = 4
"""The smallest side of a texture."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One mesh of a body, with its texture."""

    triangles: Array
    """(T, 3, 3)."""
    uv: Array
    """(T, 3, 2)."""
    texture: Floats
    """(h, w, 4): red, green, blue and cover, 0 to 1."""
    held: bool
    """In a hand."""


def skinned(pieces: Sequence[Piece], side_px: float, rng: Rng) -> Shape:
    """Pieces as one body, whose picture's longest side is `side_px`."""
    points = np.concatenate([piece.triangles for piece in pieces])
    worn = np.concatenate([piece.triangles for piece in pieces if not piece.held])
    px_per_unit = side_px / max(float(np.ptp(worn, (0, 1)).max()), 1e-9)
    textures = [_shrunk(piece, px_per_unit) for piece in pieces]
    counts = [len(piece.triangles) for piece in pieces]
    which = np.repeat(np.arange(len(pieces)), counts)
    uv = np.concatenate([piece.uv for piece in pieces])
    tones, paints = _paints(points, uv, which, textures, rng)
    skin = Skin(uv, which, [_sheet(texture, tones) for texture in textures], paints)
    held = np.repeat([piece.held for piece in pieces], counts)
    return Shape(points, np.ones(len(points), np.uint8), skin, held)


def _shrunk(piece: Piece, px_per_unit: float) -> Floats:
    """The texture with about as many pixels as the picture has."""
    height, width = piece.texture.shape[:2]
    seen = _areas(piece.triangles).sum() * px_per_unit**2
    flat = np.concatenate([piece.uv * [width, height], np.zeros((*piece.uv.shape[:2], 1))], 2)
    share = TEXELS * float(np.sqrt(seen / max(_areas(flat).sum(), 1e-9)))
    if share >= 1:
        return piece.texture
    size = [max(round(side * share), LEAST_PX) for side in (width, height)]
    small = cv2.resize(piece.texture, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.float32)


def _areas(triangles: Array) -> Array:
    first, second = (triangles[:, k] - triangles[:, 0] for k in (1, 2))
    return np.asarray(np.linalg.norm(np.cross(first, second), axis=1) / 2)


def _paints(
    points: Array, uv: Array, which: Ints, textures: list[Floats], rng: Rng
) -> tuple[Array, Floats]:
    """The middles of the colours that are painted alike (up to PARTS, 3), as `_tones` has them, and `Skin.paints`."""
    areas = _areas(points)
    some = rng.choice(len(points), SAMPLES, p=areas / areas.sum())
    shares = rng.dirichlet(np.ones(3), SAMPLES)
    places = np.einsum("nk,nkj->nj", shares, uv[some])
    colours = np.zeros((SAMPLES, 4), np.float32)
    for k, texture in enumerate(textures):
        here = which[some] == k
        colours[here] = texture[texels(texture.shape, places[here])]
    colours = colours[colours[:, 3] > HOLE, :3]
    tones = _tones(colours)
    alike = clusters(tones, PARTS, rng)
    found = np.unique(alike)
    paints = np.zeros((PARTS + 1, 3), np.float32)
    for row, k in enumerate(found, start=1):
        paints[row] = (colours[alike == k, ::-1] ** np.float32(GAMMA)).mean(0)
    return np.array([tones[alike == k].mean(0) for k in found]), paints


def _tones(colours: Floats) -> Array:
    """Colours (N, 3) so that their distance tells whether they look alike."""
    lab = cv2.cvtColor(np.ascontiguousarray(colours[None, :, :3], np.float32), cv2.COLOR_RGB2LAB)
    return np.asarray(lab[0] * [LIGHTNESS_WEIGHT, 1, 1], float)


def _sheet(texture: Floats, paints: Array) -> Picture:
    tones = _tones(texture[..., :3].reshape(-1, 3))
    apart = (paints**2).sum(1) - 2 * tones @ paints.T
    light = texture[..., :3] @ np.array([0.3, 0.59, 0.11], np.float32)
    layers = [
        apart.argmin(1).reshape(light.shape) + 1, 255 * light, 255 * (texture[..., 3] > HOLE),
    ]  # fmt: skip
    return np.dstack([np.asarray(layer, np.uint8) for layer in layers])
